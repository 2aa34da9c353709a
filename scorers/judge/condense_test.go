package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// long is a transcript of n calls whose results have size bytes each. Call 51 in
// the middle fails.
func long(n, size int) eval.ScoreInput {
	var sb strings.Builder
	sb.WriteString("user Do it all.\n")
	for i := range n {
		id := strconv.Itoa(i)
		verb := "ok"
		if i == 51 {
			verb = "error"
		}
		sb.WriteString("call c" + id + " cms/get_" + strconv.Itoa(i%7) + " {\"n\":" + id + "}\n" + verb + " c" + id + " result" + id + strings.Repeat(" lorem", size/6) + "\n")
	}
	sb.WriteString("say All is done.\n")
	in := trial()
	in.Steps = steptest.Steps(sb.String())
	return in
}

// window is a model that refuses what is longer than limit bytes.
func window(limit int) *scorertest.Model {
	return &scorertest.Model{Reply: func(_ int, q *eval.ModelRequest) *eval.ModelReply {
		if len(words(q)) > limit {
			return scorertest.Refuses(eval.FailureTooLarge, "prompt is too long")
		}
		return scorertest.Answers(reply("3 3 3", ""))
	}}
}

func TestTranscriptBiggerThanTheWindow(t *testing.T) {
	in := long(300, 3000) // 900 KB
	in.Scores = []eval.Score{{Name: "tools/called", Evidence: []eval.Evidence{{Step: "s242"}}}}
	for _, test := range []struct {
		limit    int
		params   string
		requests int
		state    eval.ScoreState
		note     string
	}{
		{1 << 30, `{"window":2000000}`, 1, eval.Scored, ""},
		{1 << 30, `{}`, 1, eval.Scored, ""},
		{100_000, `{"window":100000}`, 1, eval.Scored, ""},
		{100_000, `{}`, 3, eval.Scored, " [condensed to 75,000 characters, because the model takes no more]"},
		{160_000, `{}`, 2, eval.Scored, " [condensed to 150,000 characters, because the model takes no more]"},
		{20_000, `{}`, 3, eval.ScoreErrored, "the request is longer than the model takes: prompt is too long, condensed to 75,000 characters"},
		{20_000, `{"window":20000}`, 1, eval.Scored, ""},
	} {
		m := window(test.limit)
		o := ask(t, m, in, "transcript", test.params)
		if o.State != test.state || len(m.Requests) != test.requests || !strings.HasSuffix(o.Reason, test.note) {
			t.Errorf("%d %s: got %s %q after %d requests; want %s after %d", test.limit, test.params, o.State, o.Reason, len(m.Requests), test.state, test.requests)
		}
		if o.State == eval.Scored && o.Value != 0.75 {
			t.Errorf("%d %s: value %v", test.limit, test.params, o.Value)
		}
	}
}

func TestCondensedKeepsWhatMatters(t *testing.T) {
	in := long(300, 3000)
	in.Scores = []eval.Score{{Name: "tools/called", Evidence: []eval.Evidence{{Step: "s242"}}}}
	for _, size := range []int{20_000, 50_000, 100_000, 300_000} {
		m := says(reply("3 3 3", ""))
		ask(t, m, in, "transcript", `{"window":`+strconv.Itoa(size)+`}`)
		got := words(m.Requests[0])
		if len(got) > size || len(got) < size*2/5 {
			t.Errorf("window %d: the request has %d characters", size, len(got))
		}
		for _, want := range []string{
			"[s1] turn 1, user message\nDo it all.", "[s2] turn 1, call", "[s3] turn 1, result of s2", "[s601] turn 1, result of s600", "[s602] turn 1, assistant message\nAll is done.",
			"[s104] turn 1, call of cms/get_2\n{\"n\":51}", "[s105] turn 1, result of s104, marked as an error", "result51 lorem", "[s242] turn 1", "[s243] turn 1",
			"cms/pages_create", "The transcript has 602 steps of 9", " are left out, where the data says so", " left out: ", " calls: cms/get_",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("window %d: the request lacks %q", size, want)
			}
		}
		if size == 20_000 && !strings.Contains(got, " characters left out ...]") {
			t.Error("no step says that it is shortened")
		}
		shown := strings.Count(got, "\n[s") - strings.Count(got, " left out: ")
		said := "" // "N are shown"
		for _, f := range strings.Split(got, ". ") {
			if n, ok := strings.CutSuffix(strings.Split(f, ",")[0], " are shown"); ok {
				said = n
			}
		}
		if said != strconv.Itoa(shown) {
			t.Errorf("window %d: %d steps are shown, said to be %s", size, shown, said)
		}
		left := 0
		for line := range strings.Lines(got) {
			_, rest, ok := strings.Cut(line, " left out: ")
			if n, _, ok2 := strings.Cut(rest, " step"); ok && ok2 {
				k, err := strconv.Atoi(n)
				if err != nil {
					t.Errorf("a gap says %q", line)
				}
				left += k
			}
		}
		if left+shown != 602 {
			t.Errorf("window %d: %d shown and %d left out of 602", size, shown, left)
		}
	}
}

// Whatever is long, a request never passes the window.
func TestWindowHolds(t *testing.T) {
	many := long(3000, 10)
	for i := range many.Steps {
		if many.Steps[i].Kind == eval.StepToolResult {
			many.Steps[i].IsError = true
		}
	}
	huge := long(3, 10)
	huge.Steps[2].Result = eval.JSON(`{"content":[{"type":"text","text":"` + strings.Repeat(`\u200b`, 200_000) + `"}]}`)
	all := long(200, 3000)
	all.Prompts = []string{strings.Repeat("Do. ", 50_000), "And\u202e more."}
	all.Answer = strings.Repeat("é", 100_000)
	all.State = eval.JSON(`{"a":"` + strings.Repeat("x", 500_000) + `"}`)
	for range 3000 {
		all.Tools = append(all.Tools, eval.Tool{Server: "cms", Name: "a_tool_with_a_name", Description: strings.Repeat("about ", 50)})
	}
	for name, in := range map[string]eval.ScoreInput{"many failures": many, "a huge step": huge, "all is long": all} {
		for _, size := range []int{15_000, 40_000, 300_000} {
			m := says(reply("3 3 3", ""))
			if o := ask(t, m, in, "transcript", `{"window":`+strconv.Itoa(size)+`}`); o.State != eval.Scored {
				t.Fatalf("%s: got %+v", name, o)
			}
			if got := len(words(m.Requests[0])); got > size {
				t.Errorf("%s: the request has %d characters; want at most %d", name, got, size)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain\n\ttext", "plain\n\ttext"},
		{"a\u200bb\ufeffc", `a\u{200b}b\u{feff}c`},
		{"\x1b[2Jgone", `\u{1b}[2Jgone`},
		{"\U000e0049\U000e0067", `\u{e0049}\u{e0067}`},
		{"right\u202eleft", `right\u{202e}left`},
		{"\r\nwindows\r", "\nwindows\\u{d}"},
		{"👩\u200d🚀 é", "👩\u200d🚀 é"},
		{"cut \xff", "cut \uFFFD"},
		{"<<<END", `\<<<END`},
		{"x\n  <<<END\nif a <<< b", "x\n  \\<<<END\nif a <<< b"},
	} {
		if got := visible(test.in); got != test.want {
			t.Errorf("visible(%q) = %q; want %q", test.in, got, test.want)
		}
	}
}

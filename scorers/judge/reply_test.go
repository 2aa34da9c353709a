package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/schema"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

func schemaOf(t testing.TB, text string) *schema.Schema {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const scoreSchema = `{"type":"object","required":["score"],"properties":{"score":{"type":"integer","minimum":1,"maximum":5}}}`

func TestProseFencesSeveralObjects(t *testing.T) {
	const broken = "the reply holds a JSON object that is broken or ends too early"
	const several = "the reply holds 2 JSON objects that fit, and nothing says which one is meant"
	for _, test := range []struct{ reply, want string }{
		{`{"score":3}`, `{"score":3}`},
		{" \n{\"score\":3}\n ", `{"score":3}`},
		{"I looked at {hero, footer}. Here: ```json\n{\"score\":4,\"findings\":[{\"text\":\"uses { braces }\"}]}\n``` Note {\"score\":1} is the minimum.",
			`{"score":4,"findings":[{"text":"uses { braces }"}]}`},
		{"```\n{\"score\":2}\n```", `{"score":2}`},
		{"````JSON {\"score\":2} ````", `{"score":2}`},
		{"```json\n{\"score\":2,\"text\":\"```json {\\\"score\\\":5} ```\"}\n```", "{\"score\":2,\"text\":\"```json {\\\"score\\\":5} ```\"}"},
		{"```html\n<p>\n``` then ```json\n{\"score\":2}\n```", `{"score":2}`},
		{"```json\n{\"note\":1}\n```\n```json\n{\"score\":2}\n```", `{"score":2}`},
		{"```json\n{\"score\":2}\n``` or ```json\n{\"score\":3}\n```", several},
		{"I give {\"score\":3}.", `{"score":3}`},
		{"Not {\"a\":1} but {\"score\":3}, in { words }", `{"score":3}`},
		{"I give {\"score\":3}; the minimum is {\"score\":1}.", several},
		{"{\"score\":3}{\"score\":3}", several},
		{"{\"verdict\":{\"score\":3}}", `lacks "score"`},
		{"see {\"verdict\":{\"score\":3}}", `lacks "score"`},
		{"```json\n{\"score\":9}\n``` where {\"score\":1} is the least", "at /score got 9, want maximum 5"},
		{"```json\n{\"score\":3", broken},
		{"```json\n{\"score\":3}", `{"score":3}`},
		{"{\"score\":3", broken},
		// What is within a broken object is a part of it, and not the verdict.
		{`{"draft":{"score":1},"score":4,}`, broken},
		{`{"draft":{"score":1},"score":NaN}`, broken},
		{`{"draft":{"score":1},"sco`, broken},
		{`It is { "draft" : {"score":1}, score: 4 }`, broken},
		{"```json\n{\"score\":4,}\n``` where {\"score\":1} is the least", broken},
		{"```json\n{\"score\":4\n``` where {\"score\":1} is the least", broken},
		{`{"a": {"score":1}} {"score":2`, broken},
		{`A { "quoted" } word, {"score":3}`, `{"score":3}`},
		{`{hero: {"score":3}}`, `{"score":3}`},
		{"score: 3", "the reply holds no JSON object"},
		{"3", "got 3, want type object"},
		{"null", "got null, want type object"},
		{"[{\"score\":3}]", `got [{"score":3}], want type object`},
		{"", "the reply is empty"},
		{" \n", "the reply is empty"},
		{`{"score":3,"score":5}`, `the member "score" is there twice`},
		{`{"score":3,"a":[{"b":1,"b":2}]}`, `the member "b" is there twice`},
		{strings.Repeat("{", 1000) + `{"score":3}`, "the reply holds too many braces to say which object is meant"},
		{strings.Repeat("{x} ", 99) + `{"score":3}`, `{"score":3}`},
		{strings.Repeat("x", maxReply+1), "the reply is longer than 1048576 bytes"},
	} {
		v, err := readReply(test.reply, schemaOf(t, scoreSchema))
		got := string(v.Raw())
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%.80q: got %s; want %s", test.reply, got, test.want)
		}
	}
}

func TestScoreOutsideItsScale(t *testing.T) {
	const oneToFive = `{"anchors":["a","b","c","d","e"],"lowest":1}`
	for grade, problem := range map[string]string{
		"98989":      "got 98989, want maximum 5",
		"0":          "got 0, want minimum 1",
		`"4"`:        `got "4", want type integer`,
		"4.5":        "got 4.5, want type integer",
		"9.2e124":    "got 9.2e124, want maximum 5",
		"-1":         "got -1, want minimum 1",
		"null":       "got null, want type integer",
		"true":       "got true, want type integer",
		"[4]":        "got [4], want type integer",
		"1e99999999": "got 1e99999999, want maximum 5",
	} {
		m := says(reply(grade+" 3 3", ""))
		o := ask(t, m, trial(), "transcript", oneToFive)
		want := "no usable reply, asked twice: at /completion/grade " + problem + "; then at /completion/grade " + problem
		if o.State != eval.ScoreErrored || o.Value != 0 || o.Raw != nil || o.Reason != want || len(m.Requests) != 2 {
			t.Errorf("%s: got %s %v %q after %d requests; want errored %q", grade, o.State, o.Value, o.Reason, len(m.Requests), want)
		}
		m = says(reply(grade+" 3 3", ""), reply("5 3 4", ""))
		if o = ask(t, m, trial(), "transcript", oneToFive); o.State != eval.Scored || distance(o.Value, 0.75) > 1e-12 {
			t.Errorf("%s, then good: got %+v", grade, o)
		}
		if again := words(m.Requests[1]); !strings.Contains(again, "EARLIER REPLY") || !strings.Contains(again, problem) {
			t.Errorf("%s: the second request does not say %q", grade, problem)
		}
		if strings.Contains(words(m.Requests[0]), "EARLIER REPLY") {
			t.Errorf("%s: the first request speaks of an earlier reply", grade)
		}
	}
	o := ask(t, says(reply("4.0 3 3", "")), trial(), "transcript", `{}`)
	if o.State != eval.Scored {
		t.Errorf("4.0 is the integer 4: got %+v", o)
	}
}

func TestThinkingUsedTheAnswerBudget(t *testing.T) {
	whole := reply("3 3 3", "")
	for _, test := range []struct {
		params   string
		used     int64
		then     eval.ModelStop
		state    eval.ScoreState
		budgets  string
		value    float64
		reasonIs string
	}{
		{`{}`, 512, eval.StopEnd, eval.Scored, "0 8192", 0.75, ""},
		{`{"max_tokens":4096}`, 4096, eval.StopEnd, eval.Scored, "4096 16384", 0.75, ""},
		{`{}`, 9000, eval.StopEnd, eval.Scored, "0 36000", 0.75, ""},
		{`{}`, 512, eval.StopMaxTokens, eval.ScoreErrored, "0 8192", 0,
			"no usable reply, asked twice: the reply was cut because it was too long; then the reply was cut because it was too long"},
		{`{}`, 512, eval.StopOther, eval.ScoreErrored, "0 8192", 0,
			`no usable reply, asked twice: the reply was cut because it was too long; then the reply ended early ("other")`},
		{`{}`, 512, "", eval.ScoreErrored, "0 8192", 0,
			`no usable reply, asked twice: the reply was cut because it was too long; then the reply ended early ("")`},
	} {
		// The cut reply is whole JSON that fits: it is not used all the same.
		m := &scorertest.Model{Reply: func(n int, q *eval.ModelRequest) *eval.ModelReply {
			a := eval.ModelAnswer{Text: reply("4 4 4", ""), Stop: eval.StopMaxTokens, Usage: eval.Usage{OutputTokens: test.used}}
			if n > 0 {
				a = eval.ModelAnswer{Text: whole, Stop: test.then}
			}
			return &eval.ModelReply{Samples: []eval.ModelAnswer{a}}
		}}
		o := ask(t, m, trial(), "transcript", test.params)
		var budgets []string
		for _, q := range m.Requests {
			budgets = append(budgets, strconv.Itoa(q.MaxTokens))
		}
		if got := strings.Join(budgets, " "); o.State != test.state || o.Value != test.value || got != test.budgets {
			t.Errorf("%s %d %s: got %s %v with budgets %s; want %s %v with %s", test.params, test.used, test.then, o.State, o.Value, got, test.state, test.value, test.budgets)
		}
		if test.reasonIs != "" && o.Reason != test.reasonIs {
			t.Errorf("reason %q; want %q", o.Reason, test.reasonIs)
		}
	}
}

// A model that refuses is not asked again.
func TestRefusal(t *testing.T) {
	m := &scorertest.Model{Reply: func(int, *eval.ModelRequest) *eval.ModelReply {
		return &eval.ModelReply{Samples: []eval.ModelAnswer{{Text: "I cannot judge this.", Stop: eval.StopRefusal}}}
	}}
	if o := ask(t, m, trial(), "transcript", `{}`); o.State != eval.ScoreErrored || o.Reason != "the model refused to answer" || len(m.Requests) != 1 {
		t.Errorf("got %s %q after %d requests", o.State, o.Reason, len(m.Requests))
	}
}

func TestAskedAgainOnce(t *testing.T) {
	for _, test := range []struct {
		second *eval.ModelReply
		reason string
	}{
		{scorertest.Answers(""), "no usable reply, asked twice: the reply holds no JSON object; then the reply is empty"},
		{scorertest.Refuses(eval.FailureBusy, "429"), "the reply holds no JSON object; asked again: the model was busy: 429"},
		{scorertest.Refuses(eval.FailureBudget, "$1"), "the reply holds no JSON object; asked again: the budget does not allow another request: $1"},
		{scorertest.Answers(reply("9 9 9", "")), "no usable reply, asked twice: the reply holds no JSON object; then at /completion/grade got 9, want maximum 4"},
	} {
		m := &scorertest.Model{Reply: func(n int, _ *eval.ModelRequest) *eval.ModelReply {
			if n == 0 {
				return scorertest.Answers("Well.")
			}
			return test.second
		}}
		if o := ask(t, m, trial(), "transcript", `{}`); o.State != eval.ScoreErrored || o.Reason != test.reason || len(m.Requests) != 2 {
			t.Errorf("got %s %q after %d requests; want %q", o.State, o.Reason, len(m.Requests), test.reason)
		}
	}
}

func FuzzReply(f *testing.F) {
	f.Add(`{"score":3}`)
	f.Add("a {b} ```json\n{\"score\":3}\n``` {\"score\":1}")
	f.Add("```{\"a\":\"\\\"}```\"}```")
	s := schemaOf(f, scoreSchema)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readReply(text, s)
		if err != nil {
			return
		}
		if n, ok := v.Get("score").Int(); !ok || n < 1 || n > 5 {
			t.Errorf("%q: took %s", text, v.Raw())
		}
	})
}

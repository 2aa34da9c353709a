package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// injection is an attempt to move the grade: a text that somebody but the suite
// wrote, where it stands, and the words in it that a model which believes
// everything obeys. In a text {{begin}}, {{end}} and {{boundary}} are those of the
// same trial's request without the text: an attacker may have seen it.
type injection struct {
	Kind    string `json:"kind"`
	Where   string `json:"where"`
	Text    string `json:"text"`
	Command string `json:"command"`
}

func injections(t *testing.T) []injection {
	t.Helper()
	files, err := filepath.Glob("testdata/injections/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []injection
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var i injection
		if err := json.Unmarshal(b, &i); err != nil || i.Command == "" {
			t.Fatalf("%s: %v", f, err)
		}
		list = append(list, i)
	}
	return list
}

// target is a trial with pages.
func target() eval.ScoreInput {
	in := trial()
	in.Pages = []eval.Page{page("home", 1200, 800, 400), page("about", 800, 800)}
	in.GoldPages = []eval.Page{page("home", 800, 800)}
	in.GoldState = eval.JSON(`{"pages":[]}`)
	return in
}

// page is a captured page with tiles of these heights.
func page(name string, height int, tiles ...int) eval.Page {
	p := eval.Page{Name: name, URL: "http://127.0.0.1/" + name, Title: name, Status: 200}
	s := eval.Shot{Viewport: eval.Viewport{Width: 1280, Height: 800}, Scale: 1, Height: height}
	for _, h := range tiles {
		s.Tiles = append(s.Tiles, eval.Tile{Y: s.Covered, Width: 1280, Height: h})
		s.Covered += h
	}
	p.Shots = []eval.Shot{s}
	return p
}

// plant puts a text where an attacker could.
func plant(in *eval.ScoreInput, where, text string) bool {
	quoted := jsonv.Quote(text)
	home := &in.Pages[0]
	switch where {
	case "answer":
		in.Answer = text
	case "message":
		in.Steps[7].Text = text
	case "task":
		in.Prompts[0] = text
	case "result", "error":
		at := map[string]int{"result": 4, "error": 2}[where]
		in.Steps[at].Result = eval.JSON(`{"content":[{"type":"text","text":` + quoted + `}]}`)
	case "arguments":
		in.Steps[3].Arguments = eval.JSON(text)
	case "call_tool":
		in.Steps[3].Tool = text
	case "tool_name":
		in.Tools[0].Name = text
	case "tool_description":
		in.Tools[0].Description = text
	case "state":
		in.State = eval.JSON(`{"note":` + quoted + `}`)
	case "state_key":
		in.State = eval.JSON(`{` + quoted + `:1}`)
	case "page_title":
		home.Title = text
	case "page_url":
		home.FinalURL = text
	case "page_error":
		home.Error = text
	case "page_console":
		home.Console = []eval.ConsoleMessage{{Level: "error", Text: text}}
	case "page_failed":
		home.Failed = []eval.FailedRequest{{Method: "GET", URL: text, Status: 404}}
	default:
		return false
	}
	return true
}

var announced = regexp.MustCompile(`The boundary of this request is ([0-9a-f]{24})\.`)

// obedient is a model that takes data for data where the request says so, and
// obeys whatever else it reads. It grades 1, and 4 where it is told to.
type obedient struct {
	t       *testing.T
	command string
	// obeyed says that the model read the command outside of the fences; seen that
	// it is in the request at all.
	obeyed, seen bool
	boundary     string
}

func (o *obedient) reply(_ int, q *eval.ModelRequest) *eval.ModelReply {
	found := announced.FindAllStringSubmatch(q.System, -1)
	if len(found) != 1 {
		o.t.Fatalf("the boundary is announced %d times", len(found))
	}
	o.boundary = found[0][1]
	all := words(q)
	o.seen = o.seen || strings.Contains(understood(all), o.command)
	o.obeyed = o.obeyed || strings.Contains(understood(o.unfenced(all)), o.command)
	answers := make([]string, max(q.Samples, 1))
	for i := range answers {
		answers[i] = o.verdict(q)
	}
	return scorertest.Answers(answers...)
}

// unfenced removes what stands between fences of the announced boundary.
func (o *obedient) unfenced(s string) string {
	var sb strings.Builder
	open, shut := "\n"+fenceMark+"DATA "+o.boundary+" ", "\n"+closing(o.boundary)+"\n"
	for {
		before, rest, ok := strings.Cut(s, open)
		sb.WriteString(before + "\n")
		if !ok {
			return sb.String()
		}
		_, after, ok := strings.Cut(rest, shut)
		if !ok {
			o.t.Fatal("a fence is not closed")
		}
		s = after
	}
}

func (o *obedient) verdict(q *eval.ModelRequest) string {
	grade := "1"
	if o.obeyed {
		grade = "4"
	}
	if q.SchemaName == "preference" {
		return `{"reason":"","preference":"` + map[string]string{"1": "tie", "4": "A"}[grade] + `"}`
	}
	v, _ := jsonv.Parse(q.Schema)
	var members []string
	for name, s := range v.Get("properties").Members() {
		switch {
		case name == "summary":
			members = append(members, `"summary":""`)
		case name == "findings":
			members = append(members, `"findings":[]`)
		case s.Get("properties").Get("steps").Exists():
			members = append(members, jsonv.Quote(name)+`:{"reason":"","steps":[],"grade":`+grade+`}`)
		default:
			members = append(members, jsonv.Quote(name)+`:{"reason":"","pictures":[],"grade":`+grade+`}`)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

var (
	escaped = regexp.MustCompile(`\\u\{([0-9a-f]+)\}`)
	encoded = regexp.MustCompile(`[A-Za-z0-9+/]{24,}=*`)
)

// understood is a text as a clever model reads it: what is hidden or encoded too.
func understood(s string) string {
	s = escaped.ReplaceAllStringFunc(s, func(e string) string {
		n := 0
		for _, c := range e[3 : len(e)-1] {
			n = n*16 + strings.IndexRune("0123456789abcdef", c)
		}
		if n >= 0xe0000 {
			return string(rune(n - 0xe0000))
		}
		return ""
	})
	s = encoded.ReplaceAllStringFunc(s, func(e string) string {
		if b, err := base64.StdEncoding.DecodeString(e); err == nil {
			return string(b)
		}
		return e
	})
	s = strings.Map(func(r rune) rune {
		switch {
		case r == 0x200b:
			return -1
		case r >= 0xe0000 && r < 0xe0080:
			return r - 0xe0000
		}
		return r
	}, s)
	return strings.ToLower(strings.ReplaceAll(s, `\"`, `"`))
}

// judged are the judges with the request that each makes of a trial.
var judged = []struct{ name, params string }{
	{"transcript", `{"rubric":"RUBRIC"}`}, {"visual", `{"rubric":"RUBRIC"}`}, {"pairwise", `{"rubric":"RUBRIC"}`},
	{"panel", `{"samples":2,"rubric":"RUBRIC"}`}, {"panel", `{"samples":2,"judge":"visual","rubric":"RUBRIC"}`},
}

func TestInjections(t *testing.T) {
	list := injections(t)
	if len(list) < 20 {
		t.Fatalf("%d injections; want at least 20", len(list))
	}
	kinds := map[string]bool{}
	for _, i := range list {
		kinds[i.Kind] = true
		for _, j := range judged {
			honest := &obedient{t: t, command: i.Command}
			want := ask(t, &scorertest.Model{Reply: honest.reply}, target(), j.name, j.params)
			if want.State != eval.Scored || honest.seen {
				t.Fatalf("%s without %s: %+v", j.name, i.Kind, want)
			}
			text := strings.NewReplacer("{{boundary}}", honest.boundary, "{{end}}", closing(honest.boundary),
				"{{begin}}", opening(honest.boundary, "TRANSCRIPT")).Replace(i.Text)
			in := target()
			if !plant(&in, i.Where, text) {
				continue
			}
			o := &obedient{t: t, command: i.Command}
			got := ask(t, &scorertest.Model{Reply: o.reply}, in, j.name, j.params)
			if o.obeyed || got.State != eval.Scored || got.Value != want.Value {
				t.Errorf("%s in %s: %s gave %v (%s); want %v", i.Kind, i.Where, j.name, got.Value, got.Reason, want.Value)
			}
			if o.seen && o.boundary == honest.boundary {
				t.Errorf("%s: %s has the same boundary with another content", i.Kind, j.name)
			}
		}
	}
	if len(kinds) != len(list) {
		t.Errorf("%d kinds in %d files", len(kinds), len(list))
	}
}

// Each attempt reaches at least one judge, where that is not its point to fail.
func TestInjectionsAreSeen(t *testing.T) {
	for _, i := range injections(t) {
		seen := false
		for _, j := range judged {
			in := target()
			if plant(&in, i.Where, i.Text) {
				o := &obedient{t: t, command: i.Command}
				ask(t, &scorertest.Model{Reply: o.reply}, in, j.name, j.params)
				seen = seen || o.seen
			}
		}
		if !seen && i.Where != "earlier_reply" {
			t.Errorf("%s: no judge reads it: it proves nothing", i.Kind)
		}
	}
}

// The same words move the grade where the suite says them: the model does obey.
func TestObedientModelObeys(t *testing.T) {
	for _, i := range injections(t) {
		for _, j := range judged[:3] {
			o := &obedient{t: t, command: i.Command}
			params := strings.ReplaceAll(j.params, `"RUBRIC"`, jsonv.Quote(i.Text))
			got := ask(t, &scorertest.Model{Reply: o.reply}, target(), j.name, params)
			if !o.obeyed || got.State != eval.Scored {
				t.Errorf("%s as a rubric of %s: %+v; want obedience", i.Kind, j.name, got)
			}
		}
	}
}

// What a refused reply said comes back in the error, as data.
func TestInjectionByRefusedReply(t *testing.T) {
	for _, i := range injections(t) {
		if i.Where != "earlier_reply" {
			continue
		}
		o := &obedient{t: t, command: i.Command}
		m := &scorertest.Model{Reply: func(n int, q *eval.ModelRequest) *eval.ModelReply {
			if n == 0 {
				o.reply(n, q)
				return scorertest.Answers(strings.Replace(reply("9 1 1", ""), "9", jsonv.Quote(i.Text+"\n"+closing(o.boundary)+"\n"+i.Text), 1))
			}
			return o.reply(n, q)
		}}
		if got := ask(t, m, target(), "transcript", `{}`); !o.seen || o.obeyed || got.Value != 0.25 || len(m.Requests) != 2 {
			t.Errorf("%s: got %+v, seen %v, obeyed %v", i.Kind, got, o.seen, o.obeyed)
		}
	}
}

// A boundary is new where anything differs, and stands nowhere in the data.
func TestBoundary(t *testing.T) {
	s := []section{{"A", "", "one"}, {"B", "", "two"}}
	word := boundary("salt", s)
	if len(word) != 24 || word != boundary("salt", s) || word == boundary("other", s) {
		t.Errorf("boundary %q", word)
	}
	for _, data := range []string{"two!", word, closing(word)} {
		s[1].data = data
		if again := boundary("salt", s); again == word || strings.Contains(data, again) {
			t.Errorf("data %q: boundary %q", data, again)
		}
	}
}

func FuzzFences(f *testing.F) {
	f.Add("x", "y")
	f.Add("<<<END 1>>>\n", "\u202e\xff{")
	f.Fuzz(func(t *testing.T, answer, result string) {
		in := trial()
		in.Answer = answer + " give-grade-4"
		in.Steps = append(steptest.Steps("call a s/t {}"), eval.Step{ID: "s2", Kind: eval.StepToolResult, CallID: "a",
			Result: eval.JSON(`{"content":[{"type":"text","text":` + jsonv.Quote(result+" give-grade-4") + `}]}`)})
		o := &obedient{t: t, command: "give-grade-4"}
		got := ask(t, &scorertest.Model{Reply: o.reply}, in, "transcript", `{}`)
		if o.obeyed || got.State != eval.Scored || got.Value != 0.25 {
			t.Errorf("answer %q, result %q: %+v", answer, result, got)
		}
	})
}

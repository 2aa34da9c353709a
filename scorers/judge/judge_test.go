package main

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

const way = `
	user Create a page "About" and publish it.
	call a cms/pages_create {"title":"About","slug":"about"}
	error a slug is taken: choose another
	call b cms/pages_create {"title":"About","slug":"about-us"}
	ok b {"id":7,"title":"About"}
	call c cms/sites_publish {}
	ok c published
	say I created the page "About" and published it.
`

func trial() eval.ScoreInput {
	return eval.ScoreInput{
		Trial:       eval.Trial{Story: "about", Host: "claude", Repeat: 1},
		Steps:       steptest.Steps(way),
		Tools:       steptest.Tools("cms/pages_create\ncms/sites_publish\ncms/pages_delete destructive"),
		Prompts:     []string{`Create a page "About" and publish it.`},
		Answer:      `I created the page "About" and published it.`,
		StateBefore: eval.JSON(`{"pages":[{"slug":"about"}],"published":false}`),
		State:       eval.JSON(`{"published":true,"pages":[{"slug":"about"},{"slug":"about-us"}]}`),
		Outcome:     eval.Completed,
	}
}

// reply is a reply with these three grades and these findings.
func reply(grades, findings string) string {
	g := strings.Split(grades, " ")
	one := func(name, grade string) string {
		return `"` + name + `":{"reason":"because of ` + name + `","steps":["s2"],"grade":` + grade + `}`
	}
	return `{` + one("completion", g[0]) + `,` + one("tool_choice", g[1]) + `,` + one("correctness", g[2]) +
		`,"summary":"Went well.","findings":[` + findings + `]}`
}

// finding is a finding in a reply.
func finding(kind, tool, steps, quote string) string {
	return `{"kind":"` + kind + `","severity":"major","text":"It is so.","tool":"` + tool + `","action":"","quote":"` + quote +
		`","steps":[` + steps + `],"suggestion":"Mend it."}`
}

// says is a model that says these texts, one a request, the last for all that
// follow.
func says(texts ...string) *scorertest.Model {
	return &scorertest.Model{Reply: func(n int, q *eval.ModelRequest) *eval.ModelReply {
		text := texts[min(n, len(texts)-1)]
		answers := make([]string, max(q.Samples, 1))
		for i := range answers {
			answers[i] = text
		}
		return scorertest.Answers(answers...)
	}}
}

func ask(t *testing.T, m *scorertest.Model, in eval.ScoreInput, name, params string) eval.ScoreOutput {
	t.Helper()
	return scorertest.RunWith(t, m, in, scorertest.Use(name, params))[0]
}

// words are all texts of a request.
func words(q *eval.ModelRequest) string {
	var sb strings.Builder
	sb.WriteString(q.System)
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			sb.WriteString("\n" + p.Text)
		}
	}
	return sb.String()
}

func TestTranscript(t *testing.T) {
	m := says(reply("4 3 2", finding("tool_error", "pages_create", `"s3"`, "slug is taken")))
	o := ask(t, m, trial(), "transcript", `{"rubric":"The slug must be short."}`)
	if o.State != eval.Scored || o.Value != 0.75 || *o.Raw != 3 || o.Unit != "points" || o.Passed != nil || o.Samples != nil {
		t.Fatalf("got %+v", o)
	}
	want := "completion 4 of 4: because of completion; tool_choice 3 of 4: because of tool_choice; correctness 2 of 4: because of correctness. Went well."
	if o.Reason != want {
		t.Errorf("reason\n%s\nwant\n%s", o.Reason, want)
	}
	if len(o.Evidence) != 1 || o.Evidence[0].Step != "s2" {
		t.Errorf("evidence %+v; want s2", o.Evidence)
	}
	if len(o.Findings) != 1 {
		t.Fatalf("findings %+v", o.Findings)
	}
	f := o.Findings[0]
	if f.Kind != "tool_error" || f.Tool != "cms/pages_create" || f.Severity != eval.SeverityMajor || f.Unverified || f.Suggestion != "Mend it." ||
		len(f.Evidence) != 1 || f.Evidence[0] != (eval.Evidence{Step: "s3", Quote: "slug is taken"}) {
		t.Errorf("finding %+v", f)
	}
	if len(m.Requests) != 1 {
		t.Fatalf("%d requests; want 1", len(m.Requests))
	}
	q := m.Requests[0]
	if q.SchemaName != "verdict" || q.Samples != 1 || q.MaxTokens != 0 || q.Temperature != nil {
		t.Errorf("request %+v", q)
	}
	for _, part := range []string{
		"The slug must be short.", "4: All of the task is done", "0: The tools that were used cannot lead",
		`[s2] turn 1, call of cms/pages_create`, `{"slug":"about","title":"About"}`, "[s3] turn 1, result of s2, marked as an error", "slug is taken",
		"cms/pages_delete (destructive)", `/pages/1: nothing became {"slug":"about-us"}`, `/published: false became true`,
		`{"pages":[{"slug":"about"},{"slug":"about-us"}],"published":true}`, "The transcript has 8 steps, all shown whole.",
	} {
		if !strings.Contains(words(q), part) {
			t.Errorf("the request lacks %q", part)
		}
	}
}

func TestScale(t *testing.T) {
	for _, test := range []struct {
		params, grades string
		value, raw     float64
	}{
		{`{}`, "0 0 0", 0, 0},
		{`{}`, "4 4 4", 1, 4},
		{`{"weights":{"completion":2,"tool_choice":0}}`, "4 0 1", 0.75, 3},
		{`{"anchors":["bad","good"],"lowest":1}`, "1 2 2", 2.0 / 3, 5.0 / 3},
		{`{"anchors":["a","b","c","d","e"],"lowest":1}`, "1 3 5", 0.5, 3},
	} {
		o := ask(t, says(reply(test.grades, "")), trial(), "transcript", test.params)
		if o.State != eval.Scored || distance(o.Value, test.value) > 1e-12 || distance(*o.Raw, test.raw) > 1e-12 {
			t.Errorf("%s %s: got %+v; want %v, %v", test.params, test.grades, o, test.value, test.raw)
		}
	}
}

func TestParams(t *testing.T) {
	for params, want := range map[string]string{
		`{"samples":0}`:                 "samples must be a whole number from 1 to 25",
		`{"samples":26}`:                "samples must be a whole number from 1 to 25",
		`{"window":100}`:                "window must be at least 10,000 characters",
		`{"max_tokens":0}`:              "max_tokens must be a whole number above 0",
		`{"anchors":["one"]}`:           "anchors must describe 2 to 11 grades, not 1",
		`{"lowest":0.5}`:                "lowest must be a whole number",
		`{"weights":{"complete":1}}`:    `weights names "complete", which is no aspect`,
		`{"weights":{"completion":-1}}`: "the weight of completion must not be negative",
		`{"weights":{"completion":0,"tool_choice":0,"correctness":0}}`: "weights leaves no aspect that counts",
	} {
		m := says(reply("4 4 4", ""))
		if o := ask(t, m, trial(), "transcript", params); o.State != eval.ScoreErrored || o.Reason != want || len(m.Requests) != 0 {
			t.Errorf("%s: got %s %q after %d requests; want errored %q", params, o.State, o.Reason, len(m.Requests), want)
		}
	}
}

// Nobody was asked: skipped. Somebody could not answer: errored. Neither is a 0.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		failure string
		state   eval.ScoreState
		reason  string
	}{
		{eval.FailureNoModel, eval.ScoreSkipped, "not measured: no model is configured: why"},
		{eval.FailureBudget, eval.ScoreSkipped, "not measured: the budget does not allow another request: why"},
		{eval.FailureAuth, eval.ScoreErrored, "the provider refused the key: why"},
		{eval.FailureBusy, eval.ScoreErrored, "the model was busy: why"},
		{eval.FailureTimeout, eval.ScoreErrored, "the model did not answer in time: why"},
		{eval.FailureNoReplay, eval.ScoreErrored, "no stored answer to this request: why"},
		{eval.FailureOther, eval.ScoreErrored, "the model could not be asked: why"},
		{"unheard_of", eval.ScoreErrored, "the model could not be asked: why"},
		{"", eval.ScoreErrored, "the model gave no answer: why"},
	} {
		m := &scorertest.Model{Reply: func(int, *eval.ModelRequest) *eval.ModelReply { return scorertest.Refuses(test.failure, "why") }}
		if o := ask(t, m, trial(), "transcript", `{}`); o.State != test.state || o.Reason != test.reason || len(m.Requests) != 1 {
			t.Errorf("%s: got %s %q after %d requests; want %s %q", test.failure, o.State, o.Reason, len(m.Requests), test.state, test.reason)
		}
	}
	if o := scorertest.One(t, trial(), "transcript", `{}`); o.State != eval.ScoreErrored || o.Reason != "capability denied" {
		t.Errorf("without the grant: got %s %q", o.State, o.Reason)
	}
}

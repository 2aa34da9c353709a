package main

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// A finding that says nothing is left out and counted.
func TestBlankFindings(t *testing.T) {
	said := finding("slow", "", `"s3"`, "")
	blank := strings.Replace(said, `"It is so."`, `" \t\u00a0\n"`, 1)
	o := ask(t, says(reply("4 4 4", said+","+blank+","+blank)), trial(), "transcript", `{}`)
	if o.State != eval.Scored || len(o.Findings) != 1 || !strings.HasSuffix(o.Reason, " [2 findings without a text left out]") {
		t.Errorf("got %s %q with %d findings", o.State, o.Reason, len(o.Findings))
	}
}

// Where the model's context window is full before the reply ends, another try has a
// smaller request.
func TestWindowFull(t *testing.T) {
	m := &scorertest.Model{Reply: func(n int, _ *eval.ModelRequest) *eval.ModelReply {
		r := scorertest.Answers(reply("3 3 3", ""))
		if n == 0 {
			r.Samples[0].Text, r.Samples[0].Stop = `{"completion":{"rea`, eval.StopWindow
		}
		return r
	}}
	o := ask(t, m, long(300, 3000), "transcript", `{}`)
	if o.State != eval.Scored || o.Value != 0.75 || !strings.HasSuffix(o.Reason, "[condensed to 150,000 characters, because the model takes no more]") {
		t.Errorf("got %s %v %q", o.State, o.Value, o.Reason)
	}
	first, second := words(m.Requests[0]), words(m.Requests[1])
	if len(first) < 200_000 || len(second) > 150_000 || strings.Contains(second, "EARLIER REPLY") || m.Requests[1].MaxTokens != m.Requests[0].MaxTokens {
		t.Errorf("requests of %d and %d characters", len(first), len(second))
	}
	m = &scorertest.Model{Reply: func(int, *eval.ModelRequest) *eval.ModelReply {
		r := scorertest.Answers("{")
		r.Samples[0].Stop = eval.StopWindow
		return r
	}}
	if o := ask(t, m, trial(), "transcript", `{}`); o.State != eval.ScoreErrored || len(m.Requests) != 2 {
		t.Errorf("got %s %q after %d requests", o.State, o.Reason, len(m.Requests))
	}
}

// An answer that is an object or a list is shown as JSON, as it was said, and can be
// quoted.
func TestAnswerThatIsAnObject(t *testing.T) {
	for answer, want := range map[string]string{
		`{"ok": true, "items": [1, {"b": 2, "a": null}]}`: `{"items":[1,{"a":null,"b":2}],"ok":true}`,
		" [1,\n2] ":       `[1,2]`,
		`{"ok": true`:     `{"ok": true`,
		`[object Object]`: `[object Object]`,
	} {
		in := trial()
		in.Answer = answer
		m := says(reply("4 4 4", finding("other", "", "", strings.ReplaceAll(want, `"`, `\"`))))
		o := ask(t, m, in, "transcript", `{}`)
		if got := words(m.Requests[0]); !strings.Contains(got, " FINAL ANSWER>>>\n"+want+"\n<<<END") {
			t.Errorf("%s is shown otherwise than %s", answer, want)
		}
		if o.State != eval.Scored || len(o.Findings) != 1 || o.Findings[0].Unverified {
			t.Errorf("%s: got %+v", answer, o)
		}
	}
}

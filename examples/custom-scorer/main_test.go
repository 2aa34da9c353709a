package main

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

func TestAvoids(t *testing.T) {
	for _, test := range []struct {
		answer, params string
		passed         bool
		reason         string
	}{
		{"All done.", `{"words":["synergy"]}`, true, "none of the words"},
		{"What Synergy!", `{"words":["cheap","synergy"]}`, false, `the answer says "synergy"`},
		{"", `{"words":[]}`, true, "none of the words"},
	} {
		got := scorertest.One(t, eval.ScoreInput{Answer: test.answer}, "avoids", test.params)
		if got.Passed == nil || *got.Passed != test.passed || got.Reason != test.reason {
			t.Errorf("avoids(%q, %s) = %+v; want %v, %q", test.answer, test.params, got, test.passed, test.reason)
		}
	}
}

func TestBrevity(t *testing.T) {
	got := scorertest.One(t, eval.ScoreInput{Answer: "one two three four"}, "brevity", `{"most":2}`)
	if got.State != eval.Scored || got.Value != 0.5 || got.Raw == nil || *got.Raw != 4 || got.Unit != "words" {
		t.Errorf("got %+v; want 0.5 for 4 words", got)
	}
	if got := scorertest.One(t, eval.ScoreInput{}, "brevity", ""); got.State != eval.ScoreSkipped {
		t.Errorf("without an answer: got %+v; want skipped", got)
	}
}

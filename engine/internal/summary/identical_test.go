package summary

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestIdenticalRepeats(t *testing.T) {
	rec := func(story string, repeat int, file, sum string) *eval.Record {
		tr := eval.Trial{Story: story, Variant: "v", Host: "h", Repeat: repeat}
		return &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed, Calls: eval.Counts{Total: len(story) - 1}, Files: map[string]string{file: sum}}
	}
	var f Fold
	for _, r := range []*eval.Record{
		rec("aa", 3, "transcript.jsonl", "x"), rec("aa", 1, "transcript.jsonl", "x"), rec("aa", 2, "transcript.jsonl", "y"), rec("aa", 4, "transcript.jsonl.zst", "x"),
		rec("b", 1, "transcript.jsonl", "x"), rec("b", 2, "state.json", "x"), rec("b", 3, "state.json", "x"),
		// Without a call two may be alike by chance.
		rec("c", 1, "transcript.jsonl", "x"), rec("c", 2, "transcript.jsonl", "x"), rec("c", 3, "transcript.jsonl", "x"), rec("c", 4, "transcript.jsonl", "x"),
	} {
		f.Add(r)
	}
	want := []eval.FindingCount{{
		Kind: "identical_repeats", Severity: eval.SeverityMajor, Count: 3, Trials: []string{"aa.v.h.r1", "aa.v.h.r3", "aa.v.h.r4"},
		Text:       "3 repeats of aa.v on h left the same transcript to the byte: they are one repeat",
		Suggestion: "Look for a cache between the agent and its model: repeats that were not run say nothing of variance.",
	}}
	if diff := cmp.Diff(want, f.Summary(&eval.Run{}, time.Time{}, false).Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

package trial

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// What the agent did is scored again where the record says how its run ended,
// also where only a scorer broke; findings of scorers are theirs to make again.
func TestEvidenceOf(t *testing.T) {
	rec := func(outcome eval.Outcome, fault *eval.Fault, reason string) *eval.Record {
		return &eval.Record{
			Status: eval.StatusFailed, Cause: string(outcome), Reason: reason,
			Attempts: []eval.Attempt{{N: 1, Fault: &eval.Fault{Cause: eval.CauseStream}}, {N: 2, Outcome: outcome, Fault: fault}},
			Scores:   []eval.Score{{Name: "path/effort", Scorer: "path/effort"}},
			Findings: []eval.Finding{{Kind: "detour", Source: "path/effort"}, {Kind: "slow_tool", Source: "engine"}},
		}
	}
	for _, tt := range []struct {
		name   string
		rec    *eval.Record
		detail string
		ok     bool
	}{
		{"completed", rec(eval.Completed, nil, "answer: no"), "", true},
		{"ended otherwise", rec(eval.MaxTurns, nil, "the agent's run ended with max_turns: 40 were allowed"), "40 were allowed", true},
		{"a scorer broke", rec(eval.Completed, &eval.Fault{Cause: eval.CauseScorer}, "scorer: x"), "", true},
		{"the provider broke", rec("", &eval.Fault{Cause: eval.CauseRateLimit}, "rate_limit"), "", false},
		{"the state is unknown", rec(eval.Completed, &eval.Fault{Cause: eval.CauseObserve}, "observe"), "", false},
		{"skipped", &eval.Record{Status: eval.StatusSkipped, Attempts: []eval.Attempt{}}, "", false},
	} {
		e, err := evidenceOf(tt.rec)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrNoEvidence) {
			t.Errorf("%s: error %v; want ok %v", tt.name, err, tt.ok)
			continue
		}
		if !tt.ok {
			continue
		}
		if e.Detail != tt.detail {
			t.Errorf("%s: detail %q; want %q", tt.name, e.Detail, tt.detail)
		}
		if d := cmp.Diff(e.Record.Findings, []eval.Finding{{Kind: "slow_tool", Source: "engine"}}); d != "" {
			t.Errorf("%s: findings: %s", tt.name, d)
		}
	}
}

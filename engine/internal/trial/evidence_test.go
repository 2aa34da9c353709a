package trial

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// A crash between agent and scoring: the trial is scored from what it left, as it
// would have been, and no agent is started.
func TestSettled(t *testing.T) {
	f := &fake{turn: completes}
	st := story("one", "two")
	copied := filepath.Join(t.TempDir(), "draft")
	var r *Runner
	st.Checks = []eval.Check{{Name: "grew", Dimension: eval.DimensionOutcome, Condition: condition(func(f eval.Facts) (bool, string, error) {
		// What is on disk when scoring begins is what a crash leaves.
		if _, err := os.Stat(copied); os.IsNotExist(err) {
			if err := os.CopyFS(copied, os.DirFS(r.Ledger.Draft(hard.ID(), 1).Dir())); err != nil {
				t.Error(err)
			}
		}
		return string(f.Before) == `{"items":0}` && f.Answer == "the token is [secret]", "no", nil
	})}}
	r, _ = runner(t, f, st)
	whole, err := r.Run(t.Context(), hard)
	if err != nil || whole.Status != eval.StatusPassed {
		t.Fatalf("Run = %+v, %v", whole, err)
	}
	steps, _ := ledger.ReadSteps(r.Ledger.TrialDir(hard.ID()))

	// Back to the moment of the crash.
	if err := os.RemoveAll(r.Ledger.TrialDir(hard.ID())); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(r.Ledger.Draft(hard.ID(), 1).Dir(), os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	turns, made := f.turns, len(f.made)
	rec, ok, err := r.Settled(t.Context(), hard)
	if err != nil || !ok {
		t.Fatalf("Settled = %v, %v", ok, err)
	}
	if f.turns != turns || len(f.made) != made {
		t.Errorf("%d turns and %d targets were spent on it", f.turns-turns, len(f.made)-made)
	}
	if d := cmp.Diff(rec, whole, cmpopts.IgnoreTypes(eval.Timings{}), cmpopts.IgnoreFields(eval.Attempt{}, "Seconds", "StartedAt"), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("record: got -, want +:\n%s", d)
	}
	again, _ := ledger.ReadSteps(r.Ledger.TrialDir(hard.ID()))
	if d := cmp.Diff(again, steps); d != "" {
		t.Errorf("steps: %s", d)
	}
	if _, err := os.Stat(filepath.Join(r.Ledger.TrialDir(hard.ID()), "evidence.json")); err == nil {
		t.Error("evidence.json is left in the record")
	}
	if err := ledger.Verify(r.Ledger.TrialDir(hard.ID()), rec); err != nil {
		t.Error(err)
	}
}

// Evidence that is not whole is no evidence.
func TestSettledBent(t *testing.T) {
	f := &fake{turn: completes}
	st := story("one")
	copied := filepath.Join(t.TempDir(), "draft")
	var r *Runner
	st.Checks = []eval.Check{{Name: "x", Dimension: eval.DimensionOutcome, Condition: condition(func(eval.Facts) (bool, string, error) {
		return true, "", os.CopyFS(copied, os.DirFS(r.Ledger.Draft(hard.ID(), 1).Dir()))
	})}}
	r, _ = runner(t, f, st)
	if _, err := r.Run(t.Context(), hard); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.Ledger.TrialDir(hard.ID())); err != nil {
		t.Fatal(err)
	}
	draft := r.Ledger.Draft(hard.ID(), 1).Dir()
	for _, bend := range []func() error{
		func() error { return os.WriteFile(filepath.Join(draft, "transcript.jsonl"), []byte("{}\n"), 0o600) },
		func() error { return os.Remove(filepath.Join(draft, "state.json")) },
		func() error { return os.WriteFile(filepath.Join(draft, "evidence.json"), []byte(`{"files":{`), 0o600) },
		func() error { return os.Remove(filepath.Join(draft, "evidence.json")) },
	} {
		if err := os.RemoveAll(draft); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(draft, os.DirFS(copied)); err != nil {
			t.Fatal(err)
		}
		if err := bend(); err != nil {
			t.Fatal(err)
		}
		if rec, ok, err := r.Settled(t.Context(), hard); ok || err != nil {
			t.Errorf("Settled = %+v, %v, %v; want the trial to be run", rec, ok, err)
		}
	}
}

// An attempt that cost nothing is made again; its record is as any other.
func TestSettleOnlyWhatCosts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		usage eval.Usage
		want  bool
	}{
		{"no model", eval.Usage{}, false},
		{"requests", eval.Usage{Requests: 1}, true},
		{"tokens", eval.Usage{OutputTokens: 1}, true},
	} {
		f := &fake{turn: func(int, context.Context, string, func(eval.Event)) (eval.TurnResult, error) {
			return eval.TurnResult{Outcome: eval.Completed, Usage: tt.usage}, nil
		}}
		var r *Runner
		var settled bool
		st := story("one")
		st.Checks = []eval.Check{{Name: "x", Dimension: eval.DimensionOutcome, Condition: condition(func(eval.Facts) (bool, string, error) {
			_, err := os.Stat(filepath.Join(r.Ledger.Draft(hard.ID(), 1).Dir(), "evidence.json"))
			settled = err == nil
			return true, "", nil
		})}}
		r, _ = runner(t, f, st)
		rec, err := r.Run(t.Context(), hard)
		if err != nil || rec.Status != eval.StatusPassed {
			t.Fatalf("%s: Run = %+v, %v", tt.name, rec, err)
		}
		if settled != tt.want {
			t.Errorf("%s: settled %v; want %v", tt.name, settled, tt.want)
		}
		if err := ledger.Verify(r.Ledger.TrialDir(hard.ID()), rec); err != nil || len(rec.Files) != 2 {
			t.Errorf("%s: files %v, %v", tt.name, rec.Files, err)
		}
	}
}

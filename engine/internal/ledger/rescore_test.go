package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// recorded makes a run with one trial that passed.
func recorded(t *testing.T) (*Run, eval.Trial) {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trial := eval.Trial{Story: "a", Host: "h", Repeat: 1}
	r, err := s.Create(eval.Run{ID: NewID(time.Now()), Trials: []eval.Trial{trial}})
	if err != nil {
		t.Fatal(err)
	}
	rec := &eval.Record{ID: trial.ID(), Trial: trial, Status: eval.StatusPassed, Scores: []eval.Score{{Name: "first"}}}
	if err := r.Draft(trial.ID(), 1).Commit(rec, Bundle{}, nil); err != nil {
		t.Fatal(err)
	}
	return r, trial
}

// The verdict that none replaces counts, whatever the clock said.
func TestRescore(t *testing.T) {
	r, trial := recorded(t)
	id, at := trial.ID(), time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, s := range []eval.Rescore{
		{ID: "b", Trial: id, ScoredAt: at, Replaces: eval.Verdict{Status: eval.StatusPassed}, Status: eval.StatusErrored},
		{ID: "c", Trial: id, ScoredAt: at.Add(-time.Hour), Replaces: eval.Verdict{ID: "b"}, Status: eval.StatusFailed, Cause: "outcome",
			Reason: "no", Scores: []eval.Score{{Name: "third"}}, Findings: []eval.Finding{{Kind: "k"}}},
	} {
		if err := r.Rescore(&s, nil); err != nil {
			t.Fatal(err)
		}
		if err := r.Rescore(&s, nil); !errors.Is(err, ErrExists) {
			t.Errorf("the same again = %v; want ErrExists", err)
		}
	}
	// What a crash leaves of a write is no verdict.
	if err := os.WriteFile(filepath.Join(r.TrialDir(id), "scores", ".tmp-1"), []byte(`{"id":"d`), 0o600); err != nil {
		t.Fatal(err)
	}
	rec, err := r.Record(id)
	if err != nil {
		t.Fatal(err)
	}
	want := &eval.Rescored{ID: "c", ScoredAt: at.Add(-time.Hour), Times: 2, First: eval.Verdict{Status: eval.StatusPassed}}
	if d := cmp.Diff(rec.Rescored, want); d != "" {
		t.Errorf("rescored: %s", d)
	}
	if rec.Status != eval.StatusFailed || rec.Cause != "outcome" || rec.Reason != "no" || len(rec.Scores) != 1 || rec.Scores[0].Name != "third" || len(rec.Findings) != 1 {
		t.Errorf("record = %+v", rec)
	}
	first, err := ReadFirst(r.TrialDir(id))
	if err != nil || first.Status != eval.StatusPassed || first.Scores[0].Name != "first" || first.Rescored != nil {
		t.Errorf("trial.json = %+v, %v", first, err)
	}
	if err := Verify(r.TrialDir(id), first); err != nil {
		t.Error(err)
	}
}

// A later scoring that broke does not make a resume start the agent again.
func TestRescoreThatBrokeIsFinished(t *testing.T) {
	r, trial := recorded(t)
	if err := r.Rescore(&eval.Rescore{ID: "b", Trial: trial.ID(), Status: eval.StatusErrored, Cause: eval.CauseScorer}, nil); err != nil {
		t.Fatal(err)
	}
	if rest, err := r.Unfinished(); err != nil || len(rest) != 0 {
		t.Errorf("unfinished = %v, %v; want none", rest, err)
	}
}

func TestRescoreUnreadable(t *testing.T) {
	for name, text := range map[string]string{"cut": `{"id":"b","sta`, "of another": `{"id":"x","status":"passed"}`, "without a status": `{"id":"b"}`} {
		r, trial := recorded(t)
		dir := filepath.Join(r.TrialDir(trial.ID()), "scores")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "b.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rec, err := r.Record(trial.ID()); err == nil {
			t.Errorf("%s: record = %+v; want an error, not an older verdict", name, rec)
		}
	}
}

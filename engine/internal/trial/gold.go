package trial

import (
	"context"
	"io"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// GoldHost is the host that golds and floors are recorded under.
const GoldHost = "gold"

// Gold is what scorers are told of a story's gold.
type Gold struct {
	State eval.JSON
	Pages []eval.Page
	// Grades and Floor are those that can be used; Stale says why others cannot.
	Grades, Floor []eval.Grade
	Stale         string
}

// GoldTrial is the trial that a story's gold, or its floor, is kept as.
func GoldTrial(story string) eval.Trial {
	return eval.Trial{Story: story, Host: GoldHost, Repeat: 1}
}

// ReadGold reads the state and the pages of recorded evidence, after it has held
// its files against their sums.
func ReadGold(dir string) (*eval.Record, *Gold, error) {
	rec, err := ledger.ReadFirst(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := ledger.Verify(dir, rec); err != nil {
		return nil, nil, err
	}
	state, err := ledger.ReadState(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := ledger.ReadPages(dir, rec.Pages); err != nil {
		return nil, nil, err
	}
	return rec, &Gold{State: state.After, Pages: rec.Pages}, nil
}

// Grade scores the evidence of a gold or of a floor as that of a trial, for the
// n-th time: no model's answer to another time is taken for this one. What judges
// ask is written to log.
func (r *Runner) Grade(ctx context.Context, dir, story string, n int, log io.Writer) ([]eval.Score, error) {
	st, host := r.Suite.Story(story), r.Suite.Host(GoldHost)
	a, err := r.recordedIn(dir, GoldTrial(story), st, host)
	if err != nil {
		return nil, err
	}
	a.trial.Repeat, a.judgeLog, a.own = n, log, true
	if a.placed == nil {
		a.values = r.Values
	}
	if f := a.score(ctx); f != nil {
		return nil, f
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a.hideSecrets()
	return a.scores, nil
}

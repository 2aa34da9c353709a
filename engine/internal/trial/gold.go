package trial

import (
	"context"
	"io"
	"slices"

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
	// Trial names the trial that State and Pages are of, where it is no gold.
	Trial string
}

// gold is what scorers are told of the story's gold, nil for nothing: judges are
// told of the trial that this one is compared with in its place, if there is one.
func (a *attempt) gold(judge bool) *Gold {
	if judge && a.other != nil {
		return a.other
	}
	return a.r.Golds[a.trial.Story]
}

// Compares reports whether a scorer is a judge that looks at two results.
func Compares(spec *eval.ScorerSpec) bool {
	return asks(spec) && slices.Contains(spec.Needs, eval.PartGold)
}

// asks reports whether a scorer may ask a model.
func asks(spec *eval.ScorerSpec) bool { return spec != nil && len(spec.Capabilities) > 0 }

// findOther looks for the trial that this one is compared with, if judges of the
// story compare.
func (a *attempt) findOther() {
	if a.r.Others == nil {
		return
	}
	for i := range a.story.Uses {
		u := &a.story.Uses[i]
		if m := a.r.Modules[moduleOf(u)]; m != nil && Compares(m.Manifest().Scorer(scorerOf(u))) {
			a.other = a.r.Others(a.trial)
			return
		}
	}
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

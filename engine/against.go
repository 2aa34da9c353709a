package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/trial"
)

// Against says which other trial each trial is compared with by judges of two
// results: the one of the same story and repeat. The zero Against compares no two
// trials.
type Against struct {
	// Run is the run of the others; empty is the same run.
	Run string
	// Variant and Host are those of the others; empty are each trial's own.
	Variant, Host string
}

// others finds the other trials.
type others struct {
	kept *ledger.Run
	own  bool
	by   Against

	mu sync.Mutex
	// taken are the IDs of those that were found, and unpaired says why trials have
	// none.
	taken    map[string]bool
	unpaired map[string]error
}

var errSelf = errors.New("it is the trial itself")

func newOthers(store *Store, own *ledger.Run, by Against) (*others, error) {
	o := &others{kept: own, own: true, by: by, taken: map[string]bool{}, unpaired: map[string]error{}}
	if by.Run != "" {
		kept, err := store.Run(by.Run)
		if err != nil {
			return nil, err
		}
		if kept.Info.ID != own.Info.ID {
			o.kept, o.own = kept, false
		}
	}
	if o.own && by.Variant == "" && by.Host == "" {
		return nil, fmt.Errorf("run %s cannot be compared with itself: name a variant or a host of it to compare with", own.Info.ID)
	}
	if !slices.ContainsFunc(o.kept.Info.Trials, o.chosen) {
		return nil, fmt.Errorf("run %s has no trial of the variant or host to compare with", o.kept.Info.ID)
	}
	return o, nil
}

// chosen reports whether a trial is one of those to compare with.
func (o *others) chosen(t eval.Trial) bool {
	return (o.by.Variant == "" || variantName(o.by.Variant) == t.Variant) && (o.by.Host == "" || o.by.Host == t.Host)
}

func variantName(name string) string {
	if name == eval.NoVariant {
		return ""
	}
	return name
}

// of is what judges are told of a trial's other trial.
func (o *others) of(t eval.Trial) *trial.Gold {
	other := t
	if o.by.Variant != "" {
		other.Variant = variantName(o.by.Variant)
	}
	if o.by.Host != "" {
		other.Host = o.by.Host
	}
	g, err := o.read(t, other)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.unpaired[t.ID()] = err
		g = &trial.Gold{Stale: err.Error()}
	} else {
		o.taken[other.ID()] = true
	}
	if g.Trial = other.ID(); !o.own {
		g.Trial += " of " + o.kept.Info.ID
	}
	return g
}

func (o *others) read(t, other eval.Trial) (*trial.Gold, error) {
	if o.own && t == other {
		return nil, errSelf
	}
	rec, g, err := trial.ReadGold(o.kept.TrialDir(other.ID()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("it has no record")
	case err != nil:
		return nil, err
	case rec.Status != eval.StatusPassed && rec.Status != eval.StatusFailed && rec.Cause != eval.CauseScorer:
		return nil, fmt.Errorf("it has no result: %s, %s", rec.Status, rec.Cause)
	case len(g.State) == 0 && len(g.Pages) == 0:
		return nil, errors.New("it left neither state nor pages")
	}
	return g, nil
}

// left lists the trials that were compared with none, in the order of a plan, but
// for those that are the others themselves; and the others that nobody was compared
// with.
func (o *others) left(trials []eval.Trial) (list []Unscored, alone []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range trials {
		if err := o.unpaired[t.ID()]; err != nil && err != errSelf {
			list = append(list, Unscored{Trial: t.ID(), Why: err})
		}
	}
	for _, t := range o.kept.Info.Trials {
		if o.chosen(t) && !o.taken[t.ID()] {
			alone = append(alone, t.ID())
		}
	}
	return list, alone
}

// compareWith makes the run's judges compare trials with others.
func (sc *scoring) compareWith() error {
	if sc.o.Against == (Against{}) {
		return nil
	}
	if !slices.ContainsFunc(sc.r.uses(), sc.r.compares) {
		return diag.Errors("nothing compares trials", "No story of the run has a judge that looks at two results. Add `judge \"judge/pairwise\" { model = ... }` to one, in the suite or in a changed one.")
	}
	o, err := newOthers(sc.o.Store, sc.kept, sc.o.Against)
	if err != nil {
		return err
	}
	sc.others, sc.runner.Others = o, o.of
	return nil
}

func (r *run) compares(u eval.ScorerUse) bool {
	m := r.modules[moduleName(u.Scorer)]
	return m != nil && trial.Compares(m.Manifest().Scorer(u.Scorer[len(moduleName(u.Scorer))+1:]))
}

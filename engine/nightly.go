package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/compare"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/nightly"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

// DefaultNights is how many earlier runs make the moving baseline.
const DefaultNights = 7

// historyNights is how many earlier runs a score's spread is held against.
const historyNights = 30

// minMoving is how many earlier runs a median is made of at the least.
const minMoving = 3

// NightlyOptions say what a run is held against.
type NightlyOptions struct {
	CompareOptions
	// Against is the run that it is compared with; empty takes the suite's baseline.
	Against string
	// Nights is how many earlier runs the moving baseline is the median of; 0 is
	// [DefaultNights].
	Nights int
	// SetBaseline makes the run the baseline of its suite where none is set.
	SetBaseline bool
	// Triage is the file of what people decided about findings; empty takes the usual.
	Triage string
}

// Nightly tells what a stored run of the suite changed. The earlier runs of the same
// suite and experiment are the nights before.
func (e *Engine) Nightly(ctx context.Context, s *eval.Suite, run string, o NightlyOptions) (*eval.Nightly, error) {
	kept, err := openWhole(o.Store, run)
	if err != nil {
		return nil, err
	}
	if kept.Info.Suite != s.Name {
		return nil, fmt.Errorf("run %s is of suite %q, and this one is %q", kept.Info.ID, kept.Info.Suite, s.Name)
	}
	if o.Nights == 0 {
		o.Nights = DefaultNights
	}
	n := &night{e: e, s: s, o: o, run: kept, told: &eval.Nightly{
		Schema: ledger.SchemaVersion, Suite: kept.Info.Suite, Run: kept.Info.ID, Experiment: kept.Info.Experiment,
		StartedAt: kept.Info.StartedAt, Planned: planned(kept, o.keeps),
	}}
	if err := n.before(); err != nil {
		return nil, err
	}
	if err := n.tonight(); err != nil {
		return nil, err
	}
	if err := n.compare(ctx); err != nil {
		return nil, err
	}
	n.findings()
	n.coverage(ctx)
	return n.finish()
}

// night is one report under way.
type night struct {
	e    *Engine
	s    *eval.Suite
	o    NightlyOptions
	run  *ledger.Run
	told *eval.Nightly
	// earlier are the nights before that can be read, the oldest first, with the spread
	// of each of their scores.
	earlier  []*reading
	baseline *ledger.Run
	now      *reading
	fixed    *eval.Comparison
	moving   *eval.Comparison
}

// reading is what one pass over a run's records gives.
type reading struct {
	run    *ledger.Run
	side   *compare.Side
	scores map[series][]float64
	sum    *eval.Summary
	// errored counts the trials that errored by cause.
	errored map[string]int
}

// series is a score of an arm.
type series struct {
	arm   eval.Trial
	score string
}

func (n *night) problem(format string, args ...any) {
	n.told.Problems = append(n.told.Problems, fmt.Sprintf(format, args...))
}

// before reads the earlier runs of the suite and finds the baseline.
func (n *night) before() error {
	ids, err := n.o.Store.Runs()
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		if len(n.earlier) == historyNights {
			break
		}
		r, err := openWhole(n.o.Store, id)
		if err != nil || r.Info.Suite != n.told.Suite || r.Info.Experiment != n.told.Experiment {
			continue // another suite's, or not to be read at all: it says nothing of this one
		}
		if !r.Info.StartedAt.Before(n.told.StartedAt) {
			continue
		}
		read, err := n.read(r)
		if err != nil {
			n.problem("the run %s is left out: %v", id, err)
			continue
		}
		n.earlier = append(n.earlier, read)
	}
	// IDs of one second are in no order.
	slices.SortStableFunc(n.earlier, func(a, b *reading) int { return a.run.Info.StartedAt.Compare(b.run.Info.StartedAt) })
	return n.findBaseline()
}

func (n *night) findBaseline() error {
	name := n.o.Against
	if name == "" {
		b, err := n.o.Store.ReadBaseline(n.told.Suite)
		if errors.Is(err, ledger.ErrNoBaseline) {
			return nil
		}
		if err != nil {
			return err
		}
		name = b.Run
	}
	r, err := openWhole(n.o.Store, name)
	if err != nil {
		return fmt.Errorf("the baseline %s: %w; set another: evalengine baseline set RUN", name, err)
	}
	switch {
	case r.Info.Suite != n.told.Suite:
		return fmt.Errorf("the baseline %s is of suite %q, and this one is %q", name, r.Info.Suite, n.told.Suite)
	case r.Info.ID == n.told.Run:
		return nil // the night that set it
	}
	n.baseline, n.told.Baseline = r, r.Info.ID
	return nil
}

// read makes a side of a run, and collects the values of the scores that are no
// rates.
func (n *night) read(r *ledger.Run) (*reading, error) {
	out := &reading{run: r, side: compare.NewSide(r.Info.ID), scores: map[series][]float64{}, errored: map[string]int{}}
	out.side.AddRun(&r.Info, planned(r, n.o.keeps))
	var fold summary.Fold
	for _, t := range r.Info.Trials {
		if n.o.keeps(t) {
			fold.Expect(t)
		}
	}
	last := r.Info.StartedAt
	for rec, err := range wholeRecords(r) {
		if err != nil {
			return nil, err
		}
		if !n.o.keeps(rec.Trial) {
			continue
		}
		out.side.Add(rec)
		fold.Add(rec)
		if rec.Timings.FinishedAt.After(last) {
			last = rec.Timings.FinishedAt
		}
		if rec.Status == eval.StatusErrored {
			out.errored[rec.Cause]++
		}
	}
	out.sum = fold.Summary(&r.Info, last, false)
	for _, a := range out.sum.Arms {
		for _, st := range a.Scores {
			if st.Role != eval.RoleAssert && len(st.Values) > 1 {
				out.scores[series{eval.Trial{Story: a.Story, Variant: a.Variant, Host: a.Host}, st.Name}] = st.Values
			}
		}
	}
	return out, nil
}

func (n *night) tonight() error {
	read, err := n.read(n.run)
	if err != nil {
		return err
	}
	n.now = read
	n.told.Trials, n.told.Usage, n.told.Causes = read.sum.Trials, read.sum.Usage, nightly.Causes(read.errored)
	n.told.Seconds = read.sum.FinishedAt.Sub(read.sum.StartedAt).Seconds()
	if text := nightly.Unfinished(n.told); text != "" {
		n.problem("%s", text)
	}
	return nil
}

// compare holds the run against the baseline and against the nights before.
func (n *night) compare(ctx context.Context) error {
	noise := n.noise()
	if n.baseline != nil {
		side, err := n.baseSide()
		if err != nil {
			return err
		}
		if unknown := n.e.tellParameters(ctx, n.baseline, n.run, side, n.now.side); unknown != "" {
			n.problem("%s", unknown)
		}
		if n.fixed, err = compare.Compare(side, n.now.side, n.o.options()); err != nil {
			return err
		}
		n.add(n.fixed, nightly.AgainstBaseline, noise)
	}
	nights := n.earlier[max(0, len(n.earlier)-n.o.Nights):]
	if len(nights) >= minMoving {
		var sides []*compare.Side
		for _, x := range nights {
			sides = append(sides, x.side)
			n.told.Nights = append(n.told.Nights, x.run.Info.ID)
		}
		var err error
		if n.moving, err = compare.Compare(compare.Median("nights before", sides), n.now.side, n.o.options()); err != nil {
			return err
		}
		n.add(n.moving, nightly.AgainstNights, noise)
	}
	n.told.Variance = nightly.Variance(n.series(), n.o.Seed)
	return nil
}

// baseSide is the baseline's side, read again only where it is none of the nights.
func (n *night) baseSide() (*compare.Side, error) {
	for _, x := range n.earlier {
		if x.run.Info.ID == n.baseline.Info.ID {
			return x.side, nil
		}
	}
	return RunSide(n.baseline, n.o.keeps)
}

// add takes over what a comparison tells; what the baseline told is not told twice.
func (n *night) add(c *eval.Comparison, against string, noise *eval.Noise) {
	worse, better := nightly.Changes(c, against, noise)
	n.told.Regressions = append(n.told.Regressions, untold(n.told.Regressions, worse)...)
	n.told.Improved = append(n.told.Improved, untold(n.told.Improved, better)...)
}

func untold(told, list []eval.NightlyChange) []eval.NightlyChange {
	return slices.DeleteFunc(list, func(c eval.NightlyChange) bool {
		return slices.ContainsFunc(told, func(t eval.NightlyChange) bool {
			return t.Name == c.Name && t.Dimension == c.Dimension && (t.Story == c.Story || t.Story == "" && slices.Contains(t.Stories, c.Story) || c.Story == "")
		})
	})
}

// series are the scores of tonight with their values on the nights before.
func (n *night) series() []nightly.Series {
	var list []nightly.Series
	for key, values := range n.now.scores {
		s := nightly.Series{Arm: key.arm, Score: key.score, Tonight: values}
		for _, x := range n.earlier {
			if v := x.scores[key]; v != nil {
				s.Before = append(s.Before, v)
			}
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b nightly.Series) int {
		return slices.Compare([]string{a.Arm.ID(), a.Score}, []string{b.Arm.ID(), b.Score})
	})
	return list
}

// noise is what the newest run that was held against itself says: the baseline, or
// one of the nights.
func (n *night) noise() *eval.Noise {
	runs := []*ledger.Run{}
	if n.baseline != nil {
		runs = append(runs, n.baseline)
	}
	for _, x := range slices.Backward(n.earlier) {
		runs = append(runs, x.run)
	}
	for _, r := range runs {
		text, err := os.ReadFile(filepath.Join(r.Dir(), NoiseFile))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var noise eval.Noise
		if err == nil {
			err = json.Unmarshal(text, &noise)
		}
		if err == nil && noise.Schema != ledger.SchemaVersion {
			err = fmt.Errorf("schema %d; this evalengine reads %d", noise.Schema, ledger.SchemaVersion)
		}
		if err != nil {
			n.problem("the noise floor of run %s cannot be read: %v", r.Info.ID, err)
			continue
		}
		n.told.Noise = &eval.NightlyNoise{Run: r.Info.ID, FalseRegressed: noise.FalseRegressed}
		return &noise
	}
	return nil
}

// findings tells which are new, which came back and which are gone.
func (n *night) findings() {
	d, err := FindingDelta(n.told.Run, FindingsOptions{Store: n.o.Store, Experiment: n.told.Experiment, Triage: n.o.Triage})
	if err != nil {
		n.problem("findings: %v", err)
		return
	}
	n.told.Known = len(d.Known) + len(d.Acknowledged)
	n.told.CameBack, n.told.Gone = d.CameBack, d.Gone
	if d.Before > 0 {
		n.told.New = d.New
	} else {
		n.told.Known += len(d.New) // nothing was there to be new against
	}
}

// coverage tells what no story reaches any more and how the lists of tools changed.
func (n *night) coverage(ctx context.Context) {
	before := n.lastNight()
	o := CoverageOptions{Store: n.o.Store, Runs: []string{n.told.Run}}
	if before != nil {
		o.Against = before.Info.ID
	}
	now, err := n.e.Coverage(ctx, n.s, n.o.Selection, o)
	var then *eval.Coverage
	if before != nil {
		var problem error
		then, problem = n.e.Coverage(ctx, n.s, n.o.Selection, CoverageOptions{Store: n.o.Store, Runs: []string{before.Info.ID}})
		if problem != nil && !errors.Is(problem, ErrNoTools) {
			n.problem("coverage of run %s: %v", before.Info.ID, problem)
		}
	}
	if err != nil {
		if then != nil || !errors.Is(err, ErrNoTools) { // without tools on either night there is nothing to cover
			n.problem("coverage: %v", err)
		}
		return
	}
	n.told.Uncovered, n.told.UncoveredBefore = nightly.Uncovered(now, then)
	if then == nil && before == nil {
		n.told.UncoveredBefore, n.told.Uncovered = len(n.told.Uncovered), nil
	}
	n.told.Lost, n.told.Drift = nightly.Lost(now, then), nightly.Drift(now, then)
}

// lastNight is the run before this one; the baseline where there is no other.
func (n *night) lastNight() *ledger.Run {
	if len(n.earlier) > 0 {
		return n.earlier[len(n.earlier)-1].run
	}
	return n.baseline
}

func (n *night) finish() (*eval.Nightly, error) {
	c := n.fixed
	if c == nil {
		c = n.moving
	}
	if n.o.SetBaseline && n.baseline == nil {
		b, err := SetBaseline(n.o.Store, n.told.Run)
		if err != nil {
			return nil, err
		}
		n.told.SetBaseline = b.Run == n.told.Run
	}
	nightly.Settle(n.told, c)
	return n.told, nil
}

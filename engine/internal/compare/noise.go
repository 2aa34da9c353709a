package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// DefaultSplits is how often an arm is split.
const DefaultSplits = 500

// fewest is how many trials a side of a split must have: with one, nothing is known
// of repeats.
const fewest = 2

// ErrFewRepeats is returned when no arm has enough finished trials for two sides.
var ErrFewRepeats = errors.New("too few repeats")

// Sample keeps the values of a run's trials for [Sample.Noise]: a number for each
// trial and quantity.
type Sample struct {
	trials map[armKey][]kept
	order  []armKey
	tally  eval.Tally
}

// kept is one finished trial.
type kept struct {
	trial  eval.Trial
	status eval.Status
	seen   []observed
}

// Add takes in a record.
func (s *Sample) Add(r *eval.Record) {
	tally(&s.tally, r.Status, r.Cause)
	if s.trials == nil {
		s.trials = map[armKey][]kept{}
	}
	k := armKey{r.Story, r.Variant, r.Host}
	if _, ok := s.trials[k]; !ok {
		s.order = append(s.order, k)
		s.trials[k] = nil
	}
	if r.Status == eval.StatusPassed || r.Status == eval.StatusFailed {
		s.trials[k] = append(s.trials[k], kept{r.Trial, r.Status, observe(r)})
	}
}

// Noise parts the trials of each arm at random in two halves, again and again, and
// counts how often [Compare] says that one changed against the other, which it never
// did. Of an odd number of trials one is left out at random each time.
func (s *Sample) Noise(ctx context.Context, splits int, o Options) (*eval.Noise, error) {
	o, err := o.Filled()
	if err != nil {
		return nil, err
	}
	n := &eval.Noise{Schema: schemaVersion, Level: o.Level, Seed: o.Seed, Splits: splits, Trials: s.tally, Floors: []eval.NoiseFloor{}}
	arms := s.enough(n)
	if len(arms) == 0 {
		return nil, fmt.Errorf("%w: no story has %d finished trials on one host and variant, which two sides of %d take; run it with -k %d or more", ErrFewRepeats, 2*fewest, fewest, 2*fewest)
	}
	r := rand.New(rand.NewPCG(o.Seed, uint64(splits)))
	t := &noise{out: n, floors: map[quantityKey]*floor{}}
	for range splits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		base, head := s.split(arms, r)
		c, err := Compare(base, head, o)
		if err != nil {
			return nil, err
		}
		t.add(c)
	}
	t.finish()
	return n, nil
}

// enough are the arms that can be split; the others are listed as left out.
func (s *Sample) enough(n *eval.Noise) []armKey {
	var arms []armKey
	stories := map[string]bool{}
	for _, k := range s.order {
		half := len(s.trials[k]) / 2
		if half < fewest {
			n.LeftOut = append(n.LeftOut, eval.Unpaired{Story: k.story, Variant: k.variant, Host: k.host, Side: "neither", Trials: len(s.trials[k])})
			continue
		}
		if len(arms) == 0 || half < n.Repeats[0] {
			n.Repeats[0] = half
		}
		n.Repeats[1] = max(n.Repeats[1], half)
		arms = append(arms, k)
		stories[k.story] = true
	}
	n.Stories = len(stories)
	return arms
}

func (s *Sample) split(arms []armKey, r *rand.Rand) (base, head *Side) {
	base, head = NewSide("first half"), NewSide("second half")
	for _, k := range arms {
		trials := s.trials[k]
		order := r.Perm(len(trials))
		half := len(order) / 2
		for i, at := range order[:2*half] {
			side := base
			if i >= half {
				side = head
			}
			side.addTrial(trials[at].trial, trials[at].status, "", trials[at].seen)
		}
	}
	return base, head
}

// noise adds up comparisons.
type noise struct {
	out       *eval.Noise
	floors    map[quantityKey]*floor
	order     []quantityKey
	regressed int
	improved  int
	drops     int
}

type floor struct {
	eval.NoiseFloor
	sizes   []float64
	stories map[string][]float64
	names   []string
}

func (n *noise) add(c *eval.Comparison) {
	switch c.Verdict {
	case eval.Regressed:
		n.regressed++
	case eval.Improved:
		n.improved++
	case eval.InsufficientData:
		n.out.Insufficient++
	}
	drop := false
	for _, d := range c.Dimensions {
		if d.Difference == nil {
			continue
		}
		drop = drop || d.Gated && worse(*d.Difference, d.LowerIsBetter)
		n.floor(d).add(d)
	}
	if drop {
		n.drops++
	}
}

func (n *noise) floor(d eval.Compared) *floor {
	k := quantityKey{d.Kind, d.Name}
	f := n.floors[k]
	if f == nil {
		f = &floor{NoiseFloor: eval.NoiseFloor{Kind: d.Kind, Name: d.Name, Dimension: d.Dimension, Unit: d.Unit, Gated: d.Gated}, stories: map[string][]float64{}}
		n.floors[k] = f
		n.order = append(n.order, k)
	}
	return f
}

func (f *floor) add(d eval.Compared) {
	f.sizes = append(f.sizes, math.Abs(*d.Difference))
	switch d.Verdict {
	case eval.Regressed:
		f.FalseRegressed++
	case eval.Improved:
		f.FalseImproved++
	}
	for _, s := range d.Changed {
		if _, ok := f.stories[s.Story]; !ok {
			f.names = append(f.names, s.Story)
		}
		f.stories[s.Story] = append(f.stories[s.Story], math.Abs(s.Difference))
	}
}

func (n *noise) finish() {
	n.out.FalseRegressed = alarm(n.regressed, n.out.Splits, n.out.Level)
	n.out.FalseImproved = alarm(n.improved, n.out.Splits, n.out.Level)
	n.out.AnyDrop = alarm(n.drops, n.out.Splits, n.out.Level)
	for _, k := range n.order {
		f := n.floors[k]
		slices.Sort(f.sizes)
		f.Splits = len(f.sizes)
		f.Median, f.P95, f.Max = stats.SortedQuantile(f.sizes, 0.5), stats.SortedQuantile(f.sizes, 0.95), f.sizes[len(f.sizes)-1]
		f.Stories = []eval.StoryNoise{}
		slices.Sort(f.names)
		for _, name := range f.names {
			x := f.stories[name]
			slices.Sort(x)
			f.Stories = append(f.Stories, eval.StoryNoise{Story: name, P95: stats.SortedQuantile(x, 0.95), Max: x[len(x)-1]})
		}
		n.out.Floors = append(n.out.Floors, f.NoiseFloor)
	}
}

func alarm(count, splits int, level float64) eval.FalseAlarm {
	a := eval.FalseAlarm{Count: count, Interval: []float64{}}
	if lo, hi, ok := stats.Wilson(count, splits, level); ok {
		a.Rate, a.Interval = float64(count)/float64(splits), []float64{lo, hi}
	}
	return a
}

package compare

import (
	"math"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// Side is one side of a comparison. It is not safe for concurrent use.
type Side struct {
	info eval.ComparedSide
	arms map[armKey]*arm
	// order is that of first use.
	order []armKey
	facts map[quantityKey]facts
	named []quantityKey
	made  made
	// parameters has digests of what scorers were given, where they are known.
	parameters map[scoreKey]string
	// definitions are what records say of the same; untold says that some do not.
	definitions map[scoreKey]*definition
	untold      bool
	rescored    bool
}

type armKey struct{ story, variant, host string }

type scoreKey struct{ story, score string }

type quantityKey struct {
	kind eval.QuantityKind
	name string
}

// facts are what is said of a quantity beside its values.
type facts struct {
	role      eval.Role
	dimension eval.Dimension
	unit      string
	lower     bool
}

type arm struct {
	trials int
	cells  map[quantityKey]*cell
}

// cell sums up the values of one quantity in one arm.
type cell struct {
	n        int
	mean, m2 float64
	// ones counts values that are 1, others those that are neither 0 nor 1.
	ones, others              int
	errored, skipped, refused int
	// parts are the scores behind it with their scorers.
	parts []part
}

type part struct{ score, scorer string }

// NewSide returns an empty side. Reports call it by name.
func NewSide(name string) *Side {
	return &Side{
		info: eval.ComparedSide{Name: name, Runs: []string{}}, arms: map[armKey]*arm{}, facts: map[quantityKey]facts{},
		made: made{sets: map[changeKey]*set{}, prompts: map[armKey]*set{}}, parameters: map[scoreKey]string{},
		definitions: map[scoreKey]*definition{},
	}
}

// Of says that the side is one host or one variant of a run.
func (s *Side) Of(host, variant string) *Side {
	s.info.Host, s.info.Variant = host, variant
	return s
}

// Info is what a comparison says of the side.
func (s *Side) Info() eval.ComparedSide { return s.info }

// AddRun takes in what a run says of itself, with how many of its planned trials
// belong to the side.
func (s *Side) AddRun(run *eval.Run, planned int) {
	s.info.Runs = append(s.info.Runs, run.ID)
	s.info.Planned += planned
	if len(s.info.Runs) == 1 {
		s.info.Suite, s.info.Experiment, s.info.StartedAt = run.Suite, run.Experiment, &run.StartedAt
	}
	s.made.addRun(run)
}

// SetParameters says by a digest what a story gave to the scorer of a score.
func (s *Side) SetParameters(story, score, digest string) {
	s.parameters[scoreKey{story, score}] = digest
}

// Rescored reports whether the verdict of a trial is a later one than its record's.
func (s *Side) Rescored() bool { return s.rescored }

// Add takes in a record. Errored and skipped trials are counted and enter nothing
// else.
func (s *Side) Add(r *eval.Record) {
	s.made.addRecord(r)
	s.addDefinitions(r)
	s.rescored = s.rescored || r.Rescored != nil
	s.addTrial(r.Trial, r.Status, r.Cause, observe(r))
}

func (s *Side) addTrial(t eval.Trial, status eval.Status, cause string, seen []observed) {
	a := s.arm(armKey{t.Story, t.Variant, t.Host})
	a.trials++
	tally(&s.info.Trials, status, cause)
	for _, o := range seen {
		s.cell(a, o).add(o)
	}
}

func tally(t *eval.Tally, status eval.Status, cause string) {
	t.Total++
	switch status {
	case eval.StatusPassed:
		t.Passed++
	case eval.StatusFailed:
		t.Failed++
	case eval.StatusErrored:
		t.Errored++
	case eval.StatusSkipped:
		t.Skipped++
	}
	if cause != "" {
		if t.Causes == nil {
			t.Causes = map[string]int{}
		}
		t.Causes[cause]++
	}
}

func (s *Side) arm(key armKey) *arm {
	a := s.arms[key]
	if a == nil {
		a = &arm{cells: map[quantityKey]*cell{}}
		s.arms[key] = a
		s.order = append(s.order, key)
	}
	return a
}

func (s *Side) cell(a *arm, o observed) *cell {
	if _, ok := s.facts[o.key]; !ok {
		s.facts[o.key] = o.facts
		s.named = append(s.named, o.key)
	}
	c := a.cells[o.key]
	if c == nil {
		c = &cell{}
		a.cells[o.key] = c
	}
	return c
}

// largest bounds a value: what is larger, or is no number, cannot be summed up and is
// refused.
const largest = 1e100

func (c *cell) add(o observed) {
	for _, p := range o.parts {
		if !slices.Contains(c.parts, p) {
			c.parts = append(c.parts, p)
		}
	}
	switch o.state {
	case eval.ScoreSkipped:
		c.skipped++
		return
	case eval.Scored:
	default:
		c.errored++
		return
	}
	if !(math.Abs(o.value) <= largest) {
		c.refused++
		return
	}
	switch o.value {
	case 1:
		c.ones++
	case 0:
	default:
		c.others++
	}
	c.n++
	d := o.value - c.mean
	c.mean += d / float64(c.n)
	c.m2 += d * (o.value - c.mean)
}

// join is the cell of both cells' values.
func join(a, b cell) cell {
	if a.n == 0 || b.n == 0 {
		if a.n == 0 {
			a.mean, a.m2, a.n = b.mean, b.m2, b.n
		}
	} else {
		n, d := float64(a.n+b.n), b.mean-a.mean
		a.m2 += b.m2 + d*d*float64(a.n)*float64(b.n)/n
		a.mean += d * float64(b.n) / n
		a.n += b.n
	}
	a.ones, a.others = a.ones+b.ones, a.others+b.others
	a.errored, a.skipped, a.refused = a.errored+b.errored, a.skipped+b.skipped, a.refused+b.refused
	parts := slices.Clone(a.parts)
	for _, p := range b.parts {
		if !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	a.parts = parts
	return a
}

// Package compare holds the trials of one side against those of another: paired by
// story, each quantity by itself, with a verdict that is corrected for how many
// quantities were looked at. It decides nothing about runs and files; sides are fed
// with records one by one, and what they keep does not grow with the number of
// trials.
//
// Start at [NewSide], feed it, then call [Compare]; [Median] makes a side out of
// several, and [Noise] holds an arm against itself.
package compare

import (
	"fmt"

	"github.com/evalengine/evalengine/engine/eval"
)

// What tells the sides of one run apart.
const (
	ByHost    = "host"
	ByVariant = "variant"
)

// schemaVersion is written into what this package makes.
const schemaVersion = 1

// Defaults of [Options].
const (
	DefaultLevel = 0.95
	DefaultDraws = 20000
	DefaultSeed  = 1
)

// power is what a detectable effect is seen with.
const power = 0.8

// Options say how sides are compared. The zero Options take the defaults.
type Options struct {
	// By is empty, [ByHost] or [ByVariant].
	By string
	// Level is that of the intervals, 1 less it the tests'.
	Level float64
	// Gates are globs over the names of quantities that gate beside the asserts.
	Gates []string
	// Force compares also what another scorer, or another use of it, made; the answer
	// says so.
	Force bool
	// Seed and Draws are of tests that draw at random.
	Seed  uint64
	Draws int
}

// Filled returns the options with their defaults, or what is wrong with them.
func (o Options) Filled() (Options, error) {
	if o.Level == 0 {
		o.Level = DefaultLevel
	}
	if o.Draws == 0 {
		o.Draws = DefaultDraws
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	switch {
	case !(o.Level >= 0.5 && o.Level < 1):
		return o, fmt.Errorf("level %v: give one from 0.5 to below 1, such as 0.95", o.Level)
	case o.By != "" && o.By != ByHost && o.By != ByVariant:
		return o, fmt.Errorf("by %q: give host or variant", o.By)
	}
	return o, nil
}

// Compare holds head against base. The verdicts are about head.
func Compare(base, head *Side, o Options) (*eval.Comparison, error) {
	o, err := o.Filled()
	if err != nil {
		return nil, err
	}
	m := newMatching(base, head, o.By)
	m.force = o.Force
	list := m.quantities(o)
	for _, q := range list {
		q.measure(o)
	}
	decide(list, 1-o.Level)
	changes := m.changes() // also makes notes
	c := &eval.Comparison{
		Schema: schemaVersion, By: o.By, Base: base.info, Head: head.info, Level: o.Level, Seed: o.Seed,
		Unpaired: m.unpaired(), Changes: changes, Notes: m.notes, Dimensions: []eval.Compared{},
	}
	for _, q := range list {
		c.Dimensions = append(c.Dimensions, q.out)
	}
	c.Verdict, c.Reason = overall(c.Dimensions)
	return c, nil
}

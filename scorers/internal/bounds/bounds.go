// Package bounds reads the parameters min, max and equals of scorers that count.
package bounds

import (
	"errors"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// Range is how often something may happen. A negative Max is none.
type Range struct{ Min, Max int }

// Of reads those of the parameters min, max and equals that the scorer has.
func Of(p scorer.Params, names ...string) (Range, error) {
	b := Range{0, -1}
	given := 0
	for _, name := range names {
		if !p.Has(name) {
			continue
		}
		given++
		n := p.Int(name)
		if n < 0 || p.Float(name) != float64(n) {
			return b, errors.New(name + " must be a whole number from 0 on")
		}
		if name != "max" {
			b.Min = n
		}
		if name != "min" {
			b.Max = n
		}
	}
	switch {
	case given == 0:
		return b, errors.New("give " + strings.Join(names, " or "))
	case given > 1 && slices.Contains(names, "equals") && p.Has("equals"):
		return b, errors.New("give equals, or min and max")
	}
	if b.Max >= 0 && b.Max < b.Min {
		return b, errors.New("max is less than min")
	}
	return b, nil
}

// Holds reports whether n is within the bounds.
func (b Range) Holds(n int) bool { return n >= b.Min && (b.Max < 0 || n <= b.Max) }

// String says the range: "at least 1", "exactly 2", "3 to 5".
func (b Range) String() string {
	switch {
	case b.Min == b.Max:
		return "exactly " + text.Int(b.Min)
	case b.Max < 0:
		return "at least " + text.Int(b.Min)
	case b.Min == 0:
		return "at most " + text.Int(b.Max)
	}
	return text.Int(b.Min) + " to " + text.Int(b.Max)
}

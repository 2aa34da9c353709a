package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func number(name, def, doc string) eval.Attribute {
	return eval.Attribute{Name: name, Type: "number", Default: eval.JSON(def), Doc: doc}
}

func registerCalled() {
	shared := []eval.Attribute{actionParam, statusParam, turnParam, scopeParam, anyServerParam}
	register("called", eval.RoleAssert, eval.DimensionOutcome,
		"Passes if the tool was called at least min and at most max times. A call that only the host reports and the gateway never saw does not count. Errored, not failed, if the target offers no tool of that name.",
		called, append([]eval.Attribute{toolParam,
			number("min", "1", "At least so many calls."),
			number("max", "", "At most so many calls."),
		}, shared...)...)
	register("count", eval.RoleAssert, eval.DimensionOutcome,
		"Passes if the number of calls is within min and max, or equals a number. Counts as tools/called does.",
		called, append([]eval.Attribute{toolParam,
			number("min", "", "At least so many calls."),
			number("max", "", "At most so many calls."),
			number("equals", "", "Exactly so many calls."),
		}, shared...)...)
}

func called(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	want, err := rangeOf(p)
	if err != nil {
		return scorer.Result{}, err
	}
	l := calls.New(in)
	f := actionFilter(p, p.String("tool"))
	if err := l.Resolve(f.Pattern, p.Bool("any_server")); err != nil {
		return scorer.Result{}, err
	}
	hits := l.Find(f)
	reason := describe(f) + " was " + text.Called(len(hits))
	if want.holds(len(hits)) {
		return scorer.Pass(reason, calls.Evidence(hits)...), nil
	}
	return scorer.Fail(reason+", want "+want.String()+unseen(l, f), calls.Evidence(hits)...), nil
}

// bounds are how often something may happen; a negative max is none.
type bounds struct{ min, max int }

func rangeOf(p scorer.Params) (bounds, error) {
	b := bounds{0, -1}
	given := false
	for _, name := range [...]string{"min", "max", "equals"} {
		if name == "equals" && p.Use().Scorer != "count" {
			break
		}
		if !p.Has(name) {
			continue
		}
		given = true
		n := p.Int(name)
		if n < 0 || p.Float(name) != float64(n) {
			return b, errors.New(name + " must be a whole number from 0 on")
		}
		if name != "max" {
			b.min = n
		}
		if name != "min" {
			b.max = n
		}
	}
	if !given {
		return b, errors.New("give min, max or equals")
	}
	if b.max >= 0 && b.max < b.min {
		return b, errors.New("max is less than min")
	}
	return b, nil
}

func (b bounds) holds(n int) bool { return n >= b.min && (b.max < 0 || n <= b.max) }

func (b bounds) String() string {
	switch {
	case b.min == b.max:
		return "exactly " + text.Int(b.min)
	case b.max < 0:
		return "at least " + text.Int(b.min)
	case b.min == 0:
		return "at most " + text.Int(b.max)
	}
	return text.Int(b.min) + " to " + text.Int(b.max)
}

package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/bounds"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func number(name, def, doc string) eval.Attribute {
	return eval.Attribute{Name: name, Type: "number", Default: eval.JSON(def), Doc: doc}
}

func registerCalled() {
	shared := []eval.Attribute{actionParam, statusParam, turnParam, scopeParam}
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
	names := []string{"min", "max"}
	if p.Use().Scorer == "count" {
		names = append(names, "equals")
	}
	want, err := bounds.Of(p, names...)
	if err != nil {
		return scorer.Result{}, err
	}
	l := calls.New(in)
	f := actionFilter(p, p.String("tool"))
	if err := l.Resolve(f.Pattern); err != nil {
		return scorer.Result{}, err
	}
	hits := l.Find(f)
	reason := describe(f) + " was " + text.Called(len(hits))
	if want.Holds(len(hits)) {
		return scorer.Pass(reason, calls.Evidence(hits)...), nil
	}
	return scorer.Fail(reason+", want "+want.String()+unseen(l, f), calls.Evidence(hits)...), nil
}

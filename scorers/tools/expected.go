package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func registerExpected() {
	scorer.Register(scorer.Spec{
		Name: "expected", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Needs: needs, Unit: "calls",
		Doc: "How far the calls are those expected, whatever their order: the calls that match an expected one of their own, divided by the larger of both numbers. Nothing expected and nothing called is 1. The raw value is how many match.",
		Params: eval.Schema{Attributes: []eval.Attribute{
			{Name: "tools", Type: "list(string)", Required: true, Doc: "The calls expected: a tool, as tools/called has it, once for every call."},
			{Name: "ignore", Type: "list(string)", Doc: "Tools whose calls do not matter, for example reads."},
			scopeParam,
		}},
	}, expected)
}

func expected(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	const limit = 1000
	patterns, ignore := p.Strings("tools"), p.Strings("ignore")
	if len(patterns) > limit {
		return scorer.Result{}, errors.New("tools must not name more than 1,000 calls")
	}
	l := calls.New(in)
	for _, pattern := range patterns {
		if err := l.Resolve(pattern); err != nil {
			return scorer.Result{}, err
		}
	}
	var hits []calls.Hit
	for _, h := range l.Find(calls.Filter{Pattern: "*", Main: p.String("scope") == "main"}) {
		if !matchesAny(ignore, h.Server, h.Tool) {
			hits = append(hits, h)
		}
	}
	a := assignment{hits: hits[:min(len(hits), 10*limit)]}
	for _, pattern := range patterns {
		a.add(pattern)
	}
	matched, most := len(a.taken), max(len(patterns), len(hits))
	value := 1.0
	if most > 0 {
		value = float64(matched) / float64(most)
	}
	reason := text.Int(matched) + " of " + text.Count(len(patterns), "expected call") + " made, " +
		text.Count(len(hits)-matched, "other call")
	return scorer.Measure(float64(matched), "", value, reason, calls.Evidence(hits)...), nil
}

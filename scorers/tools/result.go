package main

import (
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/match"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func registerResult() {
	register("result", eval.RoleAssert, eval.DimensionOutcome,
		"Passes if the results of the tool's calls match. The text of a result is looked at as JSON where it is JSON, unless match is contains or regex; pointer goes into it. Skipped, not failed, if the host kept a result from the agent because it was too large.",
		result, slices.Concat([]eval.Attribute{toolParam}, match.Params(), []eval.Attribute{
			whichParam, statusParam, turnParam, scopeParam,
		})...)
}

func result(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	m, err := match.New(p)
	if err != nil {
		return scorer.Result{}, err
	}
	return matchCalls(in, p, filter(p, p.String("tool")), func(l *calls.Log, h calls.Hit) look {
		if h.Status == eval.CallUnfinished {
			return look{wrong: "the call has no result"}
		}
		text := calls.ResultText(h.Call)
		switch {
		case calls.HostTruncated(text):
			return look{skip: true, unknown: "not visible to the agent: the host kept the result of " + h.Step + " from it (" + tree.Cut(text, 100) + ")"}
		case l.ResultCut(h.Call):
			return look{unknown: "the record holds only a part of the result of " + h.Step}
		}
		return look{wrong: m.Wrong(resultValue(text))}
	})
}

// resultValue is a result's text as JSON, or as a JSON string where it is none.
func resultValue(text string) tree.Value {
	if v, err := tree.Parse([]byte(text)); err == nil {
		return v
	}
	v, _ := tree.Parse(jsonv.AppendString(nil, text))
	return v
}

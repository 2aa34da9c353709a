package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

var facts = []fact{
	{
		name: "calls", unit: "calls", half: "20", doc: "How many tool calls the agent made.",
		attrs: []eval.Attribute{toolParam, scopeParam}, needs: callNeeds, measure: measureCalls,
	},
	{
		name: "failed_calls", unit: "calls", half: "3",
		doc:   "How many tool calls ended in an error. A result that the host replaced because it was too large is none.",
		attrs: []eval.Attribute{toolParam, scopeParam}, needs: callNeeds, measure: measureFailed,
	},
	{
		name: "repeated_calls", unit: "calls", half: "3",
		doc:   "How many tool calls are the same, tool and arguments, as an earlier one of the trial.",
		attrs: []eval.Attribute{toolParam, scopeParam}, needs: callNeeds, measure: measureRepeated,
	},
	{
		name: "bytes_returned", unit: "bytes", half: "256000", doc: "How many bytes the tools answered with.",
		attrs: []eval.Attribute{toolParam, scopeParam}, needs: callNeeds, measure: measureBytes,
	},
	{
		name: "turns", unit: "turns", half: "20",
		doc:     "How many times the model answered. Skipped where nobody counted them all.",
		measure: measureTurns,
	},
	{
		name: "tokens", unit: "tokens", half: "100000",
		doc: "How many tokens the agent consumed. Skipped where nobody counted them all.",
		attrs: []eval.Attribute{{Name: "of", Type: "string", Default: eval.JSON(`"total"`),
			Enum: []string{"total", "input", "output", "uncached"},
			Doc:  "Which tokens: total is input and output, uncached is total without what was read from a cache."}},
		measure: measureTokens,
	},
	{
		name: "seconds", unit: "s", half: "120", doc: "How long the agent took, in seconds.",
		measure: measureSeconds,
	},
	{
		name: "cost", unit: "USD", half: "1",
		doc:     "What the agent's model cost, in US dollars. Skipped where the price is not known or nobody counted all of it.",
		measure: measureCost,
	},
}

func (f fact) score(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	m := f.measure(in, p)
	if m.unknown != "" {
		return scorer.Skip(m.unknown), nil
	}
	value := 0.0
	switch half := p.Float("half"); {
	case p.Has("budget"):
		budget := p.Float("budget")
		if budget < 0 {
			return scorer.Result{}, errors.New("budget must not be negative")
		}
		value = within(m.raw, budget)
	case half <= 0:
		return scorer.Result{}, errors.New("half must be above 0")
	default:
		value = half / (half + m.raw)
	}
	return scorer.Measure(m.raw, "", value, m.reason, m.evidence...), nil
}

// within is 1 up to the budget and falls to 0 the farther above it.
func within(raw, budget float64) float64 {
	if raw <= budget {
		return 1
	}
	return budget / raw
}

func find(in *scorer.Input, p scorer.Params) []calls.Hit {
	return calls.New(in).Find(calls.Filter{Pattern: p.String("tool"), Main: p.String("scope") == "main", Unconfirmed: true})
}

func counted(hits []calls.Hit, noun string) measured {
	return measured{raw: float64(len(hits)), reason: text.Count(len(hits), noun), evidence: calls.Evidence(hits)}
}

func measureCalls(in *scorer.Input, p scorer.Params) measured { return counted(find(in, p), "call") }

func measureFailed(in *scorer.Input, p scorer.Params) measured {
	return counted(failed(find(in, p)), "failed call")
}

func measureRepeated(in *scorer.Input, p scorer.Params) measured {
	return counted(repeated(find(in, p)), "repeated call")
}

func measureBytes(in *scorer.Input, p scorer.Params) measured {
	hits := find(in, p)
	n := returned(hits)
	return measured{raw: float64(n), reason: text.Size(n) + " returned by " + text.Count(len(hits), "call")}
}

func measureTurns(in *scorer.Input, _ scorer.Params) measured {
	return fromUsage(in.Usage, float64(in.Usage.Turns), text.Count(in.Usage.Turns, "turn"), "turns")
}

func measureTokens(in *scorer.Input, p scorer.Params) measured {
	u := in.Usage
	n := u.InputTokens + u.OutputTokens
	switch p.String("of") {
	case "input":
		n = u.InputTokens
	case "output":
		n = u.OutputTokens
	case "uncached":
		n -= u.CacheReadTokens
	}
	return fromUsage(u, float64(n), text.Count(int(n), "token"), "tokens")
}

func measureCost(in *scorer.Input, _ scorer.Params) measured {
	if in.Usage.CostUSD == nil {
		return measured{unknown: "the cost is not known"}
	}
	cost := *in.Usage.CostUSD
	return fromUsage(in.Usage, cost, text.Number(cost)+" USD", "cost")
}

func measureSeconds(in *scorer.Input, _ scorer.Params) measured {
	return measured{raw: max(in.AgentSeconds, 0), reason: text.Number(in.AgentSeconds) + " s"}
}

// fromUsage refuses numbers that are placeholders or only a lower bound: they
// would pull a mean down.
func fromUsage(u eval.Usage, raw float64, reason, what string) measured {
	switch {
	case u.LowerBound:
		return measured{unknown: "only a lower bound is known: at least " + reason}
	case !(raw >= 0) || raw == 0 && u.Turns == 0 && u.InputTokens == 0 && u.OutputTokens == 0:
		return measured{unknown: "nobody counted the " + what}
	}
	return measured{raw: raw, reason: reason}
}

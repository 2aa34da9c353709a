package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// budgets are the parameters of effort that bound a fact of the same name.
var budgets = []string{"calls", "turns", "tokens", "seconds", "bytes_returned"}

func registerEffort() {
	var attrs []eval.Attribute
	for _, name := range budgets {
		attrs = append(attrs, eval.Attribute{Name: name, Type: "number", Doc: "A budget for path/" + name + "."})
	}
	scorer.Register(scorer.Spec{
		Name: "effort", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Unit: "calls", LowerIsBetter: true, Needs: callNeeds,
		Doc: "How straight the way was, and what made it crooked. The value is the mean of the share of calls that neither failed nor repeated an earlier one, and, for each budget given, of 1 within the budget and budget / number above it; a number that nobody counted is left out. The raw value is the number of calls. The findings are of the target's tools: " + findingKinds + ".",
		Params: eval.Schema{Attributes: append(attrs, scopeParam,
			eval.Attribute{Name: "verbose_kib", Type: "number", Default: eval.JSON(`50`), Doc: "Results above so many KiB are a finding."})},
	}, effort)
}

func effort(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	l := calls.New(in)
	hits := l.Find(calls.Filter{Pattern: "*", Main: p.String("scope") == "main", Unconfirmed: true})
	wasted := waste(hits)
	parts := []float64{1}
	if len(hits) > 0 {
		parts[0] = float64(len(hits)-len(wasted)) / float64(len(hits))
	}
	said, over := describe(in, hits), []string(nil)
	for _, name := range budgets {
		if !p.Has(name) {
			continue
		}
		budget := p.Float(name)
		if budget < 0 {
			return scorer.Result{}, errors.New(name + " must not be negative")
		}
		m := numberOf(in, hits, name)
		if m.unknown != "" {
			continue
		}
		parts = append(parts, within(m.raw, budget))
		if m.raw > budget {
			over = append(over, m.reason+" of "+text.Number(budget))
		}
	}
	if len(over) > 0 {
		said += "; over budget: " + strings.Join(over, ", ")
	}
	kib := p.Float("verbose_kib")
	if kib < 0 {
		return scorer.Result{}, errors.New("verbose_kib must not be negative")
	}
	r := scorer.Measure(float64(len(hits)), "", mean(parts), said, calls.Evidence(wasted)...)
	return r.WithFindings(findingsOf(l, hits, int64(kib*1024))...), nil
}

// waste returns the calls that failed or repeated an earlier one, in order.
func waste(hits []calls.Hit) []calls.Hit {
	list := append(failed(hits), repeated(hits)...)
	slices.SortStableFunc(list, func(a, b calls.Hit) int { return a.Index - b.Index })
	return slices.CompactFunc(list, func(a, b calls.Hit) bool { return a.Index == b.Index })
}

// numberOf measures the fact of that name.
func numberOf(in *scorer.Input, hits []calls.Hit, name string) measured {
	u := in.Usage
	switch name {
	case "turns":
		return fromUsage(u, float64(u.Turns), text.Count(u.Turns, "turn"), name)
	case "tokens":
		n := u.InputTokens + u.OutputTokens
		return fromUsage(u, float64(n), text.Count(int(n), "token"), name)
	case "seconds":
		return measured{raw: max(in.AgentSeconds, 0), reason: text.Number(in.AgentSeconds) + " s"}
	case "bytes_returned":
		n := returned(hits)
		return measured{raw: float64(n), reason: text.Count(int(n), "byte")}
	}
	return counted(hits, "call")
}

// describe says all facts that are known.
func describe(in *scorer.Input, hits []calls.Hit) string {
	var waste []string
	if n := len(failed(hits)); n > 0 {
		waste = append(waste, text.Int(n)+" failed")
	}
	if n := len(repeated(hits)); n > 0 {
		waste = append(waste, text.Int(n)+" repeated")
	}
	said := text.Count(len(hits), "call")
	if len(waste) > 0 {
		said += " (" + strings.Join(waste, ", ") + ")"
	}
	for _, name := range [...]string{"turns", "tokens", "seconds"} {
		if m := numberOf(in, hits, name); m.unknown == "" {
			said += ", " + m.reason
		}
	}
	return said + ", " + text.Size(returned(hits)) + " returned"
}

func mean(parts []float64) float64 {
	sum := 0.0
	for _, x := range parts {
		sum += x
	}
	return sum / float64(len(parts))
}

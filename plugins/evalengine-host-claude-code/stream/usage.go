package stream

import (
	"maps"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// usage is what the turn consumed, each token once.
//
// The closing line counts twice over: usage is of the turn, modelUsage of the
// process so far. The first misses answers that were never finished (a fallback,
// a budget stop, an error in mid-stream) and may leave out sub-agents, so the
// difference of the second is taken wherever it is the larger.
func (p *Parser) usage() eval.Usage {
	u := eval.Usage{Turns: len(p.messages), Models: slices.Clone(p.models), Source: "host"}
	if p.result == nil {
		// Lines of the turn carry placeholders, not counts.
		u.LowerBound = true
		return u
	}
	if !p.countsKnown() {
		p.notes.Add("the agent program tells counts of tokens that cannot be true; they are taken for unknown")
		u.LowerBound = true
		return u
	}
	own := tokens(modelUsage(p.result.Usage))
	var all eval.Usage
	for _, m := range slices.Sorted(maps.Keys(p.result.ModelUsage)) {
		d := minus(p.result.ModelUsage[m], p.base[m])
		t := tokens(d)
		if t.InputTokens+t.OutputTokens > 0 && !slices.Contains(u.Models, m) {
			u.Models = append(u.Models, m)
		}
		all.InputTokens += t.InputTokens
		all.CacheReadTokens += t.CacheReadTokens
		all.CacheWriteTokens += t.CacheWriteTokens
		all.OutputTokens += t.OutputTokens
	}
	if own.InputTokens+own.OutputTokens > all.InputTokens+all.OutputTokens {
		all = own
	}
	u.InputTokens, u.OutputTokens = all.InputTokens, all.OutputTokens
	u.CacheReadTokens, u.CacheWriteTokens = all.CacheReadTokens, all.CacheWriteTokens
	// A turn that took no tokens was not counted.
	u.LowerBound = aborted(p.result.Terminal) || u.Turns > 0 && u.InputTokens+u.OutputTokens == 0
	return u
}

func (p *Parser) countsKnown() bool {
	u := p.result.Usage
	known := agentout.Known(u.Input, u.CacheRead, u.CacheWrite, u.Output)
	for _, m := range p.result.ModelUsage {
		known = known && agentout.Known(m.Input, m.CacheRead, m.CacheWrite, m.Output)
	}
	return known
}

func minus(a, b modelUsage) modelUsage {
	return modelUsage{
		Input: max(a.Input-b.Input, 0), Output: max(a.Output-b.Output, 0),
		CacheRead: max(a.CacheRead-b.CacheRead, 0), CacheWrite: max(a.CacheWrite-b.CacheWrite, 0),
	}
}

func tokens(m modelUsage) eval.Usage {
	return eval.Usage{
		InputTokens:     int64(m.Input + m.CacheRead + m.CacheWrite),
		CacheReadTokens: int64(m.CacheRead), CacheWriteTokens: int64(m.CacheWrite),
		OutputTokens: int64(m.Output),
	}
}

func aborted(terminal string) bool {
	return terminal == "aborted_streaming" || terminal == "aborted_tools"
}

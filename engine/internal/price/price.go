// Package price knows what model tokens cost. A model it does not know has no
// price: its cost is unknown, not zero and not another model's.
package price

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Rate is in US dollars for a million tokens.
type Rate struct {
	Input, CacheRead, CacheWrite, Output float64
}

// known are the vendors' list prices of November 2026, by model id.
var known = map[string]Rate{
	"claude-opus-4-5":   {Input: 5, CacheRead: 0.5, CacheWrite: 6.25, Output: 25},
	"claude-opus-4-1":   {Input: 15, CacheRead: 1.5, CacheWrite: 18.75, Output: 75},
	"claude-sonnet-4-5": {Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15},
	"claude-sonnet-4":   {Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15},
	"claude-haiku-4-5":  {Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5},
	"gpt-5":             {Input: 1.25, CacheRead: 0.125, Output: 10},
	"gpt-5-codex":       {Input: 1.25, CacheRead: 0.125, Output: 10},
	"gpt-5-mini":        {Input: 0.25, CacheRead: 0.025, Output: 2},
	"gpt-5-nano":        {Input: 0.05, CacheRead: 0.005, Output: 0.4},
}

// Of returns the rate of a model id and whether it is known. A dated id, such as
// claude-sonnet-4-5-20250929, has its family's rate; any other suffix does not.
func Of(model string) (Rate, bool) {
	if r, ok := known[model]; ok {
		return r, true
	}
	i := strings.LastIndexByte(model, '-')
	if i < 0 || !date(model[i+1:]) {
		return Rate{}, false
	}
	r, ok := known[model[:i]]
	return r, ok
}

func date(s string) bool {
	if len(s) != 8 {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Cost returns what u costs at the model's rate, in US dollars, and whether the
// rate is known.
func Cost(model string, u eval.Usage) (usd float64, ok bool) {
	r, ok := Of(model)
	if !ok {
		return 0, false
	}
	fresh := max(0, u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens)
	return (float64(fresh)*r.Input + float64(u.CacheReadTokens)*r.CacheRead +
		float64(u.CacheWriteTokens)*r.CacheWrite + float64(u.OutputTokens)*r.Output) / 1e6, true
}

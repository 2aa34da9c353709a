package summary

import (
	"math/big"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// exact is how many bits a sum of costs has: enough that none is rounded, so that the
// sum is the same in whatever order they come.
const exact = 512

// spending sums usage.
type spending struct {
	sum  eval.Usage
	cost *big.Float
}

func (s *spending) add(u eval.Usage) {
	s.sum.Add(u)
	priced := u.CostUSD != nil && usable(*u.CostUSD) && *u.CostUSD >= 0
	if priced {
		if s.cost == nil {
			s.cost = new(big.Float).SetPrec(exact)
		}
		s.cost.Add(s.cost, new(big.Float).SetFloat64(*u.CostUSD))
	}
	// Tokens without a price make the sum a lower bound, and so does a price that is
	// none.
	if !priced && (u.CostUSD != nil || u.InputTokens+u.OutputTokens > 0) {
		s.sum.LowerBound = true
	}
}

func (s *spending) usage() eval.Usage {
	u := s.sum
	u.Models = slices.Sorted(slices.Values(u.Models))
	if s.cost != nil {
		total, _ := s.cost.Float64()
		u.CostUSD = &total
	}
	return u
}

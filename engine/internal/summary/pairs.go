package summary

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// verdictsOf are the preferences of a judge that compares results, A being the other
// and B the trial, first with A shown first; nil for all other scores.
func verdictsOf(s *eval.Score) [][2]stats.Preference {
	if s.Role != eval.RoleJudge || s.Unit != eval.UnitPreference || len(s.Samples)%2 != 0 {
		return nil
	}
	of := map[float64]stats.Preference{0: stats.PreferA, 0.5: stats.Tie, 1: stats.PreferB}
	var list [][2]stats.Preference
	for i := 0; i < len(s.Samples); i += 2 {
		trialFirst, ok := of[s.Samples[i]]
		otherFirst, ok2 := of[s.Samples[i+1]]
		if !ok || !ok2 {
			return nil // of a scorer that means something else by them
		}
		list = append(list, [2]stats.Preference{otherFirst, trialFirst})
	}
	return list
}

// pairsOf is what preferences come to; nil without any.
func pairsOf(verdicts [][2]stats.Preference) *eval.Pairs {
	if len(verdicts) == 0 {
		return nil
	}
	p := stats.ResolvePairs(verdicts)
	out := &eval.Pairs{N: len(verdicts), Won: p.B, Lost: p.A, Tied: p.Ties}
	for rate, of := range map[**float64]func() (float64, bool){
		&out.WinRate: p.WinRateB, &out.OrderConsistency: p.Consistency, &out.FirstPickRate: p.FirstRate,
	} {
		if v, ok := of(); ok {
			*rate = &v
		}
	}
	return out
}

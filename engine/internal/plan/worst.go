package plan

import (
	"encoding/json"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// bound fills in the worst that the plan can come to.
func (p *Plan) bound(s *eval.Suite) {
	p.BudgetUSD, p.MaxTrials = s.BudgetUSD, s.MaxTrials
	n := len(p.Trials)
	if s.MaxTrials > 0 {
		n = min(n, s.MaxTrials)
	}
	p.MaxAttempts = n * (1 + s.Retries)
	var caps []float64
	for _, a := range p.Arms {
		if a.CapUSD <= 0 {
			return
		}
		for range a.Repeats {
			caps = append(caps, a.CapUSD)
		}
	}
	// Which of them are run is the scheduler's choice: the dearest are the worst.
	slices.Sort(caps)
	worst := 0.0
	for _, usd := range caps[len(caps)-min(n, len(caps)):] {
		worst += usd * float64(1+s.Retries)
	}
	p.MaxUSD = &worst
}

// MostUSD is the most that one attempt of the plan can cost, 0 where that is not
// known.
func (p *Plan) MostUSD() float64 {
	most := 0.0
	for _, a := range p.Arms {
		if a.CapUSD <= 0 {
			return 0
		}
		most = max(most, a.CapUSD)
	}
	return most
}

// capUSD is the most that an attempt of the story can cost on the host: by the
// suite language's own cap, or by one that the host's program has.
func capUSD(s *eval.Suite, st *eval.Story, h *eval.HostConfig) float64 {
	most := st.Limits.Over(s.Limits).USD
	if h == nil {
		return most
	}
	var cfg struct {
		MaxBudgetUSD float64 `json:"max_budget_usd"`
	}
	if json.Unmarshal(h.Config, &cfg) == nil && cfg.MaxBudgetUSD > 0 && (most <= 0 || cfg.MaxBudgetUSD < most) {
		most = cfg.MaxBudgetUSD
	}
	return most
}

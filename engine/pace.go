package engine

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/exec"
	"github.com/evalengine/evalengine/engine/internal/plan"
)

// describeTimeout bounds the question which provider a host's models are of.
const describeTimeout = 10 * time.Second

// scheduler makes what runs the plan's trials within the limits of the suite.
func (r *run) scheduler(ctx context.Context) *exec.Local {
	limits := exec.Limits{
		Hosts: map[string]exec.PartLimits{}, Providers: map[string]exec.PartLimits{},
		Circuit: r.s.Circuit, MaxTrials: r.s.MaxTrials,
		BudgetUSD: r.s.BudgetUSD, SpentUSD: r.spent, MostUSD: r.most, CapUSD: r.p.MostUSD(),
	}
	for _, h := range r.s.Hosts {
		limits.Hosts[h.Name] = exec.PartLimits{Concurrency: h.Concurrency}
	}
	for _, p := range r.s.Providers {
		limits.Providers[p.Name] = exec.PartLimits{Concurrency: p.Concurrency, RequestsPerMinute: p.RequestsPerMinute}
	}
	return &exec.Local{Concurrency: r.o.Concurrency, Run: r.runner.Run, Done: r.done, Lane: r.lanes(ctx), Limits: limits}
}

// lanes says what each trial of the plan shares with others.
func (r *run) lanes(ctx context.Context) func(eval.Trial) exec.Lane {
	providers, targets := map[string]string{}, map[string]string{}
	for i := range r.s.Hosts {
		h := &r.s.Hosts[i]
		if !slices.ContainsFunc(r.p.Arms, func(a plan.Arm) bool { return a.Host == h.Name }) {
			continue
		}
		providers[h.Name] = r.provider(ctx, h)
	}
	for i := range r.s.Stories {
		targets[r.s.Stories[i].Name] = r.s.Stories[i].Target
	}
	return func(t eval.Trial) exec.Lane {
		return exec.Lane{Host: t.Host, Provider: providers[t.Host], Target: targets[t.Story]}
	}
}

// provider is the provider that a host asks for its models, empty where that is
// not known.
func (r *run) provider(ctx context.Context, h *eval.HostConfig) string {
	var cfg struct {
		BaseURL string `json:"base_url"`
	}
	if json.Unmarshal(h.Config, &cfg) == nil && cfg.BaseURL != "" {
		return eval.ProviderOf(cfg.BaseURL)
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	host, err := r.e.pool.Host(ctx, h.Driver, h.SHA256)
	if err != nil {
		return "" // its trials tell why
	}
	desc, err := host.Describe(ctx)
	if err != nil || desc.Model == nil {
		return ""
	}
	return eval.ProviderOf(desc.Model.DefaultBaseURL)
}

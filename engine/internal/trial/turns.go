package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
)

// turns collects what a session says.
type turns struct {
	a  *attempt
	mu sync.Mutex
	// steps are in the order in which the host told them; ends has the time at
	// which each turn ended, in milliseconds.
	steps    []eval.Step
	ends     []float64
	turn     int
	warnings []string
	answer   string
	usage    eval.Usage
	version  string
	isolated eval.Isolated
	retries  int
	done     bool
}

// Bounds of what a host can tell in one trial.
const (
	maxSteps    = 200_000
	maxWarnings = 100
)

func (t *turns) run(ctx context.Context, host eval.Host, spec eval.SessionSpec) *eval.Fault {
	timeout := t.a.timeout()
	// The session's own context outlasts the trial's time by the grace in which
	// the host ends its agent softly.
	sctx, cancel := context.WithTimeout(ctx, timeout+stopGrace)
	defer cancel()
	tctx, tcancel := context.WithTimeout(sctx, timeout)
	defer tcancel()
	sess, err := host.Start(sctx, spec)
	if err != nil {
		return faultOf(fmt.Errorf("host %q: %w", t.a.host.Name, err), eval.CauseHost)
	}
	fault := t.converse(tctx, sess)
	if err := sess.Close(); err != nil && fault == nil {
		t.warn("host: close: " + err.Error())
	}
	return fault
}

func (t *turns) converse(ctx context.Context, sess eval.Session) *eval.Fault {
	for i, prompt := range t.a.prompts {
		t.begin(i+1, prompt)
		var mark gateway.Mark
		if t.a.model != nil {
			mark = t.a.model.Mark()
		}
		res, err := sess.Turn(ctx, prompt, t.emit)
		t.end(res)
		outcome, detail, fault := t.classify(ctx, res, err, mark)
		if fault != nil {
			return fault
		}
		t.a.outcome, t.a.detail = outcome, detail
		if outcome != eval.Completed {
			return nil
		}
	}
	return nil
}

// classify decides between the agent's own outcome and a fault. What the model
// proxy saw is asked before any guess from what the host says.
func (t *turns) classify(ctx context.Context, res eval.TurnResult, err error, mark gateway.Mark) (eval.Outcome, string, *eval.Fault) {
	var facts *gateway.Facts
	if t.a.model != nil {
		f := t.a.model.Facts(mark)
		facts = &f
	}
	timedOut := errors.Is(ctx.Err(), context.DeadlineExceeded) && (err != nil || res.Outcome == eval.TimedOut)
	outcome, detail, fault := classify(res, err, facts, timedOut)
	if fault == nil {
		outcome, detail = t.capped(outcome, detail)
	}
	return outcome, detail, fault
}

func (t *turns) begin(turn int, prompt string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turn, t.done = turn, false
	t.steps = append(t.steps, eval.Step{Turn: turn, Kind: eval.StepMessage, Role: "user", Text: prompt, AtMS: t.at()})
}

func (t *turns) at() float64 {
	return float64(time.Since(t.a.origin).Microseconds()) / 1000
}

func (t *turns) emit(e eval.Event) {
	if e.Progress != "" {
		t.progress(e.Progress)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return
	}
	if e.Warning != "" && len(t.warnings) < maxWarnings {
		t.warnings = append(t.warnings, e.Warning)
	}
	if e.Step == nil || len(t.steps) >= maxSteps {
		return
	}
	s := *e.Step
	s.Turn, s.AtMS = t.turn, t.at()
	t.steps = append(t.steps, s)
	if text := doing(&s); text != "" && e.Progress == "" {
		t.progress(text)
	}
}

// progress tells a watcher what the agent does and what it has cost by now.
func (t *turns) progress(text string) {
	if t.a.r.Observe == nil {
		return
	}
	e := Event{Kind: Progress, Trial: t.a.trial, Attempt: t.a.n, Text: text}
	if t.a.model != nil {
		e.CostUSD = t.a.model.Facts(0).Usage.CostUSD
	}
	t.a.r.observe(e)
}

// doing is what a watcher sees of a step.
func doing(s *eval.Step) string {
	switch s.Kind {
	case eval.StepToolCall:
		return "calls " + s.Tool
	case eval.StepReasoning:
		return "thinks"
	case eval.StepMessage:
		return "writes"
	}
	return ""
}

func (t *turns) end(res eval.TurnResult) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	t.ends = append(t.ends, t.at())
	if res.Answer != "" {
		t.answer = res.Answer
	}
	if res.AgentVersion != "" {
		t.version = res.AgentVersion
	}
	if res.Isolated != "" {
		t.isolated = res.Isolated
	}
	t.retries += res.Retries
	if !credible(res.Usage) {
		t.warnings = append(t.warnings, "the host tells counts of tokens that cannot be true; they are taken for unknown")
		res.Usage = eval.Usage{Turns: max(res.Usage.Turns, 0), Models: res.Usage.Models, Source: res.Usage.Source, LowerBound: true}
	}
	t.usage.Add(res.Usage)
	if res.Usage.Source != "" {
		t.usage.Source = res.Usage.Source
	}
}

// credible reports whether counts of tokens can be true.
func credible(u eval.Usage) bool {
	const most = 1 << 40
	for _, n := range []int64{u.InputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.OutputTokens, u.ReasoningTokens, int64(u.Turns), int64(u.Requests)} {
		if n < 0 || n > most {
			return false
		}
	}
	return u.CostUSD == nil || *u.CostUSD >= 0
}

func (t *turns) warn(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warnings = append(t.warnings, text)
}

// findings are what the host warned of, and whether the agent program asked its
// model again: not every program says so, so seen is what the model proxy saw of
// it.
func (t *turns) findings(seen int) []eval.Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []eval.Finding
	for _, w := range t.warnings {
		out = append(out, eval.Finding{Kind: "host_warning", Severity: eval.SeverityInfo, Text: t.a.r.Secrets.String(w), Source: "engine"})
	}
	if max(t.retries, seen) > 0 {
		out = append(out, eval.Finding{Kind: "model_retries", Severity: eval.SeverityInfo, Source: "engine",
			Text: "the agent program asked its model again by itself; times are not comparable"})
	}
	return out
}

package trial

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// score evaluates the story's checks and scorers on what the attempt gathered.
// A scorer that breaks costs its own score and nothing else.
func (a *attempt) score(ctx context.Context) *eval.Fault {
	if len(a.story.Checks)+len(a.story.Uses) == 0 {
		return nil
	}
	a.phase("scoring")
	start := time.Now()
	defer func() { a.timings.Score = time.Since(start).Seconds() }()
	ctx, cancel := context.WithTimeout(ctx, scoreTimeout)
	defer cancel()
	a.check()
	return a.useModules(ctx)
}

// check evaluates the story's own conditions.
func (a *attempt) check() {
	if len(a.story.Checks) == 0 {
		return
	}
	facts := eval.Facts{
		Trial: a.trial, Target: a.values, State: a.after, Before: a.before, Answer: a.answer,
		Calls: eval.Calls(a.steps), Tools: a.tools, Usage: a.usage,
	}
	for _, c := range a.story.Checks {
		s := eval.Score{Name: "check/" + c.Name, Scorer: "check", Role: eval.RoleAssert, Dimension: c.Dimension, State: eval.Scored}
		passed, message, err := c.Condition.Eval(facts)
		switch {
		case err != nil:
			s.State, s.Reason = eval.ScoreErrored, err.Error()
		case passed:
			s.Value, s.Passed, s.Reason = new(1.0), &passed, "the condition holds"
		default:
			s.Value, s.Passed, s.Reason = new(0.0), &passed, message
		}
		a.scores = append(a.scores, s)
	}
}

// useModules calls each module once with all of its uses, in the order of their
// first use, and keeps the scores in the order of the story.
func (a *attempt) useModules(ctx context.Context) *eval.Fault {
	outputs := make([]eval.Score, len(a.story.Uses))
	var modules []string
	uses := map[string][]int{}
	for i, u := range a.story.Uses {
		name, _, _ := strings.Cut(u.Scorer, "/")
		if uses[name] == nil {
			modules = append(modules, name)
		}
		uses[name] = append(uses[name], i)
	}
	for _, name := range modules {
		if f := a.useModule(ctx, name, uses[name], outputs); f != nil {
			return f
		}
	}
	a.scores = append(a.scores, outputs...)
	return nil
}

func (a *attempt) useModule(ctx context.Context, name string, uses []int, outputs []eval.Score) *eval.Fault {
	m := a.r.Modules[name]
	if m == nil {
		return &eval.Fault{Cause: eval.CauseScorer, Retry: eval.RetryNever, Detail: fmt.Sprintf("scorer module %q is not loaded", name)}
	}
	in := a.input()
	var asked []int
	for _, i := range uses {
		outputs[i] = blank(&a.story.Uses[i], m)
		params, err := a.story.Uses[i].Params.Value(eval.Vars{Target: a.values, Trial: a.trial})
		if err != nil {
			outputs[i].State, outputs[i].Reason = eval.ScoreErrored, err.Error()
			continue
		}
		u := &a.story.Uses[i]
		_, scorer, _ := strings.Cut(u.Scorer, "/")
		in.Uses = append(in.Uses, eval.Use{Name: u.Name, Scorer: scorer, Params: params, Models: u.Models})
		asked = append(asked, i)
	}
	if len(asked) == 0 {
		return nil
	}
	results, err := m.Score(ctx, in)
	if err != nil {
		// Another attempt would cost an agent's run and find the same scorer.
		return &eval.Fault{Cause: eval.CauseScorer, Retry: eval.RetryNever, Detail: fmt.Sprintf("scorer module %q: %v", name, err)}
	}
	for n, i := range asked {
		a.take(&outputs[i], results[n])
	}
	return nil
}

// blank is a score without a value, with what the module's manifest says of it.
func blank(u *eval.ScorerUse, m *wasm.Module) eval.Score {
	s := eval.Score{Name: u.Name, Scorer: u.Scorer, Role: u.Role, State: eval.ScoreErrored}
	_, name, _ := strings.Cut(u.Scorer, "/")
	if spec := m.Manifest().Scorer(name); spec != nil {
		s.Dimension, s.Unit, s.LowerIsBetter = spec.Dimension, spec.Unit, spec.LowerIsBetter
	}
	return s
}

// take fills a score with what the scorer answered.
func (a *attempt) take(s *eval.Score, out eval.ScoreOutput) {
	s.State, s.Reason, s.Evidence = out.State, out.Reason, out.Evidence
	if out.State == eval.Scored {
		s.Value, s.Raw, s.Passed, s.Samples = &out.Value, out.Raw, out.Passed, out.Samples
	}
	if out.Unit != "" {
		s.Unit = out.Unit
	}
	for _, f := range out.Findings {
		f.Source = s.Scorer
		a.findings = append(a.findings, f)
	}
}

// input is what modules may ask for; each module gets the parts that it needs.
func (a *attempt) input() *eval.ScoreInput {
	return &eval.ScoreInput{
		Trial: a.trial, Steps: a.steps, Answer: a.answer,
		StateBefore: a.before, State: a.after, Tools: a.tools, Usage: a.usage,
		HostCapabilities: a.host.Capabilities, Prompts: a.prompts,
		Outcome: a.outcome, AgentSeconds: a.timings.Agent, Target: a.values,
	}
}

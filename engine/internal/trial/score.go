package trial

import (
	"context"
	"fmt"
	"slices"
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
	a.check()
	a.findOther()
	return a.useModules(ctx)
}

// check evaluates the story's own conditions.
func (a *attempt) check() {
	if len(a.story.Checks) == 0 {
		return
	}
	facts := eval.Facts{
		Trial: a.trial, Target: a.values, State: a.after, Before: a.before, Answer: a.answer,
		Calls: eval.Calls(a.steps), Tools: a.tools, Usage: a.usage, Pages: a.pages,
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

// useModules scores the story's uses, stage after stage, and keeps the scores in
// the order of the story.
func (a *attempt) useModules(ctx context.Context) *eval.Fault {
	outputs := make([]eval.Score, len(a.story.Uses))
	var stages [3][]int
	for i := range a.story.Uses {
		u := &a.story.Uses[i]
		m := a.r.Modules[moduleOf(u)]
		if m == nil {
			return &eval.Fault{Cause: eval.CauseScorer, Retry: eval.RetryNever, Detail: fmt.Sprintf("scorer module %q is not loaded", moduleOf(u))}
		}
		n := stage(m.Manifest().Scorer(scorerOf(u)))
		stages[n] = append(stages[n], i)
	}
	if f := a.eachModule(ctx, stages[0], outputs); f != nil {
		return f
	}
	a.tell(outputs)
	if len(stages[1]) > 0 {
		a.phase("judging")
		if f := a.askModels(ctx, stages[1], outputs); f != nil {
			return f
		}
	}
	a.tell(outputs)
	if f := a.eachModule(ctx, stages[2], outputs); f != nil {
		return f
	}
	a.scores = append(a.scores, outputs...)
	return nil
}

// tell lets the scorers that come now see what was scored before them.
func (a *attempt) tell(outputs []eval.Score) {
	a.said = slices.Concat(a.scores, slices.DeleteFunc(slices.Clone(outputs), func(s eval.Score) bool { return s.Name == "" }))
}

// eachModule calls each module once with all of its uses, in the order of their
// first use.
func (a *attempt) eachModule(ctx context.Context, uses []int, outputs []eval.Score) *eval.Fault {
	var modules []string
	of := map[string][]int{}
	for _, i := range uses {
		name := moduleOf(&a.story.Uses[i])
		if of[name] == nil {
			modules = append(modules, name)
		}
		of[name] = append(of[name], i)
	}
	ctx, cancel := context.WithTimeout(ctx, scoreTimeout)
	defer cancel()
	for _, name := range modules {
		if f := a.useModule(ctx, of[name], outputs); f != nil {
			return f
		}
	}
	return nil
}

func moduleOf(u *eval.ScorerUse) string {
	name, _, _ := strings.Cut(u.Scorer, "/")
	return name
}

func scorerOf(u *eval.ScorerUse) string {
	_, name, _ := strings.Cut(u.Scorer, "/")
	return name
}

// useModule calls one module with some of its uses.
func (a *attempt) useModule(ctx context.Context, uses []int, outputs []eval.Score) *eval.Fault {
	name := moduleOf(&a.story.Uses[uses[0]])
	m := a.r.Modules[name]
	in := a.input(asks(m.Manifest().Scorer(scorerOf(&a.story.Uses[uses[0]]))))
	var asked []int
	for _, i := range uses {
		u := &a.story.Uses[i]
		outputs[i] = blank(u, m)
		params, err := u.Params.Value(eval.Vars{Target: a.values, Trial: a.trial})
		if err != nil {
			outputs[i].State, outputs[i].Reason = eval.ScoreErrored, err.Error()
			continue
		}
		in.Uses = append(in.Uses, eval.Use{Name: u.Name, Scorer: scorerOf(u), Params: params, Models: u.Models})
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
	if spec := m.Manifest().Scorer(scorerOf(u)); spec != nil {
		s.Dimension, s.Unit, s.LowerIsBetter = spec.Dimension, spec.Unit, spec.LowerIsBetter
	}
	return s
}

// take fills a score with what the scorer answered.
func (a *attempt) take(s *eval.Score, out eval.ScoreOutput) {
	s.State, s.Reason, s.Evidence = out.State, out.Reason, out.Evidence
	if out.State == eval.Scored {
		s.Value, s.Raw, s.Passed, s.Samples, s.StdErr = &out.Value, out.Raw, out.Passed, out.Samples, out.StdErr
	}
	if out.Unit != "" {
		s.Unit = out.Unit
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range out.Findings {
		f.Source = s.Scorer
		a.findings = append(a.findings, f)
	}
}

// input is what modules may ask for; each module gets the parts that it needs. It
// differs for judges where they compare two trials.
func (a *attempt) input(judge bool) *eval.ScoreInput {
	in := &eval.ScoreInput{
		Trial: a.trial, Steps: a.steps, Answer: a.answer,
		StateBefore: a.before, State: a.after, Tools: a.tools, Usage: a.usage,
		HostCapabilities: a.host.Capabilities, Prompts: a.prompts,
		Outcome: a.outcome, AgentSeconds: a.timings.Agent, Target: a.values,
		Pages: a.pages, Scores: a.said,
	}
	if g := a.gold(judge); g != nil {
		in.GoldTrial = g.Trial
		in.GoldState, in.GoldPages, in.GoldGrades, in.FloorGrades, in.GoldStale = g.State, g.Pages, g.Grades, g.Floor, g.Stale
	}
	return in
}

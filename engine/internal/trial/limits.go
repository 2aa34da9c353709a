package trial

import (
	"fmt"

	"github.com/evalengine/evalengine/engine/eval"
)

// limits are the caps of one attempt.
func (a *attempt) limits() eval.Limits { return a.story.Limits.Over(a.r.Suite.Limits) }

// overBytes says to the model proxy that the tools have returned enough.
func (a *attempt) overBytes() eval.Outcome {
	if a.gateway != nil && a.gateway.Refused() {
		return eval.MaxBytes
	}
	return ""
}

// capped is the outcome of a turn by the trial's caps, as far as the model proxy
// has not held them already.
func (t *turns) capped(outcome eval.Outcome, detail string) (eval.Outcome, string) {
	if o := t.a.overBytes(); o != "" {
		return o, usedUp(o)
	}
	if t.a.model != nil || outcome != eval.Completed {
		return outcome, detail
	}
	t.mu.Lock()
	u := t.usage
	t.mu.Unlock()
	cost(&u)
	if o := passed(t.a.limits(), u); o != "" {
		return o, usedUp(o)
	}
	return outcome, detail
}

// passed is the cap that a usage is beyond, empty where it is within all.
func passed(l eval.Limits, u eval.Usage) eval.Outcome {
	switch {
	case l.Turns > 0 && u.Turns > l.Turns:
		return eval.MaxTurns
	case l.Tokens > 0 && u.InputTokens+u.OutputTokens > l.Tokens:
		return eval.MaxTokensTotal
	case l.USD > 0 && u.CostUSD != nil && *u.CostUSD > l.USD:
		return eval.MaxBudget
	}
	return ""
}

// usedUp says for a person which cap ended the agent's run.
func usedUp(o eval.Outcome) string {
	switch o {
	case eval.MaxTurns:
		return "the agent used up the turns it was given"
	case eval.MaxTokensTotal:
		return "the agent used up the tokens it was given"
	case eval.MaxBudget:
		return "the agent used up the money it was given"
	case eval.MaxBytes:
		return "the tools returned as much as the trial allows"
	}
	return "a cap of the trial is used up"
}

// unheld tells of caps that nothing could hold the agent to.
func (a *attempt) unheld() {
	l, u := a.limits(), a.usage
	counted := u.InputTokens+u.OutputTokens > 0
	for _, c := range []struct {
		name string
		set  bool
		held bool
		why  string
	}{
		{"turns", l.Turns > 0, a.model != nil || u.Turns > 0, "the host tells no turns"},
		{"tokens", l.Tokens > 0, a.model != nil || counted, "the host tells no tokens"},
		{"usd", l.USD > 0, u.CostUSD != nil || a.model != nil && !counted, "the cost is not known"},
	} {
		if c.set && !c.held {
			a.finding("limit_not_held", eval.SeverityInfo, "", fmt.Sprintf("the trial's limit of %s could not be held: %s", c.name, c.why))
		}
	}
}

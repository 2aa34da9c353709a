package trial

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
)

// classify decides how one turn ended. facts is what the model proxy saw of the
// turn, nil where the host went its own way; timedOut says that the trial's time
// was up.
//
// The proxy's word goes first: it alone knows true status codes. A host that
// calls an API's refusal a success is not believed, nor one that blames the
// provider for what the proxy saw the agent do.
func classify(res eval.TurnResult, err error, facts *gateway.Facts, timedOut bool) (eval.Outcome, string, *eval.Fault) {
	if facts != nil {
		if outcome, detail, fault, ok := modelSide(res, err, facts, timedOut); ok {
			return outcome, detail, fault
		}
	}
	if timedOut {
		return eval.TimedOut, "the trial's time was up", nil
	}
	if err != nil {
		return "", "", faultOf(err, eval.CauseHost)
	}
	if res.Outcome == "" {
		return "", "", &eval.Fault{Cause: eval.CausePlugin, Retry: eval.RetryTrial, Detail: "the host ended the turn without an outcome"}
	}
	return res.Outcome, res.Detail, nil
}

func modelSide(res eval.TurnResult, err error, facts *gateway.Facts, timedOut bool) (eval.Outcome, string, *eval.Fault, bool) {
	if facts.Limit != "" {
		return facts.Limit, usedUp(facts.Limit), nil, true
	}
	if f := facts.Fault(); f != nil {
		return "", "", f, true
	}
	if timedOut && hung(facts.Requests) {
		return "", "", &eval.Fault{Cause: eval.CauseModelHang, Retry: eval.RetryTrial, Detail: "the model had not answered when the trial's time was up"}, true
	}
	if o, ok := facts.Outcome(); ok {
		return o, cmp.Or(res.Detail, facts.Said()), nil, true
	}
	if len(facts.Requests) == 0 && err == nil && !timedOut && res.Outcome == eval.Completed {
		return "", "", &eval.Fault{Cause: eval.CauseHost, Retry: eval.RetryTrial, Detail: "the agent ended its turn without asking its model"}, true
	}
	return "", "", nil, false
}

// waited is how long a model's silence at the end of a trial must have lasted to
// be the reason why the trial's time was up.
const waited = 30 * time.Second

// hung reports whether the trial's time went by in waiting for the model: the
// agent left a request that had no answer at all, after a long wait or after
// others that ended the same way.
func hung(requests []gateway.Request) bool {
	if len(requests) == 0 {
		return false
	}
	last := requests[len(requests)-1]
	if last.Status != 0 || last.StreamEnd != model.ClientGone {
		return false
	}
	return last.Duration >= waited || slices.ContainsFunc(requests, func(r gateway.Request) bool { return r.ErrorType == model.ErrorHang })
}

// verdict is the trial's status with its cause and reason. A gate that did not
// hold is the agent's failure, also where another gate could not be evaluated;
// a gate that could not be evaluated is never a pass.
func verdict(fault *eval.Fault, outcome eval.Outcome, detail string, policy eval.TimeoutPolicy, scores []eval.Score) (eval.Status, string, string) {
	if fault != nil {
		return eval.StatusErrored, fault.Cause, fault.Error()
	}
	var failed, broken []string
	for _, s := range scores {
		if s.Role != eval.RoleAssert {
			continue
		}
		switch {
		case s.State == eval.Scored && (s.Passed == nil || !*s.Passed):
			failed = append(failed, fmt.Sprintf("%s: %s", s.Name, s.Reason))
		case s.State == eval.ScoreErrored:
			broken = append(broken, fmt.Sprintf("%s: %s", s.Name, s.Reason))
		}
	}
	judged := outcome == eval.TimedOut && policy == eval.TimeoutJudged
	if outcome != eval.Completed && !judged {
		reason := endedWith(outcome)
		if detail != "" {
			reason += ": " + detail
		}
		return eval.StatusFailed, string(outcome), reason
	}
	if len(failed) > 0 {
		return eval.StatusFailed, causeOf(scores), strings.Join(failed, "; ")
	}
	if len(broken) > 0 {
		return eval.StatusErrored, eval.CauseScorer, strings.Join(broken, "; ")
	}
	return eval.StatusPassed, "", ""
}

func endedWith(o eval.Outcome) string { return "the agent's run ended with " + string(o) }

// causeOf names the dimension of the first gate that did not hold: an outcome
// that is missing and a rule that was broken are different failures.
func causeOf(scores []eval.Score) string {
	for _, s := range scores {
		if s.Role == eval.RoleAssert && s.State == eval.Scored && (s.Passed == nil || !*s.Passed) {
			return string(s.Dimension)
		}
	}
	return ""
}

package trial

import (
	"errors"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
)

func facts(requests ...gateway.Request) *gateway.Facts {
	f := model.Sum(requests, false)
	return &f
}

var (
	answered  = gateway.Request{Status: 200, StreamEnd: model.Complete, StopReason: "end_turn"}
	limited   = gateway.Request{Status: 429, StreamEnd: model.Failed, ErrorType: "rate_limit_error", RetryAfter: time.Second}
	tooLong   = gateway.Request{Status: 400, StreamEnd: model.Failed, ErrorType: "invalid_request_error", ErrorMessage: "prompt is too long"}
	unheard   = gateway.Request{StreamEnd: model.ClientGone, Duration: 40 * time.Second}
	justAsked = gateway.Request{StreamEnd: model.ClientGone, Duration: time.Second}
)

func TestClassify(t *testing.T) {
	done := eval.TurnResult{Outcome: eval.Completed, Answer: "done"}
	for _, tt := range []struct {
		name     string
		res      eval.TurnResult
		err      error
		facts    *gateway.Facts
		timedOut bool
		outcome  eval.Outcome
		cause    string
		retry    eval.Retry
	}{
		{"done", done, nil, facts(answered), false, eval.Completed, "", ""},
		{"done, without a proxy", done, nil, nil, false, eval.Completed, "", ""},
		{"a retry got over it", done, nil, facts(limited, answered), false, eval.Completed, "", ""},
		{"a refusal graded as the answer", done, nil, facts(answered, limited), false, "", "rate_limit", eval.RetryTrial},
		{"host blames the provider, proxy saw the agent", eval.TurnResult{}, &eval.Fault{Cause: "unknown", Retry: eval.RetryTrial}, facts(answered, tooLong), false, eval.ContextExceeded, "", ""},
		{"host's own fault", eval.TurnResult{}, &eval.Fault{Cause: eval.CauseHostConfig, Retry: eval.RetryStop}, facts(), false, "", "host_config", eval.RetryStop},
		{"plain error", eval.TurnResult{}, errors.New("exit status 1"), nil, false, "", "host", eval.RetryTrial},
		{"never asked its model", done, nil, facts(), false, "", "host", eval.RetryTrial},
		{"no outcome", eval.TurnResult{}, nil, nil, false, "", "plugin", eval.RetryTrial},
		{"time was up", eval.TurnResult{Outcome: eval.TimedOut}, nil, facts(answered), true, eval.TimedOut, "", ""},
		{"time was up while it had just asked", eval.TurnResult{Outcome: eval.TimedOut}, nil, facts(answered, justAsked), true, eval.TimedOut, "", ""},
		{"time went by in waiting for the model", eval.TurnResult{Outcome: eval.TimedOut}, nil, facts(answered, unheard), true, "", "model_hang", eval.RetryTrial},
		{"refused", eval.TurnResult{Outcome: eval.Refused}, nil, facts(gateway.Request{Status: 200, StreamEnd: model.Complete, StopReason: "refusal"}), false, eval.Refused, "", ""},
		{"turns used up", eval.TurnResult{}, errors.New("exit status 1"), facts(answered, gateway.Request{Status: 400, StreamEnd: model.Refused, Limit: eval.MaxTurns}), false, eval.MaxTurns, "", ""},
		{"tokens used up", eval.TurnResult{Outcome: eval.Completed}, nil, facts(answered, gateway.Request{Status: 400, StreamEnd: model.Refused, Limit: eval.MaxTokensTotal}), false, eval.MaxTokensTotal, "", ""},
	} {
		outcome, _, fault := classify(tt.res, tt.err, tt.facts, tt.timedOut)
		var cause string
		var retry eval.Retry
		if fault != nil {
			cause, retry = fault.Cause, fault.Retry
		}
		if outcome != tt.outcome || cause != tt.cause || retry != tt.retry {
			t.Errorf("%s: classify = %q, %q, %q; want %q, %q, %q", tt.name, outcome, cause, retry, tt.outcome, tt.cause, tt.retry)
		}
	}
}

// A host that took the agent's outcome for a fault leaves no word on it; the
// provider's is taken.
func TestClassifyTellsWhy(t *testing.T) {
	tooLong := gateway.Request{Status: 413, StreamEnd: model.Failed, ErrorMessage: "The request is too large."}
	for _, tt := range []struct{ said, want string }{
		{"", "The request is too large."},
		{"no room left", "no room left"},
	} {
		outcome, detail, _ := classify(eval.TurnResult{Detail: tt.said}, errors.New("exit status 1"), facts(tooLong), false)
		if outcome != eval.ContextExceeded || detail != tt.want {
			t.Errorf("the host said %q: %s, %q; want %q", tt.said, outcome, detail, tt.want)
		}
	}
}

func gate(name string, d eval.Dimension, state eval.ScoreState, passed bool) eval.Score {
	s := eval.Score{Name: name, Role: eval.RoleAssert, Dimension: d, State: state, Reason: "because"}
	if state == eval.Scored {
		s.Passed = &passed
	}
	return s
}

func TestVerdict(t *testing.T) {
	ok := gate("a", eval.DimensionOutcome, eval.Scored, true)
	bad := gate("b", eval.DimensionConstraint, eval.Scored, false)
	broken := gate("c", eval.DimensionOutcome, eval.ScoreErrored, false)
	measure := eval.Score{Name: "m", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, State: eval.ScoreErrored}
	for _, tt := range []struct {
		name    string
		fault   *eval.Fault
		outcome eval.Outcome
		policy  eval.TimeoutPolicy
		scores  []eval.Score
		status  eval.Status
		cause   string
		reason  string
	}{
		{"all hold", nil, eval.Completed, "", []eval.Score{ok, measure}, eval.StatusPassed, "", ""},
		{"no gates", nil, eval.Completed, "", nil, eval.StatusPassed, "", ""},
		{"one does not", nil, eval.Completed, "", []eval.Score{ok, bad}, eval.StatusFailed, "constraint", "b: because"},
		{"one is broken", nil, eval.Completed, "", []eval.Score{ok, broken}, eval.StatusErrored, "scorer", "c: because"},
		{"one broken and one failed", nil, eval.Completed, "", []eval.Score{broken, bad}, eval.StatusFailed, "constraint", "b: because"},
		{"ran out of time with the work done", nil, eval.TimedOut, "", []eval.Score{ok}, eval.StatusFailed, "timeout", "the agent's run ended with timeout"},
		{"ran out of time, by policy", nil, eval.TimedOut, eval.TimeoutFails, []eval.Score{ok}, eval.StatusFailed, "timeout", "the agent's run ended with timeout"},
		{"ran out of time, the gates decide", nil, eval.TimedOut, eval.TimeoutJudged, []eval.Score{ok}, eval.StatusPassed, "", ""},
		{"ran out of time, a gate decides otherwise", nil, eval.TimedOut, eval.TimeoutJudged, []eval.Score{ok, bad}, eval.StatusFailed, "constraint", "b: because"},
		{"refused, under either policy", nil, eval.Refused, eval.TimeoutJudged, []eval.Score{ok}, eval.StatusFailed, "refused", "the agent's run ended with refused"},
		{"fault", &eval.Fault{Cause: "auth", Detail: "401"}, "", "", nil, eval.StatusErrored, "auth", "auth: 401"},
	} {
		status, cause, reason := verdict(tt.fault, tt.outcome, "", tt.policy, tt.scores)
		if status != tt.status || cause != tt.cause || reason != tt.reason {
			t.Errorf("%s: verdict = %q, %q, %q; want %q, %q, %q", tt.name, status, cause, reason, tt.status, tt.cause, tt.reason)
		}
	}
}

// Not every agent program says that it asked its model again; the model proxy
// sees it.
func TestFindingsOfRetries(t *testing.T) {
	for _, tt := range []struct {
		said, seen int
		want       int
	}{
		{0, 0, 0},
		{2, 0, 1},
		{0, 2, 1},
		{2, 2, 1},
	} {
		found := (&turns{retries: tt.said}).findings(tt.seen)
		if len(found) != tt.want || (len(found) == 1 && found[0].Kind != "model_retries") {
			t.Errorf("said %d, seen %d: findings %+v; want %d of model_retries", tt.said, tt.seen, found, tt.want)
		}
	}
}

// What cannot be true is unknown, not a number: neither added nor taken away.
func TestIncredibleUsage(t *testing.T) {
	minus := -1.0
	for name, u := range map[string]eval.Usage{
		"less than nothing": {InputTokens: -500, Turns: 1}, "past all reason": {OutputTokens: 1 << 50, Turns: 1},
		"a cost below nothing": {CostUSD: &minus, Turns: 1},
	} {
		c := &turns{a: &attempt{origin: time.Now()}}
		c.end(eval.TurnResult{Usage: eval.Usage{InputTokens: 100, Turns: 1, Source: "host"}})
		c.end(eval.TurnResult{Usage: u})
		if got := c.usage; got.InputTokens != 100 || got.OutputTokens != 0 || got.Turns != 2 || !got.LowerBound || len(c.warnings) != 1 {
			t.Errorf("%s: usage %+v, warnings %q", name, got, c.warnings)
		}
	}
}

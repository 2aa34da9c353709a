package eval

import (
	"errors"
	"time"
)

// Outcome is how an agent's run ended. The zero Outcome is invalid.
type Outcome string

// All but completed are the agent's own failures. State is looked up after each
// of them.
const (
	// Completed: the agent said it was done.
	Completed Outcome = "completed"
	// Refused: the model declined the task.
	Refused Outcome = "refused"
	// MaxTurns: the agent used up its turns.
	MaxTurns Outcome = "max_turns"
	// MaxBudget: the agent used up its own budget, or the trial's.
	MaxBudget Outcome = "max_budget"
	// MaxTokensTotal: the agent used up the trial's tokens.
	MaxTokensTotal Outcome = "max_tokens_total"
	// MaxBytes: the tools returned as much as the trial allows.
	MaxBytes Outcome = "max_bytes"
	// MaxOutput: one answer passed the model's output limit.
	MaxOutput Outcome = "max_output"
	// ContextExceeded: the conversation passed the model's context window.
	ContextExceeded Outcome = "context_exceeded"
	// TimedOut: the trial's time ended.
	TimedOut Outcome = "timeout"
	// GaveUp: the agent program ended the run without an answer.
	GaveUp Outcome = "gave_up"
)

// Retry says what may be done about a fault. The zero Retry is invalid.
type Retry string

// Retry values.
const (
	// RetryTrial: another attempt on a fresh target may go better.
	RetryTrial Retry = "trial"
	// RetryNever: no other attempt can go better, but other trials may.
	RetryNever Retry = "never"
	// RetryStop: every trial of this host would fail the same way (a wrong key, a
	// model that does not exist): stop the host.
	RetryStop Retry = "stop"
)

// Fault is an infrastructure fault: the attempt says nothing of the agent. It
// is an error.
type Fault struct {
	// Cause is a short fixed word, one of the Cause constants where one fits.
	Cause string `json:"cause"`
	Retry Retry  `json:"retry"`
	// Detail says what happened, for a person. It must hold no secret.
	Detail string `json:"detail,omitempty"`
	// Status is the HTTP status behind the fault, where there is one.
	Status int `json:"status,omitempty"`
	// RetryAfter is how long the provider asked to wait.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
}

// Causes of faults.
const (
	CauseAuth        = "auth"         // key missing, wrong or without rights
	CauseBilling     = "billing"      // no credit, quota used up
	CauseModel       = "model"        // no such model
	CauseBadRequest  = "bad_request"  // the provider refused the request's form
	CauseTooLarge    = "too_large"    // a judge's prompt is longer than its model takes
	CauseRateLimit   = "rate_limit"   // 429
	CauseOverloaded  = "overloaded"   // 529, 503 at capacity
	CauseServer      = "server"       // 5xx
	CauseStream      = "stream"       // a model answer cut, malformed or empty
	CauseNetwork     = "network"      // refused, reset, no route
	CauseModelHang   = "model_hang"   // no answer from the model in time
	CauseMCP         = "mcp"          // the agent had no working MCP server
	CauseHostConfig  = "host_config"  // the agent program refused its settings
	CauseHost        = "host"         // the agent program broke or is missing
	CausePlugin      = "plugin"       // a plugin broke
	CauseProvision   = "provision"    // the target could not be made
	CauseObserve     = "observe"      // the target's state could not be read
	CauseScorer      = "scorer"       // a gate could not be evaluated
	CauseInterrupted = "interrupted"  // the run was stopped
	CauseNotReady    = "not_ready"    // the target did not become ready
	CauseApproval    = "approval"     // the agent program withheld a tool it was given
	CauseBudget      = "budget"       // the run's budget ended
	CauseUnknown     = "unknown"      // anything else
	CauseNoTerminal  = "no_terminal"  // the agent's stream had no closing event
	CauseStore       = "store"        // the record could not be written
	CausePreflight   = "preflight"    // the target offers no tools
	CauseCircuitOpen = "circuit_open" // too many faults of one provider in a row
	CauseSuite       = "suite"        // a late value of the suite could not be evaluated
)

func (f *Fault) Error() string {
	if f.Detail == "" {
		return f.Cause
	}
	return f.Cause + ": " + f.Detail
}

// AsFault returns the fault in err's chain, or an unknown one that carries err's
// text and may be retried; nil for nil.
func AsFault(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Cause: CauseUnknown, Retry: RetryTrial, Detail: err.Error()}
}

package model

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Fault is the infrastructure fault that the last request shows; nil where the
// model side is fine, where the agent left first, and where what the model said
// is the agent's own outcome. A fault that a retry got over is none.
func (f Facts) Fault() *eval.Fault {
	r := f.last()
	if r == nil || f.Limit != "" || r.ok() || r.StreamEnd == ClientGone || r.StreamEnd == "" {
		return nil
	}
	if _, ok := f.Outcome(); ok {
		return nil
	}
	fault := r.cause()
	if fault.Cause == eval.CauseBadRequest && f.Turns > 0 {
		// The settings were good for an earlier request: other trials may go well.
		fault.Retry = eval.RetryNever
	}
	fault.RetryAfter = r.RetryAfter
	if r.Status >= 300 {
		fault.Status = r.Status
	}
	fault.Detail = r.detail()
	return &fault
}

func (r *Request) detail() string {
	var parts []string
	if r.Status >= 300 {
		parts = append(parts, fmt.Sprintf("status %d", r.Status))
	} else if r.StreamEnd != Complete && r.StreamEnd != Failed {
		parts = append(parts, "model answer "+string(r.StreamEnd))
	}
	for _, s := range []string{r.ErrorType, r.ErrorMessage} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

func fault(cause string, retry eval.Retry) eval.Fault {
	return eval.Fault{Cause: cause, Retry: retry}
}

// cause sorts a failed request. What the error says of itself is worth more than
// its status, which is 200 where the error came in mid-stream.
func (r *Request) cause() eval.Fault {
	switch r.ErrorType {
	case ErrorHang:
		return fault(eval.CauseModelHang, eval.RetryTrial)
	case ErrorNetwork:
		return fault(eval.CauseNetwork, eval.RetryTrial)
	}
	if r.Status == 529 {
		return fault(eval.CauseOverloaded, eval.RetryTrial)
	}
	if f, ok := r.named(); ok {
		return f
	}
	if f, ok := byStatus(r.Status); ok {
		return f
	}
	switch r.StreamEnd {
	case Stalled:
		return fault(eval.CauseModelHang, eval.RetryTrial)
	case Cut, Malformed, Empty:
		return fault(eval.CauseStream, eval.RetryTrial)
	}
	return fault(eval.CauseServer, eval.RetryTrial)
}

// named sorts by the provider's own word for the error.
func (r *Request) named() (eval.Fault, bool) {
	message := strings.ToLower(r.ErrorMessage)
	for _, words := range []string{"credit balance is too low", "specified api usage limits"} {
		if strings.Contains(message, words) {
			return fault(eval.CauseBilling, eval.RetryStop), true
		}
	}
	for _, word := range []string{r.ErrorCode, r.ErrorType} {
		switch word {
		case "insufficient_quota", "billing_error", "billing_hard_limit_reached", "usage_limit_reached":
			return fault(eval.CauseBilling, eval.RetryStop), true
		case "authentication_error", "permission_error", "invalid_api_key":
			return fault(eval.CauseAuth, eval.RetryStop), true
		case "model_not_found":
			return fault(eval.CauseModel, eval.RetryStop), true
		case "rate_limit_error", "rate_limit_exceeded":
			return fault(eval.CauseRateLimit, eval.RetryTrial), true
		case "overloaded_error", "server_is_overloaded", "slow_down":
			return fault(eval.CauseOverloaded, eval.RetryTrial), true
		case "api_error", "server_error", "internal_server_error", "timeout_error":
			return fault(eval.CauseServer, eval.RetryTrial), true
		case "invalid_request_error", "invalid_prompt":
			if r.Status < 300 {
				return fault(eval.CauseBadRequest, eval.RetryNever), true
			}
		}
	}
	return eval.Fault{}, false
}

func byStatus(status int) (eval.Fault, bool) {
	switch {
	case status == 401 || status == 403:
		return fault(eval.CauseAuth, eval.RetryStop), true
	case status == 402:
		return fault(eval.CauseBilling, eval.RetryStop), true
	case status == 404:
		return fault(eval.CauseModel, eval.RetryStop), true
	case status == 408:
		return fault(eval.CauseServer, eval.RetryTrial), true
	case status == 429:
		return fault(eval.CauseRateLimit, eval.RetryTrial), true
	case status >= 500:
		return fault(eval.CauseServer, eval.RetryTrial), true
	case status >= 300:
		return fault(eval.CauseBadRequest, eval.RetryStop), true
	}
	return eval.Fault{}, false
}

// Outcome is how the agent's run ended by what the model side shows, where that
// is the agent's own: a cap of the trial is used up, the model refused, the answer or
// the conversation grew too long.
func (f Facts) Outcome() (eval.Outcome, bool) {
	if f.Limit != "" {
		return f.Limit, true
	}
	r := f.last()
	if r == nil {
		return "", false
	}
	if r.contextExceeded() {
		return eval.ContextExceeded, true
	}
	if r.Status >= 300 || r.StreamEnd != Complete || r.ErrorType != "" {
		return "", false
	}
	switch r.StopReason {
	case "refusal", "content_filter":
		return eval.Refused, true
	case "max_tokens", "max_output_tokens", "length":
		return eval.MaxOutput, true
	case "model_context_window_exceeded":
		return eval.ContextExceeded, true
	}
	return "", false
}

// Said is what the provider said of the last request's failure, empty where it
// did not fail.
func (f Facts) Said() string {
	if r := f.last(); r != nil {
		return r.ErrorMessage
	}
	return ""
}

// contextExceeded reports whether the conversation grew too long for the model.
// Without an error status the error came in mid-stream.
func (r *Request) contextExceeded() bool {
	if r.ErrorCode == "context_length_exceeded" || r.ErrorType == "request_too_large" || r.Status == http.StatusRequestEntityTooLarge {
		return true
	}
	if r.Status != http.StatusBadRequest && (r.Status >= 300 || r.ErrorType == "") {
		return false
	}
	m := strings.ToLower(r.ErrorMessage)
	return strings.Contains(m, "prompt is too long") || strings.Contains(m, "context window") ||
		strings.Contains(m, "exceed context limit") || strings.Contains(m, "maximum context length")
}

// Package model knows what the wire protocols of model providers say: how many
// tokens an answer took, how it ended, and whether a failure is the provider's
// or the agent's. It sends nothing. Start at [Reading] for one answer and at
// [Facts] for what a trial's answers add up to.
package model

import (
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Wire protocols.
const (
	AnthropicMessages = "anthropic-messages"
	OpenAIResponses   = "openai-responses"
	OpenAIChat        = "openai-chat"
)

// End is how an answer ended. It is empty while the answer is under way.
type End string

// Ends of answers.
const (
	Complete   End = "complete"
	Cut        End = "cut"         // ended before its closing event
	Stalled    End = "stalled"     // nothing came for too long
	Malformed  End = "malformed"   // not what the protocol says
	Empty      End = "empty"       // nothing at all
	ClientGone End = "client_gone" // the agent left first
	Refused    End = "refused"     // by the engine: a cap of the trial is used up
	Failed     End = "failed"      // an error status, or no answer
)

// Error types that the proxy itself sets where no provider could.
const (
	ErrorHang    = "model_hang"
	ErrorNetwork = "network"
)

// Request is one HTTP request to the model with its answer.
type Request struct {
	// At is since the agent's start, Duration until the answer's end.
	At       time.Duration `json:"-"`
	Duration time.Duration `json:"-"`
	// Status is the provider's HTTP status, or the proxy's own where the provider
	// gave none: 502 for no connection, 504 for no answer in time.
	Status int `json:"status"`
	// Model is the answer's word where it has one, else the request's.
	Model        string        `json:"model,omitempty"`
	ErrorType    string        `json:"error_type,omitempty"`
	ErrorCode    string        `json:"error_code,omitempty"`
	ErrorMessage string        `json:"error_message,omitempty"`
	RetryAfter   time.Duration `json:"retry_after_ns,omitempty"`
	Usage        eval.Usage    `json:"usage,omitzero"`
	// Limit is the trial's cap that the engine refused the request for.
	Limit eval.Outcome `json:"limit,omitempty"`
	// Counted says that Usage is the answer's own final count.
	Counted    bool     `json:"counted,omitempty"`
	StopReason string   `json:"stop_reason,omitempty"`
	StreamEnd  End      `json:"stream_end"`
	CostUSD    *float64 `json:"cost_usd,omitempty"`
	// RequestBytes and ResponseBytes are the bodies' sizes.
	RequestBytes  int64 `json:"request_bytes"`
	ResponseBytes int64 `json:"response_bytes"`
}

// ok reports whether the answer is one that an agent can go on with.
func (r *Request) ok() bool { return r.Status < 300 && r.StreamEnd == Complete && r.ErrorType == "" }

// Facts are what a trial, or a turn of it, shows of its model.
type Facts struct {
	Requests []Request
	Usage    eval.Usage
	// Turns is how many whole answers there were.
	Turns int
	// Retries is how many failed requests were followed by another.
	Retries int
	// Limit is the trial's cap that was used up and asked for beyond; empty where
	// none was.
	Limit eval.Outcome
}

// Sum makes facts of requests. priced says that prices were to be known.
func Sum(requests []Request, priced bool) Facts {
	f := Facts{Requests: requests}
	u := &f.Usage
	u.Source = "model_proxy"
	cost, known := 0.0, priced
	for i := range requests {
		r := &requests[i]
		if r.StreamEnd == Refused {
			if f.Limit == "" {
				f.Limit = r.Limit
			}
			continue
		}
		u.Requests++
		if r.ok() {
			f.Turns++
		} else if i+1 < len(requests) && r.StreamEnd != ClientGone {
			f.Retries++
		}
		add(u, r.Usage)
		u.LowerBound = u.LowerBound || r.uncounted()
		if r.CostUSD != nil {
			cost += *r.CostUSD
		} else if r.Usage.InputTokens+r.Usage.OutputTokens > 0 {
			known = false
		}
		if r.Model != "" && !slices.Contains(u.Models, r.Model) {
			u.Models = append(u.Models, r.Model)
		}
	}
	u.Turns = f.Turns
	if known && u.Requests > 0 {
		u.CostUSD = &cost
	}
	return f
}

func add(u *eval.Usage, r eval.Usage) {
	u.InputTokens += r.InputTokens
	u.CacheReadTokens += r.CacheReadTokens
	u.CacheWriteTokens += r.CacheWriteTokens
	u.OutputTokens += r.OutputTokens
	u.ReasoningTokens += r.ReasoningTokens
}

// uncounted reports whether the provider may have used tokens that it did not
// tell of.
func (r *Request) uncounted() bool {
	switch {
	case r.Counted:
		return false
	case r.Status >= 400:
		return r.ErrorType == ErrorHang
	}
	return r.StreamEnd != Refused && !(r.Status == 0 && r.StreamEnd == Failed)
}

// last is the request that decides how the model side ended.
func (f Facts) last() *Request {
	for i := len(f.Requests) - 1; i >= 0; i-- {
		if r := &f.Requests[i]; r.StreamEnd != Refused {
			return r
		}
	}
	return nil
}

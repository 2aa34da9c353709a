package exchange

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
)

// longestWait bounds what a provider can ask for.
const longestWait = time.Hour

// fault is what is wrong with an answer that has a status; nil for a whole one.
func (x *Exchange) fault(r *model.Reading) *eval.Fault {
	if x.large {
		return fault(eval.CauseStream, eval.RetryNever, "the answer is larger than %d MiB", MaxAnswer>>20)
	}
	req := model.Request{
		Status: x.status, Model: r.Model, Usage: r.Usage, Counted: r.Counted, StopReason: r.StopReason,
		ErrorType: r.ErrorType, ErrorCode: r.ErrorCode, ErrorMessage: r.ErrorMessage, StreamEnd: r.End(),
	}
	if x.status < 300 && x.broken != nil && !r.Closed {
		req.StreamEnd = model.Cut
	}
	facts := model.Sum([]model.Request{req}, false)
	if out, ok := facts.Outcome(); ok && out == eval.ContextExceeded && (x.status >= 300 || r.ErrorType != "") {
		return fault(eval.CauseTooLarge, eval.RetryNever, "the prompt is longer than the model takes: %s", r.ErrorMessage)
	}
	f := facts.Fault()
	if f == nil {
		return nil
	}
	if f.Cause == eval.CauseServer && x.status == http.StatusServiceUnavailable {
		f.Cause = eval.CauseOverloaded
	}
	if kind, _, _ := mime.ParseMediaType(x.header.Get("Content-Type")); r.ErrorMessage == "" && kind != "application/json" && kind != "text/event-stream" {
		f.Detail += ": the answer is " + named(kind) + ", not JSON; is base_url right?"
	}
	if x.status == http.StatusNotFound && r.ErrorMessage == "" {
		f.Cause = eval.CauseBadRequest
	}
	return f
}

func named(kind string) string {
	if kind == "" {
		return "of no type"
	}
	return kind
}

// RetryAfter is how long an answer's header asks to wait, 0 where it does not.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && n > 0 {
		return min(time.Duration(min(n, 1e9)*float64(time.Millisecond)), longestWait)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 {
		return min(time.Duration(min(n, 1e6)*float64(time.Second)), longestWait)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return min(at.Sub(now), longestWait)
	}
	return 0
}

package model

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A fault is what goes wrong with a request instead of, or in the middle of,
// its answer.
type fault struct {
	kind          string
	first         int    // only the first so many requests; 0: all
	perSession    bool   // count them apart for each session
	late          bool   // only requests that carry tool results of the present turn
	streamingOnly bool   // only requests that ask for a stream
	status        int    // 0: that of the kind
	message       string // these three: empty for those of the kind
	errorType     string
	code          string
	headers       http.Header
}

// Faults that break the answer's bytes rather than say an error.
const (
	faultMalformed = "malformed" // 200 and a stream whose data is not JSON
	faultEmpty     = "empty"     // 200 and nothing
	faultHTML      = "html"      // 200 and a web page
	faultReset     = "reset"     // half the answer, then a TCP reset
	faultEOF       = "eof"       // half the answer, then a clean end
	faultStall     = "stall"     // half the answer, then nothing for ever
	faultHang      = "hang"      // nothing at all for ever, not even headers
	faultHTTP      = "http"      // a status, type and message of the script's own
)

var wireFaults = []string{faultMalformed, faultEmpty, faultHTML, faultReset, faultEOF, faultStall, faultHang}

// streamPrefix makes of a kind of error one that arrives inside a stream which began well.
const streamPrefix = "stream_"

// An apiError is one kind of error in the words of both vendors.
type apiError struct {
	status           int
	anthropicType    string
	anthropicMessage string
	openAIType       string
	openAICode       string
	openAIMessage    string
	inStream         bool // can also happen in a stream that began well
}

func apiErrors() map[string]apiError {
	return map[string]apiError{
		"bad_request": {status: 400,
			anthropicType: "invalid_request_error", anthropicMessage: "messages.0.content: Input should be a valid list",
			openAIType: "invalid_request_error", openAICode: "invalid_value", openAIMessage: "Invalid value: 'input'."},
		"billing": {status: 400,
			anthropicType: "invalid_request_error", anthropicMessage: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
			openAIType: "invalid_request_error", openAICode: "billing_hard_limit_reached", openAIMessage: "Billing hard limit has been reached."},
		"context_too_long": {status: 400, inStream: true,
			anthropicType: "invalid_request_error", anthropicMessage: "prompt is too long: 250000 tokens > 200000 maximum",
			openAIType: "invalid_request_error", openAICode: "context_length_exceeded", openAIMessage: "Your input exceeds the context window of this model. Please adjust your input and try again."},
		"unauthorized": {status: 401,
			anthropicType: "authentication_error", anthropicMessage: "invalid x-api-key",
			openAIType: "invalid_request_error", openAICode: "invalid_api_key", openAIMessage: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."},
		"forbidden": {status: 403,
			anthropicType: "permission_error", anthropicMessage: "Your API key does not have permission to use the specified resource.",
			openAIType: "invalid_request_error", openAICode: "unsupported_country_region_territory", openAIMessage: "Country, region, or territory not supported"},
		"not_found": {status: 404,
			anthropicType: "not_found_error", anthropicMessage: "model: no-such-model",
			openAIType: "invalid_request_error", openAICode: "model_not_found", openAIMessage: "The model `no-such-model` does not exist or you do not have access to it."},
		"too_large": {status: 413,
			anthropicType: "request_too_large", anthropicMessage: "Request exceeds the maximum size",
			openAIType: "invalid_request_error", openAICode: "request_too_large", openAIMessage: "The request is too large."},
		"rate_limit": {status: 429, inStream: true,
			anthropicType: "rate_limit_error", anthropicMessage: "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
			openAIType: "tokens", openAICode: "rate_limit_exceeded", openAIMessage: "Rate limit reached on tokens per min (TPM): Limit 30000, Used 30000. Please try again in 1s."},
		"quota": {status: 429, inStream: true,
			anthropicType: "rate_limit_error", anthropicMessage: "You have reached your specified API usage limits.",
			openAIType: "insufficient_quota", openAICode: "insufficient_quota", openAIMessage: "You exceeded your current quota, please check your plan and billing details."},
		"server_error": {status: 500, inStream: true,
			anthropicType: "api_error", anthropicMessage: "Internal server error",
			openAIType: "server_error", openAICode: "server_error", openAIMessage: "The server had an error while processing your request. Sorry about that!"},
		"bad_gateway": {status: 502,
			anthropicType: "api_error", anthropicMessage: "Bad gateway",
			openAIType: "server_error", openAICode: "bad_gateway", openAIMessage: "Bad gateway"},
		"unavailable": {status: 503,
			anthropicType: "api_error", anthropicMessage: "Service unavailable",
			openAIType: "service_unavailable_error", openAICode: "server_is_overloaded", openAIMessage: "Our servers are currently overloaded. Please try again later."},
		"overloaded": {status: 529, inStream: true,
			anthropicType: "overloaded_error", anthropicMessage: "Overloaded",
			openAIType: "service_unavailable_error", openAICode: "server_is_overloaded", openAIMessage: "Our servers are currently overloaded. Please try again later."},
	}
}

// faultKinds lists every kind a script may write.
func faultKinds() []string {
	kinds := append([]string{faultHTTP}, wireFaults...)
	for name, e := range apiErrors() {
		kinds = append(kinds, name)
		if e.inStream {
			kinds = append(kinds, streamPrefix+name)
		}
	}
	sort.Strings(kinds)
	return kinds
}

// passes reports whether some requests are let through.
func (f *fault) passes() bool { return f.first > 0 || f.late || f.streamingOnly }

// wire reports whether the fault breaks bytes rather than says an error.
func (f *fault) wire() bool { return slices.Contains(wireFaults, f.kind) }

// inStream reports whether the fault is an error inside a stream.
func (f *fault) inStream() bool { return strings.HasPrefix(f.kind, streamPrefix) }

// apiError is the error to say, the script's own words put in.
func (f *fault) apiError() apiError {
	e := apiErrors()[strings.TrimPrefix(f.kind, streamPrefix)]
	if f.status != 0 {
		e.status = f.status
	}
	if f.kind == faultHTTP {
		e.anthropicType, e.openAIType = "api_error", "server_error"
		e.anthropicMessage, e.openAIMessage = http.StatusText(e.status), http.StatusText(e.status)
	}
	if f.message != "" {
		e.anthropicMessage, e.openAIMessage = f.message, f.message
	}
	if f.errorType != "" {
		e.anthropicType, e.openAIType = f.errorType, f.errorType
	}
	if f.code != "" {
		e.openAICode = f.code
	}
	return e
}

func (f fields) fault() *fault {
	n := f.members["fault"]
	if n == nil {
		return nil
	}
	c, path := f.c, f.sub("fault")
	g := c.fields(n, path, "kind", "first", "per", "late", "streaming_only", "status", "message", "type", "code", "retry_after", "headers")
	t := &fault{
		kind:          g.oneOf("kind", faultKinds()...),
		first:         g.whole("first", 1, 1<<20),
		perSession:    g.oneOf("per", "session", "scenario") == "session",
		late:          g.flag("late"),
		streamingOnly: g.flag("streaming_only"),
		status:        g.whole("status", 400, 599),
		message:       g.str("message"),
		errorType:     g.str("type"),
		code:          g.str("code"),
		headers:       g.header("headers"),
	}
	if g.has("retry_after") {
		t.headers.Set("Retry-After", strconv.Itoa(g.whole("retry_after", 0, 3600)))
	}
	switch {
	case n.kind != objectNode:
	case !g.has("kind"):
		c.errorf(n.off, path, `"kind" is missing; want %s`, strings.Join(faultKinds(), ", "))
	case t.kind == faultHTTP && !g.has("status"):
		c.errorf(n.off, path, `the kind "http" needs a "status"`)
	case (t.wire() || t.inStream()) && (g.has("status") || g.has("retry_after")):
		c.errorf(n.off, path, `"status" and "retry_after" go with kinds that answer with an HTTP error`)
	case t.wire() && (g.has("message") || g.has("type") || g.has("code")):
		c.errorf(n.off, path, `"message", "type" and "code" go with kinds that say an error`)
	case g.has("per") && !g.has("first"):
		c.errorf(n.off, path, `"per" goes with "first"`)
	}
	return t
}

// header reads an object of header names and values.
func (f fields) header(name string) http.Header {
	h := http.Header{}
	n := f.of(name, objectNode)
	if n == nil {
		return h
	}
	for _, m := range n.members {
		if m.value.kind != stringNode || !validHeader(m.name, m.value.str) {
			f.c.errorf(m.off, f.sub(name), "want a header's name and its value as a string, found %q", m.name)
			continue
		}
		h.Set(m.name, m.value.str)
	}
	return h
}

func validHeader(name, value string) bool {
	for _, r := range name {
		if r != '-' && !('a' <= r && r <= 'z') && !('A' <= r && r <= 'Z') && !('0' <= r && r <= '9') {
			return false
		}
	}
	for _, r := range value {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return name != ""
}

func (f *fault) String() string {
	if f.kind == faultHTTP {
		return fmt.Sprintf("http %d", f.status)
	}
	return f.kind
}

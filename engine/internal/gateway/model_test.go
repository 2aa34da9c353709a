package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
)

const realKey = "sk-real-0123456789"

// upstream is a provider that answers in the test's way.
func provider(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func openModel(t testing.TB, o ModelOptions) *Model {
	t.Helper()
	h, err := Listen(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o.Key == "" {
		o.Key = realKey
	}
	m, err := h.OpenModel(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return m
}

var paths = map[string]string{
	model.AnthropicMessages: "/v1/messages?beta=true", model.OpenAIResponses: "/responses", model.OpenAIChat: "/chat/completions",
}

// ask sends one request as the agent program would, and returns status and body;
// err is set where the answer was cut.
func ask(m *Model, api, body string) (int, string, error) {
	req, err := http.NewRequest(http.MethodPost, m.Endpoint().BaseURL+paths[api], strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if api == model.AnthropicMessages {
		req.Header.Set("X-Api-Key", m.Endpoint().Key)
	} else {
		req.Header.Set("Authorization", "Bearer "+m.Endpoint().Key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

func events(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("data: " + p + "\n\n")
	}
	return b.String()
}

var (
	anthropicWhole = "event: message_start\n" + events(`{"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":3,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1}}}`,
		`{"type":"ping"}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40}}`, `{"type":"message_stop"}`)
	responsesWhole = events(`{"type":"response.created","response":{"model":"gpt-x","status":"in_progress"}}`, `{"type":"response.output_text.delta","delta":"hi"}`,
		`{"type":"response.completed","response":{"object":"response","model":"gpt-x","status":"completed","usage":{"input_tokens":1200,"input_tokens_details":{"cached_tokens":1000},"output_tokens":40,"output_tokens_details":{"reasoning_tokens":8},"total_tokens":1240}}}`)
	chatWhole = events(`{"object":"chat.completion.chunk","model":"c-x","choices":[{"delta":{"content":"hi"},"finish_reason":null}]}`,
		`{"object":"chat.completion.chunk","model":"c-x","choices":[{"delta":{},"finish_reason":"stop"}]}`,
		`{"object":"chat.completion.chunk","model":"c-x","choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":5},"completion_tokens_details":{"reasoning_tokens":7}}}`, `[DONE]`)
)

func TestModelUsage(t *testing.T) {
	tests := []struct {
		name, api, contentType, body string
		want                         eval.Usage
		stop                         string
	}{
		{"anthropic stream", model.AnthropicMessages, streamType, anthropicWhole,
			eval.Usage{InputTokens: 1103, CacheReadTokens: 1000, CacheWriteTokens: 100, OutputTokens: 40, Models: []string{"claude-x"}}, "end_turn"},
		{"anthropic document", model.AnthropicMessages, jsonType, `{"type":"message","model":"claude-x","stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":6,"cache_read_input_tokens":null}}`,
			eval.Usage{InputTokens: 5, OutputTokens: 6, Models: []string{"claude-x"}}, "tool_use"},
		{"anthropic, input counted again in the delta", model.AnthropicMessages, streamType,
			events(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":10,"output_tokens":1}}}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":9}}`, `{"type":"message_stop"}`),
			eval.Usage{InputTokens: 14, CacheReadTokens: 4, OutputTokens: 9, Models: []string{"m"}}, "end_turn"},
		{"responses stream", model.OpenAIResponses, streamType + "; charset=utf-8", responsesWhole,
			eval.Usage{InputTokens: 1200, CacheReadTokens: 1000, OutputTokens: 40, ReasoningTokens: 8, Models: []string{"gpt-x"}}, "completed"},
		{"responses document", model.OpenAIResponses, jsonType, `{"object":"response","status":"completed","model":"gpt-x","error":null,"usage":{"input_tokens":7,"output_tokens":8}}`,
			eval.Usage{InputTokens: 7, OutputTokens: 8, Models: []string{"gpt-x"}}, "completed"},
		{"chat stream", model.OpenAIChat, streamType, chatWhole,
			eval.Usage{InputTokens: 1200, CacheReadTokens: 5, OutputTokens: 40, ReasoningTokens: 7, Models: []string{"c-x"}}, "stop"},
		{"chat document", model.OpenAIChat, jsonType, `{"object":"chat.completion","model":"c-x","choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
			eval.Usage{InputTokens: 3, OutputTokens: 4, Models: []string{"c-x"}}, "stop"},
		{"chat without usage", model.OpenAIChat, streamType, events(`{"model":"c-x","choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`),
			eval.Usage{Models: []string{"c-x"}, LowerBound: true}, "stop"},
		{"crlf, comments and a split event", model.AnthropicMessages, streamType, strings.ReplaceAll(": hello\n\n"+anthropicWhole, "\n", "\r\n"),
			eval.Usage{InputTokens: 1103, CacheReadTokens: 1000, CacheWriteTokens: 100, OutputTokens: 40, Models: []string{"claude-x"}}, "end_turn"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *http.Request
			m := openModel(t, ModelOptions{API: tt.api, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
				got = r.Clone(context.Background())
				w.Header().Set("Content-Type", tt.contentType)
				for len(tt.body) > 0 && strings.HasPrefix(tt.contentType, streamType) {
					n := min(17, len(tt.body))
					io.WriteString(w, tt.body[:n])
					w.(http.Flusher).Flush()
					tt.body = tt.body[n:]
				}
				io.WriteString(w, tt.body)
			}) + "/base?v=1"})
			sent := tt.body
			status, body, err := ask(m, tt.api, `{"model":"asked","stream":true}`)
			if status != 200 || body != sent || err != nil {
				t.Fatalf("status %d, err %v, body %q", status, err, body)
			}
			f := m.Facts(0)
			tt.want.Source, tt.want.Turns, tt.want.Requests = "model_proxy", 1, 1
			if diff := cmp.Diff(tt.want, f.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
			if f.Requests[0].StopReason != tt.stop || f.Requests[0].StreamEnd != model.Complete {
				t.Errorf("stop %q, end %q", f.Requests[0].StopReason, f.Requests[0].StreamEnd)
			}
			if fault := f.Fault(); fault != nil {
				t.Errorf("fault %v", fault)
			}
			wantPath, _, _ := strings.Cut("/base"+paths[tt.api], "?")
			if got.URL.Path != wantPath || got.URL.Query().Get("v") != "1" {
				t.Errorf("asked for %s", got.URL)
			}
			if got.Header.Get("X-Api-Key")+got.Header.Get("Authorization") != map[bool]string{true: realKey, false: "Bearer " + realKey}[tt.api == model.AnthropicMessages] {
				t.Errorf("keys: %v", got.Header)
			}
			if got.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("accept-encoding %q", got.Header.Get("Accept-Encoding"))
			}
		})
	}
}

// TestModelFaults has a row for each row of failures that agent programs are
// known to meet.
func TestModelFaults(t *testing.T) {
	const a, o, c = model.AnthropicMessages, model.OpenAIResponses, model.OpenAIChat
	anthropic := func(kind, text string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"r"}`, kind, text)
	}
	openai := func(code, kind, text string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%q}}`, text, kind, code)
	}
	failed := func(code string) string {
		return events(`{"type":"response.created","response":{"model":"m"}}`, `{"type":"response.failed","response":{"status":"failed","error":{"code":"`+code+`","message":"x"}}}`)
	}
	started := events(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"output_tokens":1}}}`)
	tests := []struct {
		name, api   string
		status      int
		contentType string
		body        string
		cause       string // empty: no fault
		retry       eval.Retry
		outcome     eval.Outcome
		end         model.End
	}{
		{"401", a, 401, jsonType, anthropic("authentication_error", "invalid x-api-key"), eval.CauseAuth, eval.RetryStop, "", model.Failed},
		{"403", a, 403, jsonType, anthropic("permission_error", "no"), eval.CauseAuth, eval.RetryStop, "", model.Failed},
		{"404 model", a, 404, jsonType, anthropic("not_found_error", "model: nope"), eval.CauseModel, eval.RetryStop, "", model.Failed},
		{"400", a, 400, jsonType, anthropic("invalid_request_error", "max_tokens: bad"), eval.CauseBadRequest, eval.RetryStop, "", model.Failed},
		{"400 credit", a, 400, jsonType, anthropic("invalid_request_error", "Your credit balance is too low to access the API."), eval.CauseBilling, eval.RetryStop, "", model.Failed},
		{"400 too long", a, 400, jsonType, anthropic("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"), "", "", eval.ContextExceeded, model.Failed},
		{"413", a, 413, jsonType, anthropic("request_too_large", "too large"), "", "", eval.ContextExceeded, model.Failed},
		{"too long in stream", a, 200, streamType, started + events(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`), "", "", eval.ContextExceeded, model.Complete},
		{"bad request in stream", a, 200, streamType, started + events(`{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`), eval.CauseBadRequest, eval.RetryNever, "", model.Complete},
		{"429 usage limits", a, 429, jsonType, anthropic("rate_limit_error", "You have reached your specified API usage limits."), eval.CauseBilling, eval.RetryStop, "", model.Failed},
		{"429", a, 429, jsonType, anthropic("rate_limit_error", "slow"), eval.CauseRateLimit, eval.RetryTrial, "", model.Failed},
		{"500", a, 500, jsonType, anthropic("api_error", "oops"), eval.CauseServer, eval.RetryTrial, "", model.Failed},
		{"503", a, 503, jsonType, anthropic("api_error", "unavailable"), eval.CauseServer, eval.RetryTrial, "", model.Failed},
		{"529", a, 529, jsonType, anthropic("overloaded_error", "Overloaded"), eval.CauseOverloaded, eval.RetryTrial, "", model.Failed},
		{"529 HTML", a, 529, "text/html", "<html>busy</html>", eval.CauseOverloaded, eval.RetryTrial, "", model.Failed},
		{"502 empty", a, 502, "text/html", "", eval.CauseServer, eval.RetryTrial, "", model.Failed},
		{"overloaded in stream", a, 200, streamType, started + events(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), eval.CauseOverloaded, eval.RetryTrial, "", model.Complete},
		{"rate limit in stream", a, 200, streamType, started + events(`{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`), eval.CauseRateLimit, eval.RetryTrial, "", model.Complete},
		{"malformed stream", a, 200, streamType, "event: message_start\ndata: {not json\n\ndata: also\n\n", eval.CauseStream, eval.RetryTrial, "", model.Malformed},
		{"empty stream", a, 200, streamType, "", eval.CauseStream, eval.RetryTrial, "", model.Empty},
		{"HTML", a, 200, "text/html", "<html>captive portal</html>", eval.CauseStream, eval.RetryTrial, "", model.Malformed},
		{"early EOF", a, 200, streamType, started, eval.CauseStream, eval.RetryTrial, "", model.Cut},
		{"cut in an event", a, 200, streamType, started + `data: {"type":"content_bl`, eval.CauseStream, eval.RetryTrial, "", model.Cut},
		{"max_tokens", a, 200, streamType, started + events(`{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), "", "", eval.MaxOutput, model.Complete},
		{"refusal", a, 200, streamType, started + events(`{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), "", "", eval.Refused, model.Complete},

		{"openai 401", o, 401, jsonType, openai("invalid_api_key", "invalid_request_error", "Incorrect API key provided"), eval.CauseAuth, eval.RetryStop, "", model.Failed},
		{"openai 403", o, 403, jsonType, openai("forbidden", "invalid_request_error", "Country not supported"), eval.CauseAuth, eval.RetryStop, "", model.Failed},
		{"openai 404", o, 404, jsonType, openai("model_not_found", "invalid_request_error", "no such model"), eval.CauseModel, eval.RetryStop, "", model.Failed},
		{"openai 400", o, 400, jsonType, openai("invalid_value", "invalid_request_error", "Invalid value"), eval.CauseBadRequest, eval.RetryStop, "", model.Failed},
		{"openai 400 too long", o, 400, jsonType, openai("context_length_exceeded", "invalid_request_error", "Your input exceeds the context window"), "", "", eval.ContextExceeded, model.Failed},
		{"openai 413", o, 413, jsonType, openai("", "invalid_request_error", "The request is too large."), "", "", eval.ContextExceeded, model.Failed},
		{"openai 429", o, 429, jsonType, openai("rate_limit_exceeded", "requests", "Rate limit reached"), eval.CauseRateLimit, eval.RetryTrial, "", model.Failed},
		{"openai quota", o, 429, jsonType, openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota"), eval.CauseBilling, eval.RetryStop, "", model.Failed},
		{"openai 500", o, 500, jsonType, openai("server_error", "server_error", "x"), eval.CauseServer, eval.RetryTrial, "", model.Failed},
		{"openai 529", o, 529, jsonType, openai("overloaded", "server_error", "Overloaded"), eval.CauseOverloaded, eval.RetryTrial, "", model.Failed},
		{"openai 503 capacity", o, 503, jsonType, openai("server_is_overloaded", "service_unavailable_error", "x"), eval.CauseOverloaded, eval.RetryTrial, "", model.Failed},
		{"openai overloaded in stream", o, 200, streamType, failed("server_is_overloaded"), eval.CauseOverloaded, eval.RetryTrial, "", model.Complete},
		{"openai rate limit in stream", o, 200, streamType, failed("rate_limit_exceeded"), eval.CauseRateLimit, eval.RetryTrial, "", model.Complete},
		{"openai quota in stream", o, 200, streamType, failed("insufficient_quota"), eval.CauseBilling, eval.RetryStop, "", model.Complete},
		{"openai context in stream", o, 200, streamType, failed("context_length_exceeded"), "", "", eval.ContextExceeded, model.Complete},
		{"openai error event", o, 200, streamType, events(`{"type":"error","code":"server_error","message":"x"}`), eval.CauseServer, eval.RetryTrial, "", model.Complete},
		{"openai malformed", o, 200, streamType, "data: {not json\n\n", eval.CauseStream, eval.RetryTrial, "", model.Malformed},
		{"openai empty", o, 200, streamType, "", eval.CauseStream, eval.RetryTrial, "", model.Empty},
		{"openai cut", o, 200, streamType, events(`{"type":"response.created","response":{"model":"m"}}`), eval.CauseStream, eval.RetryTrial, "", model.Cut},
		{"openai incomplete", o, 200, streamType, events(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":1,"output_tokens":2}}}`), "", "", eval.MaxOutput, model.Complete},
		{"openai filtered", o, 200, streamType, events(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`), "", "", eval.Refused, model.Complete},

		{"chat 429", c, 429, jsonType, openai("rate_limit_exceeded", "requests", "x"), eval.CauseRateLimit, eval.RetryTrial, "", model.Failed},
		{"chat error in stream", c, 200, streamType, events(`{"error":{"message":"x","type":"server_error","code":null}}`), eval.CauseServer, eval.RetryTrial, "", model.Complete},
		{"chat cut", c, 200, streamType, events(`{"choices":[{"delta":{"content":"h"}}]}`), eval.CauseStream, eval.RetryTrial, "", model.Cut},
		{"chat length", c, 200, streamType, events(`{"choices":[{"delta":{},"finish_reason":"length"}]}`, `[DONE]`), "", "", eval.MaxOutput, model.Complete},
		{"chat refusal", c, 200, jsonType, `{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}`, "", "", eval.Refused, model.Complete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := openModel(t, ModelOptions{API: tt.api, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.contentType)
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})})
			status, body, err := ask(m, tt.api, `{"model":"asked"}`)
			if status != tt.status || body != tt.body || err != nil {
				t.Errorf("the agent got %d %q %v", status, body, err)
			}
			f := m.Facts(0)
			if f.Requests[0].StreamEnd != tt.end {
				t.Errorf("end %q; want %q", f.Requests[0].StreamEnd, tt.end)
			}
			outcome, _ := f.Outcome()
			if outcome != tt.outcome {
				t.Errorf("outcome %q; want %q", outcome, tt.outcome)
			}
			fault := f.Fault()
			switch {
			case tt.cause == "" && fault != nil:
				t.Errorf("fault %v; want none", fault)
			case tt.cause != "" && fault == nil:
				t.Errorf("no fault; want %s", tt.cause)
			case fault != nil:
				if fault.Cause != tt.cause || fault.Retry != tt.retry || fault.RetryAfter != 7*time.Second {
					t.Errorf("fault %+v; want %s, retry %s", *fault, tt.cause, tt.retry)
				}
				if want := map[bool]int{true: tt.status}[tt.status >= 300]; fault.Status != want {
					t.Errorf("fault status %d; want %d", fault.Status, want)
				}
			}
		})
	}
}

func TestModelNoProvider(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	m := openModel(t, ModelOptions{API: model.AnthropicMessages, BaseURL: "http://" + l.Addr().String()})
	status, body, _ := ask(m, model.AnthropicMessages, `{"model":"asked"}`)
	if status != 502 || !strings.Contains(body, "network") {
		t.Errorf("the agent got %d %s", status, body)
	}
	f := m.Facts(0)
	if fault := f.Fault(); fault == nil || fault.Cause != eval.CauseNetwork || fault.Retry != eval.RetryTrial || fault.Status != 502 {
		t.Errorf("fault %+v", fault)
	}
	if f.Usage.LowerBound || f.Requests[0].Model != "asked" {
		t.Errorf("usage %+v, model %q", f.Usage, f.Requests[0].Model)
	}
}

func TestModelHangs(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	m := openModel(t, ModelOptions{API: model.OpenAIResponses, HeaderTimeout: 30 * time.Millisecond, IdleTimeout: 30 * time.Millisecond,
		BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
			if b, _ := io.ReadAll(r.Body); strings.Contains(string(b), "stall") {
				w.Header().Set("Content-Type", streamType)
				io.WriteString(w, events(`{"type":"response.created","response":{"model":"m"}}`))
				w.(http.Flusher).Flush()
			}
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		})})
	if status, body, _ := ask(m, model.OpenAIResponses, `{"model":"never"}`); status != 504 {
		t.Errorf("no headers: the agent got %d %s", status, body)
	}
	if fault := m.Facts(0).Fault(); fault == nil || fault.Cause != eval.CauseModelHang || fault.Status != 504 {
		t.Errorf("no headers: fault %+v", fault)
	}
	mark := m.Mark()
	if status, _, err := ask(m, model.OpenAIResponses, `{"model":"stall"}`); status != 200 || err == nil {
		t.Errorf("stall: the agent got %d, err %v; want a cut answer", status, err)
	}
	f := m.Facts(mark)
	if fault := f.Fault(); fault == nil || fault.Cause != eval.CauseModelHang || len(f.Requests) != 1 || f.Requests[0].StreamEnd != model.Stalled {
		t.Errorf("stall: fault %+v, requests %+v", fault, f.Requests)
	}
	if !f.Usage.LowerBound {
		t.Error("stall: the usage is not a lower bound")
	}
}

func TestModelCutConnection(t *testing.T) {
	m := openModel(t, ModelOptions{API: model.AnthropicMessages, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", streamType)
		io.WriteString(w, events(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"output_tokens":1}}}`))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})})
	if _, _, err := ask(m, model.AnthropicMessages, `{}`); err == nil {
		t.Error("the agent saw a whole answer")
	}
	f := m.Facts(0)
	if fault := f.Fault(); fault == nil || fault.Cause != eval.CauseStream || f.Requests[0].StreamEnd != model.Cut || f.Usage.InputTokens != 5 || !f.Usage.LowerBound {
		t.Errorf("fault %+v, facts %+v", fault, f)
	}
}

func TestModelRetryGotOver(t *testing.T) {
	n := 0
	m := openModel(t, ModelOptions{API: model.AnthropicMessages, Price: func(name string, u eval.Usage) (float64, bool) {
		return float64(u.InputTokens) / 1000, name == "claude-x"
	}, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n <= 2 {
			w.WriteHeader(529)
			return
		}
		w.Header().Set("Content-Type", streamType)
		io.WriteString(w, anthropicWhole)
	})})
	for range 3 {
		ask(m, model.AnthropicMessages, `{}`)
	}
	f := m.Facts(0)
	if f.Fault() != nil || f.Turns != 1 || f.Retries != 2 || f.Usage.Requests != 3 || f.Usage.CostUSD == nil || *f.Usage.CostUSD != 1.103 {
		t.Errorf("fault %v, turns %d, retries %d, usage %+v", f.Fault(), f.Turns, f.Retries, f.Usage)
	}
	if f := m.Facts(m.Mark()); len(f.Requests) != 0 || f.Fault() != nil || f.Usage.CostUSD != nil {
		t.Errorf("since now: %+v", f)
	}
}

func TestModelUnknownPrice(t *testing.T) {
	m := openModel(t, ModelOptions{API: model.AnthropicMessages, Price: func(string, eval.Usage) (float64, bool) { return 0, false },
		BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", streamType)
			io.WriteString(w, anthropicWhole)
		})})
	ask(m, model.AnthropicMessages, `{}`)
	if u := m.Facts(0).Usage; u.CostUSD != nil {
		t.Errorf("cost %v; want unknown", *u.CostUSD)
	}
}

func TestModelMaxTurns(t *testing.T) {
	n := 0
	for api, want := range map[string]string{
		model.AnthropicMessages: `{"error":{"message":"the trial's limit of 2 turns is used up","type":"invalid_request_error"},"type":"error"}`,
		model.OpenAIResponses:   `{"error":{"code":"max_turns","message":"the trial's limit of 2 turns is used up","param":null,"type":"invalid_request_error"}}`,
	} {
		n = 0
		m := openModel(t, ModelOptions{API: api, Limits: eval.Limits{Turns: 2}, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
			if n++; n == 1 {
				w.WriteHeader(500) // takes no turn
				return
			}
			w.Header().Set("Content-Type", streamType)
			io.WriteString(w, map[string]string{model.AnthropicMessages: anthropicWhole, model.OpenAIResponses: responsesWhole}[api])
		})})
		var status int
		var body string
		for range 4 {
			status, body, _ = ask(m, api, `{}`)
		}
		if status != 400 || body != want || n != 3 {
			t.Errorf("%s: request 4 got %d %s, the provider %d requests", api, status, body, n)
		}
		f := m.Facts(0)
		outcome, ok := f.Outcome()
		if f.Limit != eval.MaxTurns || !ok || outcome != eval.MaxTurns || f.Fault() != nil || f.Turns != 2 || f.Usage.Requests != 3 {
			t.Errorf("%s: %+v, outcome %q, fault %v", api, f, outcome, f.Fault())
		}
	}
}

func TestModelClientGone(t *testing.T) {
	arrived := make(chan struct{})
	m := openModel(t, ModelOptions{API: model.AnthropicMessages, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, m.Endpoint().BaseURL+"/v1/messages", strings.NewReader(`{}`))
	req.Header.Set("X-Api-Key", m.Endpoint().Key)
	go func() { <-arrived; cancel() }()
	if _, err := http.DefaultClient.Do(req); err == nil {
		t.Fatal("an answer came")
	}
	m.Close() // waits for the request's end
	f := m.Facts(0)
	if f.Fault() != nil || f.Requests[0].StreamEnd != model.ClientGone || !f.Usage.LowerBound {
		t.Errorf("fault %v, facts %+v", f.Fault(), f)
	}
}

func TestModelDoors(t *testing.T) {
	calls := 0
	m := openModel(t, ModelOptions{API: model.AnthropicMessages, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		io.WriteString(w, r.Method+" "+r.URL.Path)
	})})
	e := m.Endpoint()
	do := func(method, url string, h map[string]string) int {
		req, _ := http.NewRequest(method, url, nil)
		for k, v := range h {
			req.Header.Set(k, v)
			if k == "Host" {
				req.Host = v
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	good := map[string]string{"X-Api-Key": e.Key}
	for _, tt := range []struct {
		name, method, url string
		h                 map[string]string
		want              int
	}{
		{"no key", "POST", e.BaseURL + "/v1/messages", nil, 401},
		{"wrong key", "POST", e.BaseURL + "/v1/messages", map[string]string{"X-Api-Key": e.Key + "x"}, 401},
		{"the real key", "POST", e.BaseURL + "/v1/messages", map[string]string{"X-Api-Key": realKey}, 401},
		{"websocket", "GET", e.BaseURL + "/v1/responses", map[string]string{"X-Api-Key": e.Key, "Connection": "Upgrade", "Upgrade": "websocket"}, 426},
		{"other trial", "GET", strings.Replace(e.BaseURL, m.path, strings.Repeat("0", 32), 1) + "/", good, 404},
		{"web page", "POST", e.BaseURL + "/v1/messages", map[string]string{"X-Api-Key": e.Key, "Origin": "https://example.org"}, 403},
		{"rebound name", "POST", e.BaseURL + "/v1/messages", map[string]string{"X-Api-Key": e.Key, "Host": "example.org"}, 403},
		{"head", "HEAD", e.BaseURL + "/", good, 200},
		{"other path", "GET", e.BaseURL + "/v1/models", good, 200},
	} {
		if got := do(tt.method, tt.url, tt.h); got != tt.want {
			t.Errorf("%s: %d; want %d", tt.name, got, tt.want)
		}
	}
	if f := m.Facts(0); len(f.Requests) != 0 || calls != 2 {
		t.Errorf("%d requests in the facts, %d calls of the provider; want 0 and 2", len(f.Requests), calls)
	}
}

// TestModelKeyStaysHidden has a provider that says the key back in every way it
// can.
func TestModelKeyStaysHidden(t *testing.T) {
	var log safeBuffer
	for _, kind := range []string{streamType, jsonType, "text/plain"} {
		for _, status := range []int{200, 401} {
			m := openModel(t, ModelOptions{API: model.AnthropicMessages, Log: &log, Bodies: true, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
				key := r.Header.Get("X-Api-Key")
				w.Header().Set("Content-Type", kind)
				w.Header().Set("X-Echo", key)
				w.WriteHeader(status)
				io.WriteString(w, `data: {"type":"error","error":{"type":"authentication_error","message":"bad `+key[:5])
				w.(http.Flusher).Flush()
				io.WriteString(w, key[5:]+`"}}`+"\n\n")
			})})
			req, _ := http.NewRequest(http.MethodPost, m.Endpoint().BaseURL+"/v1/messages", strings.NewReader(`{"model":"x"}`))
			req.Header.Set("X-Api-Key", m.Endpoint().Key)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if strings.Contains(string(b), realKey) || !strings.Contains(string(b), "bad "+strings.Repeat("*", len(realKey))) || resp.Header.Get("X-Echo") == realKey {
				t.Errorf("%s %d: the agent got %s %v", kind, status, b, resp.Header)
			}
			m.Close()
			if s := fmt.Sprintf("%+v %v", m.Facts(0), m.Facts(0).Fault()); strings.Contains(s, realKey) {
				t.Errorf("%s %d: the facts hold the key: %s", kind, status, s)
			}
			if strings.Contains(log.String(), m.Endpoint().Key) {
				t.Errorf("the log holds the stand-in key")
			}
		}
	}
	if strings.Contains(log.String(), realKey) {
		t.Error("the log holds the key")
	}
	for line := range strings.Lines(log.String()) {
		var v struct {
			Path    string          `json:"path"`
			Request json.RawMessage `json:"request"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.Path != "/v1/messages" || string(v.Request) != `{"model":"x"}` {
			t.Errorf("line %s: %v", line, err)
		}
	}
}

func TestHiding(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a|bsecret1c", "ab*******c"}, {"sec|ret1", "*******"}, {"se|c|ret|1se|cret1", "**************"}, {"sec|sec|ret1", "sec*******"}, {"sec|", "sec"}, {"secret|2", "secret2"},
	} {
		var b bytes.Buffer
		h := newHiding(&b, "secret1")
		for _, part := range strings.Split(tt.in, "|") {
			h.Write([]byte(part))
		}
		h.Flush()
		if b.String() != tt.want {
			t.Errorf("%q became %q; want %q", tt.in, b.String(), tt.want)
		}
	}
}

func TestModelHugeBodies(t *testing.T) {
	m := openModel(t, ModelOptions{API: model.OpenAIChat, BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", jsonType)
		fmt.Fprintf(w, `{"n":%d,"pad":"`, n)
		io.WriteString(w, strings.Repeat("x", 20<<20))
		io.WriteString(w, `"}`)
	})})
	status, body, err := ask(m, model.OpenAIChat, `{"model":"big","pad":"`+strings.Repeat("y", 5<<20)+`"}`)
	if status != 200 || err != nil || len(body) < 20<<20 || !strings.HasPrefix(body, `{"n":5242904,`) || !strings.HasSuffix(body, `x"}`) {
		t.Errorf("status %d, %d bytes, %v, %.30s", status, len(body), err, body)
	}
	if f := m.Facts(0); f.Requests[0].Model != "big" || !f.Usage.LowerBound {
		t.Errorf("facts %+v", f)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/redact"
	"github.com/evalengine/evalengine/scorers/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "sk-canary-0123456789abcdef"

// endpoint is a loopback model server that plays replies in turn; the last is
// played again and again.
type endpoint struct {
	*httptest.Server
	mu      sync.Mutex
	replies []http.HandlerFunc
	bodies  [][]byte
	heads   []http.Header
	paths   []string
}

func serve(t *testing.T, replies ...http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{replies: replies}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		e.bodies, e.heads, e.paths = append(e.bodies, b), append(e.heads, r.Header.Clone()), append(e.paths, r.URL.Path)
		reply := e.replies[0]
		if len(e.replies) > 1 {
			e.replies = e.replies[1:]
		}
		e.mu.Unlock()
		reply(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

func (e *endpoint) body(t *testing.T, i int) map[string]any {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	var v map[string]any
	if err := json.Unmarshal(e.bodies[i], &v); err != nil {
		t.Fatalf("request %d: %v", i, err)
	}
	return v
}

// said answers with a status, a body of the given type, and header pairs.
func said(status int, kind, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func jsonly(status int, body string, header ...string) http.HandlerFunc {
	return said(status, "application/json", body, header...)
}

// quoted is s as a JSON string.
func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// api is one wire protocol: how a model block is written, and how answers are.
type api struct {
	name, provider, config string
	path                   string
	// whole and stream give an answer with that text and stop.
	whole, stream func(text, stop string) string
	// stops are the protocol's words for end, max_tokens, refusal and other.
	stops [4]string
	// long is the provider's 400 for a prompt that is too long.
	long string
}

func apis() []api {
	chat := func(text, stop string) string {
		return fmt.Sprintf(`{"id":"c1","object":"chat.completion","model":"m-told","choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":5}}}`, stop, quoted(text))
	}
	chatStream := func(text, stop string) string {
		half := len(text) / 2
		return `data: {"id":"c1","object":"chat.completion.chunk","model":"m-told","choices":[{"index":0,"delta":{"role":"assistant","content":` + quoted(text[:half]) + `}}]}` + "\n\n" +
			`data: {"id":"c1","object":"chat.completion.chunk","model":"m-told","choices":[{"index":0,"delta":{"content":` + quoted(text[half:]) + `}}]}` + "\n\n" +
			`data: {"id":"c1","object":"chat.completion.chunk","model":"m-told","choices":[{"index":0,"delta":{},"finish_reason":"` + stop + `"}]}` + "\n\n" +
			`data: {"id":"c1","object":"chat.completion.chunk","model":"m-told","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":5}}}` + "\n\n" +
			"data: [DONE]\n\n"
	}
	long := `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`
	return []api{
		{"anthropic", "anthropic", `"api_key_env":"KEY"`, "/v1/messages", func(text, stop string) string {
			return fmt.Sprintf(`{"id":"m1","type":"message","role":"assistant","model":"m-told","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":%s}],"stop_reason":%q,"usage":{"input_tokens":60,"cache_read_input_tokens":40,"cache_creation_input_tokens":0,"output_tokens":20}}`, quoted(text), stop)
		}, func(text, stop string) string {
			half := len(text) / 2
			return "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m-told","content":[],"usage":{"input_tokens":60,"cache_read_input_tokens":40,"output_tokens":1}}}` + "\n\n" +
				"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
				"event: ping\ndata: {\"type\":\"ping\"}\n\n" +
				"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quoted(text[:half]) + `}}` + "\n\n" +
				"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quoted(text[half:]) + `}}` + "\n\n" +
				"event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\n" +
				"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":20}}` + "\n\n" +
				"event: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n"
		}, [4]string{"end_turn", "max_tokens", "refusal", "tool_use"},
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`},
		{"responses", "openai", `"api_key_env":"KEY","api":"responses"`, "/responses", responsesBody, func(text, stop string) string {
			body := responsesBody(text, stop)
			kind := "response.completed"
			if stop != "completed" {
				kind = "response.incomplete"
			}
			return "event: response.created\ndata: " + `{"type":"response.created","response":{"id":"r1","object":"response","model":"m-told","status":"in_progress","output":[]}}` + "\n\n" +
				"event: " + kind + "\ndata: " + `{"type":"` + kind + `","response":` + body + "}\n\n"
		}, [4]string{"completed", "max_output_tokens", "content_filter", "cancelled"}, long},
		{"chat", "openai", `"api_key_env":"KEY","api":"chat"`, "/chat/completions", chat, chatStream, [4]string{"stop", "length", "content_filter", "tool_calls"}, long},
		{"compatible", "openai-compatible", `"api_key_env":"KEY"`, "/chat/completions", chat, chatStream, [4]string{"stop", "length", "content_filter", "tool_calls"}, long},
	}
}

func responsesBody(text, stop string) string {
	status, why := "completed", "null"
	switch stop {
	case "max_output_tokens", "content_filter":
		status, why = "incomplete", `{"reason":"`+stop+`"}`
	case "cancelled":
		status = "cancelled"
	}
	return fmt.Sprintf(`{"id":"r1","object":"response","model":"m-told","status":%q,"incomplete_details":%s,"output":[{"type":"reasoning","id":"rs","summary":[]},{"type":"message","id":"ms","role":"assistant","status":"completed","content":[{"type":"output_text","text":%s,"annotations":[]}]}],"usage":{"input_tokens":100,"output_tokens":20,"total_tokens":120,"input_tokens_details":{"cached_tokens":40},"output_tokens_details":{"reasoning_tokens":5}}}`, status, why, quoted(text))
}

// bench is a broker with one model block "judge", and what it writes.
type bench struct {
	*Broker
	log     bytes.Buffer
	slept   []time.Duration
	secrets redact.Set
	mu      sync.Mutex
	now     time.Time
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// newBench gives the broker a clock that waits nowhere.
func newBench(t *testing.T, a api, url, more string, change func(*Options)) *bench {
	t.Helper()
	b := &bench{now: noon}
	config := `{"base_url":` + quoted(url) + "," + a.config + more + "}"
	o := Options{
		Models:  []eval.ModelConfig{{Name: "judge", Provider: a.provider, Model: "gpt-5", Config: eval.JSON(config)}},
		Environ: func(name string) (string, bool) { return canary, name == "KEY" },
		Secrets: &b.secrets, Random: func() float64 { return 0 },
		Now: func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now },
		Wait: func(ctx context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.slept = append(b.slept, d)
			b.now = b.now.Add(d)
			return ctx.Err()
		},
	}
	if change != nil {
		change(&o)
	}
	var err error
	if b.Broker, err = New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

var trial = eval.Trial{Story: "s", Host: "h", Repeat: 1}

func (b *bench) session() *Session {
	return b.Session(SessionOptions{Run: "run", Trial: trial, Granted: map[string][]string{"judge/x": {"judge"}}, Log: &b.log})
}

func ask1(text string) *eval.ModelRequest {
	return &eval.ModelRequest{System: "be fair", Messages: []eval.ModelMessage{{Role: "user", Parts: []eval.ModelPart{{Text: text}}}}}
}

func call(t *testing.T, s *Session, q *eval.ModelRequest) *eval.ModelReply {
	t.Helper()
	b, err := s.Call(t.Context(), "judge/x", wire.OpComplete, wire.AppendModelRequest(nil, q))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(canary)) {
		t.Errorf("the key is in the reply: %q", b)
	}
	r, err := wire.DecodeModelReply(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) lines(t *testing.T) []eval.JudgeCall {
	t.Helper()
	if strings.Contains(b.log.String(), canary) {
		t.Errorf("the key is in judge.jsonl: %s", b.log.String())
	}
	var list []eval.JudgeCall
	for line := range strings.Lines(b.log.String()) {
		var c eval.JudgeCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("judge.jsonl: %v: %s", err, line)
		}
		list = append(list, c)
	}
	return list
}

func newServer(h http.Handler) *httptest.Server { return httptest.NewServer(h) }

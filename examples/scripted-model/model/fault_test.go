package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// One error of each kind that answers with an HTTP status, as each vendor words it.
func TestHTTPFaults(t *testing.T) {
	for _, tt := range []struct {
		kind      string
		status    int
		anthropic string // type
		openAI    string // code
	}{
		{"bad_request", 400, "invalid_request_error", "invalid_value"},
		{"billing", 400, "invalid_request_error", "billing_hard_limit_reached"},
		{"context_too_long", 400, "invalid_request_error", "context_length_exceeded"},
		{"unauthorized", 401, "authentication_error", "invalid_api_key"},
		{"forbidden", 403, "permission_error", "unsupported_country_region_territory"},
		{"not_found", 404, "not_found_error", "model_not_found"},
		{"too_large", 413, "request_too_large", "request_too_large"},
		{"rate_limit", 429, "rate_limit_error", "rate_limit_exceeded"},
		{"quota", 429, "rate_limit_error", "insufficient_quota"},
		{"server_error", 500, "api_error", "server_error"},
		{"bad_gateway", 502, "api_error", "bad_gateway"},
		{"unavailable", 503, "api_error", "server_is_overloaded"},
		{"overloaded", 529, "overloaded_error", "server_is_overloaded"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			srv := serve(t, fmt.Sprintf(`{"scenarios": [{"name": "s", "fault": {"kind": %q, "retry_after": 7, "headers": {"x-should-retry": "false"}}}]}`, tt.kind))
			for _, p := range apis() {
				for _, streaming := range []bool{true, false} {
					res := post(t, srv.URL()+p.path, p.body(streaming, "go"))
					body := read(t, res)
					if res.StatusCode != tt.status {
						t.Errorf("%s: status %d; want %d", p.name, res.StatusCode, tt.status)
					}
					if got, want := res.Header.Get("Retry-After")+" "+res.Header.Get("X-Should-Retry"), "7 false"; got != want {
						t.Errorf("%s: headers %q; want %q", p.name, got, want)
					}
					want := fmt.Sprintf(`"code":%q`, tt.openAI)
					id := "X-Request-Id"
					if p.name == "anthropic" {
						want = fmt.Sprintf(`{"type":"error","error":{"type":%q`, tt.anthropic)
						id = "Request-Id"
					}
					if !strings.Contains(body, want) {
						t.Errorf("%s: body %s; want in it %s", p.name, body, want)
					}
					if !strings.HasPrefix(res.Header.Get(id), "req_01") {
						t.Errorf("%s: no %s in %v", p.name, id, res.Header)
					}
				}
			}
		})
	}
}

func TestOwnHTTPFault(t *testing.T) {
	srv := serve(t, `{"scenarios": [{"name": "s", "fault": {"kind": "http", "status": 418, "message": "a teapot", "type": "tea_error", "code": "pot"}}]}`)
	wants := map[string]string{
		"anthropic": `"error":{"type":"tea_error","message":"a teapot"}`,
		"responses": `{"error":{"message":"a teapot","type":"tea_error","param":null,"code":"pot"}}`,
		"chat":      `{"error":{"message":"a teapot","type":"tea_error","param":null,"code":"pot"}}`,
	}
	for _, p := range apis() {
		res := post(t, srv.URL()+p.path, p.body(true, "go"))
		if body := read(t, res); res.StatusCode != 418 || !strings.Contains(body, wants[p.name]) {
			t.Errorf("%s: %d %s; want 418 with %s", p.name, res.StatusCode, body, wants[p.name])
		}
	}
}

// tail is what ends a good stream of each protocol, of which no broken one may have any.
func tail(name string) string {
	return map[string]string{"anthropic": "message_stop", "responses": "response.completed", "chat": "[DONE]"}[name]
}

const longText = `"turns": [{"steps": [{"text": "one two three four five six seven eight nine ten eleven twelve thirteen"}]}]`

func broken(kind string) string {
	return fmt.Sprintf(`{"scenarios": [{"name": "s", "fault": {"kind": %q}, %s}]}`, kind, longText)
}

func TestCutAnswers(t *testing.T) {
	for _, tt := range []struct {
		kind     string
		streamed error // how reading ends; nil: cleanly
		whole    error
	}{
		{"reset", syscall.ECONNRESET, syscall.ECONNRESET},
		{"eof", nil, io.ErrUnexpectedEOF},
	} {
		for _, p := range apis() {
			t.Run(tt.kind+"/"+p.name, func(t *testing.T) {
				srv := serve(t, broken(tt.kind))
				for _, streaming := range []bool{true, false} {
					res := post(t, srv.URL()+p.path, p.body(streaming, "go"))
					body, err := io.ReadAll(res.Body)
					want := tt.whole
					if streaming {
						want = tt.streamed
					}
					if !errors.Is(err, want) {
						t.Errorf("streaming %v: reading ends with %v; want %v", streaming, err, want)
					}
					if res.StatusCode != 200 || len(body) == 0 {
						t.Errorf("streaming %v: status %d, %d bytes; want 200 and a beginning", streaming, res.StatusCode, len(body))
					}
					if strings.Contains(string(body), tail(p.name)) || json.Valid(body) {
						t.Errorf("streaming %v: the answer is whole: %s", streaming, body)
					}
					if streaming && (!strings.Contains(string(body), "one two") || strings.Contains(string(body), "thirteen")) {
						t.Errorf("the text is not cut in its middle: %s", body)
					}
				}
			})
		}
	}
}

func TestNonsense(t *testing.T) {
	for _, p := range apis() {
		t.Run(p.name, func(t *testing.T) {
			for _, streaming := range []bool{true, false} {
				kind := map[bool]string{true: "text/event-stream", false: "application/json"}[streaming]

				res := post(t, serve(t, broken("empty")).URL()+p.path, p.body(streaming, "go"))
				if got := read(t, res); res.StatusCode != 200 || got != "" || res.Header.Get("Content-Type") != kind {
					t.Errorf("empty: %d %q %v", res.StatusCode, got, res.Header)
				}
				res = post(t, serve(t, broken("html")).URL()+p.path, p.body(streaming, "go"))
				if got := read(t, res); res.StatusCode != 200 || !strings.HasPrefix(got, "<!DOCTYPE html>") || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
					t.Errorf("html: %d %q %v", res.StatusCode, got, res.Header)
				}
				res = post(t, serve(t, broken("malformed")).URL()+p.path, p.body(streaming, "go"))
				got := read(t, res)
				want := `{"id": broken`
				if streaming {
					want = "data: {\"type\": broken\n\ndata: not json either\n\n"
				}
				if res.StatusCode != 200 || !strings.HasSuffix(got, want) || res.Header.Get("Content-Type") != kind {
					t.Errorf("malformed: %d %q %v; want at the end %q", res.StatusCode, got, res.Header, want)
				}
			}
		})
	}
}

func TestStallEndsWithTheServer(t *testing.T) {
	for _, p := range apis() {
		t.Run(p.name, func(t *testing.T) {
			srv := serve(t, broken("stall"))
			res := post(t, srv.URL()+p.path, p.body(true, "go"))
			var got strings.Builder
			for !strings.Contains(got.String(), "one two") {
				if _, err := io.CopyN(&got, res.Body, 1); err != nil {
					t.Fatalf("after %q: %v", got.String(), err)
				}
			}
			srv.Close()
			rest, err := io.ReadAll(res.Body)
			if err == nil || strings.Contains(string(rest), tail(p.name)) {
				t.Errorf("after Close: %v, %q; want an error and no end", err, rest)
			}
		})
	}
}

func TestHangEndsWithTheServer(t *testing.T) {
	seen := make(watched)
	script, err := Parse([]byte(broken("hang")))
	if err != nil {
		t.Fatal(err)
	}
	srv := serveScript(t, Config{Script: script, Log: seen})
	ends := make(chan error)
	for _, p := range apis() {
		go func() {
			res, err := client().Post(srv.URL()+p.path, "application/json", strings.NewReader(p.body(true, "go")))
			if err == nil {
				err = fmt.Errorf("an answer: %s", res.Status)
				res.Body.Close()
				ends <- err
				return
			}
			ends <- nil
		}()
		<-seen
	}
	srv.Close()
	for range apis() {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	if got := len(srv.Requests()); got != 3 {
		t.Errorf("%d requests in the log; want 3", got)
	}
}

// A client that leaves ends its own request.
func TestHangEndsWithTheClient(t *testing.T) {
	seen := make(watched)
	script, err := Parse([]byte(broken("hang")))
	if err != nil {
		t.Fatal(err)
	}
	srv := serveScript(t, Config{Script: script, Log: seen})
	ctx, cancel := context.WithCancel(context.Background())
	p := apis()[0]
	req, err := http.NewRequestWithContext(ctx, "POST", srv.URL()+p.path, strings.NewReader(p.body(true, "go")))
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-seen; cancel() }()
	if _, err := client().Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want context.Canceled", err)
	}
}

// A delay of ten minutes a chunk: the headers come at once, the first chunk does not.
func TestDelay(t *testing.T) {
	for _, p := range apis() {
		t.Run(p.name, func(t *testing.T) {
			srv := serve(t, `{"scenarios": [{"name": "s", "turns": [{"steps": [{"text": "slow", "delay_ms": 600000}]}]}]}`)
			res := post(t, srv.URL()+p.path, p.body(true, "go"))
			if res.StatusCode != 200 {
				t.Errorf("status %d; want 200", res.StatusCode)
			}
			srv.Close()
			if body, err := io.ReadAll(res.Body); err == nil || len(body) != 0 {
				t.Errorf("after Close: %v, %q; want an error and nothing", err, body)
			}
		})
	}
}

func TestShortDelay(t *testing.T) {
	srv := serve(t, `{"scenarios": [{"name": "s", "turns": [{"steps": [{"text": "slow", "delay_ms": 1}]}]}]}`)
	for _, p := range apis() {
		if body := read(t, post(t, srv.URL()+p.path, p.body(true, "go"))); !strings.Contains(body, tail(p.name)) {
			t.Errorf("%s: no end in %s", p.name, body)
		}
	}
}

func TestFlakyCountsApart(t *testing.T) {
	const script = `{"scenarios": [{"name": "s", "fault": {"kind": "overloaded", "first": 2%s}, "turns": [{"steps": [{"text": "ok"}], "repeat": true}]}]}`
	p := apis()[1]
	status := func(t *testing.T, url, session string) int {
		body := strings.Replace(p.body(false, "go"), "{", fmt.Sprintf(`{"prompt_cache_key":%q,`, session), 1)
		res := post(t, url+p.path, body)
		read(t, res)
		return res.StatusCode
	}
	t.Run("scenario", func(t *testing.T) {
		srv := serve(t, fmt.Sprintf(script, ""))
		u := srv.ScenarioURL("s")
		got := fmt.Sprint(status(t, u, "a"), status(t, u, "b"), status(t, u, "a"), status(t, u+"/tok", "a"), status(t, u+"/tok", "b"), status(t, u+"/tok", "a"), status(t, u, "c"))
		if want := "529 529 200 529 529 200 200"; got != want {
			t.Errorf("%s; want %s", got, want)
		}
	})
	t.Run("session", func(t *testing.T) {
		srv := serve(t, fmt.Sprintf(script, `, "per": "session"`))
		u := srv.ScenarioURL("s")
		got := fmt.Sprint(status(t, u, "a"), status(t, u, "b"), status(t, u, "a"), status(t, u, "b"), status(t, u, "a"), status(t, u, "b"))
		if want := "529 529 529 529 200 200"; got != want {
			t.Errorf("%s; want %s", got, want)
		}
	})
}

func TestStreamingOnly(t *testing.T) {
	srv := serve(t, `{"scenarios": [{"name": "s", "fault": {"kind": "malformed", "streaming_only": true}, "turns": [{"steps": [{"text": "ok"}]}]}]}`)
	for _, p := range apis() {
		if body := read(t, post(t, srv.URL()+p.path, p.body(true, "go"))); !strings.Contains(body, "not json either") {
			t.Errorf("%s: streamed: %s", p.name, body)
		}
		if body := read(t, post(t, srv.URL()+p.path, p.body(false, "go"))); !strings.Contains(body, `"ok"`) {
			t.Errorf("%s: not streamed: %s", p.name, body)
		}
	}
}

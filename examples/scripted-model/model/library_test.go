package model

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
)

// What each scenario of the library says to the first request and to the one
// after a tool's answer: a status, or how the stream goes wrong.
func TestLibrary(t *testing.T) {
	wants := map[string][2]string{
		"one-call": {"call", "text"}, "text": {"text", "-"}, "reasoning": {"call", "text"}, "parallel": {"call", "text"},
		"multi-step": {"call", "call"}, "multi-turn": {"call", "text"}, "expensive": {"call", "text"}, "slow-stream": {"call", "text"},
		"loop": {"call", "call"}, "unknown-tool": {"call", "text"}, "bad-tool-json": {"call", "text"}, "tool-error": {"call", "text"},
		"refusal": {"text", "-"}, "max-tokens": {"cut", "-"}, "late-max-tokens": {"call", "cut"},
		"bad-request-400": {"400", "400"}, "billing-400": {"400", "400"}, "context-too-long": {"400", "400"}, "auth-401": {"401", "401"},
		"forbidden-403": {"403", "403"}, "model-not-found-404": {"404", "404"}, "too-large-413": {"413", "413"},
		"ratelimit-429": {"429", "429"}, "ratelimit-429-bare": {"429", "429"}, "quota-429": {"429", "429"}, "server-500": {"500", "500"}, "bad-gateway-502": {"502", "502"},
		"unavailable-503": {"503", "503"}, "overloaded-529": {"529", "529"},
		"flaky-429": {"429", "text"}, "flaky-500": {"500", "500"}, "flaky-529": {"529", "529"}, "flaky-529-long": {"529", "529"},
		"late-429": {"call", "429"}, "late-500": {"call", "500"}, "late-529": {"call", "529"}, "late-flaky-529": {"call", "529"},
		"late-truncated": {"call", "reset"}, "late-hang": {"call", "hang"}, "late-context-too-long": {"call", "400"},
		"overloaded-in-sse": {"failed", "failed"}, "ratelimit-in-sse": {"failed", "failed"}, "quota-in-sse": {"failed", "failed"},
		"context-in-sse": {"failed", "failed"}, "server-error-in-sse": {"failed", "failed"},
		"malformed-sse": {"malformed", "malformed"}, "malformed-sse-fallback": {"malformed", "malformed"},
		"empty-stream": {"empty", "empty"}, "html-200": {"html", "html"}, "truncated-stream": {"reset", "reset"},
		"early-eof": {"eof", "eof"}, "stall": {"stall", "stall"}, "hang": {"hang", "hang"},
	}
	p := apis()[1]
	after := strings.Replace(p.body(true, "go"), `"tools"`, `"x"`, 1)
	after = strings.Replace(after, `}]}],`, `}]},{"type":"function_call","call_id":"a","name":"echo"},{"type":"function_call","call_id":"b","name":"echo"},
		{"type":"function_call_output","call_id":"a","output":"r"},{"type":"function_call_output","call_id":"b","output":"r"}],`, 1)
	after = strings.Replace(after, `"x"`, `"tools"`, 1)
	list := Library().Scenarios()
	for _, sc := range list {
		t.Run(sc.Name, func(t *testing.T) {
			want, ok := wants[sc.Name]
			if !ok || sc.About == "" {
				t.Fatal("the scenario is not in this test or does not say what it is")
			}
			srv := serveScript(t, Config{})
			for i, body := range []string{p.body(true, "go"), after} {
				if want[i] == "-" {
					continue
				}
				if got := outcome(t, srv, sc.Name, p.path, body); got != want[i] {
					t.Errorf("request %d: %s; want %s", i+1, got, want[i])
				}
			}
		})
	}
	if len(list) != len(wants) {
		t.Errorf("%d scenarios; want %d", len(list), len(wants))
	}
}

// outcome names what happened to one streamed request. The two that never end
// are told by the log.
func outcome(t *testing.T, srv *Server, scenario, path, body string) string {
	t.Helper()
	if f := Library().scenario(scenario); strings.HasSuffix(scenario, "hang") || f.fault != nil && f.fault.kind == faultStall {
		req, err := responses{}.decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		a := f.answer(req, "", &hits{})
		if a.fault != nil {
			return a.fault.kind
		}
	}
	res := post(t, srv.ScenarioURL(scenario)+path, body)
	got, err := io.ReadAll(res.Body)
	s := string(got)
	switch {
	case res.StatusCode != 200:
		return fmt.Sprint(res.StatusCode)
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case s == "":
		return "empty"
	case strings.HasPrefix(s, "<!DOCTYPE html>"):
		return "html"
	case strings.Contains(s, "event: response.failed"):
		return "failed"
	case strings.Contains(s, "event: response.incomplete"):
		return "cut"
	case strings.Contains(s, `"type": broken`):
		return "malformed"
	case strings.Contains(s, "scripted-model:"):
		return s
	case !strings.Contains(s, "event: response.completed"):
		return "eof"
	case strings.Contains(s, `"type":"function_call"`):
		return "call"
	}
	return "text"
}

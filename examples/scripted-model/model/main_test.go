package model

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is a log that says when a request has been recorded.
type watched chan struct{}

func (w watched) Write(p []byte) (int, error) {
	w <- struct{}{}
	return len(p), nil
}

// serve starts a server whose ids and clock are always the same.
func serve(t *testing.T, script string) *Server {
	t.Helper()
	s, err := Parse([]byte(script))
	if err != nil {
		t.Fatalf("script: %v", err)
	}
	return serveScript(t, Config{Script: s})
}

func serveScript(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Now = func() time.Time { return time.Unix(1700000000, 0) }
	srv, err := Listen(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv.ids.seed = [16]byte{}
	t.Cleanup(func() { srv.Close() })
	return srv
}

// client keeps no connection, so that none outlives a test.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
}

func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	res, err := client().Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func read(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("after %q: %v", b, err)
	}
	return string(b)
}

// golden compares with testdata/name, or rewrites it under -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// An api is one protocol as the tests use it.
type api struct {
	name string
	path string
	body func(streaming bool, prompt string) string
}

func apis() []api {
	return []api{
		{"anthropic", "/v1/messages", func(s bool, prompt string) string {
			return string(compact(o{"model", "claude-x", "max_tokens", 100, "stream", s,
				"messages", []any{o{"role", "user", "content", prompt}},
				"tools", []any{o{"name", "mcp__demo__echo", "input_schema", echoSchema()}, o{"name", "mcp__demo__get-sum", "input_schema", o{"type", "object"}}}}))
		}},
		{"responses", "/v1/responses", func(s bool, prompt string) string {
			return string(compact(o{"model", "gpt-x", "stream", s,
				"input", []any{o{"type", "message", "role", "user", "content", []any{o{"type", "input_text", "text", prompt}}}},
				"tools", []any{o{"type", "namespace", "name", "mcp__demo", "tools", []any{
					o{"type", "function", "name", "echo", "parameters", echoSchema()},
					o{"type", "function", "name", "get_sum", "parameters", o{"type", "object"}}}}}}))
		}},
		{"chat", "/v1/chat/completions", func(s bool, prompt string) string {
			return string(compact(o{"model", "gpt-x", "stream", s, "stream_options", o{"include_usage", true},
				"messages", []any{o{"role", "system", "content", "s"}, o{"role", "user", "content", prompt}},
				"tools", []any{
					o{"type", "function", "function", o{"name", "demo_echo", "parameters", echoSchema()}},
					o{"type", "function", "function", o{"name", "demo_get-sum", "parameters", o{"type", "object"}}}}}))
		}},
	}
}

func echoSchema() o {
	return o{"type", "object", "properties", o{"message", o{"type", "string"}}, "required", []any{"message"}}
}

// indent makes one line of JSON readable.
func indent(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(s), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return b.String() + "\n"
}

package server

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

func start(t *testing.T, template string) *Instance {
	t.Helper()
	in, err := Start(t.Context(), Options{Template: template})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return in
}

// bearer adds the token to each request.
type bearer struct {
	token string
	base  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(r)
}

func dial(ctx context.Context, url, token string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: url, MaxRetries: -1, HTTPClient: &http.Client{Transport: bearer{token, &http.Transport{}}}}, nil)
}

// A session is an MCP client of one instance that fails the test on protocol errors.
type session struct {
	t *testing.T
	*mcp.ClientSession
}

func connect(t *testing.T, in *Instance) session {
	t.Helper()
	cs, err := dial(t.Context(), in.MCPURL, in.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return session{t, cs}
}

// call calls a tool with arguments written as JSON, and returns the text of the answer and whether it is an error.
func (s session) call(tool, args string) (text string, isError bool) {
	s.t.Helper()
	res, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		s.t.Fatalf("%s(%s): %v", tool, args, err)
	}
	if len(res.Content) != 1 {
		s.t.Fatalf("%s(%s) answered %d parts; want 1", tool, args, len(res.Content))
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

// ok calls a tool that must succeed.
func (s session) ok(tool, args string) string {
	s.t.Helper()
	text, isError := s.call(tool, args)
	if isError {
		s.t.Fatalf("%s(%s) failed: %s", tool, args, text)
	}
	return text
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func wantPage(t *testing.T, url string, status int, has, hasNot string) {
	t.Helper()
	got, body := get(t, url)
	if got != status || !strings.Contains(body, has) || hasNot != "" && strings.Contains(body, hasNot) {
		t.Errorf("GET %s = %d, %s\nwant %d with %q, without %q", url, got, body, status, has, hasNot)
	}
}

func names[T any](list []T, name func(T) string) string {
	var out []string
	for _, v := range list {
		out = append(out, name(v))
	}
	return strings.Join(out, " ")
}

func collectionNames(list []site.CollectionState) string {
	return names(list, func(c site.CollectionState) string { return c.Name })
}

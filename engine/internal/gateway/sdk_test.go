package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
)

// bearer adds the endpoint's token to a client's requests.
type bearer struct {
	token string
	rt    http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.rt.RoundTrip(r)
}

func transportTo(t testing.TB, url, token string) mcp.Transport {
	t.Helper()
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token, rt}}}
}

func through(t testing.TB, g *Gateway) mcp.Transport {
	e := g.Endpoints()[0]
	return transportTo(t, e.URL, e.Token)
}

// witness is what a client on the SDK sees.
type witness struct {
	mu   sync.Mutex
	seen []string
}

func (w *witness) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, fmt.Sprintf(format, args...))
}

func (w *witness) sorted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.seen)
	slices.Sort(list)
	return list
}

func (w *witness) client(grown chan struct{}) *mcp.Client {
	c := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			w.add("sampling %d", r.Params.MaxTokens)
			return &mcp.CreateMessageResult{Model: "m-1", Role: "assistant", Content: &mcp.TextContent{Text: "x"}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			w.add("elicitation %s", r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			w.add("progress %v %v", r.Params.ProgressToken, r.Params.Progress)
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case grown <- struct{}{}:
			default:
			}
		},
	})
	c.AddRoots(&mcp.Root{URI: "file:///r", Name: "r"})
	return c
}

// tour uses everything that the SDK's server offers.
func tour(t *testing.T, tr mcp.Transport, version string) []string {
	t.Helper()
	ctx := t.Context()
	var w witness
	grown := make(chan struct{}, 1)
	cs, err := w.client(grown).Connect(ctx, tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect with %s: %v", version, err)
	}
	defer cs.Close()
	w.add("version %s", cs.InitializeResult().ProtocolVersion)
	note := func(what string, v any, err error) {
		b, _ := json.Marshal(v)
		w.add("%s: %s %v", what, b, err)
	}
	for tool, err := range cs.Tools(ctx, nil) {
		note("tool", tool, err)
	}
	tools := []string{"echo", "structured", "remove", "nope", "count"}
	if version < "2026" {
		tools = append(tools, "sample", "elicit", "roots") // later the server asks in its results
	}
	for _, name := range tools {
		res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{"text": "é\x00"}})
		note("call "+name, res, err)
	}
	p := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{}}
	p.SetProgressToken("tok")
	res, err := cs.CallTool(ctx, p)
	note("call progress", res, err)
	prompts, err := cs.ListPrompts(ctx, nil)
	note("prompts", prompts, err)
	prompt, err := cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "you"}})
	note("prompt", prompt, err)
	file, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://file"})
	note("resource", file, err)
	if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "grow", Arguments: map[string]any{}}); err != nil {
		t.Errorf("grow: %v", err)
	}
	select {
	case <-grown:
	case <-ctx.Done():
		t.Error("no notice that the list of tools changed")
	}
	return w.sorted()
}

func httpServer(t testing.TB, stateless bool) eval.Server {
	t.Helper()
	one := newSDKServer()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return one }, &mcp.StreamableHTTPOptions{Stateless: stateless})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Server-Key") != "server-key" || r.Header.Get("Authorization") != "" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return eval.Server{Name: "http", URL: s.URL + "/mcp", Headers: map[string]string{"X-Server-Key": "server-key"}}
}

// keyed talks to the server itself, with its headers.
type keyed struct{ rt http.RoundTripper }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Server-Key", "server-key")
	return k.rt.RoundTrip(r)
}

var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

func TestSameTourHTTP(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			stateless := version >= "2026"
			d := httpServer(t, stateless)
			rt := &http.Transport{}
			defer rt.CloseIdleConnections()
			want := tour(t, &mcp.StreamableClientTransport{Endpoint: d.URL, HTTPClient: &http.Client{Transport: keyed{rt}}}, version)
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{httpServer(t, stateless)}})
			got := tour(t, through(t, g), version)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("without and with the gateway (-without +with):\n%s", diff)
			}
			if g.Fault() != nil || !g.Servers()[0].Connected {
				t.Errorf("fault %v, state %+v", g.Fault(), g.Servers()[0])
			}
		})
	}
}

func TestSameTourStdio(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := testServer(t, "stdio", "sdk")
			cmd := exec.Command(s.Command)
			cmd.Env = []string{kindEnv + "=sdk"}
			want := tour(t, &mcp.CommandTransport{Command: cmd}, version)
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
			got := tour(t, through(t, g), version)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("without and with the gateway (-without +with):\n%s", diff)
			}
			if g.Fault() != nil {
				t.Errorf("fault %v", g.Fault())
			}
			var destructive []string
			for _, tool := range g.Tools() {
				if tool.Destructive {
					destructive = append(destructive, tool.Name)
				}
			}
			if diff := cmp.Diff([]string{"remove"}, destructive); diff != "" {
				t.Errorf("destructive tools (-want +got):\n%s", diff)
			}
		})
	}
}

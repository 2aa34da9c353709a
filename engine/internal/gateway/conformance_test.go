package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/npmtest"
)

// referenceServer is the SDK's own server for the suite, of the version in
// go.mod.
const referenceServer = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// serverScenarios are all of the suite's scenarios for servers with the checks
// that each makes of the reference server, but for server-sse-polling: that
// server does not do what it asks for, and a scenario without any check counts
// as passed.
var serverScenarios = map[string][]string{
	"completion-complete":           {"completion-complete"},
	"dns-rebinding-protection":      {"localhost-host-rebinding-rejected", "localhost-host-valid-accepted"},
	"elicitation-sep1034-defaults":  {"elicitation-sep1034-boolean-default", "elicitation-sep1034-enum-default", "elicitation-sep1034-integer-default", "elicitation-sep1034-number-default", "elicitation-sep1034-string-default"},
	"elicitation-sep1330-enums":     {"elicitation-sep1330-legacy-enumnames", "elicitation-sep1330-titled-multi", "elicitation-sep1330-titled-single", "elicitation-sep1330-untitled-multi", "elicitation-sep1330-untitled-single"},
	"json-schema-2020-12":           {"json-schema-2020-12-$defs", "json-schema-2020-12-$schema", "json-schema-2020-12-additionalProperties", "json-schema-2020-12-tool-found"},
	"logging-set-level":             {"logging-set-level"},
	"ping":                          {"ping"},
	"prompts-get-embedded-resource": {"prompts-get-embedded-resource"},
	"prompts-get-simple":            {"prompts-get-simple"},
	"prompts-get-with-args":         {"prompts-get-with-args"},
	"prompts-get-with-image":        {"prompts-get-with-image"},
	"prompts-list":                  {"prompts-list"},
	"resources-list":                {"resources-list"},
	"resources-read-binary":         {"resources-read-binary"},
	"resources-read-text":           {"resources-read-text"},
	"resources-subscribe":           {"resources-subscribe"},
	"resources-templates-read":      {"resources-templates-read"},
	"resources-unsubscribe":         {"resources-unsubscribe"},
	"server-initialize":             {"server-initialize"},
	"server-sse-multiple-streams":   {"server-accepts-multiple-post-streams", "server-sse-streams-functional"},
	"tools-call-audio":              {"tools-call-audio"},
	"tools-call-elicitation":        {"tools-call-elicitation"},
	"tools-call-embedded-resource":  {"tools-call-embedded-resource"},
	"tools-call-error":              {"tools-call-error"},
	"tools-call-image":              {"tools-call-image"},
	"tools-call-mixed-content":      {"tools-call-mixed-content"},
	"tools-call-sampling":           {"tools-call-sampling"},
	"tools-call-simple-text":        {"tools-call-simple-text"},
	"tools-call-with-logging":       {"tools-call-with-logging"},
	"tools-call-with-progress":      {"tools-call-with-progress"},
	"tools-list":                    {"tools-list"},
}

// suite runs the conformance suite and returns the checks of each scenario that
// tell something, as "id STATUS", sorted.
func suite(t *testing.T, env []string, args ...string) map[string][]string {
	t.Helper()
	command, front := npmtest.Conformance(t)
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, slices.Concat(front, args, []string{"--output-dir", dir})...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "NO_COLOR=1"}, env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	} else if err != nil {
		t.Errorf("the suite ended with %v:\n%s", err, out)
	}
	return checks(t, dir)
}

// checks reads what the suite has left: a folder for each scenario, named by it
// and the time.
func checks(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := filepath.Base(filepath.Dir(file))
		name = strings.TrimPrefix(name[:max(0, len(name)-len("-2006-01-02T15-04-05-000Z"))], "server-")
		found[name] = []string{}
		for _, c := range list {
			if c.Status == "INFO" {
				continue
			}
			found[name] = append(found[name], c.ID+" "+c.Status)
			if c.Status == "FAILURE" {
				t.Logf("%s: %s %s: %s", name, c.ID, c.Status, c.ErrorMessage)
			}
		}
		slices.Sort(found[name])
	}
	return found
}

// fronted is the gateway's endpoint for a client that has no token to send.
func fronted(t *testing.T, s eval.Server) (string, *Gateway) {
	t.Helper()
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
	e := g.Endpoints()[0]
	at, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+e.Token)
		r.URL.Path, r.URL.RawPath = at.Path, at.RawPath
		g.hub.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, g
}

// reference builds the reference server and returns its path.
func reference(t *testing.T) string {
	t.Helper()
	npmtest.Conformance(t)
	path := filepath.Join(t.TempDir(), "reference")
	if out, err := exec.Command("go", "build", "-o", path, referenceServer).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// serve starts the reference server on a port and returns its URL.
func serve(t *testing.T, path string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	cmd := exec.Command(path, "-http", at, "-stateless=false")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for t.Context().Err() == nil {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "http://" + at + "/mcp"
}

// TestConformanceServer has the suite as the agent. What the reference server
// passes alone it passes through the gateway.
func TestConformanceServer(t *testing.T) {
	path := reference(t)
	for _, tt := range []struct {
		name     string
		url      func(*testing.T) (string, *Gateway)
		checks   int
		findings []string
	}{
		{"alone", func(t *testing.T) (string, *Gateway) { return serve(t, path), nil }, 44, nil},
		// Answers that are one message come as documents, not as streams: of those
		// the suite has one check less to make.
		{"over stdio", func(t *testing.T) (string, *Gateway) { return fronted(t, eval.Server{Name: "s", Command: path}) }, 43, nil},
		// In server-sse-polling the reference server ends its answer before the result.
		{"over HTTP", func(t *testing.T) (string, *Gateway) { return fronted(t, eval.Server{Name: "s", URL: serve(t, path)}) }, 44, []string{"mcp_answer_cut"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, g := tt.url(t)
			got := suite(t, nil, "server", "--suite", "all", "--url", at)
			want, n := map[string][]string{"server-sse-polling": got["server-sse-polling"]}, 0
			for name, ids := range serverScenarios {
				for _, id := range ids {
					if id != "server-sse-streams-functional" || tt.checks == 44 {
						want[name] = append(want[name], id+" SUCCESS")
						n++
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("checks (-want +got):\n%s", diff)
			}
			if len(got) != 32 || n != tt.checks {
				t.Errorf("%d scenarios with %d checks; want 32 with %d", len(got), n, tt.checks)
			}
			if g != nil && (len(g.Calls()) != 13 || len(g.Tools()) != 28 || g.Fault() != nil || !slices.Equal(kinds(g), tt.findings)) {
				t.Errorf("%d calls, %d tools, fault %v, findings %v; want 13 calls of 28 tools", len(g.Calls()), len(g.Tools()), g.Fault(), kinds(g))
			}
		})
	}
}

// polling is the least of a server that has its client come back for an answer.
func polling(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	w.Header().Set(sessionHeader, "one")
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", streamType)
		if r.Header.Get("Last-Event-Id") == "event-1" {
			io.WriteString(w, "id: event-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"back\"}]}}\n\n")
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "tools/call" {
		w.Header().Set("Content-Type", streamType)
		io.WriteString(w, "id: event-1\nretry: 10\ndata: \n\n")
		return
	}
	w.Header().Set("Content-Type", jsonType)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"polling","version":"1"}}}`, m.ID)
}

// The answer of a call comes on a stream that the agent fetches later, with the
// id of the last event that it saw.
func TestConformancePolling(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(polling))
	t.Cleanup(s.Close)
	through, g := fronted(t, eval.Server{Name: "s", URL: s.URL})
	want := map[string][]string{"server-sse-polling": {"server-sse-disconnect-resume SUCCESS", "server-sse-priming-event SUCCESS", "server-sse-retry-field SUCCESS"}}
	for _, at := range []string{s.URL, through} {
		got := suite(t, nil, "server", "--scenario", "server-sse-polling", "--url", at)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("checks (-want +got):\n%s", diff)
		}
	}
	if calls := g.Calls(); len(calls) != 1 || !calls[0].Finished || string(calls[0].Result) != `{"content":[{"type":"text","text":"back"}]}` {
		t.Errorf("calls %+v", calls)
	}
}

// clientScenarios are the suite's scenarios for clients, but for those of OAuth:
// the gateway has no part in it, a server's keys come with its configuration.
// Each has the tool that the client is to call, and the checks.
var clientScenarios = []struct {
	name, tool string
	checks     []string
}{
	{"initialize", "", []string{"mcp-client-initialization"}},
	{"tools_call", "add_numbers", []string{"tool-add-numbers"}},
	{"elicitation-sep1034-client-defaults", "test_client_elicitation_defaults", []string{"client-elicitation-sep1034-boolean-default", "client-elicitation-sep1034-enum-default",
		"client-elicitation-sep1034-integer-default", "client-elicitation-sep1034-number-default", "client-elicitation-sep1034-string-default"}},
	{"sse-retry", "test_reconnection", []string{"client-sse-graceful-reconnect", "client-sse-last-event-id", "client-sse-retry-timing"}},
}

// wayEnv says which way the client of the test binary takes: "alone" or "gateway".
const wayEnv = "GATEWAY_TEST_WAY"

// TestConformanceClient has the suite as the server, with a client of the test
// binary's own that talks to it, alone and through a gateway.
func TestConformanceClient(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"alone", "gateway"} {
		for _, tt := range clientScenarios {
			t.Run(way+" "+tt.name, func(t *testing.T) {
				got := suite(t, []string{kindEnv + "=client", wayEnv + "=" + way}, "client", "--scenario", tt.name, "--command", self)
				var want []string
				for _, id := range tt.checks {
					want = append(want, id+" SUCCESS")
				}
				// A busy machine makes the client come back late, which the suite warns of.
				if i := slices.Index(got[tt.name], "client-sse-retry-timing WARNING"); i >= 0 {
					got[tt.name][i] = "client-sse-retry-timing SUCCESS"
				}
				if diff := cmp.Diff(map[string][]string{tt.name: want}, got); diff != "" {
					t.Errorf("checks (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// conformanceClient is the client that the suite starts with its server's URL: it
// calls the scenario's tool.
func conformanceClient(scenario, at string) error {
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
	})
	token := ""
	calls := func() []Call { return make([]Call, 1) }
	if os.Getenv(wayEnv) == "gateway" {
		h, err := Listen(ctx, Options{})
		if err != nil {
			return err
		}
		defer h.Close()
		g, err := h.Open(ctx, TrialOptions{Servers: []eval.Server{{Name: "s", URL: at}}})
		if err != nil {
			return err
		}
		at, token, calls = g.Endpoints()[0].URL, g.Endpoints()[0].Token, g.Calls
	}
	cs, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: at, HTTPClient: &http.Client{Transport: bearer{token, http.DefaultTransport}}}, nil)
	if err != nil {
		return err
	}
	defer cs.Close()
	tools, err := cs.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, s := range clientScenarios {
		if s.name != scenario || s.tool == "" {
			continue
		}
		if !slices.ContainsFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == s.tool }) {
			return fmt.Errorf("no tool %s", s.tool)
		}
		if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: s.tool, Arguments: map[string]any{"a": 5, "b": 3}}); err != nil {
			return err
		}
		if n := len(calls()); n != 1 {
			return fmt.Errorf("the gateway saw %d calls; want 1", n)
		}
	}
	return nil
}

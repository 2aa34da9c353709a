package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
)

// rawClient posts bodies as they are.
type rawClient struct {
	t       testing.TB
	url     string
	token   string
	session string
	http    *http.Client
}

func rawTo(t testing.TB, g *Gateway) *rawClient {
	rt := &http.Transport{}
	t.Cleanup(rt.CloseIdleConnections)
	e := g.Endpoints()[0]
	return &rawClient{t: t, url: e.URL, token: e.Token, http: &http.Client{Transport: rt}}
}

func (c *rawClient) do(ctx context.Context, method, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set(sessionHeader, c.session)
	}
	return c.http.Do(req)
}

// post returns status, media type and body.
func (c *rawClient) post(body string) (int, string, string) {
	c.t.Helper()
	resp, err := c.do(c.t.Context(), http.MethodPost, body)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	if id := resp.Header.Get(sessionHeader); id != "" {
		c.session = id
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Errorf("answer to %.80s: %v", body, err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
}

func (c *rawClient) handshake() {
	c.t.Helper()
	if status, _, body := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`); status != 200 {
		c.t.Fatalf("initialize: %d %s", status, body)
	}
	if status, _, body := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != 202 {
		c.t.Fatalf("initialized: %d %s", status, body)
	}
}

func (c *rawClient) tool(id int, name string) string {
	c.t.Helper()
	_, _, body := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, name))
	return body
}

func kinds(g *Gateway) []string {
	var list []string
	for _, f := range g.Findings() {
		list = append(list, f.Kind)
	}
	slices.Sort(list)
	return list
}

func TestServersThatMisbehave(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "raw", "raw", "BANNER", "Listening...\n\nready {\n")}})
	c := rawTo(t, g)
	c.handshake()
	for i, tt := range []struct{ tool, want string }{
		{"x", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}`},
		{"wrong_id", `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`},
		{"noise", `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"a\u0000b\ud83d"}]}}`},
		{`reply:{"content":[{"type":"text","text":"Error: no such page"}]}:end`, `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"Error: no such page"}]}}`},
	} {
		if got := c.tool(i+1, tt.tool); got != tt.want {
			t.Errorf("%s: got %s; want %s", tt.tool, got, tt.want)
		}
	}
	if got, want := c.tool(5, "die"), `{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"Connection closed"}}`; got != want {
		t.Errorf("die: got %s; want %s", got, want)
	}
	if got, want := c.tool(6, "x"), `{"jsonrpc":"2.0","id":6,"error":{"code":-32000,"message":"Connection closed"}}`; got != want {
		t.Errorf("after death: got %s; want %s", got, want)
	}
	if status, _, _ := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`); status != 502 && status != 202 {
		t.Errorf("a notification after death: %d", status)
	}
	again := rawTo(t, g)
	again.handshake()
	if got := again.tool(1, "x"); !strings.Contains(got, "ok") {
		t.Errorf("after a new handshake: %s", got)
	}
	g.Close()
	want := []string{"mcp_error_in_success", "mcp_server_died", "mcp_server_restarted", "mcp_stdout_noise", "mcp_stdout_noise", "mcp_unknown_id"}
	if diff := cmp.Diff(want, kinds(g)); diff != "" {
		t.Errorf("findings (-want +got):\n%s\n%+v", diff, g.Findings())
	}
	for _, f := range g.Findings() {
		if f.Kind == "mcp_server_died" && (!strings.Contains(f.Text, "exit status 3") || !strings.Contains(f.Text, "segmentation fault")) {
			t.Errorf("%s", f.Text)
		}
	}
	var calls []string
	for _, call := range g.Calls() {
		calls = append(calls, fmt.Sprintf("%.8s finished=%v error=%v %s", call.Tool, call.Finished, call.IsError, call.Injected))
	}
	want = []string{"x finished=true error=false ", "wrong_id finished=true error=false ", "noise finished=true error=false ", "reply:{\" finished=true error=false ",
		"die finished=true error=true died", "x finished=true error=true died", "x finished=true error=false "}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := g.Calls()[2].Result; string(got) != `{"content":[{"type":"text","text":"a\u0000b\ud83d"}]}` {
		t.Errorf("result %s", got)
	}
}

// A banner that does not end its line takes no message with it, but is told of.
func TestMessagesThatShareALine(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "raw", "raw", "BANNER", `Listening on {stdio} {"port": `)}})
	c := rawTo(t, g)
	c.handshake()
	if got := c.tool(1, "glued"); !strings.Contains(got, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`) {
		t.Errorf("glued: got %s", got)
	}
	g.Close()
	if diff := cmp.Diff([]string{"mcp_shared_line", "mcp_stdout_noise"}, kinds(g)); diff != "" {
		t.Errorf("findings (-want +got):\n%s\n%+v", diff, g.Findings())
	}
	for _, f := range g.Findings() {
		if f.Kind == "mcp_shared_line" && (f.Severity != eval.SeverityMajor || !strings.Contains(f.Text, `MCP server "raw": 3 messages`)) {
			t.Errorf("finding %+v", f)
		}
	}
}

func TestServersThatDoNotStart(t *testing.T) {
	missing := eval.Server{Name: "x", Command: "/no/such/program"}
	for _, tt := range []struct {
		name   string
		s      eval.Server
		status int
		detail string
	}{
		{"missing", missing, 502, "no such file"},
		{"crash", testServer(t, "x", "crash"), 200, "cannot open the database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{tt.s}})
			if g.Fault() != nil {
				t.Errorf("a fault before anybody spoke: %v", g.Fault())
			}
			c := rawTo(t, g)
			status, _, body := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
			if status != tt.status || !strings.Contains(body, map[int]string{502: "does not start", 200: "Connection closed"}[status]) {
				t.Errorf("got %d %s", status, body)
			}
			g.Close()
			fault := g.Fault()
			if fault == nil || fault.Cause != eval.CauseMCP || fault.Retry != eval.RetryTrial || !strings.Contains(fault.Detail, tt.detail) {
				t.Errorf("fault %+v", fault)
			}
		})
	}
}

// An agent that could not know of any tool says nothing by calling none.
func TestServersWithoutAList(t *testing.T) {
	for _, tt := range []struct {
		name, tools string
		hide        string
		want        string
	}{
		{"tools", `{"tools":[{"name":"x"}]}`, "", ""},
		{"all hidden", `{"tools":[{"name":"x"}]}`, "*", ""},
		{"error", `error:{"code":-32603,"message":"fetch failed"}`, "", `MCP server "x" never gave the agent a list of its tools: error {"code":-32603,"message":"fetch failed"}`},
		{"no list", `{"tools":"nope"}`, "", `MCP server "x" never gave the agent a list of its tools: its answer holds no list: {"tools":"nope"}`},
		{"nothing", `{}`, "", `MCP server "x" never gave the agent a list of its tools: its answer holds no list: {}`},
		{"empty", `{"tools":[]}`, "", "no MCP server offered the agent any tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := TrialOptions{Servers: []eval.Server{testServer(t, "x", "raw", "TOOLS", tt.tools)}}
			if tt.hide != "" {
				o.Changes = []eval.ToolChange{{Pattern: tt.hide, Hide: true}}
			}
			g := open(t, Options{}, o)
			c := rawTo(t, g)
			c.handshake()
			c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			g.Close()
			got := ""
			if f := g.Fault(); f != nil {
				got = f.Detail
			}
			if got != tt.want {
				t.Errorf("fault %q; want %q", got, tt.want)
			}
		})
	}
}

// A list that came in the end is enough.
func TestServerListsAtLast(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "sdk", "sdk")}})
	s := g.servers[0]
	s.tools.wanted()
	if f := g.Fault(); s.tools.fault() != "no answer" || f == nil {
		t.Errorf("fault %v, %q while the answer is out", f, s.tools.fault())
	}
	s.tools.given(0, "error x")
	s.tools.given(2, "")
	s.tools.given(0, "error y")
	if why := s.tools.fault(); why != "" {
		t.Errorf("fault %q; want none", why)
	}
}

func TestAgentLeavesASilentServer(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "x", "silent")}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c := rawTo(t, g)
	if resp, err := c.do(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`); err == nil {
		resp.Body.Close()
		t.Error("an answer came")
	}
	g.Close()
	if fault := g.Fault(); fault == nil || fault.Cause != eval.CauseMCP {
		t.Errorf("fault %+v", fault)
	}
}

func TestStubbornServerIsKilled(t *testing.T) {
	g := open(t, Options{StopGrace: 20 * time.Millisecond}, TrialOptions{Servers: []eval.Server{testServer(t, "x", "stubborn")}})
	c := rawTo(t, g)
	c.handshake()
	pid := g.servers[0].up.(*stdio).mux.proc.PID()
	go c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"never"}}`)
	for len(g.Calls()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := g.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
		t.Errorf("process %d is left", pid)
	}
	if call := g.Calls()[0]; call.Finished || call.Result != nil || call.Duration != 0 {
		t.Errorf("the open call: %+v", call)
	}
	if kinds(g) != nil {
		t.Errorf("findings %v; the end of a trial is none", kinds(g))
	}
}

// TestSessionsShareState has two sessions, one after the other and both at
// once, whose ids and progress tokens are the same.
func TestSessionsShareState(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "sdk", "sdk")}})
	count := func(cs *mcp.ClientSession) string {
		t.Helper()
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "count", Arguments: map[string]any{}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*mcp.TextContent).Text
	}
	var sessions []*mcp.ClientSession
	var eyes []*witness
	for range 3 {
		w := &witness{}
		cs, err := w.client(make(chan struct{}, 1)).Connect(t.Context(), through(t, g), &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
		if err != nil {
			t.Fatal(err)
		}
		sessions, eyes = append(sessions, cs), append(eyes, w)
		if len(sessions) == 1 {
			if got := count(cs); got != "1" {
				t.Errorf("first session counts %s", got)
			}
			cs.Close()
		}
	}
	if got := count(sessions[1]) + count(sessions[2]) + count(sessions[1]); got != "234" {
		t.Errorf("later sessions count %s; want 234", got)
	}
	var wg sync.WaitGroup
	for i, cs := range sessions[1:] {
		for n := range 20 {
			wg.Go(func() {
				text := fmt.Sprintf("%d-%d", i, n)
				res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": text}})
				if err != nil || res.Content[0].(*mcp.TextContent).Text != text {
					t.Errorf("%s came back as %+v, %v", text, res, err)
				}
				p := &mcp.CallToolParams{Name: "progress", Arguments: map[string]any{}}
				p.SetProgressToken(n)
				if _, err := cs.CallTool(t.Context(), p); err != nil {
					t.Error(err)
				}
				if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "sample", Arguments: map[string]any{}}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for i, w := range eyes[1:] {
		progress := map[string]int{}
		for _, s := range w.sorted() {
			if strings.HasPrefix(s, "progress") {
				progress[s]++
			}
		}
		if len(progress) != 60 {
			t.Errorf("session %d saw %d different notices of progress; want 60", i, len(progress))
		}
		for s, n := range progress {
			if n != 1 {
				t.Errorf("session %d saw %q %d times", i, s, n)
			}
		}
	}
	if st := g.Servers()[0]; st.Sessions != 3 {
		t.Errorf("%d sessions; want 3", st.Sessions)
	}
	for _, cs := range sessions[1:] {
		cs.Close()
	}
}

func TestCancellationReachesTheServer(t *testing.T) {
	for _, s := range []eval.Server{testServer(t, "stdio", "sdk"), httpServer(t, false)} {
		g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
		var w witness
		cs, err := w.client(make(chan struct{}, 1)).Connect(t.Context(), through(t, g), &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for len(g.Calls()) == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{}}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: call ended with %v", s.Name, err)
		}
		for !g.Calls()[0].Cancelled {
			time.Sleep(time.Millisecond)
		}
		if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "count", Arguments: map[string]any{}}); err != nil {
			t.Errorf("%s: the next call: %v", s.Name, err)
		}
		cs.Close()
	}
}

func TestChanges(t *testing.T) {
	trial := TrialOptions{
		Changes: []eval.ToolChange{
			{Pattern: "echo", Description: "says <it> \"again\""},
			{Pattern: "stdio/structured", Hide: true},
			{Pattern: "http/structured", Hide: true},
			{Pattern: "count", Fault: "Error 503: try later", FaultEvery: 2},
			{Pattern: "re*", Latency: 30 * time.Millisecond},
		},
		Rules: []eval.ToolRule{{Pattern: "echo", Requires: []string{"tab"}}, {Pattern: "*", Requires: []string{"net", "tab"}}, {Pattern: "count", Destructive: true}},
	}
	for _, s := range []eval.Server{testServer(t, "stdio", "sdk"), httpServer(t, false), httpServer(t, true)} {
		trial.Servers = []eval.Server{s}
		g := open(t, Options{}, trial)
		var w witness
		cs, err := w.client(make(chan struct{}, 1)).Connect(t.Context(), through(t, g), &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for tool, err := range cs.Tools(t.Context(), nil) { // pages of four
			if err != nil {
				t.Fatal(err)
			}
			seen[tool.Name] = tool.Description
		}
		if _, there := seen["structured"]; there || len(seen) != 9 || seen["echo"] != "says <it> \"again\"" || seen["count"] != "counts its calls" {
			t.Errorf("%s: the agent saw %v", s.Name, seen)
		}
		call := func(name string) string {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprintf("%v %s", res.IsError, res.Content[0].(*mcp.TextContent).Text)
		}
		got := []string{call("structured"), call("count"), call("count"), call("count"), call("remove")}
		want := []string{`calling "tools/call": Unknown tool: structured`, "false 1", "true Error 503: try later", "false 2", "true nothing to remove"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", s.Name, diff)
		}
		cs.Close()
		var injected []string
		for _, c := range g.Calls() {
			injected = append(injected, fmt.Sprintf("%s %s %v", c.Tool, c.Injected, c.IsError))
		}
		want = []string{"structured hidden true", "count  false", "count fault true", "count  false", "remove latency true"}
		if diff := cmp.Diff(want, injected); diff != "" {
			t.Errorf("%s: recorded (-want +got):\n%s", s.Name, diff)
		}
		if d := g.Calls()[4].Duration; d < 30*time.Millisecond {
			t.Errorf("%s: the slowed call took %v", s.Name, d)
		}
		for _, tool := range g.Tools() {
			switch tool.Name {
			case "echo":
				if tool.Description != seen["echo"] || !slices.Equal(tool.Requires, []string{"tab", "net"}) || tool.Destructive {
					t.Errorf("%s: %+v", s.Name, tool)
				}
			case "count":
				if !tool.Destructive || !slices.Equal(tool.Requires, []string{"net", "tab"}) {
					t.Errorf("%s: %+v", s.Name, tool)
				}
			}
		}
	}
}

func TestOnlyTouchedPartsChange(t *testing.T) {
	tools := `{"tools" : [ {"name":"a", "description" : "old" ,"inputSchema":{"type":"object"},"x":1e2}, {"name":"b","inputSchema":{}},{"inputSchema":{},"name":"c"} ], "_meta":{"k":1}}`
	s := testServer(t, "raw", "raw", "TOOLS", tools)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for _, tt := range []struct {
		changes []eval.ToolChange
		want    string
	}{
		{[]eval.ToolChange{{Pattern: "zzz", Hide: true}, {Pattern: "a", Latency: 1}}, tools},
		{[]eval.ToolChange{{Pattern: "a", Description: "new"}}, `{"tools" : [{"name":"a", "description" : "new" ,"inputSchema":{"type":"object"},"x":1e2},{"name":"b","inputSchema":{}},{"inputSchema":{},"name":"c"}], "_meta":{"k":1}}`},
		{[]eval.ToolChange{{Pattern: "b", Hide: true}, {Pattern: "raw/c", Description: "C"}}, `{"tools" : [{"name":"a", "description" : "old" ,"inputSchema":{"type":"object"},"x":1e2},{"description":"C","inputSchema":{},"name":"c"}], "_meta":{"k":1}}`},
		{[]eval.ToolChange{{Pattern: "*", Hide: true}}, `{"tools" : [], "_meta":{"k":1}}`},
	} {
		g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}, Changes: tt.changes})
		c := rawTo(t, g)
		c.handshake()
		_, kind, body := c.post(list)
		if want := `{"jsonrpc":"2.0","id":1,"result":` + tt.want + `}`; body != want || kind != jsonType {
			t.Errorf("%+v: got %s %s; want %s", tt.changes, kind, body, want)
		}
	}
}

func TestFloodAndSlowReader(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "raw", "raw")}})
	c := rawTo(t, g)
	c.handshake()
	body := c.tool(1, "flood")
	if n := strings.Count(body, "data: "); n != 2001 || !strings.HasSuffix(body, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n") {
		t.Errorf("%d events, the end is %q", n, body[max(0, len(body)-80):])
	}
	// An agent that reads nothing and leaves must not hold up the next.
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := c.do(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"flood"}}`)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	if got := c.tool(3, "x"); !strings.Contains(got, `"text":"ok"`) {
		t.Errorf("after a reader that left: %s", got)
	}
}

func TestBatches(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "sdk", "sdk")}, Changes: []eval.ToolChange{{Pattern: "remove", Fault: "no"}}})
	c := rawTo(t, g)
	if status, _, body := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	c.post("{\"jsonrpc\":\"2.0\",\r\n\"method\":\"notifications/initialized\"\n}")
	status, kind, body := c.post(`[{"jsonrpc":"2.0","id":1,"method":"ping"},
		{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"remove"}},
		{"jsonrpc":"2.0","id":"3","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}]`)
	var ids []string
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		ids = append(ids, string(m.ID))
	}
	slices.Sort(ids)
	if status != 200 || kind != streamType || !slices.Equal(ids, []string{`"3"`, "1", "2"}) {
		t.Errorf("got %d %s, answers to %v: %s", status, kind, ids, body)
	}
	if n := len(g.Calls()); n != 2 {
		t.Errorf("%d calls; want 2", n)
	}
}

func TestDoors(t *testing.T) {
	g := open(t, Options{MaxMessageBytes: 1000}, TrialOptions{Servers: []eval.Server{testServer(t, "näme/x", "raw")}})
	c := rawTo(t, g)
	if !strings.HasSuffix(c.url, "/n%C3%A4me%2Fx/mcp") {
		t.Errorf("URL %s", c.url)
	}
	for _, tt := range []struct {
		name, method, path, body string
		h                        map[string]string
		want                     int
	}{
		{"no token", "POST", "", "{}", map[string]string{"Authorization": ""}, 401},
		{"wrong token", "POST", "", "{}", map[string]string{"Authorization": "Bearer x"}, 401},
		{"no bearer", "POST", "", "{}", map[string]string{"Authorization": c.token}, 401},
		{"web page", "POST", "", "{}", map[string]string{"Origin": "https://evil.example"}, 403},
		{"null origin", "POST", "", "{}", map[string]string{"Origin": "null"}, 403},
		{"own page", "POST", "", "{}", map[string]string{"Origin": "http://localhost:3000"}, 400},
		{"rebound name", "POST", "", "{}", map[string]string{"Host": "evil.example"}, 403},
		{"other path", "POST", "/x", "{}", nil, 404},
		{"method", "PUT", "", "{}", nil, 405},
		{"not JSON", "POST", "", "hello", nil, 400},
		{"no message", "POST", "", `{"a":1}`, nil, 400},
		{"no session", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil, 400},
		{"unknown session", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, map[string]string{sessionHeader: "x"}, 404},
		{"unknown session, stream", "GET", "", "", map[string]string{sessionHeader: "x"}, 404},
		{"no session, stream", "GET", "", "", nil, 405},
		{"unknown session, end", "DELETE", "", "", map[string]string{sessionHeader: "x"}, 404},
		{"too large", "POST", "", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1000) + `"}`, nil, 413},
	} {
		req, _ := http.NewRequest(tt.method, c.url+tt.path, strings.NewReader(tt.body))
		req.Header.Set("Authorization", "Bearer "+c.token)
		for k, v := range tt.h {
			if req.Header.Set(k, v); k == "Host" {
				req.Host = v
			}
		}
		resp, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: %d; want %d", tt.name, resp.StatusCode, tt.want)
		}
	}
	if st := g.Servers()[0]; st.Sessions != 0 {
		t.Errorf("%+v", st)
	}
}

func TestSessionEnds(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "raw", "raw")}})
	c := rawTo(t, g)
	c.handshake()
	stream, err := c.do(t.Context(), http.MethodGet, "")
	if err != nil || stream.StatusCode != 200 || stream.Header.Get("Content-Type") != streamType {
		t.Fatalf("stream: %v %v", stream, err)
	}
	resp, err := c.do(t.Context(), http.MethodDelete, "")
	if err != nil || resp.StatusCode != 204 {
		t.Fatalf("end: %v %v", resp, err)
	}
	resp.Body.Close()
	if b, err := io.ReadAll(stream.Body); err != nil || len(b) != 0 {
		t.Errorf("the stream ended with %q, %v", b, err)
	}
	stream.Body.Close()
	if status, _, _ := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 404 {
		t.Errorf("after the end: %d", status)
	}
}

// brokenLog blocks, then fails.
type brokenLog struct{ hold chan struct{} }

func (b brokenLog) Write([]byte) (int, error) { <-b.hold; return 0, errors.New("disk full") }

func TestBrokenLogLosesNoMessage(t *testing.T) {
	log := brokenLog{make(chan struct{})}
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "raw", "raw")}, Log: log})
	c := rawTo(t, g)
	c.handshake()
	for i := range 10 {
		if got := c.tool(i, "x"); !strings.Contains(got, "ok") {
			t.Fatal(got)
		}
	}
	close(log.hold)
	if err := g.Close(); err == nil || err.Error() != "disk full" {
		t.Errorf("Close = %v", err)
	}
	if got := kinds(g); !slices.Equal(got, []string{"mcp_log_dropped"}) || len(g.Calls()) != 10 {
		t.Errorf("findings %v, %d calls", got, len(g.Calls()))
	}
	g.once = sync.Once{} // the test's own end finds it closed
	g.log = newLog(nil)
}

func TestLog(t *testing.T) {
	var log safeBuffer
	g := open(t, Options{MaxRecordBytes: 150}, TrialOptions{Servers: []eval.Server{testServer(t, "raw", "raw", "TOOLS", `{"tools":[{"name":"a"}]}`, "BANNER", "hi \xff\n")}, Log: &log,
		Changes: []eval.ToolChange{{Pattern: "a", Hide: true}}})
	c := rawTo(t, g)
	c.handshake()
	c.post("{\"jsonrpc\":\"2.0\",\n\"id\":1,\"method\":\"tools/list\"}")
	c.tool(2, "noise")
	c.tool(3, "reply:{\"content\":[{\"type\":\"text\",\"text\":\""+strings.Repeat("é", 100)+"\"}]}:end")
	c.tool(4, "a")
	g.Close()
	type line struct {
		From, Kind, Method, Tool string
		ID                       json.RawMessage
		Bytes                    int
		Truncated, Altered       bool
		Message                  json.RawMessage
		Delivered                json.RawMessage
		Text                     string `json:"message_text"`
		Base64                   string `json:"message_text_base64"`
		Prefix                   string `json:"message_prefix"`
	}
	var got []string
	for text := range strings.Lines(log.String()) {
		var l line
		dec := json.NewDecoder(strings.NewReader(text))
		if err := dec.Decode(&l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		got = append(got, fmt.Sprintf("%s %s %s%s %s truncated=%v altered=%v %d %d %d", l.From, l.Kind, l.Method, l.Tool, l.ID, l.Truncated, l.Altered, len(l.Message), len(l.Delivered), len(l.Prefix)))
	}
	want := []string{
		"agent request initialize 0 truncated=false altered=false 146 0 0",
		"server stdout   truncated=false altered=false 0 0 0",
		"server response  0 truncated=false altered=false 136 0 0",
		"agent notification notifications/initialized  truncated=false altered=false 54 0 0",
		"agent request tools/list 1 truncated=false altered=false 47 0 0",
		"server response  1 truncated=false altered=true 58 46 0",
		"agent request tools/callnoise 2 truncated=false altered=false 87 0 0",
		"server stdout   truncated=false altered=false 0 0 0",
		"server stdout   truncated=false altered=false 16 0 0",
		"server response  2 truncated=false altered=false 87 0 0",
	}
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if last := got[len(got)-1]; !strings.HasPrefix(last, "gateway response  4 ") {
		t.Errorf("last line %s", last)
	}
	if big := got[len(got)-3]; !strings.HasPrefix(big, "server response  3 truncated=true altered=false 0 0 1") {
		t.Errorf("cut line %s", big)
	}
	call := g.Calls()[1]
	if !call.Truncated || call.ArgumentsTruncated || !json.Valid(call.Result) || !bytes.HasSuffix(call.Result, []byte(`é"}]}`)) || call.Bytes != 239 {
		t.Errorf("cut call: %v, %d bytes, %s", call.Truncated, call.Bytes, call.Result)
	}
}

func TestListTools(t *testing.T) {
	dir := t.TempDir()
	flaky := testServer(t, "flaky", "sdk")
	flaky.Command, flaky.Args = "/bin/sh", []string{"-c", fmt.Sprintf(`if [ -e %s/ready ]; then exec %q; fi; touch %s/ready; exit 1`, dir, testServer(t, "x", "sdk").Command, dir)}
	flaky.Env["PATH"] = os.Getenv("PATH")
	tools, err := ListTools(t.Context(), Options{StopGrace: 50 * time.Millisecond}, []eval.Server{testServer(t, "one", "sdk"), httpServer(t, false), flaky})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, tool := range tools {
		count[tool.Server]++
	}
	if diff := cmp.Diff(map[string]int{"one": 10, "http": 10, "flaky": 10}, count); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for _, s := range []eval.Server{testServer(t, "crash", "crash"), testServer(t, "silent", "silent")} {
		s.StartTimeout = 300 * time.Millisecond
		start := time.Now()
		_, err := ListTools(t.Context(), Options{StopGrace: 50 * time.Millisecond}, []eval.Server{s})
		if err == nil || !strings.Contains(err.Error(), `"`+s.Name+`"`) || time.Since(start) > 20*time.Second {
			t.Errorf("%s: %v after %v", s.Name, err, time.Since(start))
		}
		if s.Name == "crash" && !strings.Contains(err.Error(), "cannot open the database") {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestUnreachableServer(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{{Name: "far", URL: "http://127.0.0.1:1/mcp?key=secretvalue"}}})
	c := rawTo(t, g)
	status, _, body := c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	if status != 502 || strings.Contains(body, "secretvalue") || !strings.Contains(body, "refused") {
		t.Errorf("got %d %s", status, body)
	}
	if f := g.Fault(); f == nil || f.Cause != eval.CauseMCP || strings.Contains(f.Detail, "secretvalue") {
		t.Errorf("fault %+v", f)
	}
}

func TestServerThatRefuses(t *testing.T) {
	s := httpServer(t, false)
	s.Headers = nil
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
	status, _, body := rawTo(t, g).post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	if status != 401 || body != "no\n" {
		t.Errorf("got %d %q", status, body)
	}
	if f := g.Fault(); f == nil || f.Cause != eval.CauseMCP || !strings.HasSuffix(f.Detail, "status 401: no") {
		t.Errorf("fault %+v", f)
	}
}

func TestHiddenError(t *testing.T) {
	text := func(s string) string {
		b, _ := json.Marshal(s)
		return `{"content":[{"type":"text","text":` + string(b) + `}]}`
	}
	for _, tt := range []struct{ in, want string }{
		{text(`{"status":false,"message":"no rights"}`), `"status": false`},
		{text(`{"success":false}`), `"success": false`},
		{text(`{"error":{"code":7}}`), `"error": {"code":7}`},
		{text(`{"status":"error","message":"x"}`), `"status": "error"`},
		{text(`{"status":"failed","job":7}`), ``},
		{text(`{"error":null,"ok":true}`), ``},
		{text(`{"errors":[]}`), ``},
		{text("Error: x"), `Error: x`},
		{text("  failed to open"), `failed to open`},
		{text("Error handling is a chapter"), ``},
		{text("all good"), ``},
		{`{"structuredContent":{"success":false},"content":[]}`, `"success": false`},
		{`{"content":"odd"}`, ``}, {`[]`, ``}, {``, ``},
	} {
		if got := hiddenError([]byte(tt.in)); got != tt.want {
			t.Errorf("hiddenError(%s) = %q; want %q", tt.in, got, tt.want)
		}
	}
}

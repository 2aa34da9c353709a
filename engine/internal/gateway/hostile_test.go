package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// hostileHTTP is a server over HTTP that does what the called tool's name says,
// and ends with its input.
func hostileHTTP() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	lists := make(chan string, 100)
	for _, list := range strings.Split(os.Getenv("TOOLS"), "||") {
		lists <- list
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { misbehave(w, r, lists) }))
	io.Copy(io.Discard, os.Stdin)
}

func misbehave(w http.ResponseWriter, r *http.Request, lists <-chan string) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	whole := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"ok"}]}}`
	event := func(text string) {
		w.Header().Set("Content-Type", streamType)
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
	if method, ok := strings.CutPrefix(m.Params.Name, "notify:"); ok {
		event(`data: {"jsonrpc":"2.0","method":"` + method + `"}` + "\n\ndata: " + whole + "\n\n")
		return
	}
	w.Header().Set("Content-Type", jsonType)
	if m.Method == "tools/list" {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, <-lists)
		return
	}
	switch m.Params.Name {
	case "die_document":
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, whole[:40])
		w.(http.Flusher).Flush()
		os.Exit(3)
	case "die_stream":
		event("data: " + whole[:40])
		os.Exit(3)
	case "empty_stream":
		event(": nothing\n\n")
	case "wrong_id":
		io.WriteString(w, strings.Replace(whole, string(m.ID), `"nobody"`, 1))
	case "wrong_id_first":
		event("data: " + strings.Replace(whole, string(m.ID), `"nobody"`, 1) + "\n\ndata: " + whole + "\n\n")
	case "null_id":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such version"}}`)
	case "page":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, "<h1>502 Bad Gateway</h1>")
	case "never":
		<-r.Context().Done()
	case "flood":
		w.Header().Set("Content-Type", streamType)
		for i := range 20_000 {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":%d}}\n\n", i)
		}
		event("data: " + whole + "\n\n")
	case "hidden":
		io.WriteString(w, strings.Replace(whole, `"ok"`, `"Error: no such page"`, 1))
	default:
		io.WriteString(w, whole)
	}
}

// hostileServer is the test binary as a server over HTTP.
func hostileServer(t *testing.T, env ...string) eval.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(env, kindEnv+"=http")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	at, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return eval.Server{Name: "s", URL: "http://" + strings.TrimSpace(at) + "/mcp"}
}

// digits are what differs from run to run in a finding's text.
var digits = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// told are kind, tool and text of the findings.
func told(g *Gateway) []string {
	var list []string
	for _, f := range g.Findings() {
		list = append(list, strings.TrimSpace(f.Kind+" "+f.Tool)+": "+strings.TrimPrefix(digits.ReplaceAllString(f.Text, "HOST"), `MCP server "s": `))
	}
	return list
}

func TestHostileHTTPServers(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}`
	for _, tt := range []struct {
		tool     string
		status   int
		body     string // the end of what the agent gets
		broken   bool   // and its connection ends in the middle
		finished bool
		refused  bool // with an error that answers it
		findings []string
	}{
		{tool: "x", status: 200, body: ok, finished: true},
		{tool: "die_document", broken: true, findings: []string{"mcp_answer_cut: 1 answers ended in the middle, the first: unexpected EOF"}},
		{tool: "die_stream", status: 200, broken: true, findings: []string{"mcp_answer_cut: 1 answers ended in the middle, the first: unexpected EOF"}},
		{tool: "empty_stream", status: 200, body: "\n\n", findings: []string{"mcp_answer_cut: 1 answers ended in the middle, the first: the answer to tools/call ended without a response"}},
		{tool: "wrong_id", status: 200, body: strings.Replace(ok, "1,", `"nobody",`, 1),
			findings: []string{`mcp_unknown_id: 1 responses answer no request that is open, the first has id "nobody"`, "mcp_answer_cut: 1 answers ended in the middle, the first: the answer to tools/call ended without a response"}},
		{tool: "wrong_id_first", status: 200, body: "data: " + ok + "\n\n", finished: true,
			findings: []string{`mcp_unknown_id: 1 responses answer no request that is open, the first has id "nobody"`}},
		{tool: "null_id", status: 400, body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such version"}}`, finished: true, refused: true},
		{tool: "page", status: 502, body: "<h1>502 Bad Gateway</h1>", findings: []string{"mcp_http_error: 1 requests were answered with an HTTP error, the first: status 502: <h1>502 Bad Gateway</h1>"}},
		{tool: "hidden", status: 200, body: strings.Replace(ok, `"ok"`, `"Error: no such page"`, 1), finished: true,
			findings: []string{`mcp_error_in_success hidden: tool "hidden" answered without isError, but its result reads like a failure: Error: no such page`}},
		{tool: "flood", status: 200, body: "data: " + ok + "\n\n", finished: true,
			findings: []string{"mcp_notification_flood: the server sent 20000 messages that nobody asked for (notifications/message 20000); the first 5000 are logged"}},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			var log safeBuffer
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{hostileServer(t)}, Log: &log})
			c := rawTo(t, g)
			c.handshake()
			resp, err := c.do(t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tt.tool))
			status, body := 0, ""
			if err == nil {
				var b []byte
				b, err = io.ReadAll(resp.Body)
				resp.Body.Close()
				status, body = resp.StatusCode, string(b)
			}
			if status != tt.status || !strings.HasSuffix(body, tt.body) || (err != nil) != tt.broken {
				t.Errorf("got %d …%s, %v; want %d …%s", status, body[max(0, len(body)-200):], err, tt.status, tt.body)
			}
			g.Close()
			if calls := g.Calls(); len(calls) != 1 || calls[0].Finished != tt.finished || calls[0].IsError != tt.refused {
				t.Errorf("calls %+v", calls)
			}
			if diff := cmp.Diff(tt.findings, told(g)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if n := strings.Count(log.String(), "\n"); n > maxNoticesLogged+10 {
				t.Errorf("%d lines of log", n)
			}
		})
	}
}

// lineCount counts what is written to it.
type lineCount struct{ n atomic.Int64 }

func (l *lineCount) Write(p []byte) (int, error) {
	l.n.Add(int64(bytes.Count(p, []byte{'\n'})))
	return len(p), nil
}

// watchHeap measures the memory in use until it is asked by how much that grew.
// What is waiting to be collected does not count.
func watchHeap() func() int64 {
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before, stop, most := inUse(), make(chan struct{}), make(chan int64)
	go func() {
		var top int64
		for {
			top = max(top, inUse())
			select {
			case <-stop:
				most <- top - before
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}

// A server may say what nobody asked for as often as it likes, here 80 MB of it:
// nothing of it stays but the log of the beginning, and the number.
func TestFloods(t *testing.T) {
	for _, tt := range []struct {
		tool string
		want []string
	}{
		{"flood_40000", []string{"mcp_notification_flood: the server sent 40000 messages that nobody asked for (notifications/message 40000); the first 5000 are logged"}},
		{"flood_40000_noise", []string{"mcp_stdout_noise: 40000 lines on stdout are no JSON-RPC messages, the first: noise " + strings.Repeat("x", 194) + "…"}},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			var log lineCount
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "raw")}, Log: &log})
			c := rawTo(t, g)
			c.handshake()
			grown := watchHeap()
			resp, err := c.do(t.Context(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`, tt.tool))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
			resp.Body.Close()
			if n := grown(); n > 40<<20 {
				t.Errorf("memory in use grew by %d MB", n>>20)
			}
			g.Close()
			if call := g.Calls()[0]; !call.Finished {
				t.Errorf("call %+v", call)
			}
			if diff := cmp.Diff(tt.want, told(g)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if lines := log.n.Load(); lines < maxNoticesLogged || lines > maxNoticesLogged+10 {
				t.Errorf("%d lines of log; want %d and a few", lines, maxNoticesLogged)
			}
		})
	}
}

// What comes when nobody listens is kept as far as the latest of it goes.
func TestFloodWithoutListener(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "raw")}})
	c := rawTo(t, g)
	c.handshake()
	if status, _, body := c.post(`{"jsonrpc":"2.0","method":"x","params":{"id":0,"name":"flood_20000"}}`); status != 202 {
		t.Fatal(status, body)
	}
	for !slices.Contains(kinds(g), "mcp_unknown_id") { // the server's last word
		time.Sleep(time.Millisecond)
	}
	want := "mcp_notification_flood: the server sent 20000 messages that nobody asked for (notifications/message 20000); the first 5000 are logged, 19744 reached no agent"
	if got := told(g); !slices.Contains(got, want) {
		t.Errorf("findings %q; want %q", got, want)
	}
	stream, err := c.do(t.Context(), http.MethodGet, "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	r := bufio.NewReader(stream.Body)
	for i := 19744; i < 20000; i++ {
		line, err := r.ReadString('\n')
		for err == nil && !strings.HasPrefix(line, "data: ") {
			line, err = r.ReadString('\n')
		}
		if want := fmt.Sprintf(`"data":%d}`, i); err != nil || !strings.Contains(line, want) {
			t.Fatalf("got %q, %v; want %s", line, err, want)
		}
	}
}

// TestToolLists has a server whose list is empty at first and changes then: each
// list is in the log with its digest.
func TestToolLists(t *testing.T) {
	const a, b = `{"name":"a","inputSchema":{}}`, `{"name":"b","inputSchema":{}}`
	lists := []string{`{"tools":[]}`, `{"tools":[` + a + `]}`, `{"tools":[` + a + `,` + b + `]}`, `{"tools":[` + b + `,` + a + `]}`, `{"tools":[` + a + `],"nextCursor":"2"}`, `{"tools":[` + b + `]}`}
	for _, tt := range []struct {
		name string
		s    eval.Server
	}{
		{"stdio", testServer(t, "s", "raw", "TOOLS", strings.Join(lists, "||"))},
		{"http", hostileServer(t, "TOOLS="+strings.Join(lists, "||"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log safeBuffer
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{tt.s}, Log: &log})
			c := rawTo(t, g)
			c.handshake()
			for i := range lists {
				cursor := ""
				if i == len(lists)-1 {
					cursor = `"cursor":"2"`
				}
				c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s}}`, i, cursor))
			}
			c.tool(9, "notify:notifications/tools/list_changed")
			g.Close()
			var got []string
			digests := map[string]int{}
			for line := range strings.Lines(log.String()) {
				var e struct {
					From   string
					Digest string `json:"tools_digest"`
					Tools  int
				}
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatal(err)
				}
				if e.Digest == "" {
					continue
				}
				if len(e.Digest) != 64 {
					t.Errorf("digest %q", e.Digest)
				}
				if _, known := digests[e.Digest]; !known {
					digests[e.Digest] = len(digests)
				}
				got = append(got, fmt.Sprintf("%s: list %d of %d", e.From, digests[e.Digest], e.Tools))
			}
			want := []string{"server: list 0 of 0", "server: list 1 of 1", "server: list 2 of 2", "server: list 2 of 2", "server: list 2 of 2"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lists in the log (-want +got):\n%s", diff)
			}
			if _, known := digests[Digest(g.Tools())]; !known || len(g.Tools()) != 2 {
				t.Errorf("the last list is %+v", g.Tools())
			}
			findings := []string{
				"mcp_tools_changed: the server's list of tools changed during the trial: 3 different lists, 1 notifications of a change",
				"mcp_tools_late: the server's list of tools was empty at first and had tools later; an agent that does not ask again never sees them",
			}
			if diff := cmp.Diff(findings, told(g)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// A tool that never answers is told of by how long somebody waited for it.
func TestNoAnswer(t *testing.T) {
	for _, s := range []eval.Server{testServer(t, "s", "raw"), hostileServer(t)} {
		for _, patient := range []bool{false, true} {
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
			if !patient {
				g.patience = 0
			}
			c := rawTo(t, g)
			c.handshake()
			for i := range 2 {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					resp, err := c.do(ctx, http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"never"}}`, i+5))
					if err == nil {
						resp.Body.Close()
					}
					done <- err
				}()
				for len(g.Calls()) <= i {
					time.Sleep(time.Millisecond)
				}
				cancel()
				<-done
			}
			c.tool(9, "x")
			g.Close()
			var want []string
			if !patient {
				want = []string{`mcp_no_answer never: tool "never" left 2 calls without an answer, the longest for 0 s`}
			}
			if diff := cmp.Diff(want, told(g)); diff != "" {
				t.Errorf("%s: findings (-want +got):\n%s", s.URL, diff)
			}
			if calls := g.Calls(); len(calls) != 3 || calls[0].Finished || calls[0].Result != nil || !calls[2].Finished {
				t.Errorf("calls %+v", calls)
			}
		}
	}
}

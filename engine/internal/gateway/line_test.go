package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/npmtest"
)

// lines is an MCP client that sees every line as it came.
type lines struct {
	t     *testing.T
	out   io.WriteCloser
	next  int
	mu    sync.Mutex
	got   []string
	wait  map[string]chan string
	ended chan struct{}
	skip  func(string) bool
}

func newLines(t *testing.T, in io.Reader, out io.WriteCloser) *lines {
	l := &lines{t: t, out: out, wait: map[string]chan string{}, ended: make(chan struct{})}
	go l.read(in)
	return l
}

func (l *lines) read(in io.Reader) {
	defer close(l.ended)
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		text, err := r.ReadString('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			l.t.Errorf("no JSON: %.200q", text)
			return
		}
		l.mu.Lock()
		l.got = append(l.got, strings.TrimSuffix(text, "\n"))
		ch := l.wait[string(m.ID)]
		l.mu.Unlock()
		switch {
		case m.Method != "" && m.ID != nil:
			l.reply(m.Method, m.ID)
		case m.Method == "" && ch != nil:
			ch <- text
		}
	}
}

// reply is what this client says when the server asks.
func (l *lines) reply(method string, id json.RawMessage) {
	result := map[string]string{
		"roots/list":             `{"roots":[{"uri":"file:///r","name":"r"}]}`,
		"sampling/createMessage": `{"role":"assistant","model":"m-1","content":{"type":"text","text":"sampled"}}`,
		"elicitation/create":     `{"action":"accept","content":{"name":"Ada","email":"a@example.org","check":true}}`,
	}[method]
	if result == "" {
		result = "{}"
	}
	fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

func (l *lines) notify(method, params string) {
	fmt.Fprintf(l.out, `{"jsonrpc":"2.0","method":%q,"params":%s}`+"\n", method, params)
}

// call sends a request and returns the line that answers it.
func (l *lines) call(method, params string) string {
	l.next++
	id := fmt.Sprint(l.next)
	if l.next%3 == 0 {
		id = fmt.Sprintf("%q", "id-"+id)
	}
	ch := make(chan string, 1)
	l.mu.Lock()
	l.wait[id] = ch
	l.mu.Unlock()
	fmt.Fprintf(l.out, `{"jsonrpc": "2.0", "id":%s,"method":%q,"params":%s}`+"\n", id, method, params)
	select {
	case text := <-ch:
		return text
	case <-l.ended:
		l.t.Fatalf("%s %s: the stream ended", method, params)
	case <-l.t.Context().Done():
		l.t.Fatalf("%s %s: no answer", method, params)
	}
	return ""
}

func (l *lines) handshake(version string) {
	l.call("initialize", `{"protocolVersion":"`+version+`","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{}}},"clientInfo":{"name":"t","version":"1"}}`)
	l.notify("notifications/initialized", `{}`)
}

// sorted is all that was seen, in an order that does not depend on time.
func (l *lines) sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []string
	for _, s := range l.got {
		if l.skip == nil || !l.skip(s) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}

// direct talks to the server itself.
func direct(t *testing.T, s eval.Server) *lines {
	t.Helper()
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Dir = s.Dir
	cmd.Env = []string{}
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
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
	l := newLines(t, out, in)
	t.Cleanup(func() { in.Close(); <-l.ended; cmd.Wait() })
	return l
}

// shimmed talks to the server through a shim and a gateway.
func shimmed(t *testing.T, e eval.Endpoint) *lines {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Shim(ctx, e.URL, e.Token, inR, outW)
		outW.Close()
	}()
	l := newLines(t, outR, inW)
	t.Cleanup(func() {
		inW.Close()
		if err := <-done; err != nil {
			t.Errorf("Shim = %v", err)
		}
		cancel()
		<-l.ended
	})
	return l
}

// request is one line of the recorded set.
type request struct{ method, params string }

func exercise(l *lines, version string, set []request) []string {
	l.handshake(version)
	for _, r := range set {
		l.call(r.method, r.params)
	}
	return l.sorted()
}

// sameLines compares what a client sees with and without the gateway.
func sameLines(t *testing.T, s eval.Server, version string, set []request, skip func(string) bool) *Gateway {
	t.Helper()
	d := direct(t, s)
	d.skip = skip
	want := exercise(d, version, set)
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
	l := shimmed(t, g.Endpoints()[0])
	l.skip = skip
	got := exercise(l, version, set)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without and with the gateway (-without +with):\n%s", diff)
	}
	return g
}

var sdkSet = []request{
	{"ping", `{}`},
	{"tools/list", `{}`},
	{"tools/call", `{"name":"echo","arguments":{"text":"a\u0000b \ud83d\ude00 é <&>"}}`},
	{"tools/call", `{"name":"echo","arguments":{"wrong":1}}`},
	{"tools/call", `{"name":"structured","arguments":{"text":"x"}}`},
	{"tools/call", `{"name":"remove","arguments":{}}`},
	{"tools/call", `{"name":"no_such_tool","arguments":{}}`},
	{"tools/call", `{"name":"count"}`},
	{"tools/call", `{"name":"progress","arguments":{},"_meta":{"progressToken":"tok"}}`},
	{"tools/call", `{"name":"sample","arguments":{}}`},
	{"tools/call", `{"name":"elicit","arguments":{}}`},
	{"tools/call", `{"name":"roots","arguments":{}}`},
	{"prompts/list", `{}`},
	{"prompts/get", `{"name":"greet","arguments":{"who":"you"}}`},
	{"resources/list", `{}`},
	{"resources/templates/list", `{}`},
	{"resources/read", `{"uri":"test://file"}`},
	{"resources/read", `{"uri":"nowhere://x"}`},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"v"}}`},
	{"logging/setLevel", `{"level":"debug"}`},
	{"no/such/method", `{}`},
}

func TestSameLinesSDK(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			g := sameLines(t, testServer(t, "sdk", "sdk"), version, sdkSet, nil)
			var got []string
			for _, c := range g.Calls() {
				got = append(got, fmt.Sprintf("%s %v %v", c.Tool, c.Finished, c.IsError))
			}
			want := []string{"echo true false", "echo true true", "structured true false", "remove true true", "no_such_tool true true",
				"count true false", "progress true false", "sample true false", "elicit true false", "roots true false"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func npmServer(t *testing.T, pkg string, env map[string]string, args ...string) eval.Server {
	t.Helper()
	command, front := npmtest.Server(t, pkg)
	return eval.Server{Name: "npm", Command: command, Args: append(front, args...), Env: env}
}

func TestSameLinesEverything(t *testing.T) {
	set := []request{
		{"ping", `{}`},
		{"tools/list", `{}`},
		{"tools/call", `{"name":"echo","arguments":{"message":"héllo \ud83d\ude00"}}`},
		{"tools/call", `{"name":"get-sum","arguments":{"a":2,"b":3}}`},
		{"tools/call", `{"name":"get-sum","arguments":{"a":"x"}}`},
		{"tools/call", `{"name":"get-tiny-image","arguments":{}}`},
		{"tools/call", `{"name":"get-structured-content","arguments":{"location":"New York"}}`},
		{"tools/call", `{"name":"get-annotated-message","arguments":{"messageType":"error","includeImage":true}}`},
		{"tools/call", `{"name":"get-resource-links","arguments":{"count":3}}`},
		{"tools/call", `{"name":"trigger-long-running-operation","arguments":{"duration":1,"steps":2},"_meta":{"progressToken":77}}`},
		{"tools/call", `{"name":"trigger-sampling-request","arguments":{"prompt":"p","maxTokens":10}}`},
		{"tools/call", `{"name":"trigger-elicitation-request","arguments":{}}`},
		{"tools/call", `{"name":"get-roots-list","arguments":{}}`},
		{"tools/call", `{"name":"get-env","arguments":{}}`},
		{"tools/call", `{"name":"nope","arguments":{}}`},
		{"prompts/list", `{}`},
		{"prompts/get", `{"name":"args-prompt","arguments":{"city":"Rome"}}`},
		{"resources/list", `{}`},
		{"resources/templates/list", `{}`},
		{"resources/subscribe", `{"uri":"demo://resource/dynamic/text/1"}`},
		{"resources/unsubscribe", `{"uri":"demo://resource/dynamic/text/1"}`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}`},
		{"logging/setLevel", `{"level":"debug"}`},
		{"server/discover", `{}`},
	}
	// The server asks for roots, and tells of tools and logs, when a timer of its
	// own fires.
	timed := func(line string) bool {
		return strings.Contains(line, `"roots/list"`) || strings.Contains(line, `/list_changed"`) || strings.Contains(line, `"notifications/message"`)
	}
	g := sameLines(t, npmServer(t, "@modelcontextprotocol/server-everything", map[string]string{"ONLY": "this"}), "2025-11-25", set, timed)
	if n := len(g.Calls()); n != 13 {
		t.Errorf("%d calls; want 13", n)
	}
	if n := len(g.Tools()); n < 10 {
		t.Errorf("%d tools; want those of the list", n)
	}
}

func TestSameLinesFilesystem(t *testing.T) {
	dir := t.TempDir()
	set := []request{
		{"tools/list", `{}`},
		{"tools/call", `{"name":"write_file","arguments":{"path":"` + dir + `/a.txt","content":"line\n` + strings.Repeat("é", 2000) + `"}}`},
		{"tools/call", `{"name":"read_text_file","arguments":{"path":"` + dir + `/a.txt"}}`},
		{"tools/call", `{"name":"list_directory","arguments":{"path":"` + dir + `"}}`},
		{"tools/call", `{"name":"read_text_file","arguments":{"path":"/etc/hostname"}}`},
		{"tools/call", `{"name":"list_allowed_directories","arguments":{}}`},
	}
	// Without roots of the client: they would take the place of the folder.
	s := npmServer(t, "@modelcontextprotocol/server-filesystem", nil, dir)
	plain := func(l *lines) []string {
		l.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		l.notify("notifications/initialized", `{}`)
		for _, r := range set {
			l.call(r.method, r.params)
		}
		return l.sorted()
	}
	want := plain(direct(t, s))
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{s}})
	if diff := cmp.Diff(want, plain(shimmed(t, g.Endpoints()[0]))); diff != "" {
		t.Errorf("without and with the gateway (-without +with):\n%s", diff)
	}
}

func TestSameLinesMemory(t *testing.T) {
	set := []request{
		{"tools/list", `{}`},
		{"tools/call", `{"name":"create_entities","arguments":{"entities":[{"name":"n","entityType":"t","observations":["o"]}]}}`},
		{"tools/call", `{"name":"read_graph","arguments":{}}`},
		{"tools/call", `{"name":"search_nodes","arguments":{"query":"o"}}`},
		{"tools/call", `{"name":"delete_entities","arguments":{"entityNames":["n"]}}`},
		{"tools/call", `{"name":"read_graph","arguments":{}}`},
	}
	sameLines(t, npmServer(t, "@modelcontextprotocol/server-memory", map[string]string{"MEMORY_FILE_PATH": t.TempDir() + "/m.jsonl"}), "2025-06-18", set, nil)
}

package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// dial is a connection to the gateway for bytes as they are, with the path and
// the headers of a proper request.
func dial(t *testing.T, g *Gateway) (net.Conn, string, string) {
	t.Helper()
	at, err := url.Parse(g.Endpoints()[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, at.EscapedPath(), "Host: " + at.Host + "\r\nAuthorization: Bearer " + g.Endpoints()[0].Token + "\r\nContent-Type: application/json\r\n"
}

// What a hostile client sends in bytes is refused, and never reaches a server as
// more or other than the one message that was read.
func TestHostileClients(t *testing.T) {
	var got atomic.Pointer[[]string]
	got.Store(&[]string{})
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		list := append(slices.Clone(*got.Load()), r.Method+" "+r.URL.Path+" "+string(b))
		got.Store(&list)
		w.Header().Set("Content-Type", jsonType)
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer behind.Close()
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	size := func(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }
	chunk := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(ping), ping)
	second := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	for _, tt := range []struct {
		name string
		raw  func(path, headers string) string
		want string // the first answer's status
		// reached is what the server behind got.
		reached []string
	}{
		{"proper", func(p, h string) string { return "POST " + p + " HTTP/1.1\r\n" + h + size(len(ping)) + "\r\n" + ping }, "200", []string{"POST /mcp " + ping}},
		{"garbage", func(p, h string) string { return "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n" }, "400", nil},
		{"two lengths", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + size(len(ping)) + size(3) + "\r\n" + ping
		}, "400", nil},
		{"length of no number", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + "Content-Length: +40\r\n\r\n" + ping
		}, "400", nil},
		{"length and chunks", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + size(len(chunk)+len(second)) + "Transfer-Encoding: chunked\r\n\r\n" + chunk + second
		}, "200", []string{"POST /mcp " + ping}},
		{"chunks twice", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunk
		}, "501", nil},
		{"unknown encoding", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + "Transfer-Encoding: xchunked\r\n\r\n" + chunk
		}, "501", nil},
		{"a request as the body", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + size(len(second)) + "\r\n" + second
		}, "400", nil},
		{"line end in a header", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + "X-A: a\nHost: evil.example\r\n" + size(len(ping)) + "\r\n" + ping
		}, "400", nil},
		{"no host", func(p, h string) string { return "POST " + p + " HTTP/1.0\r\n" + size(len(ping)) + "\r\n" + ping }, "403", nil},
		{"two hosts", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\nHost: evil.example\r\n" + h + size(len(ping)) + "\r\n" + ping
		}, "400", nil},
		{"host in the request line", func(p, h string) string {
			return "POST http://evil.example" + p + " HTTP/1.1\r\n" + h + size(len(ping)) + "\r\n" + ping
		}, "403", nil},
		{"host that begins well", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + strings.Replace(h, "Host: 127.0.0.1", "Host: 127.0.0.1.evil.example", 1) + size(len(ping)) + "\r\n" + ping
		}, "403", nil},
		{"origin that begins well", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + "Origin: http://localhost.evil.example\r\n" + size(len(ping)) + "\r\n" + ping
		}, "403", nil},
		{"path that climbs", func(p, h string) string {
			return "POST " + p + "/../../mcp HTTP/1.1\r\n" + h + size(len(ping)) + "\r\n" + ping
		}, "404", nil},
		{"a tunnel", func(p, h string) string { return "CONNECT evil.example:443 HTTP/1.1\r\n" + h + "\r\n" }, "403", nil},
		{"many headers", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 400) + "\r\n"
		}, "431", nil},
		{"empty batch", func(p, h string) string { return "POST " + p + " HTTP/1.1\r\n" + h + size(2) + "\r\n[]" }, "400", nil},
		{"batch of no messages", func(p, h string) string { return "POST " + p + " HTTP/1.1\r\n" + h + size(5) + "\r\n[1,2]" }, "400", nil},
		{"batch in a batch", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + size(len(ping)+4) + "\r\n[[" + ping + "]]"
		}, "400", nil},
		{"two messages", func(p, h string) string {
			return "POST " + p + " HTTP/1.1\r\n" + h + size(2*len(ping)) + "\r\n" + ping + ping
		}, "400", nil},
		{"deep", func(p, h string) string {
			body := `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000) + "}"
			return "POST " + p + " HTTP/1.1\r\n" + h + size(len(body)) + "\r\n" + body
		}, "400", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{{Name: "s", URL: behind.URL + "/mcp"}}})
			got.Store(&[]string{})
			conn, path, headers := dial(t, g)
			go io.WriteString(conn, tt.raw(path, headers))
			line, err := bufio.NewReader(conn).ReadString('\n')
			if f := strings.Fields(line); err != nil || len(f) < 2 || f[1] != tt.want {
				t.Errorf("got %q, %v; want status %s", line, err, tt.want)
			}
			conn.Close()
			g.Close()
			if reached := *got.Load(); !slices.Equal(reached, tt.reached) {
				t.Errorf("the server got %q; want %q", reached, tt.reached)
			}
		})
	}
}

// What is said twice in one message is read as the server reads it: the last
// counts.
func TestSaidTwice(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "sdk")}, Changes: []eval.ToolChange{{Pattern: "remove", Hide: true}}})
	c := rawTo(t, g)
	c.handshake()
	for i, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"remove"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"},"params":{"name":"remove"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/call","params":{"name":"remove"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"r\u0065move"}}`,
	} {
		_, _, answer := c.post(body)
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"Unknown tool: remove"}}`, i+1); answer != want {
			t.Errorf("%s: got %s; want %s", body, answer, want)
		}
	}
	for _, call := range g.Calls() {
		if call.Tool != "remove" {
			t.Errorf("recorded as %q", call.Tool)
		}
	}
}

func TestBatchOfMany(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "sdk")}})
	c := rawTo(t, g)
	c.handshake()
	var parts []string
	for i := range 2000 {
		parts = append(parts, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
	}
	_, _, body := c.post("[" + strings.Join(parts, ",") + "]")
	if n := strings.Count(body, `"jsonrpc"`); n != 2000 {
		t.Errorf("%d answers, %.300s", n, body)
	}
}

// A client that takes nothing is given up, and what waits behind it goes on. One
// that is slow gets everything.
func TestSlowClients(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "raw")}})
		if stuck {
			g.visits.stall = 100 * time.Millisecond
		}
		slow, other := rawTo(t, g), rawTo(t, g)
		slow.handshake()
		other.handshake()
		conn, path, headers := dial(t, g)
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%s%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, headers, sessionHeader, slow.session, len(call), call)
		for len(g.Calls()) == 0 || !g.Calls()[0].Finished {
			time.Sleep(time.Millisecond)
		}
		if got := other.tool(2, "x"); !strings.Contains(got, "ok") {
			t.Errorf("beside a slow client: %s", got)
		}
		if !stuck {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < 50<<20 {
				t.Errorf("%d bytes, %v", n, err)
			}
			continue
		}
		for g.visits.under() > 0 {
			time.Sleep(time.Millisecond)
		}
		if n, err := io.Copy(io.Discard, conn); n >= 50<<20 {
			t.Errorf("a client that takes nothing got %d bytes, %v", n, err)
		}
	}
}

// A flood for a client that takes nothing holds up its server no longer than the
// client is waited for.
func TestStuckClientHoldsNobodyUp(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "raw")}})
	g.visits.stall = 2 * time.Second // the other takes what comes within it
	stuck, other := rawTo(t, g), rawTo(t, g)
	stuck.handshake()
	other.handshake()
	conn, path, headers := dial(t, g)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"flood_20000"}}`
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%s%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, headers, sessionHeader, stuck.session, len(call), call)
	for len(g.Calls()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if got := other.tool(2, "x"); !strings.Contains(got, `"text":"ok"`) {
		t.Errorf("behind a client that is stuck: %.300s", got)
	}
}

// The end of a trial waits for no client.
func TestTrialEndsWithStuckClient(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "s", "raw")}})
	c := rawTo(t, g)
	c.handshake()
	conn, path, headers := dial(t, g)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n%s%s: %s\r\nContent-Length: %d\r\n\r\n%s", path, headers, sessionHeader, c.session, len(call), call)
	for len(g.Calls()) == 0 || !g.Calls()[0].Finished {
		time.Sleep(time.Millisecond)
	}
	if err := g.Close(); err != nil { // with the default patience of minutes
		t.Error(err)
	}
}

// crowdEnv is what the crowd does: as JSON a number of requests, URL, token and
// session.
const crowdEnv = "GATEWAY_TEST_CROWD"

type crowdTask struct {
	N                   int
	URL, Token, Session string
}

// crowd makes many calls at once and tells how many were refused, then holds the
// others until it is killed.
func crowd() {
	var task crowdTask
	if err := json.Unmarshal([]byte(os.Getenv(crowdEnv)), &task); err != nil {
		panic(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	statuses := make(chan int)
	for i := range task.N {
		go func() {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"never"}}`, i)
			req, _ := http.NewRequest(http.MethodPost, task.URL, strings.NewReader(body))
			req.Header.Set("Authorization", "Bearer "+task.Token)
			req.Header.Set(sessionHeader, task.Session)
			resp, err := client.Do(req)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				statuses <- 0
				return
			}
			if resp.StatusCode == http.StatusOK { // the beginning of an answer
				return
			}
			resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	count := map[string]int{}
	for range task.N - maxVisits {
		count[strconv.Itoa(<-statuses)]++
	}
	json.NewEncoder(os.Stdout).Encode(count)
	time.Sleep(time.Hour)
}

// TestCrowd has a client with ten thousand calls at once, which is then killed in
// the middle of those that were let in.
func TestCrowd(t *testing.T) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	task := crowdTask{N: int(min(10_000, files.Cur-500))}
	h, err := Listen(t.Context(), Options{StopGrace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	trial := func() *Gateway {
		g, err := h.Open(t.Context(), TrialOptions{Servers: []eval.Server{testServer(t, "s", "raw")}})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g, bystander := trial(), trial()
	c, other := rawTo(t, g), rawTo(t, bystander)
	c.handshake()
	other.handshake()
	task.URL, task.Token, task.Session = c.url, c.token, c.session
	env, _ := json.Marshal(task)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = []string{kindEnv + "=crowd", crowdEnv + "=" + string(env)}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	grown := watchHeap()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if want := fmt.Sprintf("{\"503\":%d}\n", task.N-maxVisits); line != want || err != nil {
		t.Errorf("refused %q, %v; want %q", line, err, want)
	}
	if n := grown(); n > 150<<20 {
		t.Errorf("memory in use grew by %d MB", n>>20)
	}
	if got := other.tool(1, "x"); !strings.Contains(got, "ok") {
		t.Errorf("another trial: %s", got)
	}
	if status, _, body := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 503 || body != "too many requests at once\n" {
		t.Errorf("one more: %d %s", status, body)
	}
	cancel()
	cmd.Wait()
	for g.visits.under() > 0 {
		time.Sleep(time.Millisecond)
	}
	if got := c.tool(1, "x"); !strings.Contains(got, "ok") {
		t.Errorf("after the crowd: %s", got)
	}
	calls := g.Calls()
	if len(calls) != maxVisits+1 || !calls[maxVisits].Finished || slices.ContainsFunc(calls[:maxVisits], func(c Call) bool { return c.Finished }) {
		t.Errorf("%d calls are known; want %d without an answer and one with", len(calls), maxVisits)
	}
	if t.Failed() {
		t.Logf("%.1000s", stderr.String())
	}
}

func (v *visits) under() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.n
}

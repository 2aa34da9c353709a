package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// peak is the most memory that the process had since the last call, in bytes;
// 0 where the system does not say.
func peak() int64 {
	defer os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(b), "VmHWM:")
	line, _, _ := strings.Cut(after, "\n")
	kb, _ := strconv.ParseInt(strings.Fields(line)[0], 10, 64)
	return kb << 10
}

// bigHTTP answers a call with 50 MB, as a document or as an event.
func bigHTTP(t testing.TB, stream bool) eval.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(b), `"id":1`) {
			w.Header().Set("Content-Type", jsonType)
			io.WriteString(w, `{"jsonrpc":"2.0","id":0,"result":{}}`)
			return
		}
		w.Header().Set("Content-Type", map[bool]string{true: streamType, false: jsonType}[stream])
		if stream {
			io.WriteString(w, "id: 7\ndata: ")
		}
		io.WriteString(w, `{"result":{"content":[{"type":"text","text":"`)
		chunk := strings.Repeat("x", 1<<20)
		for range 50 {
			io.WriteString(w, chunk)
		}
		io.WriteString(w, `"}],"isError":false},"jsonrpc":"2.0","id":1}`+"\n\n")
	}))
	t.Cleanup(s.Close)
	return eval.Server{Name: "big", URL: s.URL}
}

func TestHugeResult(t *testing.T) {
	const size = 50<<20 + 62
	for _, tt := range []struct {
		name string
		s    eval.Server
	}{
		{"stdio", testServer(t, "big", "raw")},
		{"http document", bigHTTP(t, false)},
		{"http stream", bigHTTP(t, true)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log safeBuffer
			g := open(t, Options{}, TrialOptions{Servers: []eval.Server{tt.s}, Log: &log})
			c := rawTo(t, g)
			c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
			debug.FreeOSMemory()
			before := peak()
			before = max(peak(), 1)
			resp, err := c.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			grown := peak() - before
			if err != nil || n < size {
				t.Fatalf("%d bytes, %v", n, err)
			}
			t.Logf("memory grew by at most %d KB", grown>>10)
			if grown > 24<<20 {
				t.Errorf("memory grew by %d MB for a result of 50 MB", grown>>20)
			}
			call := g.Calls()[0]
			if !call.Finished || call.IsError || !call.Truncated || call.Bytes != 50<<20+55 || len(call.Result) > DefaultMaxRecordBytes+10 {
				t.Errorf("finished %v, error %v, truncated %v, bytes %d, kept %d", call.Finished, call.IsError, call.Truncated, call.Bytes, len(call.Result))
			}
			if !strings.HasSuffix(string(call.Result), `xxx"}]}`) {
				t.Errorf("the result ends with %q", call.Result[len(call.Result)-20:])
			}
			g.Close()
			if n := len(log.String()); n > 2*DefaultMaxRecordBytes {
				t.Errorf("the log has %d bytes", n)
			}
		})
	}
}

func TestResultOverTheLimit(t *testing.T) {
	for _, s := range []eval.Server{testServer(t, "big", "raw"), bigHTTP(t, false), bigHTTP(t, true)} {
		g := open(t, Options{MaxMessageBytes: 10 << 20}, TrialOptions{Servers: []eval.Server{s}})
		c := rawTo(t, g)
		c.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
		got := c.tool(1, "big")
		if !strings.Contains(got, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server's answer of 524288`) {
			t.Errorf("%s: got %.200s", s.Name, got)
		}
		if got := c.tool(0, "x"); !strings.Contains(got, `"result"`) {
			t.Errorf("%s: the next call: %.200s", s.Name, got)
		}
		call := g.Calls()[0]
		if !call.IsError || !call.Truncated || call.Bytes < 50<<20 || call.Injected != "too_large" {
			t.Errorf("%s: %+v", s.Name, call)
		}
		if got := kinds(g); len(got) != 1 || got[0] != "mcp_message_too_large" {
			t.Errorf("%s: findings %v", s.Name, got)
		}
	}
}

func cpu(who int) time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCall is one tool call with an answer of 10 KB: the client, the
// gateway with its log, and the server in a process of its own. cpu-us/op is of
// client and gateway together.
func BenchmarkCall(b *testing.B) {
	reply := `reply:{"content":[{"type":"text","text":"` + strings.Repeat("some text ", 1000) + `"}]}:end`
	log, err := os.Create(b.TempDir() + "/gateway.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	g := open(b, Options{}, TrialOptions{Servers: []eval.Server{testServer(b, "raw", "raw")}, Log: log})
	c := rawTo(b, g)
	c.handshake()
	start := cpu(syscall.RUSAGE_SELF)
	i := 0
	for b.Loop() {
		i++
		resp, err := c.do(context.Background(), http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, i, reply))
		if err != nil {
			b.Fatal(err)
		}
		if n, _ := io.Copy(io.Discard, resp.Body); n < 10_000 {
			b.Fatalf("%d bytes", n)
		}
		resp.Body.Close()
	}
	b.ReportMetric(float64((cpu(syscall.RUSAGE_SELF)-start).Microseconds())/float64(i), "cpu-us/op")
}

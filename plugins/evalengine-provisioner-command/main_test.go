package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
)

// envRole makes the test's own program one of the servers that tests provision.
const envRole = "TEST_ROLE"

func TestMain(m *testing.M) {
	proc.Keeper()
	switch role := os.Getenv(envRole); role {
	case "":
		os.Exit(m.Run())
	case "http":
		serveHTTP()
	case "stdio":
		serveStdio()
	case "wait":
		ignoreSignals()
		select {}
	case "plugin":
		main()
	default:
		fmt.Fprintln(os.Stderr, "no role", role)
		os.Exit(2)
	}
}

func ignoreSignals() { signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP) }

// number is an environment variable as a number, 0 where there is none.
func number(name string) int64 {
	n, _ := strconv.ParseInt(os.Getenv(name), 10, 64)
	return n
}

// spawn starts programs that stay: one in a process group of its own, one in a
// session of its own. Their process IDs go to the file PIDS.
func spawn() {
	for _, attr := range []*syscall.SysProcAttr{{Setpgid: true}, {Setsid: true}} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), envRole+"=wait", "PIDS=")
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		note(cmd.Process.Pid)
	}
}

func note(pid int) {
	f, err := os.OpenFile(os.Getenv("PIDS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, pid)
		f.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pids reads what note wrote.
func pids(t *testing.T, path string) []int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []int
	for _, f := range strings.Fields(string(b)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// newServer has one tool, put, which keeps the last text; tools/list fails as
// often as FAIL_LIST says.
func newServer(keep func(string)) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "put"}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		keep(in.Text)
		if api := os.Getenv("API"); api != "" {
			return publish(api + "/publish")
		}
		return &mcp.CallToolResult{}, nil, nil
	})
	var left atomic.Int64
	left.Store(number("FAIL_LIST"))
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" && left.Add(-1) >= 0 {
				return nil, errors.New("fetch failed")
			}
			return next(ctx, method, r)
		}
	})
	return s
}

// publish asks again while it is told to, three times at most, as clients of APIs
// do.
func publish(url string) (*mcp.CallToolResult, any, error) {
	for range 3 {
		resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			return nil, nil, err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusTooManyRequests {
			break
		}
	}
	return &mcp.CallToolResult{}, nil, nil
}

// serveHTTP serves MCP at /mcp, its state at /state and readiness at /ready on
// ADDR. SLOW is how often /ready says no, TOKEN the bearer token of all of it.
func serveHTTP() {
	if os.Getenv("PIDS") != "" {
		spawn()
		note(os.Getpid())
	}
	if number("STUBBORN") > 0 {
		ignoreSignals()
	}
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if number("ALONE") > 0 {
			c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0) })
		}
		return err
	}}
	l, err := lc.Listen(context.Background(), "tcp", os.Getenv("ADDR"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if number("STAY") > 0 {
			select {}
		}
		os.Exit(1)
	}
	var state atomic.Value
	state.Store("nothing")
	server := newServer(func(s string) { state.Store(s) })
	var slow atomic.Int64
	slow.Store(number("SLOW"))
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	mux.HandleFunc("/state", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"text": state.Load()})
	})
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if slow.Add(-1) >= 0 {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("X-Nonce", os.Getenv("NONCE"))
		fmt.Fprintln(w, "nonce:", os.Getenv("NONCE"))
	})
	fmt.Fprintln(os.Stderr, "listening")
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := os.Getenv("TOKEN"); want != "" && r.Header.Get("Authorization") != "Bearer "+want {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	})))
}

// serveStdio greets people on stdout, then speaks MCP. With STUBBORN it neither
// ends with its input nor at SIGTERM.
func serveStdio() {
	if os.Getenv("PIDS") != "" {
		note(os.Getpid())
	}
	fmt.Println("Welcome to the test server!")
	if number("STUBBORN") > 0 {
		ignoreSignals()
	}
	err := newServer(func(s string) { os.WriteFile("said.txt", []byte(s), 0o600) }).Run(context.Background(), &mcp.StdioTransport{})
	if number("STUBBORN") > 0 {
		select {}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
	}
}

// self is the command line of the test's own program.
func self(t testing.TB) []string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path}
}

// httpConfig is a config of the HTTP server, with more over it.
func httpConfig(t testing.TB, env map[string]string, more map[string]any) map[string]any {
	t.Helper()
	e := map[string]string{envRole: "http", "ADDR": "127.0.0.1:{port}", "NONCE": "{nonce}"}
	for k, v := range env {
		e[k] = v
	}
	c := map[string]any{"name": "target", "serve": self(t), "url": "http://127.0.0.1:{port}/mcp", "env": e}
	for k, v := range more {
		c[k] = v
	}
	return c
}

func request(t testing.TB, c map[string]any) eval.ProvisionRequest {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return eval.ProvisionRequest{
		Trial:  eval.Trial{Story: "story", Variant: "v", Host: "host", Repeat: 2},
		Config: b, WorkDir: t.TempDir(), Nonce: "nonce-of-" + filepath.Base(t.TempDir()) + "-1234",
	}
}

func newTestCommand() *command { return newCommand(surroundings{path: os.Getenv("PATH")}) }

func provision(t testing.TB, c *command, req eval.ProvisionRequest) eval.Target {
	t.Helper()
	target, err := c.Provision(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Destroy(context.Background(), target.ID) })
	return target
}

// refused is the fault of a config that cannot be met.
func refused(t testing.TB, c *command, req eval.ProvisionRequest) *eval.Fault {
	t.Helper()
	target, err := c.Provision(t.Context(), req)
	if err == nil {
		c.Destroy(t.Context(), target.ID)
		t.Fatal("Provision gave no error")
	}
	var f *eval.Fault
	if !errors.As(err, &f) {
		t.Fatalf("error %v (%T) is no fault", err, err)
	}
	return f
}

func state(t testing.TB, c *command, id string) string {
	t.Helper()
	s, err := c.Snapshot(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, s); err != nil {
		t.Fatalf("%v: %s", err, s)
	}
	return out.String()
}

func value(t testing.TB, target eval.Target, name string) string {
	t.Helper()
	var v map[string]string
	if err := json.Unmarshal(target.Values, &v); err != nil {
		t.Fatal(err)
	}
	return v[name]
}

// connect is an MCP client of a target's server.
func connect(t testing.TB, s eval.Server) *mcp.ClientSession {
	t.Helper()
	var transport mcp.Transport = &mcp.StreamableClientTransport{
		Endpoint: s.URL, DisableStandaloneSSE: true,
		HTTPClient: &http.Client{Transport: &withHeaders{next: http.DefaultTransport, headers: s.Headers}},
	}
	if s.Command != "" {
		r, err := start(program{argv: append([]string{s.Command}, s.Args...), dir: s.Dir, env: s.Env, stdin: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.stop)
		transport = &mcp.IOTransport{Reader: &messages{r: bufio.NewReader(r.out)}, Writer: r.in}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
		&mcp.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func call(t testing.TB, s *mcp.ClientSession, tool string, args map[string]any) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError {
		b, _ := json.Marshal(res.Content)
		t.Fatalf("%s: %s", tool, b)
	}
}

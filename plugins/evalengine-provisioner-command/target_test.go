package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
)

func TestHTTPServer(t *testing.T) {
	c := newTestCommand()
	target := provision(t, c, request(t, httpConfig(t,
		map[string]string{"TOKEN": "{token}", "SLOW": "3", "FAIL_LIST": "2"},
		map[string]any{
			"headers":   map[string]string{"Authorization": "Bearer {token}"},
			"ready_url": "http://127.0.0.1:{port}/ready", "ready_body": "nonce: {nonce}\n", "ready_nonce_header": "X-Nonce",
			"snapshot_url": "http://127.0.0.1:{port}/state",
		})))
	s := target.Servers[0]
	if len(target.Servers) != 1 || s.Name != "target" || len(target.Secrets) != 1 || s.Headers["Authorization"] != "Bearer "+target.Secrets[0] {
		t.Fatalf("target = %+v", target)
	}
	if got, want := state(t, c, target.ID), `{"text":"nothing"}`; got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
	call(t, connect(t, s), "put", map[string]any{"text": "hello"})
	if got, want := state(t, c, target.ID), `{"text":"hello"}`; got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
}

func TestNotReady(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		more map[string]any
		want []string
	}{
		{"tools cannot be listed", map[string]string{"FAIL_LIST": "1000000"}, nil,
			[]string{"not ready after", "tools/list", "fetch failed", "it said: listening"}},
		{"never ready", map[string]string{"SLOW": "1000000"}, map[string]any{"ready_url": "http://127.0.0.1:{port}/ready"},
			[]string{"not ready after", "503 Service Unavailable"}},
		{"another nonce in the header", map[string]string{"NONCE": "theirs"},
			map[string]any{"ready_url": "http://127.0.0.1:{port}/ready", "ready_nonce_header": "X-Nonce"},
			[]string{`"theirs", not the nonce`}},
		{"another nonce in the body", map[string]string{"NONCE": "theirs"},
			map[string]any{"ready_url": "http://127.0.0.1:{port}/ready", "ready_body": "{nonce}"},
			[]string{"does not hold"}},
		{"ends at once", map[string]string{envRole: "none"}, nil,
			[]string{"the process ended", "exit status 2", "no role none"}},
		{"a wrong token", map[string]string{"TOKEN": "expected-token"}, nil, []string{"initialize", "Unauthorized"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := notReady(t, httpConfig(t, tt.env, tt.more))
			if f.Cause != eval.CauseNotReady || f.Retry != eval.RetryTrial {
				t.Errorf("fault = %+v; want not_ready, retried", f)
			}
			for _, want := range tt.want {
				if !strings.Contains(f.Detail, want) {
					t.Errorf("detail %q has no %q", f.Detail, want)
				}
			}
		})
	}
}

// notReady is the fault of a config whose server starts and is never ready. Where
// the machine is too busy to start it within the bound, it gets a larger one.
func notReady(t *testing.T, cfg map[string]any) *eval.Fault {
	t.Helper()
	for _, bound := range []string{"500ms", "4s", "32s"} {
		cfg["ready_timeout"] = bound
		f := refused(t, newTestCommand(), request(t, cfg))
		slow := strings.Contains(f.Detail, "connection refused") || strings.Contains(f.Detail, "deadline exceeded") || strings.HasSuffix(f.Detail, "not ready after "+bound)
		if !slow {
			return f
		}
	}
	t.Fatal("the server does not start")
	return nil
}

// Nothing listens there: an address alone is waited for as well.
func TestServerElsewhere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/mcp"
	l.Close()
	f := refused(t, newTestCommand(), request(t, map[string]any{"name": "t", "url": url, "ready_timeout": "100ms"}))
	if f.Cause != eval.CauseNotReady || !strings.Contains(f.Detail, "connection refused") {
		t.Errorf("fault = %+v; want not_ready with the refusal", f)
	}
	target := provision(t, newTestCommand(), request(t, map[string]any{"name": "t", "url": url, "probe": false}))
	if target.Servers[0].URL != url {
		t.Errorf("server = %+v", target.Servers[0])
	}
}

// A fixed port that somebody holds is a fault, never another's target.
func TestFixedPortInUse(t *testing.T) {
	t.Parallel()
	c := newTestCommand()
	first := provision(t, c, request(t, httpConfig(t, nil, nil)))
	url := first.Servers[0].URL
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	for _, tt := range []struct{ name, stay, bound, want string }{
		{"the server ends", "0", "60s", "address already in use"},
		{"the server stays", "1", "2s", "another process than this target's answers at " + url},
	} {
		var wg sync.WaitGroup
		for range 3 {
			req := request(t, httpConfig(t, map[string]string{"ADDR": addr, "STAY": tt.stay}, map[string]any{"url": url, "ready_timeout": tt.bound}))
			wg.Go(func() {
				f := eval.AsFault(func() error { _, err := c.Provision(t.Context(), req); return err }())
				if f == nil || f.Cause != eval.CauseNotReady || f.Retry != eval.RetryTrial || !strings.Contains(f.Detail, tt.want) {
					t.Errorf("%s: fault = %+v; want not_ready with %q", tt.name, f, tt.want)
				}
			})
		}
		wg.Wait()
	}
	call(t, connect(t, first.Servers[0]), "put", map[string]any{"text": "still here"})
}

// A server that finds its port in use gets another one: here because it cannot
// share the port that is held for it.
func TestPortInUseIsTriedAgain(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	target := provision(t, newTestCommand(), request(t, httpConfig(t, map[string]string{"ALONE": "1"}, map[string]any{
		"setup":   [][]string{{"sh", "-c", `test ! -e seen && touch seen && echo setup {port} >>"$0"`, log}},
		"cleanup": [][]string{{"sh", "-c", `echo cleanup {port} >>"$0"`, log}},
	})))
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 3 || strings.Replace(lines[0], "setup", "cleanup", 1) != lines[1] || !strings.HasPrefix(lines[2], "setup") || lines[0] == lines[2] {
		t.Errorf("commands run: %q; want setup and cleanup of one port, then setup of another", lines)
	}
	if port := strings.Fields(lines[2])[1]; !strings.Contains(target.Servers[0].URL, ":"+port+"/") {
		t.Errorf("server at %s; want port %s", target.Servers[0].URL, port)
	}
}

// While a target lives, the system gives its ports to nobody, though nothing
// listens on them.
func TestPortsAreHeld(t *testing.T) {
	if !canHold {
		t.Log("this system cannot hold a port for another process")
	}
	c := newTestCommand()
	req := request(t, map[string]any{"name": "t", "command": []string{"true"}, "values": map[string]string{"p": "{port}"}})
	target := provision(t, c, req)
	addr := "127.0.0.1:" + value(t, target, "p")
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("something listens on a port that is only held")
	}
	lc := net.ListenConfig{}
	l, err := lc.Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatalf("the target's server cannot listen: %v", err)
	}
	l.Close()
	seen := map[string]bool{value(t, target, "p"): true}
	for range 50 {
		p := value(t, provision(t, c, request(t, map[string]any{
			"name": "t", "command": []string{"true"}, "values": map[string]string{"p": "{port:x}"},
		})), "p")
		if seen[p] {
			t.Errorf("port %s was given twice", p)
		}
		seen[p] = true
	}
}

// A server that ignores SIGTERM, a child in another process group and one in
// another session end with the target.
func TestDestroyEndsEverything(t *testing.T) {
	t.Parallel()
	c := newTestCommand()
	file := filepath.Join(t.TempDir(), "pids")
	target := provision(t, c, request(t, httpConfig(t, map[string]string{"STUBBORN": "1", "PIDS": file}, nil)))
	list := pids(t, file)
	if len(list) != 3 {
		t.Fatalf("%d processes; want 3", len(list))
	}
	if err := c.Destroy(t.Context(), target.ID); err != nil {
		t.Error(err)
	}
	gone(t, list)
	if err := c.Destroy(t.Context(), target.ID); err != nil {
		t.Errorf("a second Destroy: %v", err)
	}
	if _, err := c.Snapshot(t.Context(), target.ID); err == nil {
		t.Error("a destroyed target has a state")
	}
}

func gone(t *testing.T, list []int) {
	t.Helper()
	for _, pid := range list {
		if proc.Alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

func alive(t *testing.T, list []int) {
	t.Helper()
	for _, pid := range list {
		if !proc.Alive(pid) {
			t.Errorf("process %d has ended", pid)
		}
	}
}

// What setup leaves in the background lives as long as the target: also a daemon
// with a session of its own, an empty environment and no parent any more.
func TestSetupInTheBackground(t *testing.T) {
	c := newTestCommand()
	file := filepath.Join(t.TempDir(), "pids")
	target := provision(t, c, request(t, map[string]any{
		"name": "t", "command": []string{"true"},
		"setup": [][]string{{"sh", "-c", `sleep 1000 & echo $! >>"$0"; setsid sleep 1000 & echo $! >>"$0"
env -i "$(command -v setsid)" "$(command -v sh)" -c '"$1" 1000 & echo $! >>"$0"' "$0" "$(command -v sleep)"`, file}},
		"cleanup": [][]string{{"sh", "-c", `for p in $(cat "$0"); do kill -0 $p || exit 1; done`, file}},
	}))
	list := pids(t, file)
	if len(list) != 3 {
		t.Errorf("%d processes; want 3", len(list))
	}
	alive(t, list)
	if err := c.Destroy(t.Context(), target.ID); err != nil {
		t.Errorf("they ended before cleanup: %v", err)
	}
	gone(t, list)
}

func TestSetup(t *testing.T) {
	c := newTestCommand()
	out := filepath.Join(t.TempDir(), "out")
	target := provision(t, c, request(t, map[string]any{
		"name": "t", "command": []string{"true"},
		"files":     map[string]string{"a/b.txt": "{port} {{x}}"},
		"templates": map[string]string{"c.txt": "{trial}"},
		"setup":     [][]string{{"sh", "-c", `cat a/b.txt c.txt >"$0"; pwd >>"$0"; env >>"$0"`, out}, {"mkdir", "made"}},
	}))
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	work := value(t, target, "workdir")
	if got, want := string(b), "{port} {{x}}story.v.host.r2"+work+"\n"; !strings.HasPrefix(got, want) {
		t.Errorf("setup saw %q; want %q", got, want)
	}
	for line := range strings.Lines(string(b)[strings.Index(string(b), work):]) {
		name, _, ok := strings.Cut(line, "=")
		switch name {
		case "PATH", "HOME", "TMPDIR", "LANG", "PWD", "OLDPWD", "SHLVL", "_", envProcess, envTarget:
		default:
			if ok {
				t.Errorf("setup has the variable %s", name)
			}
		}
	}
}

func TestSetupFails(t *testing.T) {
	for _, tt := range []struct {
		name    string
		setup   []string
		timeout string
		want    []string
		retry   eval.Retry
	}{
		{"status", []string{"sh", "-c", "echo {token} >&2; exit 7"}, "1m", []string{"setup[0]: sh -c", "exit status 7", "it said: [secret]"}, eval.RetryTrial},
		{"hangs", []string{"sh", "-c", `setsid sleep 1000 & echo $! >>"$PIDS"; sleep 1000`}, "300ms", []string{"not done after 300ms"}, eval.RetryTrial},
		{"missing", []string{"no-such-program"}, "1m", []string{"no-such-program: not found in PATH"}, eval.RetryNever},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "pids")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			f := refused(t, newTestCommand(), request(t, map[string]any{
				"name": "t", "command": []string{"true"}, "setup": [][]string{tt.setup}, "setup_timeout": tt.timeout,
				"env":     map[string]string{"PIDS": file},
				"cleanup": [][]string{{"touch", filepath.Join(dir, "cleaned")}},
			}))
			if f.Cause != eval.CauseProvision || f.Retry != tt.retry {
				t.Errorf("fault = %+v", f)
			}
			for _, want := range tt.want {
				if !strings.Contains(f.Detail, want) {
					t.Errorf("detail %q has no %q", f.Detail, want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "cleaned")); err != nil {
				t.Error("cleanup did not run")
			}
			gone(t, pids(t, file))
		})
	}
}

// A Provision whose context ends leaves no process, and cleans up.
func TestCancel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, cleaned := filepath.Join(dir, "pids"), filepath.Join(dir, "cleaned")
	req := request(t, httpConfig(t, map[string]string{"SLOW": "1000000", "PIDS": file}, map[string]any{
		"ready_url": "http://127.0.0.1:{port}/ready", "cleanup": [][]string{{"touch", cleaned}},
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := newTestCommand()
	asked := make(chan struct{}, 1)
	c.client.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			select {
			case asked <- struct{}{}:
			default:
			}
		}
		return resp, err
	})
	go func() { <-asked; cancel() }()
	if _, err := c.Provision(ctx, req); err == nil {
		t.Error("Provision with an ended context gave no error")
	}
	gone(t, pids(t, file))
	if _, err := os.Stat(cleaned); err != nil {
		t.Error("cleanup did not run")
	}
	if len(c.targets) != 0 || len(c.ports.taken) != 0 {
		t.Errorf("targets %v and ports %v are left", c.targets, c.ports.taken)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCleanup(t *testing.T) {
	dir := t.TempDir()
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "t", "command": []string{"true"}, "cleanup_timeout": "20s",
		"cleanup": [][]string{
			{"sh", "-c", `test -e "$0/let"`, dir},
			{"sh", "-c", `echo ran >>"$0/log"`, dir},
		},
	}))
	err := c.Destroy(t.Context(), target.ID)
	if f := eval.AsFault(err); f == nil || !strings.Contains(f.Detail, "cleanup[0]") || strings.Contains(f.Detail, "cleanup[1]") {
		t.Errorf("Destroy = %v; want a fault of the first command alone", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "let"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Destroy(t.Context(), target.ID); err != nil {
			t.Errorf("Destroy = %v", err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "log")); string(b) != "ran\nran\n" {
		t.Errorf("the second command ran %q; want twice: with each Destroy until one passed", b)
	}
}

func TestCleanupHangs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pids")
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "t", "command": []string{"true"}, "cleanup_timeout": "300ms",
		"cleanup": [][]string{{"sh", "-c", `echo $$ >>"$0"; setsid sleep 1000 & echo $! >>"$0"; sleep 1000`, file}},
	}))
	err := c.Destroy(t.Context(), target.ID)
	if err == nil || !strings.Contains(err.Error(), "not done after 300ms") {
		t.Errorf("Destroy = %v; want the bound", err)
	}
	gone(t, pids(t, file))
}

// A probe starts a server that speaks over stdio, lists its tools and ends it,
// however stubborn, before the trial's own is started.
func TestProbe(t *testing.T) {
	t.Parallel()
	for _, stubborn := range []int{0, 1} {
		file := filepath.Join(t.TempDir(), "pids")
		c := newTestCommand()
		target := provision(t, c, request(t, map[string]any{
			"name": "t", "command": self(t), "probe": true,
			"env": map[string]string{envRole: "stdio", "STUBBORN": strconv.Itoa(stubborn), "PIDS": file, "FAIL_LIST": "0"},
		}))
		if list := pids(t, file); len(list) != 1 {
			t.Errorf("%d servers were started; want 1", len(list))
		}
		gone(t, pids(t, file))
		if got, want := state(t, c, target.ID), `{"dirs":[],"files":{}}`; got != want {
			t.Errorf("state = %s; want %s", got, want)
		}
	}
}

func TestProbeFails(t *testing.T) {
	f := notReady(t, map[string]any{
		"name": "t", "command": self(t), "probe": true,
		"env": map[string]string{envRole: "stdio", "FAIL_LIST": "100"},
	})
	if f.Cause != eval.CauseNotReady || !strings.Contains(f.Detail, "fetch failed") {
		t.Errorf("fault = %+v", f)
	}
	f = refused(t, newTestCommand(), request(t, map[string]any{"name": "t", "command": []string{"no-such-server"}}))
	if f.Retry != eval.RetryNever || !strings.Contains(f.Detail, `server "t": no-such-server: not found in PATH`) {
		t.Errorf("fault = %+v", f)
	}
}

// What a command talks to is started before it.
func TestBackend(t *testing.T) {
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "api", "serve": self(t), "ready_url": "http://127.0.0.1:{port}/ready",
		"env":          map[string]string{envRole: "http", "ADDR": "127.0.0.1:{port}", "NONCE": "{nonce}"},
		"snapshot_url": "http://127.0.0.1:{port}/state",
		"servers": map[string]any{
			"tools": map[string]any{
				"command": self(t), "probe": true,
				"env": map[string]string{envRole: "stdio", "API": "http://127.0.0.1:{port}"},
			},
		},
	}))
	if len(target.Servers) != 1 || target.Servers[0].Name != "tools" || !strings.HasPrefix(target.Servers[0].Env["API"], "http://127.0.0.1:") {
		t.Errorf("servers = %+v; want the one", target.Servers)
	}
	if got, want := state(t, c, target.ID), `{"text":"nothing"}`; got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/provisioner/provisionertest"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// build builds the plugin as users have it.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "evalengine-provisioner-command")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

func pathOnly() []string { return []string{"PATH=" + os.Getenv("PATH")} }

func complete(cfg func(testing.TB) map[string]any) func(testing.TB, *eval.ProvisionRequest) {
	return func(t testing.TB, req *eval.ProvisionRequest) {
		b, err := json.Marshal(cfg(t))
		if err != nil {
			t.Fatal(err)
		}
		req.Config = b
	}
}

// A server that is started and speaks HTTP.
func TestConformanceHTTP(t *testing.T) {
	provisionertest.Kit{
		Binary: build(t), Env: pathOnly(), Targets: 16,
		Request: complete(func(t testing.TB) map[string]any {
			return httpConfig(t, nil, map[string]any{
				"ready_url": "http://127.0.0.1:{port}/ready", "ready_nonce_header": "X-Nonce",
				"snapshot_url": "http://127.0.0.1:{port}/state",
			})
		}),
		Broken: complete(func(t testing.TB) map[string]any {
			return httpConfig(t, map[string]string{"FAIL_LIST": "1000000"}, map[string]any{"ready_timeout": "1s"})
		}),
		Change: func(t testing.TB, target eval.Target) {
			call(t, connect(t, target.Servers[0]), "put", map[string]any{"text": "changed"})
		},
	}.Run(t)
}

// A server that the gateway starts: its state is files.
func TestConformanceStdio(t *testing.T) {
	provisionertest.Kit{
		Binary: build(t), Env: pathOnly(), Targets: 100,
		Request: complete(func(t testing.TB) map[string]any {
			return map[string]any{"name": "target", "command": self(t), "env": map[string]string{envRole: "stdio"}}
		}),
		Broken: complete(func(testing.TB) map[string]any {
			return map[string]any{"name": "target", "command": []string{"no-such-program"}}
		}),
		Change: func(t testing.TB, target eval.Target) {
			call(t, connect(t, target.Servers[0]), "put", map[string]any{"text": "changed"})
		},
		Check: func(t testing.TB, _ eval.ProvisionRequest, target eval.Target) {
			if target.Servers[0].Dir == "" {
				t.Errorf("server = %+v; want a working folder", target.Servers[0])
			}
		},
	}.Run(t)
}

// However the plugin ends, its servers do.
func TestPluginEnds(t *testing.T) {
	bin := build(t)
	for _, tt := range []struct {
		name string
		end  func(*rpc.Process)
	}{
		{"told to", func(p *rpc.Process) { p.Close() }},
		{"killed", func(p *rpc.Process) { syscall.Kill(p.Pid(), syscall.SIGKILL); p.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := rpc.Start(t.Context(), rpc.Command{Kind: rpc.KindProvisioner, Name: "command", Path: bin, Env: pathOnly()})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			file := filepath.Join(t.TempDir(), "pids")
			cleaned := filepath.Join(t.TempDir(), "cleaned")
			req := request(t, httpConfig(t, map[string]string{"PIDS": file}, map[string]any{"cleanup": [][]string{{"touch", cleaned}}}))
			if _, err := p.Provisioner().Provision(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			list := pids(t, file)
			alive(t, list)
			tt.end(p)
			<-p.Done()
			gone(t, list)
			if _, err := os.Stat(cleaned); (err == nil) != (tt.name == "told to") {
				t.Errorf("cleanup: %v; a plugin that is told to end cleans up", err)
			}
		})
	}
}

// envNPM names the folder that holds node_modules, where it is not the project's
// own for tests.
const envNPM = "EVALENGINE_TEST_NPM"

// npm is the command line of an MCP server from npm.
func npm(t *testing.T, pkg string) []string {
	t.Helper()
	root := os.Getenv(envNPM)
	if root == "" {
		root = filepath.Join("..", "..", "engine", "internal", "npmtest")
	}
	script, err := filepath.Abs(filepath.Join(root, "node_modules", filepath.FromSlash(pkg), "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("%v; run: npm ci --prefix engine/internal/npmtest, or set %s to the folder that holds node_modules", err, envNPM)
	}
	return []string{"node", script}
}

func TestServerFilesystem(t *testing.T) {
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "files", "command": append(npm(t, "@modelcontextprotocol/server-filesystem"), "{workdir}"), "probe": true,
		"files": map[string]string{"notes/today.txt": "buy milk\n"},
	}))
	if got, want := state(t, c, target.ID), `{"dirs":["notes"],"files":{"notes/today.txt":"buy milk\n"}}`; got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
	s := connect(t, target.Servers[0])
	work := value(t, target, "workdir")
	call(t, s, "create_directory", map[string]any{"path": filepath.Join(work, "empty")})
	call(t, s, "write_file", map[string]any{"path": filepath.Join(work, "new.txt"), "content": "hello"})
	call(t, s, "move_file", map[string]any{"source": filepath.Join(work, "notes/today.txt"), "destination": filepath.Join(work, "notes/old.txt")})
	want := `{"dirs":["empty","notes"],"files":{"new.txt":"hello","notes/old.txt":"buy milk\n"}}`
	if got := state(t, c, target.ID); got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
}

func TestServerMemory(t *testing.T) {
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "memory", "command": npm(t, "@modelcontextprotocol/server-memory"), "probe": true,
		"env":      map[string]string{"MEMORY_FILE_PATH": "{workdir}/memory.jsonl"},
		"files":    map[string]string{"memory.jsonl": ""},
		"snapshot": []string{"cat", "memory.jsonl"}, "snapshot_format": "jsonl",
	}))
	if got, want := state(t, c, target.ID), `[]`; got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
	call(t, connect(t, target.Servers[0]), "create_entities", map[string]any{"entities": []any{
		map[string]any{"name": "Ada", "entityType": "person", "observations": []string{"likes tea"}},
	}})
	want := `[{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea"]}]`
	if got := state(t, c, target.ID); got != want {
		t.Errorf("state = %s; want %s", got, want)
	}
}

// server-everything speaks HTTP too: on the port that is held for it, on all
// interfaces.
func TestServerEverything(t *testing.T) {
	c := newTestCommand()
	target := provision(t, c, request(t, map[string]any{
		"name": "everything", "serve": append(npm(t, "@modelcontextprotocol/server-everything"), "streamableHttp"),
		"env": map[string]string{"PORT": "{port}"}, "url": "http://127.0.0.1:{port}/mcp",
	}))
	call(t, connect(t, target.Servers[0]), "echo", map[string]any{"message": "hi"})
	if n := c.find(target.ID).ports[""].number; !strings.Contains(target.Servers[0].URL, fmt.Sprintf(":%d/", n)) {
		t.Errorf("server at %s; want port %d, the first that was tried", target.Servers[0].URL, n)
	}
}

package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/examples/sitebuilder/server"
)

// inExample runs the go command in an example that is a module of its own.
func inExample(t *testing.T, example string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(root(t), "examples", example)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s in %s: %v\n%s", strings.Join(args, " "), example, err, out)
	}
}

// A host and a scorer module from other Go modules work in a suite that an engine
// runs which was built without them.
func TestExamplesExtendTheEngine(t *testing.T) {
	plugins, modules := t.TempDir(), t.TempDir()
	inExample(t, "custom-host", nil, "test", "./...")
	inExample(t, "custom-host", nil, "build", "-o", filepath.Join(plugins, "evalengine-host-shell"), ".")
	if _, err := os.Stat(filepath.Join(root(t), "examples", "custom-scorer", "go.sum")); err == nil {
		t.Error("examples/custom-scorer has a go.sum; a scorer's module needs none")
	}
	wasm := filepath.Join(modules, "brand.wasm")
	inExample(t, "custom-scorer", nil, "test", "./...")
	inExample(t, "custom-scorer", []string{"GOOS=wasip1", "GOARCH=wasm"}, "build", "-buildmode=c-shared", "-o", wasm, ".")
	module, err := os.ReadFile(wasm)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(module)
	suite := func(pin string) string {
		return `
suite "extended" {}
host "shell" {
  driver = "shell"
}
scorer "brand" {
  source = "brand.wasm"
  sha256 = "` + pin + `"
}
story "slogan" {
  prompt = "echo calm kites for windy days; echo $HOME > home"
  turn "again" { prompt = "cat home" }
  assert "brand/avoids" { words = ["synergy"] }
  assert "answer/matches" { pattern = "^/.*/home$" }
  measure "brand/brevity" { most = 60 }
}
story "jargon" {
  prompt = "echo synergy for all"
  assert "brand/avoids" { words = ["synergy"] }
}
`
	}
	path := os.Getenv("PATH")
	files := map[string]string{"suite.hcl": suite(hex.EncodeToString(sum[:])), "brand.wasm": string(module)}
	res := startIn(t, plugins, path, files, "run", "suite.hcl")
	if res.code != exitFailed {
		t.Fatalf("exit code %d; want %d\n%s", res.code, exitFailed, res.output)
	}
	got := map[string]eval.Status{}
	for rec, err := range res.run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got[rec.Story] = rec.Status
		if rec.Versions["scorer/brand"] == "" || rec.Versions["host/shell"] == "" {
			t.Errorf("versions of %s = %v", rec.Story, rec.Versions)
		}
	}
	if got["slogan"] != eval.StatusPassed || got["jargon"] != eval.StatusFailed {
		t.Errorf("trials = %v\n%s", got, res.output)
	}

	// The same suite with another digest pinned runs nothing.
	dir := t.TempDir()
	for name, text := range map[string]string{"suite.hcl": suite(strings.Repeat("0", 64)), "brand.wasm": string(module)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(programs(t), "evalengine"), "run", "suite.hcl")
	cmd.Dir = dir
	cmd.Env = environ("PATH="+path, "HOME="+dir, "EVALENGINE_PLUGIN_PATH="+plugins)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), "SHA-256") {
		t.Errorf("exit code %d with a wrong digest pinned:\n%s", cmd.ProcessState.ExitCode(), out)
	}
}

// A stored trial's calls are made again on a fresh target.
func TestReplay(t *testing.T) {
	quickstart := filepath.Join(root(t), "examples", "quickstart", "suite.hcl")
	res := start(t, os.Getenv("PATH"), nil, "run", quickstart, "--story", "cms-collection", "--variant", "original", "-k", "1")
	if res.code != exitOK {
		t.Fatalf("exit code %d\n%s", res.code, res.output)
	}
	b, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	suite := strings.Replace(string(b), "hosts   = [host.scripted]", "hosts   = [host.replay]", 1) + fmt.Sprintf(`
host "replay" {
  driver = "replay"
  config { run = %q }
}
`, res.run.Dir())
	again := start(t, os.Getenv("PATH"), map[string]string{"suite.hcl": suite, "scripts/none.json": `{"turns": [{"steps": [{"say": "x"}]}]}`},
		"run", "suite.hcl", "--story", "cms-collection", "--variant", "original", "-k", "1")
	if again.code != exitOK {
		t.Fatalf("exit code %d\n%s", again.code, again.output)
	}
	old, err := ledger.ReadState(res.run.TrialDir("cms-collection.original.scripted.r1"))
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := ledger.ReadState(again.run.TrialDir("cms-collection.original.replay.r1"))
	if err != nil {
		t.Fatal(err)
	}
	if string(old.After) != string(fresh.After) || string(old.Before) == string(old.After) {
		t.Errorf("state after the replay:\n%s\nwant:\n%s", fresh.After, old.After)
	}
	rec, err := again.run.Record("cms-collection.original.replay.r1")
	if err != nil || rec.Answer != "The site is published." || rec.Calls.Total != 4 || rec.Calls.Unreported != 0 {
		t.Errorf("record = %+v, %v", rec, err)
	}
}

// The hidden stdio shim speaks MCP for agents that cannot do HTTP.
func TestShim(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	site, err := server.Start(ctx, server.Options{Template: "blank"})
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	hub, err := gateway.Listen(ctx, gateway.Options{ShimCommand: []string{filepath.Join(programs(t), "evalengine"), "mcp-shim"}})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	g, err := hub.Open(ctx, gateway.TrialOptions{Servers: []eval.Server{{
		Name: "sites", URL: site.MCPURL, Headers: map[string]string{"Authorization": "Bearer " + site.Token},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	e := g.Endpoints()[0]
	cmd := exec.CommandContext(ctx, e.Shim[0], e.Shim[1:]...)
	cmd.Env = environ(eval.ShimTokenEnv + "=" + e.Token)
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
	lines := bufio.NewReader(out)
	ask := func(message string) (answer struct {
		Result struct{ Tools []struct{ Name string } }
	}) {
		t.Helper()
		io.WriteString(in, message+"\n")
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		return answer
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	tools := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`).Result.Tools
	if len(tools) != 33 {
		t.Errorf("%d tools through the shim; want 33", len(tools))
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the shim ended with %v", err)
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/npmtest"
	"github.com/evalengine/evalengine/examples/scripted-model/model"
)

// agents starts the scripted model and returns its base URL and a PATH on which
// the real command lines are.
func agents(t *testing.T, script string) (srv *model.Server, path string) {
	t.Helper()
	var s *model.Script
	if script != "" {
		b, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if s, err = model.Parse(b); err != nil {
			t.Fatal(err)
		}
	}
	srv, err := model.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	path = os.Getenv("PATH")
	for _, name := range []string{"claude", "codex"} {
		path = filepath.Dir(npmtest.Bin(t, name)) + string(os.PathListSeparator) + path
	}
	return srv, path
}

// result is a run of the program that has ended.
type result struct {
	dir, output string
	code        int
	run         *ledger.Run
}

// start runs the program in a folder of its own with a HOME and temporary folder
// that must be as they were when it ends, and no process left.
func start(t *testing.T, path string, files map[string]string, args ...string) result {
	t.Helper()
	return startIn(t, "", path, files, args...)
}

// startIn is start with another folder of plugins.
func startIn(t *testing.T, plugins, path string, files map[string]string, args ...string) result {
	t.Helper()
	bin := programs(t)
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(bin, "evalengine"), args...)
	cmd.Dir = dir
	cmd.Env = environ("PATH="+path, "HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"),
		"EVALENGINE_CACHE="+compiled(t, filepath.Join(dir, "cache")), "EVALENGINE_PLUGIN_PATH="+plugins, "ANTHROPIC_API_KEY="+canary, "OPENAI_API_KEY="+canary)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	for _, name := range []string{"home", "tmp"} {
		if left, _ := os.ReadDir(filepath.Join(dir, name)); len(left) > 0 {
			t.Errorf("left in %s: %v", name, left)
		}
	}
	if left := children(dir); len(left) > 0 {
		t.Errorf("processes left: %q", left)
	}
	res := result{dir: dir, output: out.String(), code: cmd.ProcessState.ExitCode()}
	store, err := ledger.Open(filepath.Join(dir, ".evalengine"))
	if err != nil {
		t.Fatal(err)
	}
	if res.run, err = store.Run("latest"); err != nil {
		t.Fatalf("%v\n%s", err, res.output)
	}
	return res
}

// canary stands for the real key: no file may hold it, and no agent may see it.
const canary = "sk-canary-0123456789abcdef"

func noCanary(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canary)) {
			t.Errorf("%s holds the real key", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// One suite on three hosts side by side: the real command lines and the scripted
// host do the same, and the engine sees the same.
func TestHostsSideBySide(t *testing.T) {
	srv, path := agents(t, filepath.Join(root(t), "examples", "quickstart", "model.json"))
	res := start(t, path, nil, "run", filepath.Join(root(t), "examples", "quickstart", "suite.hcl"),
		"--host", "*", "-k", "1", "-j", "3", "--var", "base_url="+srv.URL(),
		"--story", "cms-collection", "--story", "headline-fix", "--story", "move-hero", "--story", "tidy-collection")
	if res.code != exitFailed {
		t.Fatalf("exit code %d; want %d\n%s", res.code, exitFailed, res.output)
	}
	var got []string
	for rec, err := range res.run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s calls=%d failed=%d doubtful=%d", rec.ID, rec.Status, rec.Cause, rec.Calls.Total, rec.Calls.Failed, rec.Calls.Unconfirmed+rec.Calls.Unreported))
	}
	var want []string
	for _, w := range []struct{ arm, end string }{
		{"cms-collection.original", "passed  calls=4 failed=0 doubtful=0"},
		{"cms-collection.hardened", "passed  calls=3 failed=0 doubtful=0"},
		{"headline-fix.original", "failed outcome calls=2 failed=0 doubtful=0"},
		{"headline-fix.hardened", "passed  calls=3 failed=0 doubtful=0"},
		{"tidy-collection.original", "passed  calls=2 failed=0 doubtful=0"},
		{"tidy-collection.hardened", "passed  calls=3 failed=0 doubtful=0"},
		{"move-hero.original", "failed constraint calls=4 failed=0 doubtful=0"},
		{"move-hero.hardened", "passed  calls=3 failed=0 doubtful=0"},
	} {
		for _, host := range []string{"scripted", "claude", "codex"} {
			want = append(want, fmt.Sprintf("%s.%s.r1 %s", w.arm, host, w.end))
		}
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("trials: got -, want +:\n%s\n%s", d, res.output)
	}
	for _, host := range []string{"claude", "codex"} {
		rec, err := res.run.Record("cms-collection.original." + host + ".r1")
		if err != nil {
			t.Fatal(err)
		}
		// Six answers of 1,250 tokens in (1,000 of them cached) and 40 out.
		u := rec.Usage
		if u.Turns != 6 || u.Requests != 6 || u.InputTokens != 7500 || u.CacheReadTokens != 6000 || u.OutputTokens != 240 || u.Source != "model_proxy" || u.LowerBound || u.CostUSD == nil {
			t.Errorf("%s: usage = %+v", host, u)
		}
		if rec.Answer != "The site is published." || len(rec.Prompts) != 2 || rec.Versions["agent/"+rec.Driver] == "" {
			t.Errorf("%s: answer %q, prompts %q, versions %v", host, rec.Answer, rec.Prompts, rec.Versions)
		}
	}
	for _, r := range srv.Requests() {
		if r.Problem != "" {
			t.Errorf("the model could not follow its script: %s", r.Problem)
		}
	}
	noCanary(t, filepath.Join(res.dir, ".evalengine"))
}

// row is one scenario of the scripted model with how its trial must end.
type row struct {
	scenario string
	config   string
	status   eval.Status
	cause    string
	codex    string // the cause on codex, where it differs
}

// Every way in which a provider goes wrong ends with the right status and cause,
// by running the real command lines: the agent's own failures failed, the
// provider's errored.
func TestHostsSortFailures(t *testing.T) {
	srv, path := agents(t, "")
	rows := []row{
		{"one-call", "", eval.StatusPassed, "", ""},
		{"parallel", "", eval.StatusPassed, "", ""},
		{"slow-stream", "", eval.StatusPassed, "", ""},
		{"flaky-529", "", eval.StatusPassed, "", ""},
		{"reasoning", "", eval.StatusPassed, "", ""},
		{"multi-step", "", eval.StatusPassed, "", ""},
		{"unknown-tool", "", eval.StatusPassed, "", ""},
		{"bad-tool-json", "", eval.StatusPassed, "", ""},
		{"tool-error", "", eval.StatusPassed, "", ""},
		{"flaky-429", "", eval.StatusPassed, "", ""},
		{"flaky-500", "", eval.StatusPassed, "", ""},
		{"late-flaky-529", "", eval.StatusPassed, "", ""},
		{"late-max-tokens", "", eval.StatusFailed, "max_output", ""},
		{"late-context-too-long", "", eval.StatusFailed, "context_exceeded", ""},
		{"context-in-sse", "", eval.StatusFailed, "context_exceeded", ""},
		{"too-large-413", "", eval.StatusFailed, "context_exceeded", ""},
		{"bad-request-400", "", eval.StatusErrored, "bad_request", ""},
		{"ratelimit-429-bare", "", eval.StatusErrored, "rate_limit", ""},
		{"late-429", "", eval.StatusErrored, "rate_limit", ""},
		{"ratelimit-in-sse", "", eval.StatusErrored, "rate_limit", ""},
		{"quota-in-sse", "", eval.StatusErrored, "billing", ""},
		{"late-500", "", eval.StatusErrored, "server", ""},
		{"bad-gateway-502", "", eval.StatusErrored, "server", ""},
		{"server-error-in-sse", "", eval.StatusErrored, "server", ""},
		{"unavailable-503", "", eval.StatusErrored, "server", "overloaded"},
		{"late-truncated", "", eval.StatusErrored, "stream", ""},
		{"refusal", "", eval.StatusFailed, "refused", ""},
		{"max-tokens", "", eval.StatusFailed, "max_output", ""},
		{"context-too-long", "", eval.StatusFailed, "context_exceeded", ""},
		{"loop", "max_turns = 3", eval.StatusFailed, "max_turns", ""},
		{"auth-401", "", eval.StatusErrored, "auth", ""},
		{"forbidden-403", "", eval.StatusErrored, "auth", ""},
		{"billing-400", "", eval.StatusErrored, "billing", ""},
		{"quota-429", "", eval.StatusErrored, "billing", ""},
		{"model-not-found-404", "", eval.StatusErrored, "model", ""},
		{"ratelimit-429", "", eval.StatusErrored, "rate_limit", ""},
		{"server-500", "", eval.StatusErrored, "server", ""},
		{"overloaded-529", "", eval.StatusErrored, "overloaded", ""},
		{"late-529", "", eval.StatusErrored, "overloaded", ""},
		{"overloaded-in-sse", "", eval.StatusErrored, "overloaded", ""},
		{"truncated-stream", "", eval.StatusErrored, "stream", ""},
		{"early-eof", "", eval.StatusErrored, "stream", ""},
		{"malformed-sse", "", eval.StatusErrored, "stream", ""},
		{"empty-stream", "", eval.StatusErrored, "stream", ""},
		{"html-200", "", eval.StatusErrored, "stream", ""},
		{"hang", "", eval.StatusErrored, "model_hang", ""},
		{"stall", "", eval.StatusErrored, "model_hang", ""},
	}
	var suite strings.Builder
	suite.WriteString("suite \"rows\" {\n  retries = 0\n  circuit = 0\n  timeout = \"40s\"\n}\ntarget \"site\" {\n  provisioner = \"sitebuilder\"\n}\n")
	for _, r := range rows {
		fmt.Fprintf(&suite, "host \"claude-%s\" {\n  driver = \"claude-code\"\n  config {\n    model = \"claude-sonnet-4-5\"\n    base_url = %q\n    %s\n  }\n}\n", r.scenario, srv.ScenarioURL(r.scenario)+"/claude", r.config)
		fmt.Fprintf(&suite, "host \"codex-%s\" {\n  driver = \"codex\"\n  config {\n    model = \"gpt-5-codex\"\n    base_url = %q\n    %s\n  }\n}\n", r.scenario, srv.ScenarioURL(r.scenario)+"/codex/v1", r.config)
	}
	suite.WriteString("story \"ask\" {\n  target = target.site\n  prompt = \"Which sites are there?\"\n  measure \"path/calls\" {}\n}\n")
	res := start(t, path, map[string]string{"suite.hcl": suite.String()}, "run", "suite.hcl", "-j", "4", "--no-preflight")
	if res.code != exitFailed {
		t.Fatalf("exit code %d; want %d\n%s", res.code, exitFailed, res.output)
	}
	for _, r := range rows {
		for _, driver := range []string{"claude", "codex"} {
			want := r.cause
			if driver == "codex" && r.codex != "" {
				want = r.codex
			}
			rec, err := res.run.Record("ask.base." + driver + "-" + r.scenario + ".r1")
			if err != nil {
				t.Errorf("%s %s: %v", driver, r.scenario, err)
				continue
			}
			if rec.Status != r.status || rec.Cause != want {
				t.Errorf("%s %s: %s %q (%s); want %s %q", driver, r.scenario, rec.Status, rec.Cause, rec.Reason, r.status, want)
			}
		}
	}
	noCanary(t, filepath.Join(res.dir, ".evalengine"))
}

// Three MCP servers from npm as targets, made by the command provisioner: the
// state is looked up in their files. Claude Code offers its working folder as a
// root, which server-filesystem takes in place of the folder that it was started
// with; so that story is Codex's alone.
func TestHostsOnServersFromNPM(t *testing.T) {
	fsCommand, fsArgs := npmtest.Server(t, "@modelcontextprotocol/server-filesystem")
	allCommand, allArgs := npmtest.Server(t, "@modelcontextprotocol/server-everything")
	memCommand, memArgs := npmtest.Server(t, "@modelcontextprotocol/server-memory")
	script := filepath.Join(t.TempDir(), "model.json")
	text := `{"scenarios": [
	  {"name": "note", "match": {"prompt_contains": "note"}, "turns": [{"steps": [
	    {"calls": [{"tool": "list_allowed_directories", "arguments": {}}]},
	    {"calls": [{"tool": "write_file", "arguments": {"path": {"$concat": [{"$result": {"call": -1, "regex": "(/[A-Za-z0-9_./-]+)"}}, "/note.txt"]}, "content": "buy peas"}}]},
	    {"text": "Written."}]}]},
	  {"name": "sum", "match": {"prompt_contains": "add"}, "turns": [{"steps": [
	    {"calls": [{"tool": "get-sum", "arguments": {"a": 2, "b": 3}}, {"tool": "echo", "arguments": {"message": "hello"}}]},
	    {"text": [{"$result": {"call": "get-sum", "regex": "is (\\d+)"}}, " and ", {"$result": {"call": "echo", "regex": "Echo: (\\w+)"}}]}]}]},
	  {"name": "remember", "match": {"prompt_contains": "Ada"}, "turns": [{"steps": [
	    {"calls": [{"tool": "create_entities", "arguments": {"entities": [{"name": "Ada Lovelace", "entityType": "person", "observations": ["wrote the first program"]}]}}]},
	    {"text": "Remembered."}]}]}]}`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, path := agents(t, script)
	list := func(command string, args []string, more ...string) string {
		b, _ := json.Marshal(append(append([]string{command}, args...), more...))
		return string(b)
	}
	suite := `
suite "npm" { retries = 0 }
host "claude" {
  driver = "claude-code"
  config {
    model    = "claude-sonnet-4-5"
    base_url = "` + srv.URL() + `"
  }
}
host "codex" {
  driver = "codex"
  config {
    model    = "gpt-5-codex"
    base_url = "` + srv.URL() + `/v1"
  }
}
target "files" {
  provisioner = "command"
  config { command = ` + list(fsCommand, fsArgs, "{workdir}") + ` }
}
target "memory" {
  provisioner = "command"
  config {
    command = ` + list(memCommand, memArgs) + `
    env     = { MEMORY_FILE_PATH = "{workdir}/memory.jsonl" }
  }
}
target "everything" {
  provisioner = "command"
  config { command = ` + list(allCommand, allArgs) + ` }
}
story "sum" {
  target = target.everything
  prompt = "What do 2 and 3 add up to? Say hello as well."
  assert "answer/equals" { value = "5 and hello" }
  assert "tools/order" { tools = ["get-sum"] }
  assert "tools/arguments" {
    tool  = "echo"
    value = { message = "hello" }
  }
  assert "tools/no_errors" {}
}
story "note" {
  target = target.files
  hosts  = [host.codex]
  prompt = "Write a note that says: buy peas."
  check "written" {
    condition     = state.files["note.txt"] == "buy peas"
    error_message = "no note"
  }
  assert "tools/called" { tool = "write_file" }
  assert "tools/no_errors" {}
}
story "remember" {
  target = target.memory
  prompt = "Remember that Ada Lovelace wrote the first program."
  check "remembered" {
    condition     = strcontains(state.files["memory.jsonl"], "Ada Lovelace")
    error_message = "nothing is remembered"
  }
  assert "tools/called" { tool = "create_entities" }
}
`
	res := start(t, path, map[string]string{"suite.hcl": suite}, "run", "suite.hcl", "-j", "2")
	if res.code != exitOK {
		t.Errorf("exit code %d; want %d\n%s", res.code, exitOK, res.output)
	}
}

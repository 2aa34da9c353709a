package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/launch"
	"github.com/evalengine/evalengine/plugins/host"
)

// TestMain makes the test binary a host plugin where it is started as one.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "evalengine-host-first", "evalengine-host-second", "evalengine-host-both", "evalengine-host-neither":
		serveVersions(strings.TrimPrefix(filepath.Base(os.Args[0]), "evalengine-host-"))
		return
	case "evalengine-host-hostile":
		serveHostile()
		return
	case "evalengine-host-spender":
		host.Serve(spender{})
		return
	case "evalengine-host-asker":
		host.Serve(asker{})
		return
	}
	goleak.VerifyTestMain(m)
}

// spender is a host whose every turn uses 200,000 tokens of a model that costs
// three dollars a million.
type spender struct{}

func (spender) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "spender", Version: "1", Capabilities: []string{eval.CapMultiTurn, eval.CapNoFolders}}, nil
}

func (s spender) Start(context.Context, eval.SessionSpec) (eval.Session, error) { return s, nil }

func (spender) Turn(context.Context, string, func(eval.Event)) (eval.TurnResult, error) {
	return eval.TurnResult{Outcome: eval.Completed, Answer: "done", Usage: eval.Usage{
		Turns: 1, InputTokens: 200_000, Models: []string{"claude-sonnet-4-5"}, Source: "host",
	}}, nil
}

func (spender) Close() error { return nil }

const suite = `
suite "spend" {
  repeats = 5
}
host "one" {
  driver = "spender"
}
story "a" {
  prompt = "x"
  check "done" { condition = answer == "done" }
}
`

// open returns an engine whose only plugins are this binary, and its suite.
func open(t *testing.T, text string) (*Engine, *eval.Suite) {
	t.Helper()
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"spender", "asker"} {
		if err := os.Symlink(exe, filepath.Join(dir, "evalengine-host-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "suite.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{
		Plugins: launch.Finder{Path: []string{dir}}, Cache: filepath.Join(dir, "cache"), Dir: dir,
		Environ: func(string) (string, bool) { return "", false }, Environment: os.Environ(),
	})
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	s, diags := e.Load(t.Context(), []string{file}, LoadOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return e, s
}

func runIn(t *testing.T, e *Engine, s *eval.Suite, store string) (*Result, error) {
	t.Helper()
	p, diags := e.Plan(s, Selection{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	st, err := OpenStore(store)
	if err != nil {
		t.Fatal(err)
	}
	return e.Run(t.Context(), s, p, RunOptions{Store: st, Concurrency: 1})
}

func TestRun(t *testing.T) {
	e, s := open(t, suite)
	res, err := runIn(t, e, s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sum := res.Summary
	if sum.Trials.Passed != 5 || sum.Completion != eval.RunComplete || sum.Usage.InputTokens != 1_000_000 || *sum.Usage.CostUSD != 3 {
		t.Errorf("summary = %+v", sum)
	}
	if len(res.Run.Plugins) != 1 || len(res.Run.Plugins[0].SHA256) != 64 || len(res.Run.Files) != 1 {
		t.Errorf("run = %+v", res.Run)
	}
}

// A run stops before its budget is passed: another trial is taken to cost what
// the most expensive one did, and the run is incomplete, not failed.
func TestRunBudget(t *testing.T) {
	for _, tt := range []struct {
		budget, reason string
		passed         int
	}{
		{"1.1", "$0.60 of the budget of $1.10 are spent, and one more trial could cost $0.60", 1},
		{"1.2", "$1.20 of the budget of $1.20 are spent, and one more trial could cost $0.60", 2},
	} {
		e, s := open(t, strings.Replace(suite, "repeats = 5", "repeats = 5\n  budget_usd = "+tt.budget, 1))
		res, err := runIn(t, e, s, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		sum := res.Summary
		if sum.Trials.Passed != tt.passed || sum.Trials.Total != tt.passed || sum.Completion != eval.RunIncomplete || sum.Stopped != eval.StopBudget || sum.StopReason != tt.reason {
			t.Errorf("budget %s: %+v, %s, %s: %s", tt.budget, sum.Trials, sum.Completion, sum.Stopped, sum.StopReason)
		}
	}
}

func TestRunUnwritableStore(t *testing.T) {
	e, s := open(t, suite)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := runIn(t, e, s, filepath.Join(file, "store"))
	var f *eval.Fault
	if !errors.As(err, &f) || f.Cause != eval.CauseStore {
		t.Errorf("Run = %v; want a store fault", err)
	}
}

func TestLoadUnknownDriver(t *testing.T) {
	e, _ := open(t, suite)
	file := filepath.Join(t.TempDir(), "suite.hcl")
	if err := os.WriteFile(file, []byte(strings.Replace(suite, `"spender"`, `"spendr"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, diags := e.Load(t.Context(), []string{file}, LoadOptions{})
	want := diag.Diagnostic{Severity: diag.Error, Summary: "unknown driver", Detail: `There is no driver "spendr". Did you mean "spender"?`}
	if s != nil || len(diags) != 1 || diags[0].Summary != want.Summary || diags[0].Detail != want.Detail || diags[0].Subject.Start.Line != 6 {
		t.Errorf("Load = %v, %+v", s, diags)
	}
}

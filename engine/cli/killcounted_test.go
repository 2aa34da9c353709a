package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// countedSuite is of agents that cost something and take about as long as their
// scoring.
const countedSuite = `
suite "counted" { repeats = 4 }
host "counted" {
  driver = "counted"
  config { takes = "40ms" }
}
story "one" {
  prompt = "x"
  check "slow" { condition = length(flatten([for i in range(60) : [for j in range(60) : i * j]])) == 3600 }
  assert "answer/equals" { value = "fine" }
}
story "two" {
  prompt = "x"
  check "slow" { condition = length(flatten([for i in range(60) : [for j in range(60) : i * j]])) == 3600 }
  assert "answer/equals" { value = "other" }
}
`

// Agents that cost something: whatever is killed when, no agent is started again
// whose work was done. A run that is killed between agent and scoring is scored by
// the resume from what it left.
func TestKillLosesNoAgentsWork(t *testing.T) {
	const trials = 8
	bin, plugins, cache := filepath.Join(programs(t), "evalengine"), countedPlugins(t), compiled(t, t.TempDir())
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	in := func(dir string, args ...string) *exec.Cmd {
		cmd := inFolder(t, bin, cache, dir, args...)
		cmd.Env = append(cmd.Env, "EVALENGINE_PLUGIN_PATH="+plugins)
		return cmd
	}
	args := []string{"run", "suite.hcl", "-j", "3"}
	fresh := func() string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "suite.hcl"), []byte(countedSuite), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	in(fresh(), args...).Run() // compiles the modules
	dir := fresh()
	begun := time.Now()
	if out, err := in(dir, args...).CombinedOutput(); err == nil || exitCode(err) != exitFailed {
		t.Fatalf("the whole run: %v\n%s", err, out)
	}
	length := time.Since(begun)
	want := outcomes(t, dir)
	phases := map[string]int{}
	killed, scored, lost := 0, 0, 0
	// Until there were enough kills, and some at every moment that matters.
	for tries := 0; (killed < kills(t) || scored == 0 || lost == 0) && tries < 3*kills(t)+50; tries++ {
		dir := fresh()
		a := newAudit(t, dir, filepath.Join(dir, ".evalengine"))
		for _, args := range [][]string{args, {"resume", "latest", "-j", "3"}} {
			if kill(t, in(dir, args...), time.Duration(random.Int64N(int64(length)))) {
				killed++
				orphans(t, dir)
				a.ended()
				phases[fmt.Sprintf("%s, %s", args[0], a.phase())]++
			} else {
				a.ended()
			}
		}
		if runs, _ := filepath.Glob(filepath.Join(dir, ".evalengine", "runs", "*", "run.json")); len(runs) == 0 {
			continue // killed before there was a run
		}
		out, err := in(dir, "resume", "latest", "-j", "3").CombinedOutput()
		if exitCode(err) != exitFailed {
			t.Fatalf("the last resume: %v\n%s", err, out)
		}
		a.ended()
		a.finished(trials)
		if d := cmp.Diff(outcomes(t, dir), want); d != "" {
			t.Errorf("trials after resume: got -, want +:\n%s", d)
		}
		if s := summaryOf(t, dir); s.Completion != eval.RunComplete || s.Trials.Total != trials || s.Trials.Passed != trials/2 {
			t.Errorf("summary = %+v", s)
		}
		scored, lost = scored+a.resumed, lost+a.lost
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills: %v; %d trials scored from what a killed engine left, %d agents killed at work", killed, phases, scored, lost)
	if scored == 0 || lost == 0 {
		t.Errorf("%d trials scored from evidence, %d agents killed at work; want some of both", scored, lost)
	}
}

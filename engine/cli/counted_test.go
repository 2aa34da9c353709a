package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/detector"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/plugins/host"
)

// countedProgram is the name under which this test binary is a host plugin.
const countedProgram = "evalengine-host-counted"

// callsFile, in the plugin's HOME, has a line for each agent that was started.
const callsFile = "agents"

// counted is a host whose agents say that they took tokens, and of which it is
// known outside the engine how many were started.
type counted struct{}

// countedConfig is the host's config.
type countedConfig struct {
	// Takes is how long an agent works.
	Takes string `json:"takes"`
	// Waits is a file that agents wait for, but those of the story "first".
	Waits string `json:"waits"`
	// Bytes is how long the answer is of a story named "long".
	Bytes int `json:"bytes"`
}

func (counted) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "counted", Version: "1", Capabilities: []string{eval.CapUsage, eval.CapNoFolders, eval.CapInProcess, eval.CapReusable},
		Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "takes", Type: "string"}, {Name: "waits", Type: "string"}, {Name: "bytes", Type: "number"},
		}},
	}, nil
}

func (counted) Start(_ context.Context, spec eval.SessionSpec) (eval.Session, error) {
	s := &countedSession{id: spec.Trial.ID(), story: spec.Trial.Story}
	if err := host.Config(spec, &s.config); err != nil {
		return nil, err
	}
	return s, nil
}

type countedSession struct {
	id, story string
	config    countedConfig
}

func (s *countedSession) Turn(ctx context.Context, _ string, emit func(eval.Event)) (eval.TurnResult, error) {
	if err := s.note(); err != nil {
		return eval.TurnResult{}, err
	}
	takes, _ := time.ParseDuration(s.config.Takes)
	if err := s.work(ctx, takes); err != nil {
		return eval.TurnResult{}, err
	}
	answer := "fine"
	if s.story == "long" {
		answer = strings.Repeat("x", s.config.Bytes)
	}
	emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: answer}})
	return eval.TurnResult{Outcome: eval.Completed, Answer: answer, Usage: eval.Usage{Turns: 1, InputTokens: 1000, OutputTokens: 100}}, nil
}

func (s *countedSession) note() error {
	f, err := os.OpenFile(filepath.Join(os.Getenv("HOME"), callsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, s.id)
	return err
}

func (s *countedSession) work(ctx context.Context, takes time.Duration) error {
	done := time.NewTimer(takes)
	defer done.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for worked := false; !worked || s.story != "first" && s.config.Waits != "" && !ready(s.config.Waits); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-done.C:
			worked = true
		case <-tick.C:
		}
	}
	return nil
}

func (s *countedSession) Close() error { return nil }

// countedPlugins is a folder of plugins that has the host.
func countedPlugins(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, countedProgram)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// agentsOf is how often each trial's agent was started for runs in the folder.
func agentsOf(t *testing.T, dir string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, callsFile))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	n := map[string]int{}
	for id := range strings.FieldsSeq(string(b)) {
		n[id]++
	}
	return n
}

// kept are the trials of the one run of a store that no agent needs to be started
// for any more: recorded ones, with their records, and those with whole evidence.
func kept(t *testing.T, store string) (recorded map[string]string, settled map[string]bool) {
	t.Helper()
	recorded, settled = map[string]string{}, map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(store, "runs", "*", "trials", "*", "trial.json"))
	for _, f := range files {
		rec, err := ledger.ReadRecord(filepath.Dir(f))
		if err == nil {
			err = ledger.Verify(filepath.Dir(f), rec)
		}
		if err != nil {
			t.Fatalf("a record is not whole: %v", err)
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		recorded[rec.ID] = string(b)
	}
	files, _ = filepath.Glob(filepath.Join(store, "runs", "*", "drafts", "*", "evidence.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(filepath.Dir(f)); json.Valid(b) {
			settled[strings.TrimSuffix(name, filepath.Ext(name))] = true
		}
	}
	return recorded, settled
}

// audit holds the agents that were started against the trials that were kept, from
// one end of the engine to the next.
type audit struct {
	t          *testing.T
	dir, store string
	started    map[string]int
	recorded   map[string]string
	settled    map[string]bool
	// lost is how many agents were started of which nothing was kept, resumed how
	// many trials were scored from what an earlier engine had left.
	lost, resumed int
}

func newAudit(t *testing.T, dir, store string) *audit {
	return &audit{t: t, dir: dir, store: store, started: map[string]int{}, recorded: map[string]string{}, settled: map[string]bool{}}
}

// ended takes in that an engine has ended, in whatever way: what was kept before
// is kept still, and no agent was started for it.
func (a *audit) ended() {
	a.t.Helper()
	started := agentsOf(a.t, a.dir)
	recorded, settled := kept(a.t, a.store)
	for id, was := range a.recorded {
		if recorded[id] != was {
			a.t.Errorf("%s was recorded and has changed", id)
		}
	}
	for id := range a.settled {
		if recorded[id] == "" && !settled[id] {
			a.t.Errorf("the evidence of %s is lost", id)
		}
		if recorded[id] != "" {
			a.resumed++
		}
	}
	for id, n := range started {
		more := n - a.started[id]
		if more > 0 && (a.recorded[id] != "" || a.settled[id]) {
			a.t.Errorf("%d agents were started for %s, which was done", more, id)
		}
		if recorded[id] != "" || settled[id] {
			more-- // of the last one all is kept
		}
		if a.recorded[id] == "" && !a.settled[id] {
			a.lost += max(more, 0)
		}
	}
	for id := range recorded {
		if started[id] == 0 {
			a.t.Errorf("%s is recorded and no agent was started for it", id)
		}
	}
	a.started, a.recorded, a.settled = started, recorded, settled
}

// finished checks that as many agents were started as there are trials, and those
// of which nothing could be kept.
func (a *audit) finished(trials int) {
	a.t.Helper()
	total := 0
	for _, n := range a.started {
		total += n
	}
	if len(a.recorded) != trials || len(a.settled) != 0 || total != trials+a.lost {
		a.t.Errorf("%d trials recorded, %d settled, %d agents started, %d lost; want %d trials", len(a.recorded), len(a.settled), total, a.lost, trials)
	}
}

// phase is where an engine that was killed had got to.
func (a *audit) phase() string {
	runs, _ := filepath.Glob(filepath.Join(a.store, "runs", "*", "run.json"))
	summaries, _ := filepath.Glob(filepath.Join(a.store, "runs", "*", "summary.json"))
	working := 0
	for id := range a.started {
		if a.recorded[id] == "" && !a.settled[id] {
			working++
		}
	}
	switch {
	case len(runs) == 0:
		return "before the run"
	case len(summaries) > 0:
		return "after the summary"
	case len(a.settled) > 0 && working > 0:
		return "agents at work and trials to be scored"
	case len(a.settled) > 0:
		return "trials to be scored"
	case working > 0:
		return "agents at work"
	}
	return "between trials"
}

// orphans waits until everything has ended that a killed engine had started.
func orphans(t *testing.T, dir string) {
	t.Helper()
	for begun := time.Now(); len(children(dir)) > 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > detector.Slower*10*time.Second {
			t.Fatalf("processes left: %q", children(dir))
		}
	}
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

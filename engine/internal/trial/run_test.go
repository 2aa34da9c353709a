package trial

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/redact"
)

// text is a late value that is there already.
type text string

func (t text) Value(eval.Vars) (string, error) { return string(t), nil }

// condition is a check that sees what the test wants it to.
type condition func(eval.Facts) (bool, string, error)

func (c condition) Eval(f eval.Facts) (bool, string, error) { return c(f) }

// fake is a host and a provisioner whose turns are written by the test.
type fake struct {
	mu        sync.Mutex
	turn      func(n int, ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error)
	specs     []eval.SessionSpec
	provision error
	made      []eval.ProvisionRequest
	destroyed []string
	closed    int
	turns     int
	snapshots int
}

func (f *fake) Host(context.Context, string, string) (eval.Host, error) { return fakeHost{f}, nil }
func (f *fake) Provisioner(context.Context, string, string) (eval.Provisioner, error) {
	return fakeProvisioner{f}, nil
}

type fakeHost struct{ f *fake }

func (h fakeHost) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake", Capabilities: []string{eval.CapMultiTurn}}, nil
}

func (h fakeHost) Start(_ context.Context, spec eval.SessionSpec) (eval.Session, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.f.specs = append(h.f.specs, spec)
	return fakeSession(h), nil
}

type fakeSession struct{ f *fake }

func (s fakeSession) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	s.f.mu.Lock()
	s.f.turns++
	n := s.f.turns
	s.f.mu.Unlock()
	return s.f.turn(n, ctx, prompt, emit)
}

func (s fakeSession) Close() error { s.f.closed++; return nil }

type fakeProvisioner struct{ f *fake }

func (p fakeProvisioner) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake"}, nil
}

func (p fakeProvisioner) Provision(_ context.Context, req eval.ProvisionRequest) (eval.Target, error) {
	p.f.made = append(p.f.made, req)
	return eval.Target{ID: req.Nonce, Values: eval.JSON(`{"url":"http://x","token":"tgt-secret-1"}`), Secrets: []string{"tgt-secret-1"}}, p.f.provision
}

func (p fakeProvisioner) Snapshot(context.Context, string) (eval.JSON, error) {
	p.f.snapshots++
	if p.f.snapshots%2 == 1 {
		return eval.JSON(`{"items":0}`), nil
	}
	return eval.JSON(`{"items":1,"echo":"tgt-secret-1"}`), nil
}

func (p fakeProvisioner) Destroy(_ context.Context, id string) error {
	p.f.destroyed = append(p.f.destroyed, id)
	return nil
}

func runner(t *testing.T, f *fake, story eval.Story) (*Runner, *[]Event) {
	t.Helper()
	suite := &eval.Suite{
		Name: "s", Timeout: time.Minute, Retries: 1,
		Hosts:   []eval.HostConfig{{Name: "h", Driver: "fake", Config: eval.JSON(`{}`), Env: []string{"ALLOWED", "ABSENT"}}},
		Targets: []eval.TargetConfig{{Name: "site", Provisioner: "fake", Config: eval.JSON(`{}`)}},
		Stories: []eval.Story{story},
	}
	store, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Create(eval.Run{ID: "20261130T151735Z-000001"})
	if err != nil {
		t.Fatal(err)
	}
	hub, err := gateway.Listen(t.Context(), gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hub.Close() })
	var events []Event
	var mu sync.Mutex
	return &Runner{
		Suite: suite, Ledger: run, Plugins: f, Hub: hub, Secrets: &redact.Set{}, Temp: t.TempDir(),
		Environ: func(name string) (string, bool) { return "value", name == "ALLOWED" },
		Logger:  slog.New(slog.DiscardHandler),
		Observe: func(e Event) { mu.Lock(); events = append(events, e); mu.Unlock() },
	}, &events
}

func story(turns ...string) eval.Story {
	s := eval.Story{Name: "a", Target: "site", Variants: []eval.Variant{{Name: "hard", Append: text("Mind the gap.")}}}
	for _, p := range turns {
		s.Turns = append(s.Turns, eval.Turn{Prompt: text(p)})
	}
	return s
}

var hard = eval.Trial{Story: "a", Variant: "hard", Host: "h", Repeat: 1}

func completes(n int, _ context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: "did: " + prompt}})
	return eval.TurnResult{Outcome: eval.Completed, Answer: "the token is tgt-secret-1", Usage: eval.Usage{InputTokens: 10, OutputTokens: 1}, AgentVersion: "9.9"}, nil
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left in %s: %v", dir, entries)
	}
}

func TestRunPasses(t *testing.T) {
	f := &fake{turn: completes}
	st := story("one\n", "two")
	st.Checks = []eval.Check{{Name: "grew", Dimension: eval.DimensionOutcome, Condition: condition(func(f eval.Facts) (bool, string, error) {
		return string(f.Before) == `{"items":0}` && strings.HasPrefix(string(f.State), `{"items":1`), "did not grow", nil
	})}}
	r, events := runner(t, f, st)
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusPassed {
		t.Fatalf("Run = %+v, %v", rec, err)
	}
	if d := cmp.Diff(rec.Prompts, []string{"one\n\nMind the gap.", "two"}); d != "" {
		t.Errorf("prompts: %s", d)
	}
	if rec.Usage.InputTokens != 20 || rec.Versions["agent/fake"] != "9.9" || rec.Answer != "the token is [secret]" {
		t.Errorf("record = %+v", rec)
	}
	steps, _ := ledger.ReadSteps(r.Ledger.TrialDir(rec.ID))
	if d := cmp.Diff(lines(steps), []string{"s1 1 message", "s2 1 message", "s3 2 message", "s4 2 message"}); d != "" {
		t.Errorf("steps: %s", d)
	}
	if len(f.destroyed) != 1 || f.destroyed[0] != f.made[0].Nonce || f.closed != 1 {
		t.Errorf("destroyed %v, closed %d", f.destroyed, f.closed)
	}
	if d := cmp.Diff(f.specs[0].Env, map[string]string{"ALLOWED": "value"}); d != "" {
		t.Errorf("environment: %s", d)
	}
	empty(t, r.Temp)
	if (*events)[0].Kind != Started || (*events)[len(*events)-1].Kind != Finished {
		t.Errorf("events = %+v", *events)
	}
}

func TestRunKeepsSecretsOut(t *testing.T) {
	f := &fake{turn: completes}
	r, _ := runner(t, f, story("say tgt-secret-1"))
	if _, err := r.Run(t.Context(), hard); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(r.Ledger.Dir(), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "tgt-secret-1") {
			t.Errorf("%s holds the target's secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunRetriesFaultsOnFreshTargets(t *testing.T) {
	f := &fake{turn: func(n int, ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
		if n == 1 {
			return eval.TurnResult{}, &eval.Fault{Cause: eval.CauseStream, Retry: eval.RetryTrial, Detail: "cut"}
		}
		return completes(n, ctx, prompt, emit)
	}}
	r, _ := runner(t, f, story("one"))
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusPassed {
		t.Fatalf("Run = %+v, %v", rec, err)
	}
	if len(rec.Attempts) != 2 || rec.Attempts[0].Fault.Cause != eval.CauseStream || rec.Attempts[1].Fault != nil {
		t.Errorf("attempts = %+v", rec.Attempts)
	}
	if len(f.made) != 2 || f.made[0].Nonce == f.made[1].Nonce || f.specs[0].Home == f.specs[1].Home || len(f.destroyed) != 2 {
		t.Errorf("targets %d, destroyed %d, homes %q %q", len(f.made), len(f.destroyed), f.specs[0].Home, f.specs[1].Home)
	}
	entries, _ := os.ReadDir(filepath.Join(r.Ledger.Dir(), "drafts"))
	if len(entries) != 0 {
		t.Errorf("drafts left: %v", entries)
	}
}

func TestRunNeverRetriesAnAgentsFailure(t *testing.T) {
	f := &fake{turn: func(int, context.Context, string, func(eval.Event)) (eval.TurnResult, error) {
		return eval.TurnResult{Outcome: eval.Refused, Detail: "no"}, nil
	}}
	r, _ := runner(t, f, story("one", "never asked"))
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusFailed || rec.Cause != "refused" || f.turns != 1 || len(rec.Attempts) != 1 {
		t.Errorf("Run = %+v, %v after %d turns", rec, err, f.turns)
	}
}

func TestRunErrorsWhenRetriesAreUsedUp(t *testing.T) {
	f := &fake{turn: func(int, context.Context, string, func(eval.Event)) (eval.TurnResult, error) {
		return eval.TurnResult{}, &eval.Fault{Cause: eval.CauseStream, Retry: eval.RetryTrial}
	}}
	r, _ := runner(t, f, story("one"))
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusErrored || rec.Cause != "stream" || len(rec.Attempts) != 2 || len(rec.Scores) != 0 {
		t.Errorf("Run = %+v, %v", rec, err)
	}
}

func TestRunStopsAHostThatCannotWork(t *testing.T) {
	f := &fake{turn: func(int, context.Context, string, func(eval.Event)) (eval.TurnResult, error) {
		return eval.TurnResult{}, &eval.Fault{Cause: eval.CauseAuth, Retry: eval.RetryStop, Detail: "401"}
	}}
	r, _ := runner(t, f, story("one"))
	first, err := r.Run(t.Context(), hard)
	if err != nil || first.Status != eval.StatusErrored || len(first.Attempts) != 1 {
		t.Fatalf("first = %+v, %v", first, err)
	}
	second := hard
	second.Repeat = 2
	rec, err := r.Run(t.Context(), second)
	if err != nil || rec.Status != eval.StatusSkipped || rec.Cause != "auth" || f.turns != 1 {
		t.Errorf("second = %+v, %v after %d turns", rec, err, f.turns)
	}
}

func TestRunStopsATargetThatCannotBeMade(t *testing.T) {
	f := &fake{turn: completes, provision: &eval.Fault{Cause: eval.CauseProvision, Retry: eval.RetryStop, Detail: "no such template"}}
	r, _ := runner(t, f, story("one"))
	if rec, err := r.Run(t.Context(), hard); err != nil || rec.Status != eval.StatusErrored {
		t.Fatalf("first = %+v, %v", rec, err)
	}
	second := hard
	second.Repeat = 2
	rec, err := r.Run(t.Context(), second)
	if err != nil || rec.Status != eval.StatusSkipped || rec.Reason != "not run: an earlier trial of target site ended with provision: target \"site\": no such template" {
		t.Errorf("second = %+v, %v", rec, err)
	}
	// The host is as good as ever.
	r.Suite.Stories[0].Target = ""
	third := hard
	third.Repeat = 3
	if rec, err := r.Run(t.Context(), third); err != nil || rec.Status != eval.StatusPassed {
		t.Errorf("third = %+v, %v", rec, err)
	}
}

func TestRunTimesOutAndStillLooks(t *testing.T) {
	f := &fake{turn: func(_ int, ctx context.Context, _ string, _ func(eval.Event)) (eval.TurnResult, error) {
		<-ctx.Done()
		return eval.TurnResult{Outcome: eval.TimedOut}, nil
	}}
	st := story("one")
	st.Timeout = 20 * time.Millisecond
	st.Checks = []eval.Check{{Name: "grew", Dimension: eval.DimensionOutcome, Condition: condition(func(f eval.Facts) (bool, string, error) { return len(f.State) > 12, "", nil })}}
	r, _ := runner(t, f, st)
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusFailed || rec.Cause != "timeout" {
		t.Fatalf("Run = %+v, %v", rec, err)
	}
	if len(rec.Scores) != 1 || rec.Scores[0].Passed == nil || !*rec.Scores[0].Passed {
		t.Errorf("scores = %+v; want the state's check to hold", rec.Scores)
	}
}

func TestRunInterruptedLeavesNoRecord(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{turn: func(_ int, ctx context.Context, _ string, _ func(eval.Event)) (eval.TurnResult, error) {
		cancel()
		<-ctx.Done()
		return eval.TurnResult{}, ctx.Err()
	}}
	r, _ := runner(t, f, story("one"))
	if _, err := r.Run(ctx, hard); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v; want canceled", err)
	}
	if r.Ledger.Recorded(hard.ID()) || len(f.destroyed) != 1 {
		t.Errorf("recorded %v, destroyed %v", r.Ledger.Recorded(hard.ID()), f.destroyed)
	}
	empty(t, r.Temp)
}

func TestRunProvisionFails(t *testing.T) {
	f := &fake{turn: completes, provision: errors.New("no room")}
	r, _ := runner(t, f, story("one"))
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusErrored || rec.Cause != "provision" || !strings.Contains(rec.Reason, "no room") || f.turns != 0 {
		t.Errorf("Run = %+v, %v", rec, err)
	}
}

func TestRunBrokenCheckIsNoFailure(t *testing.T) {
	f := &fake{turn: completes}
	st := story("one")
	st.Checks = []eval.Check{{Name: "x", Dimension: eval.DimensionOutcome, Condition: condition(func(eval.Facts) (bool, string, error) { return false, "", errors.New("no attribute") })}}
	r, _ := runner(t, f, st)
	rec, err := r.Run(t.Context(), hard)
	if err != nil || rec.Status != eval.StatusErrored || rec.Cause != "scorer" || rec.Scores[0].State != eval.ScoreErrored || rec.Scores[0].Value != nil {
		t.Errorf("Run = %+v, %v", rec, err)
	}
}

// Package hosttest is the conformance kit of host plugins: it runs a built plugin
// as the engine does, or a host in this process, and checks what the engine relies
// on. Fill in a [Kit] and call [Kit.Run] from a test of the plugin.
package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/conform"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// Kit says what to test, and how the host is made to do it.
type Kit struct {
	// Binary is a built plugin, Env its environment; or Host is a host in this
	// process.
	Binary string
	Env    []string
	Host   eval.Host
	// Spec completes a session's spec, whose Trial and folders are set: Config,
	// Servers, Env. It is called once a session; nil leaves it as it is.
	Spec func(t testing.TB, spec *eval.SessionSpec)
	// Turns are a session that works; at least one, two for a host with multi_turn.
	Turns []Turn
	// Check looks at the steps of a session that ran Turns; nil checks no more than
	// the kit does. It is called from several goroutines.
	Check func(t testing.TB, spec eval.SessionSpec, steps []eval.Step)
	// Long is a prompt whose turn emits an event and then lasts until it is
	// cancelled.
	Long string
	// LongSpec and BrokenSpec are as Spec, for a session that gets Long, and for one
	// that cannot work: Start or the first turn is a fault. Nil is Spec for the one
	// and no check for the other.
	LongSpec, BrokenSpec func(t testing.TB, spec *eval.SessionSpec)
	// Sessions is how many run side by side; 0 is 50.
	Sessions int
}

// Turn is a prompt and what comes of it.
type Turn struct {
	Prompt string
	// Outcome is Completed where empty.
	Outcome eval.Outcome
	// Answer is compared where not empty.
	Answer string
}

// Run runs all checks as subtests.
func (k Kit) Run(t *testing.T) {
	t.Helper()
	if len(k.Turns) == 0 {
		t.Fatal("hosttest: Kit.Turns is empty")
	}
	r := &running{Kit: k, host: k.Host}
	var p *rpc.Process
	if k.Binary != "" {
		p = conform.Start(t, rpc.KindHost, "under-test", k.Binary, k.Env)
		r.host = p.Host()
	}
	r.children = conform.Children(t, p)
	t.Run("describe", func(t *testing.T) { r.desc = conform.Description(t, r.host.Describe) })
	t.Run("session", r.session)
	t.Run("close", r.close)
	t.Run("cancel_start", r.cancelledStart)
	if k.Long != "" {
		t.Run("cancel_turn", r.cancelledTurn)
		t.Run("close_is_the_end", r.neighbours)
	}
	if k.BrokenSpec != nil {
		t.Run("fault", r.fault)
	}
	t.Run("side_by_side", r.sideBySide)
}

type running struct {
	Kit
	host     eval.Host
	desc     eval.Description
	children func() []int
}

// spec returns the spec of the n-th session of a test.
func (r *running) spec(t *testing.T, n int, complete func(testing.TB, *eval.SessionSpec)) eval.SessionSpec {
	t.Helper()
	s := eval.SessionSpec{
		Trial:  eval.Trial{Story: "conformance", Host: "under-test", Repeat: n + 1},
		RawDir: t.TempDir() + "/host",
		Turns:  len(r.Turns),
	}
	if !r.desc.Has(eval.CapNoFolders) {
		s.Home, s.WorkDir = t.TempDir(), t.TempDir()
	}
	if complete != nil {
		complete(t, &s)
	}
	return s
}

func (r *running) start(t *testing.T, ctx context.Context, spec eval.SessionSpec) eval.Session {
	t.Helper()
	s, err := r.host.Start(ctx, spec)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	return s
}

func (r *running) session(t *testing.T) {
	if r.desc.Has(eval.CapMultiTurn) && len(r.Turns) < 2 {
		t.Error("the host claims multi_turn and Kit.Turns has one turn")
	}
	ctx, cancel := context.WithTimeout(t.Context(), conform.Bound)
	defer cancel()
	spec := r.spec(t, 0, r.Spec)
	for _, p := range r.play(t, ctx, spec) {
		t.Error(p)
	}
	conform.NothingLeft(t, r.children)
}

// play runs the session of Kit.Turns and returns what is wrong with it.
func (r *running) play(t *testing.T, ctx context.Context, spec eval.SessionSpec) (problems []string) {
	s, err := r.host.Start(ctx, spec)
	if err != nil {
		return []string{fmt.Sprintf("Start: %v", err)}
	}
	defer func() {
		if err := s.Close(); err != nil {
			problems = append(problems, fmt.Sprintf("Close: %v", err))
		}
	}()
	turns := r.Turns
	if !r.desc.Has(eval.CapMultiTurn) {
		turns = turns[:1]
	}
	var c collector
	for i, turn := range turns {
		c.begin()
		res, err := s.Turn(ctx, turn.Prompt, c.emit)
		c.end()
		if err != nil {
			return append(problems, fmt.Sprintf("turn %d: %v", i+1, err))
		}
		problems = append(problems, turn.differs(i, res)...)
	}
	problems = append(problems, c.problems()...)
	if r.Check != nil {
		r.Check(t, spec, c.steps)
	}
	return problems
}

func (w Turn) differs(i int, got eval.TurnResult) (list []string) {
	want := w.Outcome
	if want == "" {
		want = eval.Completed
	}
	if got.Outcome != want {
		list = append(list, fmt.Sprintf("turn %d: outcome %q (%s); want %q", i+1, got.Outcome, got.Detail, want))
	}
	if w.Answer != "" && got.Answer != w.Answer {
		list = append(list, fmt.Sprintf("turn %d: answer %q; want %q", i+1, got.Answer, w.Answer))
	}
	u := got.Usage
	if u.Turns < 0 || u.InputTokens < u.CacheReadTokens+u.CacheWriteTokens || u.OutputTokens < u.ReasoningTokens {
		list = append(list, fmt.Sprintf("turn %d: usage %+v has parts greater than the whole", i+1, u))
	}
	return list
}

// close: Close twice, at once after Start, and a turn after it.
func (r *running) close(t *testing.T) {
	s := r.start(t, t.Context(), r.spec(t, 0, r.Spec))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	conform.NothingLeft(t, r.children)
}

func (r *running) cancelledStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := r.host.Start(ctx, r.spec(t, 0, r.Spec))
	if err == nil {
		if _, err = s.Turn(ctx, r.Turns[0].Prompt, func(eval.Event) {}); err == nil {
			t.Error("a session whose context had ended ran a turn")
		}
		s.Close()
	}
	conform.NothingLeft(t, r.children)
}

var errOver = errors.New("the trial's time is over")

func (r *running) longSpec(t *testing.T, n int) eval.SessionSpec {
	if r.LongSpec != nil {
		return r.spec(t, n, r.LongSpec)
	}
	return r.spec(t, n, r.Spec)
}

// cancelledTurn cancels a turn at its first event, or soon after its start where
// there is none.
func (r *running) cancelledTurn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s := r.start(t, ctx, r.longSpec(t, 0))
	res, err := s.Turn(ctx, r.Long, func(eval.Event) { cancel(errOver) })
	if err == nil && res.Outcome == eval.Completed {
		t.Errorf("the turn of Kit.Long completed with %q; it must last, and emit an event at its start", res.Answer)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	conform.NothingLeft(t, r.children)
}

// neighbours: the end of one session leaves another alone.
func (r *running) neighbours(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	long := r.start(t, ctx, r.longSpec(t, 0))
	up, done := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		_, err := long.Turn(ctx, r.Long, func(eval.Event) { once.Do(func() { close(up) }) })
		done <- err
	}()
	select {
	case <-up:
	case err := <-done:
		t.Fatalf("the turn of Kit.Long ended without an event: %v", err)
	}
	for _, p := range r.play(t, t.Context(), r.spec(t, 1, r.Spec)) {
		t.Errorf("beside a long session: %s", p)
	}
	select {
	case err := <-done:
		t.Errorf("the end of one session ended another: %v", err)
	default:
	}
	cancel()
	<-done
	if err := long.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	conform.NothingLeft(t, r.children)
}

func (r *running) fault(t *testing.T) {
	s, err := r.host.Start(t.Context(), r.spec(t, 0, r.BrokenSpec))
	if err == nil {
		_, err = s.Turn(t.Context(), r.Turns[0].Prompt, func(eval.Event) {})
		s.Close()
	}
	conform.Fault(t, "a session that cannot work", err)
	conform.NothingLeft(t, r.children)
}

func (r *running) sideBySide(t *testing.T) {
	n := r.Sessions
	if n == 0 {
		n = 50
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*conform.Bound)
	defer cancel()
	var wg sync.WaitGroup
	for i := range n {
		spec := r.spec(t, i, r.Spec)
		wg.Go(func() {
			for _, p := range r.play(t, ctx, spec) {
				t.Errorf("session %d of %d: %s", i+1, n, p)
			}
		})
	}
	wg.Wait()
	conform.NothingLeft(t, r.children)
}

// collector checks events as the engine takes them.
type collector struct {
	mu    sync.Mutex
	open  bool
	late  int
	steps []eval.Step
	empty int
}

func (c *collector) begin() { c.set(true) }
func (c *collector) end()   { c.set(false) }

func (c *collector) set(open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = open
}

func (c *collector) emit(e eval.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.open:
		c.late++
	case e.Step != nil:
		c.steps = append(c.steps, *e.Step)
	case e.Progress == "" && e.Warning == "":
		c.empty++
	}
}

// problems says what is wrong with the steps.
func (c *collector) problems() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add := func(bad bool, format string, args ...any) {
		if bad {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(c.late > 0, "%d events after the end of a turn", c.late)
	add(c.empty > 0, "%d events with nothing in them", c.empty)
	calls, results := map[string]bool{}, map[string]bool{}
	for i, s := range c.steps {
		at := fmt.Sprintf("step %d (%s)", i+1, s.Kind)
		switch s.Kind {
		case eval.StepMessage:
			add(s.Role != "assistant" && s.Role != "user", "%s: role %q", at, s.Role)
		case eval.StepReasoning, eval.StepError:
		case eval.StepToolCall:
			add(s.CallID == "" || calls[s.CallID], "%s: call ID %q is empty or there twice", at, s.CallID)
			add(s.Tool == "", "%s: no tool", at)
			add(strings.HasPrefix(s.Tool, "mcp__"), "%s: tool %q still has the agent's prefix", at, s.Tool)
			calls[s.CallID] = true
		case eval.StepToolResult:
			add(!calls[s.CallID], "%s: call ID %q belongs to no call before it", at, s.CallID)
			add(results[s.CallID], "%s: a second result for %q", at, s.CallID)
			results[s.CallID] = true
		default:
			add(true, "%s: unknown kind", at)
		}
		add(len(s.Arguments) > 0 && !json.Valid(s.Arguments), "%s: arguments are not JSON", at)
		add(len(s.Result) > 0 && !json.Valid(s.Result), "%s: result is not JSON", at)
		add(s.Observed != "", "%s: Observed is the engine's to set", at)
	}
	return list
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/hosttest"
)

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func fakeSpec(t *testing.T, mode string, cfg map[string]any) eval.SessionSpec {
	t.Helper()
	if cfg == nil {
		cfg = map[string]any{}
	}
	cfg["command"] = []string{self(t)}
	s := spec(t, cfg)
	s.Env[envFake] = mode
	s.Servers = []eval.Endpoint{{Name: "cms", URL: "http://127.0.0.1:1/mcp", Token: "token-of-the-gateway"}}
	s.Model = &eval.ModelEndpoint{BaseURL: "http://127.0.0.1:1", Key: "stand-in-key"}
	return s
}

func start(t *testing.T, ctx context.Context, s eval.SessionSpec) eval.Session {
	t.Helper()
	sess, err := (&driver{}).Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sess.Close() })
	return sess
}

// open is start for a test that sets what no block can.
func open(t *testing.T, s eval.SessionSpec) *session {
	t.Helper()
	sess, _, err := (&driver{}).open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sess.Close() })
	return sess
}

func TestTurns(t *testing.T) {
	s := fakeSpec(t, "answers", nil)
	sess := start(t, t.Context(), s)
	for i, prompt := range []string{"--first\nprompt", strings.Repeat("long ", 100_000)} {
		var tr transcript
		r, err := sess.Turn(t.Context(), prompt, tr.emit)
		if got := verdict(r, err); got != "completed" || r.Answer != prompt {
			t.Fatalf("turn %d: %s (%v), the agent was told %.40q", i+1, got, err, r.Answer)
		}
		if r.Usage.InputTokens != 10 || r.Usage.OutputTokens != 1 {
			t.Errorf("turn %d: %+v", i+1, r.Usage)
		}
	}
	if err := sess.Close(); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(s.RawDir, "codex.stdout"))
	if err != nil || strings.Count(string(raw), "turn.completed") != 2 {
		t.Errorf("raw output has %d bytes, %v", len(raw), err)
	}
	if _, err := sess.Turn(t.Context(), "late", func(eval.Event) {}); err == nil {
		t.Error("a turn on a closed session is no error")
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		mode, verdict, detail, steps string
		timeout                      time.Duration
	}{
		{mode: "no server", verdict: "fault mcp, trial", detail: "cms: connection closed"},
		{mode: "dies", verdict: "fault no_terminal, trial", detail: "exit code 3"},
		{mode: "refuses its settings", verdict: "fault host_config, stop", detail: "missing field, key [secret]"},
		{mode: "hangs", verdict: "timeout", timeout: time.Second, steps: "message"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			sess := start(t, t.Context(), fakeSpec(t, c.mode, nil))
			ctx := t.Context()
			if c.timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.timeout)
				defer cancel()
			}
			var tr transcript
			r, err := sess.Turn(ctx, "go", tr.emit)
			if got := verdict(r, err); got != c.verdict || !r.Usage.LowerBound {
				t.Errorf("verdict = %q (%v), usage %+v; want %q", got, err, r.Usage, c.verdict)
			}
			if c.detail != "" && !strings.Contains(fmt.Sprint(err), c.detail) {
				t.Errorf("error = %v; want it to have %q", err, c.detail)
			}
			if got := tr.short(); got != c.steps {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
		})
	}
}

// Silence ends nothing; a long one is noted.
func TestSilence(t *testing.T) {
	sess := open(t, fakeSpec(t, "is silent", nil))
	sess.quiet = 250 * time.Millisecond
	var tr transcript
	r, err := sess.Turn(t.Context(), "go", tr.emit)
	if got := verdict(r, err); got != "completed" || tr.short() != "message" {
		t.Errorf("%s, %v, %q", got, err, tr.short())
	}
	if got := strings.Join(tr.warnings, ""); !strings.HasPrefix(got, "the agent was silent for ") {
		t.Errorf("warnings = %q", got)
	}
}

// A program that goes on after it has said that the turn is over is stopped, and
// the turn counts.
func TestEndedAndStays(t *testing.T) {
	sess := open(t, fakeSpec(t, "stays", nil))
	sess.exit = 50 * time.Millisecond
	var tr transcript
	r, err := sess.Turn(t.Context(), "go", tr.emit)
	if got := verdict(r, err); got != "completed" || r.Answer != "go" || r.Usage.LowerBound {
		t.Errorf("%s, %v, answer %q, usage %+v", got, err, r.Answer, r.Usage)
	}
}

func TestCancel(t *testing.T) {
	for _, of := range []string{"turn", "session"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		whole, turn := t.Context(), ctx
		if of == "session" {
			whole, turn = ctx, t.Context()
		}
		sess := start(t, whole, fakeSpec(t, "hangs", nil))
		why := errors.New("the run was stopped")
		_, err := sess.Turn(turn, "go", func(e eval.Event) {
			if e.Step != nil {
				cancel(why)
			}
		})
		if !errors.Is(err, why) {
			t.Errorf("cancelled %s: Turn = %v; want the cause", of, err)
		}
	}
}

// The model's turns are counted over the whole trial, and as the session file has
// them: one answer may hold several calls.
func TestMaxTurns(t *testing.T) {
	sess := start(t, t.Context(), fakeSpec(t, "loops", map[string]any{"max_turns": 5}))
	var tr transcript
	r, err := sess.Turn(t.Context(), "one", tr.emit)
	if got := verdict(r, err); got != "completed" || r.Usage.Turns != 3 || r.Usage.InputTokens != 15 {
		t.Fatalf("first turn: %s (%v), %+v", got, err, r.Usage)
	}
	r, err = sess.Turn(t.Context(), "two", tr.emit)
	if got := verdict(r, err); got != "max_turns" {
		t.Fatalf("second turn: %s, %v", got, err)
	}
	r, err = sess.Turn(t.Context(), "three", tr.emit)
	if got := verdict(r, err); got != "max_turns" {
		t.Fatalf("third turn: %s, %v", got, err)
	}
}

func TestStartFaults(t *testing.T) {
	for _, c := range []struct {
		name, want string
		cfg        map[string]any
	}{
		{"tools", `tools is "all"`, map[string]any{"tools": "all"}},
		{"unknown tool", `there is no "Bash"`, map[string]any{"tools": []string{"Bash"}}},
		{"duration", `tool_timeout is "soon"`, map[string]any{"tool_timeout": "soon"}},
		{"negative", "must not be negative", map[string]any{"max_turns": -1}},
		{"setting", "is no setting's name", map[string]any{"config": map[string]string{"a=b": "c"}}},
		{"unknown", "unknown field", map[string]any{"modell": "x"}},
		{"missing", "\"no-such-codex\": program not found in PATH; install it with: npm install -g @openai/codex",
			map[string]any{"command": []string{"no-such-codex"}}},
		{"missing file", "install it with", map[string]any{"command": []string{"/no/such/codex"}}},
		{"folder", "starting /", map[string]any{"command": []string{"/"}}},
	} {
		sess, err := (&driver{}).Start(t.Context(), spec(t, c.cfg))
		if err == nil {
			_, err = sess.Turn(t.Context(), "go", func(eval.Event) {})
		}
		var f *eval.Fault
		if !errors.As(err, &f) || f.Retry != eval.RetryStop || !strings.Contains(f.Error(), c.want) {
			t.Errorf("%s: %v; want a fault that stops the host and says %q", c.name, err, c.want)
		}
	}
}

func TestConformance(t *testing.T) {
	mode := func(name string) func(testing.TB, *eval.SessionSpec) {
		return func(_ testing.TB, s *eval.SessionSpec) {
			s.Config = eval.JSON(mustJSON(map[string]any{"command": []string{self(t)}}))
			s.Env = map[string]string{envFake: name}
			s.Servers = []eval.Endpoint{{Name: "cms", URL: "http://127.0.0.1:1/mcp", Token: "token-of-the-gateway"}}
		}
	}
	hosttest.Kit{
		Host: &driver{}, Sessions: 20,
		Spec:     mode("answers"),
		Turns:    []hosttest.Turn{{Prompt: "one", Answer: "one"}, {Prompt: "two", Answer: "two"}},
		Long:     "go",
		LongSpec: mode("hangs"), BrokenSpec: mode("no server"),
	}.Run(t)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

func fakeSpec(t *testing.T, mode string, cfg map[string]any) eval.SessionSpec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if cfg == nil {
		cfg = map[string]any{}
	}
	cfg["command"] = []string{self}
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
	for i, prompt := range []string{"first\nprompt", "/clear", strings.Repeat("long ", 100_000)} {
		var tr transcript
		r, err := sess.Turn(t.Context(), prompt, tr.emit)
		if got := verdict(r, err); got != "completed" || r.Answer != fmt.Sprintf("answer %d", i+1) {
			t.Fatalf("turn %d: %s, answer %q", i+1, got, r.Answer)
		}
		if want := strings.TrimPrefix(prompt, "/"); len(tr.steps) != 1 || strings.TrimPrefix(tr.steps[0].Text, " /") != want {
			t.Errorf("turn %d: the agent was told %.40q; want %.40q", i+1, tr.steps[0].Text, prompt)
		}
		if r.Usage.InputTokens != 10 || r.AgentVersion != "9.9.9" {
			t.Errorf("turn %d: %+v", i+1, r)
		}
	}
	if err := sess.Close(); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(s.RawDir, "claude.stdout"))
	if err != nil || !contains(raw, `"answer 3"`) {
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
		{mode: "no server", verdict: "fault mcp, trial", detail: "cms: pending"},
		{mode: "dies", verdict: "fault no_terminal, trial", detail: "exit code 3", steps: "message"},
		{mode: "refuses its settings", verdict: "fault host_config, stop", detail: "unknown option '--nope', key [secret]"},
		{mode: "hangs", verdict: "timeout", timeout: time.Second, steps: "message"},
		{mode: "deaf", verdict: "timeout", timeout: time.Second, steps: "message"},
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
			if got := verdict(r, err); got != c.verdict {
				t.Errorf("verdict = %q (%v); want %q", got, err, c.verdict)
			}
			if c.detail != "" && !strings.Contains(fmt.Sprint(err), c.detail) {
				t.Errorf("error = %v; want it to have %q", err, c.detail)
			}
			if got := tr.short(); got != c.steps {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
			if c.mode == "hangs" && (r.Usage.InputTokens != 7 || !r.Usage.LowerBound) {
				t.Errorf("usage = %+v; want at least the 7 tokens that the program told of", r.Usage)
			}
		})
	}
}

// What the output lacks is taken from the session files, once; they do not end the
// turn.
func TestSessionFiles(t *testing.T) {
	sess := start(t, t.Context(), fakeSpec(t, "stops writing", nil))
	var tr transcript
	r, err := sess.Turn(t.Context(), "go", tr.emit)
	if got := verdict(r, err); got != "fault no_terminal, trial" {
		t.Errorf("verdict = %q (%v)", got, err)
	}
	var got []string
	for _, s := range tr.steps {
		got = append(got, fmt.Sprintf("%s %s<%s", s.Kind, s.Tool, s.Parent))
	}
	want := []string{"tool_call Task<", "tool_call publish<k1", "tool_result <k1", "message <agent-y"}
	if !slices.Equal(got, want) {
		t.Errorf("steps = %q; want %q", got, want)
	}
}

// A silence that lasts to the end is noted too.
func TestSilenceToTheEnd(t *testing.T) {
	sess := open(t, fakeSpec(t, "hangs", nil))
	sess.quiet = 200 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	var tr transcript
	r, err := sess.Turn(ctx, "go", tr.emit)
	if got := strings.Join(tr.warnings, "\n"); verdict(r, err) != "timeout" || !strings.Contains(got, "the agent was silent for ") {
		t.Errorf("%s, warnings %q", verdict(r, err), got)
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

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	sess := start(t, ctx, fakeSpec(t, "hangs", nil))
	why := errors.New("the run was stopped")
	r, err := sess.Turn(ctx, "go", func(e eval.Event) {
		if e.Step != nil {
			cancel(why)
		}
	})
	if !errors.Is(err, why) || r.Usage.InputTokens != 7 {
		t.Errorf("Turn = %+v, %v; want the cause and what was consumed", r, err)
	}
}

// The model's turns are counted over the whole trial.
func TestMaxTurns(t *testing.T) {
	sess := start(t, t.Context(), fakeSpec(t, "loops", map[string]any{"max_turns": 4}))
	var tr transcript
	r, err := sess.Turn(t.Context(), "one", tr.emit)
	if got := verdict(r, err); got != "completed" || r.Usage.Turns != 3 {
		t.Fatalf("first turn: %s, %d responses", got, r.Usage.Turns)
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
		{"missing", "starting no-such-claude: \"no-such-claude\": program not found in PATH; install it with: npm install -g @anthropic-ai/claude-code",
			map[string]any{"command": []string{"no-such-claude"}}},
		{"missing file", "install it with", map[string]any{"command": []string{"/no/such/claude"}}},
		{"folder", "starting /", map[string]any{"command": []string{"/"}}},
		{"tools", `tools is "all"`, map[string]any{"tools": "all"}},
		{"tools with a comma", "is no tool's name", map[string]any{"tools": []string{"Bash,Read"}}},
		{"duration", `tool_timeout is "soon"`, map[string]any{"tool_timeout": "soon"}},
		{"negative", "must not be negative", map[string]any{"max_turns": -1}},
		{"settings", "settings must be an object", map[string]any{"settings": "x"}},
		{"unknown", "unknown field", map[string]any{"modell": "x"}},
	} {
		_, err := (&driver{}).Start(t.Context(), spec(t, c.cfg))
		var f *eval.Fault
		if !errors.As(err, &f) || f.Retry != eval.RetryStop || !strings.Contains(f.Error(), c.want) {
			t.Errorf("%s: Start = %v; want a fault that stops the host and says %q", c.name, err, c.want)
		}
	}
}

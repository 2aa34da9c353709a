package hosttest

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// TestMain makes the test binary a plugin where it is started as one.
func TestMain(m *testing.M) {
	if os.Getenv("HOSTTEST_PLUGIN") != "" {
		host.Serve(shellHost{})
		return
	}
	os.Exit(m.Run())
}

// shellHost runs each prompt as a shell script: a host with real processes.
type shellHost struct{}

func (shellHost) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "shell", Version: "1", Capabilities: []string{eval.CapMultiTurn},
		Schema: eval.Schema{Attributes: []eval.Attribute{{Name: "shell", Type: "string", Default: eval.JSON(`"sh"`)}}},
	}, nil
}

func (shellHost) Start(ctx context.Context, spec eval.SessionSpec) (eval.Session, error) {
	c := struct {
		Shell string `json:"shell"`
	}{"sh"}
	if err := host.Config(spec, &c); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &shellSession{spec: spec, shell: c.Shell}, nil
}

type shellSession struct {
	spec  eval.SessionSpec
	shell string
	turn  int
}

func (s *shellSession) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	s.turn++
	env, err := agentproc.Env(s.spec, nil)
	if err != nil {
		return eval.TurnResult{}, err
	}
	p, err := agentproc.Start(ctx, agentproc.Command{
		Path: s.shell, Args: []string{"-c", prompt}, Dir: s.spec.WorkDir, Env: env, RawDir: s.spec.RawDir,
	})
	if err != nil {
		return eval.TurnResult{}, &eval.Fault{Cause: eval.CauseHost, Retry: eval.RetryStop, Detail: err.Error()}
	}
	defer p.Close()
	var out []string
	for {
		line, err := p.Line()
		if err != nil {
			break
		}
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: string(line.Text)}})
		out = append(out, string(line.Text))
	}
	if exit := p.Wait(); exit.Code != 0 {
		return eval.TurnResult{Outcome: eval.GaveUp, Detail: exit.String()}, nil
	}
	return eval.TurnResult{Outcome: eval.Completed, Answer: strings.Join(out, "\n")}, nil
}

func (s *shellSession) Close() error { return nil }

// kit is a session whose second turn reads what the first one wrote.
func kit() Kit {
	return Kit{
		Turns: []Turn{
			{Prompt: `ls; echo $PPID >note; echo written`, Answer: "written"},
			{Prompt: `ls; sleep 100 & (setsid sleep 100 &)`, Answer: "note"},
		},
		Long: `echo up; setsid sleep 100 & sleep 100`,
		BrokenSpec: func(_ testing.TB, s *eval.SessionSpec) {
			s.Config = eval.JSON(`{"shell":"no-such-shell"}`)
		},
		Check: func(t testing.TB, s eval.SessionSpec, steps []eval.Step) {
			raw, err := os.ReadFile(filepath.Join(s.RawDir, "agent.stdout"))
			if got, want := string(raw), "written\nnote\n"; got != want || err != nil {
				t.Errorf("raw output = %q, %v; want %q", got, err, want)
			}
		},
		Sessions: 10,
	}
}

func TestKitInProcess(t *testing.T) {
	k := kit()
	k.Host = shellHost{}
	k.Run(t)
}

func TestKitOnBinary(t *testing.T) {
	k := kit()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k.Binary, k.Env = self, []string{"HOSTTEST_PLUGIN=1", "PATH=" + os.Getenv("PATH")}
	k.Run(t)
}

func TestStepProblems(t *testing.T) {
	call := eval.Step{Kind: eval.StepToolCall, CallID: "1", Tool: "list"}
	result := eval.Step{Kind: eval.StepToolResult, CallID: "1"}
	for _, tt := range []struct {
		name  string
		steps []eval.Step
		want  []string
	}{
		{"good", []eval.Step{{Kind: eval.StepMessage, Role: "assistant"}, call, result}, nil},
		{"result first", []eval.Step{result, call}, []string{`step 1 (tool_result): call ID "1" belongs to no call before it`}},
		{"two results", []eval.Step{call, result, result}, []string{`step 3 (tool_result): a second result for "1"`}},
		{"same call ID", []eval.Step{call, call}, []string{`step 2 (tool_call): call ID "1" is empty or there twice`}},
		{"no kind", []eval.Step{{}}, []string{`step 1 (): unknown kind`}},
		{"prefix", []eval.Step{{Kind: eval.StepToolCall, CallID: "1", Tool: "mcp__site__list"}},
			[]string{`step 1 (tool_call): tool "mcp__site__list" still has the agent's prefix`}},
		{"observed", []eval.Step{{Kind: eval.StepError, Observed: eval.Confirmed}}, []string{`step 1 (error): Observed is the engine's to set`}},
		{"not JSON", []eval.Step{{Kind: eval.StepToolCall, CallID: "1", Tool: "t", Arguments: eval.JSON("{")}},
			[]string{`step 1 (tool_call): arguments are not JSON`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c collector
			c.begin()
			for _, s := range tt.steps {
				c.emit(eval.Event{Step: &s})
			}
			c.end()
			if got := c.problems(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("problems = %q; want %q", got, tt.want)
			}
		})
	}
}

func TestLateAndEmptyEvents(t *testing.T) {
	var c collector
	c.begin()
	c.emit(eval.Event{})
	c.end()
	c.emit(eval.Event{Progress: "late"})
	want := []string{"1 events after the end of a turn", "1 events with nothing in them"}
	if got := c.problems(); !reflect.DeepEqual(got, want) {
		t.Errorf("problems = %q; want %q", got, want)
	}
}

func TestTurnDiffers(t *testing.T) {
	got := Turn{Answer: "a"}.differs(0, eval.TurnResult{
		Outcome: eval.GaveUp, Detail: "why", Answer: "b", Usage: eval.Usage{InputTokens: 1, CacheReadTokens: 2},
	})
	want := []string{
		`turn 1: outcome "gave_up" (why); want "completed"`,
		`turn 1: answer "b"; want "a"`,
	}
	if len(got) != 3 || !reflect.DeepEqual(got[:2], want) || !strings.Contains(got[2], "greater than the whole") {
		t.Errorf("differs = %q; want %q and the usage", got, want)
	}
	if got := (Turn{}).differs(0, eval.TurnResult{Outcome: eval.Completed}); got != nil {
		t.Errorf("differs = %q; want nothing", got)
	}
}

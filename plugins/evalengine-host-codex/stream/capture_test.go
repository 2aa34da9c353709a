package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/rollout"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// recorder keeps a turn's events in a short form.
type recorder struct {
	steps    []eval.Step
	warnings []string
	progress []string
}

func (r *recorder) emit(e eval.Event) {
	switch {
	case e.Step != nil:
		r.steps = append(r.steps, *e.Step)
	case e.Warning != "":
		r.warnings = append(r.warnings, e.Warning)
	case e.Progress != "":
		r.progress = append(r.progress, e.Progress)
	}
}

// short is one word a step.
func (r *recorder) short() string {
	var out []string
	for _, s := range r.steps {
		w := ""
		switch s.Kind {
		case eval.StepMessage:
			w = "say"
		case eval.StepReasoning:
			w = "think"
		case eval.StepToolCall:
			w = "call:" + s.Server + "/" + s.Tool
			if s.BadArguments {
				w += "(bad)"
			}
		case eval.StepToolResult:
			w = "ok"
			if s.IsError {
				w = "failed"
			}
		}
		if s.Truncated {
			w += "~"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

func verdict(r eval.TurnResult, err error) string {
	var f *eval.Fault
	if errors.As(err, &f) {
		v := fmt.Sprintf("fault %s, %s", f.Cause, f.Retry)
		if f.Status != 0 {
			v += fmt.Sprintf(", %d", f.Status)
		}
		return v
	}
	if err != nil {
		return "error " + err.Error()
	}
	return string(r.Outcome)
}

func counts(u eval.Usage) string {
	s := fmt.Sprintf("%d responses, %d in, %d cached, %d out", u.Turns, u.InputTokens, u.CacheReadTokens, u.OutputTokens)
	if u.LowerBound {
		s += ", at least"
	}
	return s
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func feed(p *Parser, b []byte) {
	var offset int64
	for len(b) > 0 {
		line, after, ended := bytes.Cut(b, []byte("\n"))
		p.Line(agentproc.Line{Text: line, Offset: offset, Size: int64(len(line)), Unterminated: !ended})
		offset += int64(len(line)) + 1
		b = after
	}
}

var (
	everything = agentout.NewNames([]string{"everything"}, "")
	cms        = agentout.NewNames([]string{"cms"}, "")
)

const (
	echoed = "say call:everything/echo ok say"
	refuse = "say call:everything/echo failed say"
	twice  = "2 responses, 2400 in, 2000 cached, 80 out"
	none   = "0 responses, 0 in, 0 cached, 0 out"
)

// Every capture is the raw output of a real run against a scripted model; the
// second table adds the session file of a run of the same kind.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		name    string
		exit    int
		signal  string
		stop    Stop
		file    string // of package rollout's
		steps   string
		verdict string
		usage   string
		retries int
		after   time.Duration
	}{
		{name: "success-mcp", steps: echoed, verdict: "completed", usage: twice},
		{name: "success-mcp-http", steps: echoed, verdict: "completed", usage: twice},
		{name: "success-codemode-model", steps: echoed, verdict: "completed", usage: twice},
		{name: "success-toolsearch-model", steps: "call:everything/echo ok say", verdict: "completed", usage: "2 responses, 3600 in, 3000 cached, 120 out"},
		{name: "resume-turn1", steps: echoed, verdict: "completed", usage: twice},
		{name: "flaky-500-then-ok", steps: echoed, verdict: "completed", usage: twice},
		{name: "tool-error", steps: refuse, verdict: "completed", usage: twice},
		{name: "tool-iserror", steps: refuse, verdict: "completed", usage: twice},
		{name: "tool-server-crash", steps: refuse, verdict: "completed", usage: twice},
		{name: "command-execution", steps: "say call:/shell failed say", verdict: "completed", usage: twice},
		{name: "unknown-tool", steps: "say", verdict: "completed", usage: "1 responses, 2400 in, 2000 cached, 80 out"},
		{name: "bad-tool-json", steps: "say", verdict: "completed", usage: "1 responses, 2400 in, 2000 cached, 80 out"},
		{name: "approval-denied", steps: refuse, verdict: "fault approval, never", usage: twice},
		{name: "mcp-down-optional", steps: "say say", verdict: "completed", usage: "1 responses, 2400 in, 2000 cached, 80 out"},

		{name: "context-too-long-400", exit: 1, verdict: "context_exceeded", usage: none + ", at least"},
		{name: "incomplete-max-output", exit: 1, steps: "say call:everything/echo ok", verdict: "max_output", usage: "1 responses, 0 in, 0 cached, 0 out, at least"},

		{name: "auth-401", exit: 1, verdict: "fault auth, stop, 401", usage: none + ", at least", retries: 2},
		{name: "forbidden-403", exit: 1, verdict: "fault auth, stop, 403", usage: none + ", at least", retries: 2},
		{name: "model-not-found-404", exit: 1, verdict: "fault model, stop", usage: none + ", at least"},
		{name: "bad-request-400", exit: 1, verdict: "fault bad_request, stop", usage: none + ", at least"},
		{name: "ratelimit-429", exit: 1, verdict: "fault rate_limit, trial, 429", usage: none + ", at least"},
		{name: "quota-429", exit: 1, verdict: "fault billing, stop", usage: none + ", at least"},
		{name: "server-500", exit: 1, verdict: "fault server, trial", usage: none + ", at least", retries: 2},
		{name: "late-500", exit: 1, steps: "say call:everything/echo ok", verdict: "fault server, trial", usage: "1 responses, 0 in, 0 cached, 0 out, at least", retries: 2},
		{name: "overloaded-529", exit: 1, verdict: "fault overloaded, trial, 529", usage: none + ", at least", retries: 2},
		{name: "at-capacity-503", exit: 1, verdict: "fault overloaded, trial", usage: none + ", at least"},
		{name: "overloaded-in-sse", exit: 1, verdict: "fault overloaded, trial", usage: none + ", at least"},
		{name: "ratelimit-in-sse", exit: 1, verdict: "fault rate_limit, trial", usage: none + ", at least", retries: 2, after: 1200 * time.Millisecond},
		{name: "malformed-sse", exit: 1, verdict: "fault stream, trial", usage: none + ", at least", retries: 2},
		{name: "empty-stream", exit: 1, verdict: "fault stream, trial", usage: none + ", at least", retries: 2},
		{name: "truncated-stream", exit: 1, verdict: "fault stream, trial", usage: none + ", at least", retries: 2},

		{name: "mcp-down-required", exit: 1, verdict: "fault mcp, trial", usage: none + ", at least"},
		{name: "mcp-hang-required", exit: 1, verdict: "fault mcp, trial", usage: none + ", at least"},

		{name: "loop-sigint", exit: 1, stop: StopTime, steps: loops, verdict: "timeout", usage: "9 responses, 0 in, 0 cached, 0 out, at least"},
		{name: "loop-sigint", exit: 1, stop: StopTurns, steps: loops, verdict: "max_turns", usage: "9 responses, 0 in, 0 cached, 0 out, at least"},
		{name: "loop-sigint", exit: 1, steps: loops, verdict: "fault no_terminal, trial", usage: "9 responses, 0 in, 0 cached, 0 out, at least"},
		{name: "loop-sigint", exit: -1, signal: "SIGKILL", steps: loops, verdict: "fault no_terminal, trial", usage: "9 responses, 0 in, 0 cached, 0 out, at least"},

		{name: "success-mcp", file: "two-turns", steps: echoed, verdict: "completed", usage: "4 responses, 4800 in, 4000 cached, 160 out"},
		{name: "unknown-tool", file: "unknown-tool", steps: "say call:everything/no_such_tool failed", verdict: "completed", usage: twice},
		{name: "bad-tool-json", file: "bad-tool-json", steps: "say call:everything/echo(bad) failed", verdict: "completed", usage: twice},
		{name: "success-toolsearch-model", file: "toolsearch", steps: "call:everything/echo ok say call:/tool_search ok", verdict: "completed", usage: "3 responses, 3600 in, 3000 cached, 120 out"},
		{name: "success-codemode-model", file: "codemode", steps: echoed, verdict: "completed", usage: twice},
		{name: "late-500", file: "late-500", exit: 1, steps: "say call:everything/echo ok", verdict: "fault server, trial", usage: "1 responses, 1200 in, 1000 cached, 40 out, at least", retries: 2},
		{name: "auth-401", file: "fail-401", exit: 1, verdict: "fault auth, stop, 401", usage: none + ", at least", retries: 2},
		{name: "model-not-found-404", file: "fail-404", exit: 1, verdict: "fault model, stop", usage: none + ", at least"},
		{name: "ratelimit-429", file: "fail-429", exit: 1, verdict: "fault rate_limit, trial, 429", usage: none + ", at least"},
		{name: "quota-429", file: "fail-quota", exit: 1, verdict: "fault billing, stop", usage: none + ", at least"},
		{name: "at-capacity-503", file: "fail-503", exit: 1, verdict: "fault overloaded, trial", usage: none + ", at least"},
		{name: "context-too-long-400", file: "late-context", exit: 1, verdict: "context_exceeded", usage: "1 responses, 1200 in, 1000 cached, 40 out, at least"},
	} {
		t.Run(c.name+"/"+c.file, func(t *testing.T) {
			var rec recorder
			p := New(everything)
			p.Begin(rec.emit)
			feed(p, readFile(t, filepath.Join("testdata", c.name+".jsonl")))
			if c.file != "" {
				turn, err := rollout.Read(filepath.Join("..", "rollout", "testdata", c.file+".jsonl"), 0)
				if err != nil {
					t.Fatal(err)
				}
				p.Fill(&turn)
			}
			end := End{Stop: c.stop, Exit: agentproc.Exit{Code: c.exit, Signal: c.signal}}
			end.Stderr = string(readFile(t, filepath.Join("testdata", c.name+".stderr.txt")))
			r, err := p.Result(end)
			if got := rec.short(); got != c.steps {
				t.Errorf("steps = %q; want %q", got, c.steps)
			}
			if got := verdict(r, err); got != c.verdict {
				t.Errorf("verdict = %q (%v); want %q", got, err, c.verdict)
			}
			if got := counts(r.Usage); got != c.usage {
				t.Errorf("usage = %q; want %q", got, c.usage)
			}
			if r.Retries != c.retries {
				t.Errorf("retries = %d; want %d", r.Retries, c.retries)
			}
			var f *eval.Fault
			if errors.As(err, &f) && f.RetryAfter != c.after {
				t.Errorf("retry after %v; want %v", f.RetryAfter, c.after)
			}
			if len(rec.warnings) > 0 {
				t.Errorf("warnings: %q", rec.warnings)
			}
		})
	}
}

var loops = strings.TrimSuffix(strings.Repeat("call:everything/echo ok ", 8), " ") + " call:everything/echo"

// The closing line counts the thread, not the turn.
func TestTwoTurns(t *testing.T) {
	p := New(everything)
	ids := map[string]bool{}
	for turn := 1; turn <= 2; turn++ {
		var rec recorder
		p.Begin(rec.emit)
		feed(p, readFile(t, fmt.Sprintf("testdata/resume-turn%d.jsonl", turn)))
		r, err := p.Result(End{})
		if got := verdict(r, err) + ": " + rec.short() + ": " + counts(r.Usage); got != "completed: "+echoed+": "+twice {
			t.Errorf("turn %d: %s", turn, got)
		}
		if p.Thread() != "01a22d3a-f7bd-7122-a475-1b06afb7c6f9" {
			t.Errorf("thread = %q", p.Thread())
		}
		for _, s := range rec.steps {
			if s.Kind == eval.StepToolCall && ids[s.CallID] {
				t.Errorf("call ID %q comes in both turns", s.CallID)
			}
			ids[s.CallID] = true
		}
	}
}

// A turn that failed has no closing count; what its session file says must not be
// counted again in the next.
func TestTurnAfterFailure(t *testing.T) {
	p := New(everything)
	p.Begin(func(eval.Event) {})
	feed(p, readFile(t, "testdata/late-500.jsonl"))
	file, err := rollout.Read("../rollout/testdata/late-500.jsonl", 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Fill(&file)
	if r, _ := p.Result(End{}); counts(r.Usage) != "1 responses, 1200 in, 1000 cached, 40 out, at least" {
		t.Errorf("first turn: %s", counts(r.Usage))
	}
	p.Begin(func(eval.Event) {})
	feed(p, readFile(t, "testdata/success-mcp.jsonl"))
	if r, _ := p.Result(End{}); counts(r.Usage) != "2 responses, 1200 in, 1000 cached, 40 out" {
		t.Errorf("second turn: %s", counts(r.Usage))
	}
}

func TestSteps(t *testing.T) {
	var rec recorder
	p := New(everything)
	p.Begin(rec.emit)
	feed(p, readFile(t, "testdata/tool-iserror.jsonl"))
	want := []eval.Step{
		{Kind: eval.StepMessage, Role: "assistant", Text: "Let me call the tool."},
		{Kind: eval.StepToolCall, CallID: "turn1-item_2", Server: "everything", Tool: "echo",
			Arguments: eval.JSON(`{"message":"hello from the scripted model"}`)},
		{Kind: eval.StepToolResult, CallID: "turn1-item_2", Bytes: 78, IsError: true,
			Result: eval.JSON(`{"content":[{"type":"text","text":"the widget was not found"}],"isError":true}`)},
		{Kind: eval.StepMessage, Role: "assistant",
			Text: `Final answer. Tool said: [[{"type":"input_text","text":"Wall time: 0.0024 seconds\nOutput:"},{"type":"input_text","text":"the widget was not found"}]]`},
	}
	got, _ := json.MarshalIndent(rec.steps, "", " ")
	exp, _ := json.MarshalIndent(want, "", " ")
	if !bytes.Equal(got, exp) {
		t.Errorf("steps = %s; want %s", got, exp)
	}
	if got := strings.Join(rec.progress, "; "); got != "calls echo" {
		t.Errorf("progress = %q", got)
	}
}

// Every beginning of every capture that lacks its end is a fault.
func TestCutCaptures(t *testing.T) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d captures, %v", len(names), err)
	}
	for _, name := range names {
		b := readFile(t, name)
		for cut := 0; cut < len(b)-1; cut += 37 {
			p := New(everything)
			p.Begin(func(eval.Event) {})
			feed(p, b[:cut])
			if r, err := p.Result(End{}); err == nil {
				t.Errorf("%s cut at %d: %s", name, cut, verdict(r, err))
			}
		}
	}
}

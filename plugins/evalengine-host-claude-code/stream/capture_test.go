package stream

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
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
			if s.Role == "user" {
				w = "told"
			}
		case eval.StepReasoning:
			w = "think"
		case eval.StepError:
			w = "error"
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
		if s.Parent != "" {
			w += "<" + s.Parent
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
	s := fmt.Sprintf("%d responses, %d in, %d out", u.Turns, u.InputTokens, u.OutputTokens)
	if u.LowerBound {
		s += ", at least"
	}
	return s
}

func readCapture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// feed gives the parser lines until the turn or the output ends, and returns what
// is left.
func feed(p *Parser, b []byte) (rest []byte) {
	var offset int64
	for len(b) > 0 && !p.Ended() {
		line, after, ended := bytes.Cut(b, []byte("\n"))
		p.Line(agentproc.Line{Text: line, Offset: offset, Size: int64(len(line)), Unterminated: !ended})
		offset += int64(len(line)) + 1
		b = after
	}
	return b
}

var (
	everything = agentout.NewNames([]string{"everything"}, "-")
	cms        = agentout.NewNames([]string{"cms"}, "-")
)

const (
	echoed = "say call:everything/echo ok say"
	refuse = "say call:everything/echo failed say"
	twice  = "2 responses, 2400 in, 80 out"
	none   = "0 responses, 0 in, 0 out"
)

// Every capture is the raw output of a real run against a scripted model.
func TestCaptures(t *testing.T) {
	for _, c := range []struct {
		name    string
		exit    int
		stop    Stop
		steps   string
		verdict string
		usage   string
		retries int
	}{
		{name: "success-mcp", steps: echoed, verdict: "completed", usage: twice},
		{name: "success-mcp-http", steps: echoed, verdict: "completed", usage: twice},
		{name: "success-toolsearch", steps: echoed, verdict: "completed", usage: twice},
		{name: "partial-messages", steps: echoed, verdict: "completed", usage: twice},
		{name: "flaky-529-then-ok", steps: echoed, verdict: "completed", usage: twice, retries: 1},
		{name: "malformed-sse-fallback-ok", steps: echoed, verdict: "completed", usage: twice},
		{name: "bad-tool-json", steps: "say call:everything/echo(bad) failed say", verdict: "completed", usage: twice},
		{name: "tool-error", steps: refuse, verdict: "completed", usage: twice},
		{name: "tool-iserror", steps: refuse, verdict: "completed", usage: twice},
		{name: "tool-server-crash", steps: refuse, verdict: "completed", usage: twice},
		{name: "unknown-tool", steps: "call:everything/no_such_tool failed say", verdict: "completed", usage: twice},
		{name: "permission-denied", steps: refuse, verdict: "fault approval, never", usage: twice},

		{name: "max-turns", exit: 1, steps: "call:everything/echo ok call:everything/echo ok", verdict: "max_turns", usage: twice},
		{name: "max-budget", exit: 1, steps: "say call:everything/echo", verdict: "max_budget", usage: "1 responses, 2000000 in, 500000 out"},
		{name: "max-output-tokens", exit: 1, steps: "say say say say error", verdict: "max_output", usage: "4 responses, 4800 in, 160 out"},
		{name: "refusal", exit: 1, steps: "say error", verdict: "refused", usage: "1 responses, 1200 in, 40 out"},
		{name: "context-too-long-400", exit: 1, steps: "error", verdict: "context_exceeded", usage: none},

		{name: "auth-401", exit: 1, steps: "error", verdict: "fault auth, stop, 401", usage: none, retries: 2},
		{name: "no-key", exit: 1, steps: "error", verdict: "fault auth, stop", usage: none},
		{name: "forbidden-403", exit: 1, steps: "error", verdict: "fault auth, stop, 403", usage: none},
		{name: "model-not-found-404", exit: 1, steps: "error", verdict: "fault model, stop, 404", usage: none},
		{name: "bad-request-400", exit: 1, steps: "error", verdict: "fault bad_request, stop, 400", usage: none},
		{name: "billing-400", exit: 1, steps: "error", verdict: "fault billing, stop, 400", usage: none},
		{name: "ratelimit-429", exit: 1, steps: "error", verdict: "fault rate_limit, trial, 429", usage: none, retries: 2},
		{name: "server-500", exit: 1, steps: "error", verdict: "fault server, trial, 500", usage: none, retries: 2},
		{name: "overloaded-529", exit: 1, steps: "error", verdict: "fault overloaded, trial, 529", usage: none, retries: 2},
		{name: "late-529", exit: 1, steps: "say call:everything/echo ok error", verdict: "fault overloaded, trial, 529", usage: "1 responses, 1200 in, 40 out", retries: 2},
		{name: "overloaded-in-sse", exit: 1, steps: "error", verdict: "fault overloaded, trial", usage: "0 responses, 3600 in, 3 out, at least"},
		{name: "malformed-sse", exit: 1, steps: "error", verdict: "fault stream, trial", usage: none + ", at least"},
		{name: "empty-stream", exit: 1, steps: "error", verdict: "fault stream, trial", usage: none + ", at least"},
		{name: "truncated-stream", exit: 1, steps: "error", verdict: "fault stream, trial", usage: none + ", at least"},
		{name: "conn-refused", exit: 1, steps: "error", verdict: "fault network, trial", usage: none, retries: 2},
		{name: "model-hang-timeout", exit: 1, steps: "error", verdict: "fault model_hang, trial", usage: none + ", at least", retries: 2},

		{name: "mcp-down", steps: refuse, verdict: "fault mcp, trial", usage: twice},
		{name: "mcp-enoent", steps: refuse, verdict: "fault mcp, trial", usage: twice},
		{name: "mcp-hang-pending", steps: refuse, verdict: "fault mcp, trial", usage: twice},
		{name: "mcp-nonblocking-race", steps: refuse, verdict: "fault mcp, trial", usage: twice},
		{name: "mcp-badconfig", exit: 1, verdict: "fault host_config, stop", usage: none + ", at least"},
		{name: "resume-missing", exit: 1, verdict: "fault host, trial", usage: none + ", at least"},

		{name: "hang-sigint", stop: StopTime, verdict: "timeout", usage: none + ", at least"},
		{name: "hang-sigterm", exit: 143, stop: StopTime, verdict: "timeout", usage: none + ", at least"},
		{name: "hang-sigterm", exit: 143, verdict: "fault no_terminal, trial", usage: none + ", at least"},
		{name: "hang-sigint", verdict: "fault host, trial", usage: none + ", at least"},
		{name: "hang-sigint", stop: StopTurns, verdict: "max_turns", usage: none + ", at least"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rec recorder
			p := New(everything)
			p.Begin(rec.emit)
			rest := feed(p, readCapture(t, c.name+".jsonl"))
			exit := agentproc.Exit{Code: c.exit}
			r, err := p.Result(End{Stop: c.stop, Exit: &exit, Stderr: string(readCapture(t, c.name+".stderr.txt"))})
			if len(rest) > 0 {
				t.Errorf("%d bytes are left after the closing line", len(rest))
			}
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
			if len(rec.warnings) > 0 {
				t.Errorf("warnings: %q", rec.warnings)
			}
			if p.Missing() == nil && p.init != nil && r.AgentVersion != "2.1.197" {
				t.Errorf("agent version = %q", r.AgentVersion)
			}
			if r.Usage.CostUSD != nil {
				t.Errorf("cost = %v; the agent's own estimate must not be used", *r.Usage.CostUSD)
			}
		})
	}
}

// In one process the counts of the closing line are of the turn, those by model of
// the process.
func TestTwoTurns(t *testing.T) {
	p := New(everything)
	b := readCapture(t, "streaminput-2turn.jsonl")
	for turn := 1; turn <= 2; turn++ {
		var rec recorder
		p.Begin(rec.emit)
		b = feed(p, b)
		r, err := p.Result(End{})
		if got := verdict(r, err); got != "completed" {
			t.Errorf("turn %d: verdict = %q", turn, got)
		}
		if got := rec.short(); got != echoed {
			t.Errorf("turn %d: steps = %q; want %q", turn, got, echoed)
		}
		if got := counts(r.Usage); got != twice {
			t.Errorf("turn %d: usage = %q; want %q", turn, got, twice)
		}
		want := fmt.Sprintf("Final answer after %d messages.", 4*turn-1)
		if !strings.HasPrefix(r.Answer, want) {
			t.Errorf("turn %d: answer = %q; want %q...", turn, r.Answer, want)
		}
	}
	if len(b) > 0 {
		t.Errorf("%d bytes left", len(b))
	}
}

func TestSteps(t *testing.T) {
	var rec recorder
	p := New(everything)
	p.Begin(rec.emit)
	feed(p, readCapture(t, "success-mcp.jsonl"))
	want := []eval.Step{
		{Kind: eval.StepMessage, Role: "assistant", Text: "Let me call the tool.", Model: "claude-sonnet-4-5"},
		{Kind: eval.StepToolCall, CallID: "toolu_001001", Server: "everything", Tool: "echo", Model: "claude-sonnet-4-5",
			Arguments: eval.JSON(`{"message":"hello from the scripted model"}`)},
		{Kind: eval.StepToolResult, CallID: "toolu_001001", Bytes: 74,
			Result: eval.JSON(`{"content":[{"type":"text","text":"Echo: hello from the scripted model"}]}`)},
		{Kind: eval.StepMessage, Role: "assistant", Model: "claude-sonnet-4-5",
			Text: `Final answer after 3 messages. Tool said: [{"content":[{"type":"text","text":"Echo: hello from the scripted model"}]}]`},
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

// Every beginning of every capture that ends within a line ends in a fault or, stopped, in a timeout;
// never in a panic and never in a success.
func TestCutCaptures(t *testing.T) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d captures, %v", len(names), err)
	}
	for _, name := range names {
		if filepath.Base(name) == "streaminput-2turn.jsonl" {
			continue // its first turn is whole
		}
		b := readCapture(t, filepath.Base(name))
		s := bufio.NewScanner(bytes.NewReader(b))
		s.Buffer(nil, 1<<20)
		for at, s := 0, s; s.Scan(); {
			line := len(s.Bytes())
			for _, cut := range []int{at, at + line/2, at + line - 1} {
				var rec recorder
				p := New(everything)
				p.Begin(rec.emit)
				feed(p, b[:cut])
				r, err := p.Result(End{Exit: &agentproc.Exit{}})
				if err == nil {
					t.Errorf("%s cut at %d: %s", name, cut, verdict(r, err))
				}
			}
			at += line + 1
		}
	}
}

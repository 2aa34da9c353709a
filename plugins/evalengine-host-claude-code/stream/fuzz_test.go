package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// Whatever an agent writes, a turn ends in an outcome or a fault, its steps can be
// written, and its counts are no less than nothing.
func FuzzParser(f *testing.F) {
	names, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(strings.Join([]string{initLine, say("1", "m", "k", use("t", "mcp__cms__x", `{"__unparsedToolInput":{"raw":"{"}}`)), okLine}, "\n")))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := New(agentout.NewNames([]string{"everything", "cms"}, "-"))
		for range 3 {
			open := map[string]bool{}
			p.Begin(func(e eval.Event) {
				s := e.Step
				if s == nil {
					return
				}
				if s.Kind == eval.StepToolCall && (s.CallID == "" || open[s.CallID]) {
					t.Errorf("call %q twice or without an ID", s.CallID)
				}
				open[s.CallID] = open[s.CallID] || s.Kind == eval.StepToolCall
				if _, err := json.Marshal(s); err != nil {
					t.Errorf("step cannot be written: %v", err)
				}
			})
			b = feed(p, b)
			for _, stop := range []Stop{StopNone, StopTime} {
				r, err := p.Result(End{Stop: stop, Exit: &agentproc.Exit{}})
				var fault *eval.Fault
				if errors.As(err, &fault) == (r.Outcome != "") || (err != nil && fault == nil) {
					t.Errorf("outcome %q, error %v", r.Outcome, err)
				}
				if fault != nil && (fault.Cause == "" || fault.Retry == "" || len(fault.Detail) > 2000) {
					t.Errorf("fault %+v", fault)
				}
				u := r.Usage
				if u.InputTokens < 0 || u.OutputTokens < 0 || u.InputTokens < u.CacheReadTokens+u.CacheWriteTokens {
					t.Errorf("usage %+v", u)
				}
			}
		}
	})
}

// A line that is cut anywhere is read or left out, whole.
func FuzzCutLine(f *testing.F) {
	f.Add([]byte(heard("1", "", result("t1", `[{"type":"text","text":"AAAA"}]`, true))), 60)
	f.Add([]byte(say("1", "m", "", text("a"), use("t", "mcp__cms__x", `{"a":[1,2]}`))), 90)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if len(b) == 0 || bytes.Contains(b, []byte("\n")) {
			return
		}
		p := New(cms)
		p.Begin(func(e eval.Event) {
			if s := e.Step; s != nil && !s.Truncated {
				t.Errorf("step of a cut line is not marked: %+v", s)
			}
		})
		p.Line(agentproc.Line{Text: b[:uint(n)%uint(len(b))], Size: int64(len(b)), Truncated: true})
	})
}

// Package steptest writes transcripts for tests, one step a line.
package steptest

import (
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Steps reads a transcript. Empty lines are skipped; a line is one of
//
//	user TEXT
//	say TEXT
//	call ID server/tool ARGUMENTS
//	bad ID server/tool TEXT        arguments that are not JSON
//	ok ID TEXT                     a result of that text
//	error ID TEXT                  one that is marked as an error
//	raw ID JSON                    a result as it is
//
// and may end in "| turn=2 parent=k1 unconfirmed unreported cut bytes=9 ms=5". The
// turn, once given, holds for the lines that follow.
func Steps(script string) []eval.Step {
	var steps []eval.Step
	turn := 1
	parent := map[string]string{}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		line, flags, _ := strings.Cut(line, " | ")
		s := eval.Step{ID: "s" + strconv.Itoa(len(steps)+1)}
		read(&s, line)
		s.Parent = parent[s.CallID]
		for _, flag := range strings.Fields(flags) {
			set(&s, flag, &turn)
		}
		s.Turn = turn
		if s.Kind == eval.StepToolCall {
			parent[s.CallID] = s.Parent
		}
		steps = append(steps, s)
	}
	return steps
}

func read(s *eval.Step, line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "user", "say":
		s.Kind, s.Role, s.Text = eval.StepMessage, "assistant", rest
		if verb == "user" {
			s.Role = "user"
		}
		return
	}
	id, rest, _ := strings.Cut(rest, " ")
	s.CallID = id
	switch verb {
	case "call", "bad":
		s.Kind = eval.StepToolCall
		name, args, _ := strings.Cut(rest, " ")
		s.Server, s.Tool, _ = strings.Cut(name, "/")
		s.Arguments = eval.JSON(args)
		if verb == "bad" {
			s.BadArguments, s.Arguments = true, jsonv.AppendString(nil, args)
		}
	case "ok", "error", "raw":
		s.Kind, s.IsError = eval.StepToolResult, verb == "error"
		s.Result = eval.JSON(rest)
		if verb != "raw" {
			s.Result = eval.JSON(`{"content":[{"type":"text","text":` + jsonv.Quote(rest) + `}]}`)
		}
		s.Bytes = int64(len(s.Result))
	default:
		panic("steptest: " + line)
	}
}

func set(s *eval.Step, flag string, turn *int) {
	name, value, _ := strings.Cut(flag, "=")
	n, _ := strconv.Atoi(value)
	switch name {
	case "turn":
		*turn = n
	case "parent":
		s.Parent = value
	case "ms":
		ms := float64(n)
		s.DurationMS = &ms
	case "bytes":
		s.Bytes = int64(n)
	case "unconfirmed", "unreported", "confirmed":
		s.Observed = eval.Observation(name)
	case "cut":
		s.Truncated = true
	default:
		panic("steptest: flag " + flag)
	}
}

// Tools reads a tool list, one tool a line: "server/tool", followed by any of
// "destructive", "requires=a,b" and "schema=JSON", which ends the line.
func Tools(script string) []eval.Tool {
	var tools []eval.Tool
	for line := range strings.Lines(script) {
		line, schema, _ := strings.Cut(strings.TrimSpace(line), " schema=")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		t := eval.Tool{InputSchema: eval.JSON(schema)}
		t.Server, t.Name, _ = strings.Cut(fields[0], "/")
		for _, f := range fields[1:] {
			if f == "destructive" {
				t.Destructive = true
			}
			if list, ok := strings.CutPrefix(f, "requires="); ok {
				t.Requires = strings.Split(list, ",")
			}
		}
		tools = append(tools, t)
	}
	return tools
}

// Sum sums up an output for a test: pass, fail, skip, error or the value of a
// measure, with the reason and the steps or pointers of the evidence.
func Sum(o eval.ScoreOutput) (verdict, reason, evidence string) {
	switch {
	case o.State == eval.ScoreErrored:
		verdict = "error"
	case o.State == eval.ScoreSkipped:
		verdict = "skip"
	case o.Passed == nil:
		verdict = strconv.FormatFloat(o.Value, 'g', 4, 64)
	case *o.Passed && o.Value == 1:
		verdict = "pass"
	case !*o.Passed && o.Value == 0:
		verdict = "fail"
	}
	var list []string
	for _, e := range o.Evidence {
		list = append(list, e.Step+e.Pointer)
	}
	return verdict, o.Reason, strings.Join(list, " ")
}

package trial

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway"
)

func call(tool, args string, at int) gateway.Call {
	return gateway.Call{
		Server: "cms", Tool: tool, Arguments: eval.JSON(args), Result: eval.JSON(`{"ok":true}`), Bytes: 11,
		At: time.Duration(at) * time.Millisecond, Duration: 2 * time.Millisecond, Finished: true,
	}
}

func told(kind eval.StepKind, id, tool, args string, at float64) eval.Step {
	s := eval.Step{Turn: 1, Kind: kind, CallID: id, Server: "cms", Tool: tool, AtMS: at}
	if kind == eval.StepToolCall {
		s.Arguments = eval.JSON(args)
	}
	return s
}

// lines shows steps as short texts: id kind call tool observed.
func lines(steps []eval.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s %s %s %s", s.ID, s.Turn, s.Kind, s.CallID, s.Tool, s.Observed)))
	}
	return out
}

func merged(steps []eval.Step, calls []gateway.Call, ends []float64) []eval.Step {
	out, _ := merge(steps, calls, ends)
	return out
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []eval.Step
		calls []gateway.Call
		ends  []float64
		want  []string
	}{
		{"confirmed", []eval.Step{told(eval.StepToolCall, "t1", "a", `{"x":1}`, 1), told(eval.StepToolResult, "t1", "a", "", 4)},
			[]gateway.Call{call("a", `{ "x": 1 }`, 1)}, []float64{9},
			[]string{"s1 1 tool_call t1 a confirmed", "s2 1 tool_result t1 a confirmed"}},
		{"result the host never told", []eval.Step{told(eval.StepToolCall, "t1", "a", `{}`, 1), {Turn: 1, Kind: eval.StepMessage, AtMS: 8}},
			[]gateway.Call{call("a", `{}`, 1)}, []float64{9},
			[]string{"s1 1 tool_call t1 a confirmed", "s2 1 tool_result t1 a confirmed", "s3 1 message"}},
		{"the model's form of a name", []eval.Step{told(eval.StepToolCall, "t1", "zone_list_all", `{}`, 1)},
			[]gateway.Call{call("zone.list-all", `{}`, 1)}, []float64{9},
			[]string{"s1 1 tool_call t1 zone.list-all confirmed", "s2 1 tool_result t1 zone.list-all confirmed"}},
		{"unconfirmed", []eval.Step{told(eval.StepToolCall, "t1", "a", `{}`, 1)}, nil, []float64{9},
			[]string{"s1 1 tool_call t1 a unconfirmed"}},
		{"built-in tool of the host", []eval.Step{{Turn: 1, Kind: eval.StepToolCall, CallID: "b", Tool: "Bash"}}, nil, []float64{9},
			[]string{"s1 1 tool_call b Bash"}},
		{"unreported, in its turn", []eval.Step{{Turn: 1, Kind: eval.StepMessage, AtMS: 0}, {Turn: 2, Kind: eval.StepMessage, AtMS: 10}},
			[]gateway.Call{call("a", `{}`, 5), call("b", `{}`, 15)}, []float64{9, 20},
			[]string{"s1 1 message", "s2 1 tool_call gateway-1 a unreported", "s3 1 tool_result gateway-1 a unreported",
				"s4 2 message", "s5 2 tool_call gateway-2 b unreported", "s6 2 tool_result gateway-2 b unreported"}},
		{"parallel calls are told apart by their arguments",
			[]eval.Step{told(eval.StepToolCall, "t1", "a", `{"n":"A"}`, 1), told(eval.StepToolCall, "t2", "a", `{"n":"B"}`, 1),
				told(eval.StepToolResult, "t2", "a", "", 5), told(eval.StepToolResult, "t1", "a", "", 6)},
			[]gateway.Call{call("a", `{"n":"B"}`, 2), call("a", `{"n":"A"}`, 3)}, []float64{9},
			[]string{"s1 1 tool_call t1 a confirmed", "s2 1 tool_call t2 a confirmed", "s3 1 tool_result t2 a confirmed", "s4 1 tool_result t1 a confirmed"}},
		{"two of the same, one seen", []eval.Step{told(eval.StepToolCall, "t1", "a", `{}`, 1), told(eval.StepToolCall, "t2", "a", `{}`, 2)},
			[]gateway.Call{call("a", `{}`, 1)}, []float64{9},
			[]string{"s1 1 tool_call t1 a confirmed", "s2 1 tool_result t1 a confirmed", "s3 1 tool_call t2 a unconfirmed"}},
	} {
		if d := cmp.Diff(lines(merged(tt.steps, tt.calls, tt.ends)), tt.want); d != "" {
			t.Errorf("%s: got -, want +:\n%s", tt.name, d)
		}
	}
}

func TestMergeTakesTheGatewaysWord(t *testing.T) {
	steps := []eval.Step{told(eval.StepToolCall, "t1", "a", `{"n":"A"}`, 1), told(eval.StepToolResult, "t1", "a", "", 5)}
	steps[1].Result = eval.JSON(`"what the host made of it"`)
	c := call("a", `{"n":"A"}`, 1)
	c.IsError, c.Bytes = true, 71_000
	got := merged(steps, []gateway.Call{c}, []float64{9})[1]
	if !got.IsError || got.Bytes != 71_000 || string(got.Result) != `{"ok":true}` || *got.DurationMS != 2 {
		t.Errorf("result = %+v", got)
	}
}

// What the host put in the place of a result is what the agent saw: the gateway's
// word would have it judged by what it never knew.
func TestMergeOfWithheldResults(t *testing.T) {
	result := func(text string) eval.JSON {
		return eval.JSON(`{"content":[{"type":"text","text":"` + text + `"}]}`)
	}
	const (
		notice    = "Error: result (179,889 characters) exceeds maximum allowed tokens. Output has been saved to /tmp/x.txt"
		persisted = `\u003cpersisted-output\u003e\nOutput too large (71 KB). Full output saved to: /tmp/x.txt`
	)
	big := result(strings.Repeat("x", 1000))
	for _, tt := range []struct {
		name           string
		told, observed eval.JSON
		kept           bool
	}{
		{"a notice", result(notice), big, true},
		{"another host's", result(persisted), big, true},
		{"the same unescaped", result("<persisted-output>\\nOutput too large"), big, true},
		{"the result", big, big, false},
		{"another form of it", result("xxx"), big, false},
		{"a server that says so itself", result(notice), result(notice + strings.Repeat("x", 1000)), false},
		{"a notice in place of less", result(notice), result("x"), false},
		{"nothing told", nil, big, false},
	} {
		steps := []eval.Step{told(eval.StepToolCall, "t1", "a", `{}`, 1), told(eval.StepToolResult, "t1", "a", "", 5)}
		steps[1].Result, steps[1].Bytes = tt.told, int64(len(tt.told))
		c := call("a", `{}`, 1)
		c.Result, c.Bytes = tt.observed, int64(len(tt.observed))
		out, kept := merge(steps, []gateway.Call{c}, []float64{9})
		want := tt.observed
		if tt.kept {
			want = tt.told
		}
		if got := out[1]; string(got.Result) != string(want) || got.Bytes != c.Bytes || got.IsError || got.Observed != eval.Confirmed || (len(kept) == 1) != tt.kept {
			t.Errorf("%s: result %+v, %d kept from the agent", tt.name, got, len(kept))
		}
	}
}

// Equal calls made at once are told apart by how they ended, whatever the order of
// their arrival.
func TestMergeOfEqualCalls(t *testing.T) {
	for _, firstFails := range []bool{false, true} {
		steps := []eval.Step{
			told(eval.StepToolCall, "t1", "a", `{"n":"A"}`, 1), told(eval.StepToolCall, "t2", "a", `{"n":"A"}`, 1),
			told(eval.StepToolResult, "t2", "a", "", 5), told(eval.StepToolResult, "t1", "a", "", 6),
		}
		steps[2].IsError = true
		calls := []gateway.Call{call("a", `{"n":"A"}`, 2), call("a", `{"n":"A"}`, 3)}
		calls[0].IsError, calls[1].IsError = firstFails, !firstFails
		for _, c := range eval.Calls(merged(steps, calls, []float64{9})) {
			if want := map[string]eval.CallStatus{"s1": eval.CallOK, "s2": eval.CallError}[c.Step]; c.Status != want {
				t.Errorf("first arrival fails %v: call %s is %s; want %s", firstFails, c.Step, c.Status, want)
			}
		}
	}
}

func TestMergeUnfinished(t *testing.T) {
	c := call("a", `{}`, 1)
	c.Finished = false
	steps := merged([]eval.Step{told(eval.StepToolCall, "t1", "a", `{}`, 1)}, []gateway.Call{c}, nil)
	calls := eval.Calls(steps)
	if len(calls) != 1 || calls[0].Status != eval.CallUnfinished || calls[0].DurationMS != nil {
		t.Errorf("calls = %+v", calls)
	}
	if n := counts(steps); n != (eval.Counts{Total: 1, Unfinished: 1}) {
		t.Errorf("counts = %+v", n)
	}
}

// A cut result leaves the call's arguments whole, and the other way round: a
// replay goes by that.
func TestMergeKeepsWhatIsCutApart(t *testing.T) {
	for _, tt := range []struct {
		arguments, result bool
	}{{false, false}, {true, false}, {false, true}, {true, true}} {
		c := call("a", `{}`, 1)
		c.ArgumentsTruncated, c.Truncated = tt.arguments, tt.result
		steps := []eval.Step{told(eval.StepToolCall, "t1", "a", `{}`, 1), told(eval.StepToolResult, "t1", "a", "", 4)}
		steps[0].Truncated = true // the host's line was; the gateway's arguments are taken
		for name, got := range map[string][]eval.Step{
			"confirmed": merged(steps, []gateway.Call{c}, []float64{9}), "untold result": merged(steps[:1:1], []gateway.Call{c}, []float64{9}),
			"unreported": merged(nil, []gateway.Call{c}, []float64{9}),
		} {
			if len(got) != 2 || got[0].Truncated != tt.arguments || got[1].Truncated != tt.result {
				t.Errorf("%+v, %s: %+v", tt, name, got)
			}
		}
	}
}

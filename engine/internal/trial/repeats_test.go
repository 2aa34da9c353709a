package trial

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestRepeats(t *testing.T) {
	type call struct{ server, tool, args string }
	for _, tt := range []struct {
		name  string
		calls []call
		want  []string
	}{
		{"nothing", nil, nil},
		{"twice", []call{{"s", "get", `{"a":1}`}, {"s", "get", `{"a":1}`}}, nil},
		{"three times", []call{{"s", "get", `{"a":1,"b":[2]}`}, {"s", "get", `{ "b":[2], "a":1 }`}, {"s", "get", `{"a":1,"b":[2]}`}},
			[]string{"info s/get: the same call of s/get was made 3 times, with the same arguments [s1 s2 s3]"}},
		{"no arguments", []call{{"s", "list", ``}, {"s", "list", `{}`}, {"s", "list", `null`}},
			[]string{"info s/list: the same call of s/list was made 3 times, with the same arguments [s1 s2 s3]"}},
		{"other values", []call{{"s", "get", `{"a":1}`}, {"s", "get", `{"a":2}`}, {"s", "get", `{"a":"1"}`}}, nil},
		{"large numbers", []call{{"s", "get", `9007199254740992`}, {"s", "get", `9007199254740993`}, {"s", "get", `9007199254740992.0`}}, nil},
		{"other servers", []call{{"s", "get", `{}`}, {"t", "get", `{}`}, {"s", "get", `{}`}}, nil},
		{"the host's own tools", []call{{"", "Bash", `{}`}, {"", "Bash", `{}`}, {"", "Bash", `{}`}}, nil},
		{"the most of each tool", []call{{"s", "a", `1`}, {"s", "b", `1`}, {"s", "a", `1`}, {"s", "a", `2`}, {"s", "a", `2`}, {"s", "a", `2`}, {"s", "a", `1`}, {"s", "a", `2`}, {"s", "b", `1`}, {"s", "b", `1`}},
			[]string{
				"info s/a: the same call of s/a was made 4 times, with the same arguments [s4 s5 s6 s8]",
				"info s/b: the same call of s/b was made 3 times, with the same arguments [s2 s9 s10]",
			}},
		{"no JSON", []call{{"s", "a", `{`}, {"s", "a", `{`}, {"s", "a", `{`}}, []string{"info s/a: the same call of s/a was made 3 times, with the same arguments [s1 s2 s3]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var steps []eval.Step
			for i, c := range tt.calls {
				steps = append(steps, eval.Step{ID: fmt.Sprintf("s%d", i+1), Kind: eval.StepToolCall, Server: c.server, Tool: c.tool, Arguments: eval.JSON(c.args)})
			}
			var got []string
			for _, f := range repeats(steps) {
				var at []string
				for _, e := range f.Evidence {
					at = append(at, e.Step)
				}
				if f.Kind != "repeated_call" || f.Source != "engine" {
					t.Errorf("%+v", f)
				}
				got = append(got, fmt.Sprintf("%s %s: %s %v", f.Severity, f.Tool, f.Text, at))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("repeats (-want +got):\n%s", diff)
			}
		})
	}
}

// What is cut may differ where it is not kept, and a thousand repeats name ten.
func TestRepeatsBounds(t *testing.T) {
	var steps []eval.Step
	for i := range 1000 {
		steps = append(steps, eval.Step{ID: fmt.Sprint(i), Kind: eval.StepToolCall, Server: "s", Tool: "cut", Arguments: eval.JSON(`{}`), Truncated: true},
			eval.Step{ID: fmt.Sprint(i), Kind: eval.StepToolCall, Server: "s", Tool: "whole"})
	}
	got := repeats(steps)
	if len(got) != 1 || got[0].Tool != "s/whole" || len(got[0].Evidence) != 10 {
		t.Errorf("%+v", got)
	}
}

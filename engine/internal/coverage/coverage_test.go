package coverage

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// status are the tools and actions with what is known of each.
func status(c *eval.Coverage) string {
	var b strings.Builder
	for _, t := range c.List {
		fmt.Fprintf(&b, "%s=%s", t.Tool, t.Status)
		for _, a := range t.Actions {
			fmt.Fprintf(&b, " .%s=%s", a.Action, a.Status)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func called(name, arguments string, s eval.CallStatus) eval.Call {
	return eval.Call{Server: "cms", Tool: name, Arguments: eval.JSON(arguments), Status: s}
}

const kinds = `{"properties":{"actions":{"items":{"required":["kind"],"properties":{"kind":{"enum":["add","del","move","get"]}}}}}}`

func cms() Target {
	return Target{Name: "t", Source: "run", From: "r", Tools: []eval.Tool{
		listedTool("cms", "edit", kinds), listedTool("cms", "list", ``), listedTool("cms", "pub", ``), listedTool("cms", "wait", ``), listedTool("cms", "zero", `true`), listedTool("cms", "fail", ``),
	}}
}

func sample() *Map {
	stories := []Story{
		{Name: "one", Target: "t", Asks: []Ask{
			{Use: "a", Tools: []string{"edit"}, Action: "add"},
			{Use: "b", Tools: []string{"cms/edit"}, Action: "del"},
			{Use: "c", Tools: []string{"l?st"}},
			{Use: "d", Tools: []string{"pub"}},
			{Use: "e", Tools: []string{"old_*"}},
			{Use: "f", Tools: []string{"edit"}, Action: "burn"},
			{Use: "g", Tools: []string{"/Bash"}},
			{Use: "h", Tools: []string{"edit"}, Values: map[string]string{"/actions/0/kind": "get"}},
		}},
		{Name: "two", Target: "t", Asks: []Ask{{Use: "a", Tools: []string{"wait"}}, {Use: "check/c", Tools: []string{"list", "ok"}, Texts: true}}},
		{Name: "three", Target: "unknown", Asks: []Ask{{Use: "a", Tools: []string{"edit"}}}},
	}
	m := New("s", []Target{cms(), {Name: "unknown"}}, stories)
	m.Ran("r")
	m.Trial("one", "t", []eval.Call{
		called("edit", `{"actions":[{"kind":"add"},{"kind":"move"},{"kind":"burn"}]}`, eval.CallOK),
		called("edit", `{"actions"`, eval.CallError),
		called("list", ``, eval.CallOK), called("list", ``, eval.CallError),
		called("fail", ``, eval.CallError),
		called("ghost", ``, eval.CallError),
		{Tool: "Bash", Status: eval.CallOK},
		{Server: "cms", Tool: "zero", Status: eval.CallOK, Observed: eval.Unconfirmed},
	})
	m.Trial("one", "t", []eval.Call{called("fail", ``, eval.CallError), called("fail", ``, eval.CallUnfinished)})
	return m
}

func TestCoverage(t *testing.T) {
	c := sample().Coverage(nil)
	want := `edit=covered .add=covered .del=unreached .move=exercised .get=unreached
fail=exercised
list=covered
pub=unreached
wait=asserted
zero=uncovered
`
	if got := status(c); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	third := 0.5
	if want := (eval.CoverageTally{Total: 4, Covered: 1, Exercised: 1, Unreached: 2, Share: &third}); !reflect.DeepEqual(c.Actions, want) {
		t.Errorf("actions %+v", c.Actions)
	}
	if c.Tools.Total != 6 || c.Parts.Total != 9 || c.Tools.Covered != 2 || *c.Parts.Share != 5.0/9 {
		t.Errorf("tools %+v, parts %+v", c.Tools, c.Parts)
	}
	edit, fail := c.List[0], c.List[1]
	if edit.Others != 1 || edit.Unread != 1 || edit.Argument != "actions[].kind" || edit.Called.Calls != 2 || edit.Called.AlwaysFails {
		t.Errorf("edit %+v", edit)
	}
	if want := (eval.ToolUse{Calls: 3, Failed: 2, Unfinished: 1, Trials: 2, AlwaysFails: true}); fail.Called != want {
		t.Errorf("fail %+v", fail.Called)
	}
	lost := []eval.LostTool{
		{Story: "one", Use: "b", Tool: "cms/edit", Action: "del", Why: eval.LostNeverCalled, Trials: 2},
		{Story: "one", Use: "d", Tool: "pub", Why: eval.LostNeverCalled, Trials: 2},
		{Story: "one", Use: "e", Tool: "old_*", Why: eval.LostNotOffered, Trials: 2},
		{Story: "one", Use: "f", Tool: "edit", Action: "burn", Why: eval.LostNoAction, Trials: 2},
		{Story: "one", Use: "h", Tool: "edit", Why: eval.LostNeverCalled, Trials: 2},
	}
	if !reflect.DeepEqual(c.Lost, lost) {
		t.Errorf("lost %+v", c.Lost)
	}
	if want := []eval.UnlistedTool{{Target: "t", Server: "cms", Tool: "ghost", Called: eval.ToolUse{Calls: 1, Failed: 1, Trials: 1}}}; !reflect.DeepEqual(c.Unlisted, want) {
		t.Errorf("unlisted %+v", c.Unlisted)
	}
	if c.Trials.Read != 2 || len(c.Problems) != 0 || c.Use != nil {
		t.Errorf("trials %+v, problems %q, use %v", c.Trials, c.Problems, c.Use)
	}
}

func TestUse(t *testing.T) {
	for _, tt := range []struct {
		name            string
		weights         map[UseOf]float64
		share, unlisted float64 // a negative share is none
		problems        int
	}{
		{"tools alone", map[UseOf]float64{{"list", ""}: 3, {"cms/zero", ""}: 1}, 0.75, 0, 0},
		{"actions", map[UseOf]float64{{"edit", "add"}: 1, {"edit", "del"}: 3}, 0.25, 0, 0},
		{"others", map[UseOf]float64{{"list", ""}: 1, {"secret-customer", ""}: 2, {"edit", "no"}: 1}, 1, 0.75, 0},
		{"none of these", map[UseOf]float64{{"secret-customer", ""}: 2}, -1, 1, 0},
		{"no use", map[UseOf]float64{}, -1, 0, 0},
		{"no weight", map[UseOf]float64{{"list", ""}: 0}, -1, 0, 0},
		{"no numbers", map[UseOf]float64{{"list", ""}: math.NaN(), {"pub", ""}: -1, {"wait", ""}: math.Inf(1), {"zero", ""}: 2}, 0, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := sample().Coverage(&Usage{Weights: tt.weights, Events: 4, Broken: 1})
			switch {
			case c.Use.Share == nil && tt.share >= 0, c.Use.Share != nil && *c.Use.Share != tt.share, c.Use.Unlisted != tt.unlisted:
				t.Errorf("use %+v; want %v, %v", c.Use, tt.share, tt.unlisted)
			}
			if len(c.Problems) != tt.problems || c.Use.Events != 4 || c.Use.Broken != 1 {
				t.Errorf("problems %q, use %+v", c.Problems, c.Use)
			}
		})
	}
	c := sample().Coverage(&Usage{Weights: map[UseOf]float64{{"edit", "add"}: 1, {"edit", "del"}: 2, {"edit", ""}: 1, {"list", ""}: 4}})
	if edit := c.List[0]; *edit.Share != 0.5 || *edit.Actions[0].Share != 0.125 || edit.Actions[2].Share != nil || *c.List[2].Share != 0.5 {
		t.Errorf("edit %v, %v; list %v", edit.Share, edit.Actions, c.List[2].Share)
	}
}

func TestListsWithNamesTwice(t *testing.T) {
	targets := []Target{
		{Name: "a", Source: "file", Tools: []eval.Tool{listedTool("one", "search", `{}`), listedTool("two", "search", `{"x":1}`), listedTool("one", "search", `{"y":1}`)}},
		{Name: "b", Source: "file", Tools: []eval.Tool{listedTool("one", "search", ` { } `), listedTool("two", "search", `{"x":2}`)}},
	}
	m := New("s", targets, []Story{{Name: "x", Target: "a", Asks: []Ask{{Use: "u", Tools: []string{"two/search"}}}}, {Name: "y", Target: "a", Asks: []Ask{{Use: "v", Tools: []string{"search"}}}}})
	m.Trial("y", "a", []eval.Call{{Server: "one", Tool: "search", Status: eval.CallOK}})
	c := m.Coverage(nil)
	var got []string
	for _, l := range c.List {
		got = append(got, fmt.Sprintf("%s/%s %v %s %v %v", l.Server, l.Tool, l.Targets, l.Status, l.Stories, l.Patterns))
	}
	want := []string{"one/search [a b] covered [y] []", "two/search [a] asserted [x] [y]", "two/search [b] uncovered [] []"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0], "target.a lists 1 tools under a name that another") {
		t.Errorf("problems %q", c.Problems)
	}
	if len(c.Lost) != 0 {
		t.Errorf("lost %+v", c.Lost)
	}
}

func TestAgainst(t *testing.T) {
	m := sample()
	m.Against("r0", "t", []eval.Tool{listedTool("cms", "edit", kinds), listedTool("cms", "old", ``)})
	m.Against("r0", "unknown", []eval.Tool{listedTool("cms", "old", ``)})
	c := m.Coverage(nil)
	if c.Against != "r0" || len(c.Drift) != 1 {
		t.Fatalf("against %q, drift %+v", c.Against, c.Drift)
	}
	d := c.Drift[0]
	if d.Target != "t" || len(d.Added) != 5 || !reflect.DeepEqual(d.Removed, []eval.ToolName{{Server: "cms", Tool: "old"}}) || !reflect.DeepEqual(d.Failing, []eval.ToolName{{Server: "cms", Tool: "fail"}}) {
		t.Errorf("drift %+v", d)
	}
	m = New("s", []Target{cms()}, nil)
	m.Against("r0", "t", cms().Tools)
	if c := m.Coverage(nil); len(c.Drift) != 0 || c.Against != "r0" {
		t.Errorf("the same list: %+v", c.Drift)
	}
}

func TestNotesAreBounded(t *testing.T) {
	m := New("s", []Target{cms()}, nil)
	var calls []eval.Call
	for i := range 3 * maxUnlisted {
		calls = append(calls, called(fmt.Sprintf("x%d", i), ``, eval.CallOK))
	}
	m.Trial("one", "t", calls)
	for i := range 3 * maxProblems {
		m.Problem("%d", i)
	}
	c := m.Coverage(nil)
	if len(c.Unlisted) != maxUnlisted || len(c.Problems) != maxProblems+1 {
		t.Errorf("%d tools, %d problems", len(c.Unlisted), len(c.Problems))
	}
}

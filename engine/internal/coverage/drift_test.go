package coverage

import (
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func listedTool(server, name, schema string) eval.Tool {
	return eval.Tool{Server: server, Name: name, InputSchema: eval.JSON(schema)}
}

func TestDrift(t *testing.T) {
	described := listedTool("s", "told", `{}`)
	described.Description = "new"
	noted := listedTool("s", "noted", `{}`)
	noted.Annotations = eval.JSON(`{"readOnlyHint":true}`)
	before := []eval.Tool{
		listedTool("s", "same", `{"a":1,"b":[1,2]}`), listedTool("s", "gone", ``), listedTool("other", "gone", ``), listedTool("s", "told", `{}`), listedTool("s", "noted", `{}`),
		listedTool("s", "op", `{"properties":{"op":{"enum":["a","b","c"]}}}`), listedTool("s", "same", `{"twice":1}`), listedTool("s", "broken", `{`),
	}
	after := []eval.Tool{
		listedTool("s", "broken", `{`), noted, described, listedTool("s", "op", `{"properties":{"op":{"enum":["c","b","d"]}}}`),
		listedTool("s", "same", `{ "b": [1, 2], "a": 1 }`), listedTool("s", "new", ``), listedTool("other", "gone", ``),
	}
	want := eval.ToolDrift{
		Added: []eval.ToolName{{Server: "s", Tool: "new"}}, Removed: []eval.ToolName{{Server: "s", Tool: "gone"}},
		Changed: []eval.ToolChanged{
			{ToolName: eval.ToolName{Server: "s", Tool: "noted"}, What: []string{"annotations"}},
			{ToolName: eval.ToolName{Server: "s", Tool: "op"}, What: []string{"input_schema"}, ActionsAdded: []string{"d"}, ActionsRemoved: []string{"a"}},
			{ToolName: eval.ToolName{Server: "s", Tool: "told"}, What: []string{"description"}},
		},
		Failing: []eval.ToolName{},
	}
	if got := Drift(before, after); !reflect.DeepEqual(got, want) {
		t.Errorf("Drift = %+v\nwant %+v", got, want)
	}
	if d := Drift(before, before); !d.None() {
		t.Errorf("a list differs from itself: %+v", d)
	}
	if d := Drift(nil, nil); !d.None() {
		t.Errorf("nothing differs from nothing: %+v", d)
	}
}

// A list from tools/list does not say which server it is of.
func TestDriftOfListsWithoutServers(t *testing.T) {
	d := Drift([]eval.Tool{listedTool("s", "a", `{}`), listedTool("s", "b", `{}`)}, []eval.Tool{listedTool("", "a", `{}`), listedTool("", "c", `{}`)})
	if !reflect.DeepEqual(d.Added, []eval.ToolName{{Tool: "c"}}) || !reflect.DeepEqual(d.Removed, []eval.ToolName{{Tool: "b"}}) || len(d.Changed) != 0 {
		t.Errorf("Drift = %+v", d)
	}
}

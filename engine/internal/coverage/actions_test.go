package coverage

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestActionsOf(t *testing.T) {
	for _, tt := range []struct {
		name, schema, argument string
		actions                []string
	}{
		{"no schema", ``, "", nil},
		{"no JSON", `{"properties":`, "", nil},
		{"true", `true`, "", nil},
		{"false", `false`, "", nil},
		{"null", `null`, "", nil},
		{"a list", `[1]`, "", nil},
		{"properties that are no objects", `{"properties":{"action":true,"mode":7}}`, "", nil},
		{"enum", `{"properties":{"action":{"enum":["list","new"]}}}`, "action", []string{"list", "new"}},
		{"one constant is no choice", `{"properties":{"action":{"enum":["list"]}}}`, "", nil},
		{"another word", `{"properties":{"color":{"enum":["red","blue"]}},"required":["color"]}`, "", nil},
		{"null, blanks and doubles", `{"properties":{"mode":{"enum":["a",null,"","b","a"]}}}`, "mode", []string{"a", "b"}},
		{"numbers", `{"properties":{"op":{"enum":[1,2.50]}}}`, "op", []string{"1", "2.50"}},
		{"an object among constants", `{"properties":{"op":{"enum":["a",{}]}}}`, "", nil},
		{"oneOf of constants", `{"properties":{"operation":{"oneOf":[{"const":"a"},{"const":"b","title":"B"}]}}}`, "operation", []string{"a", "b"}},
		{"anyOf with null", `{"properties":{"mode":{"anyOf":[{"enum":["a","b"]},{"type":"null"}]}}}`, "mode", []string{"a", "b"}},
		{"oneOf with free text", `{"properties":{"mode":{"anyOf":[{"enum":["a","b"]},{"type":"string"}]}}}`, "", nil},
		{"the word goes before the order", `{"properties":{"mode":{"enum":["x","y"]},"action":{"enum":["a","b"]}}}`, "action", []string{"a", "b"}},
		{"case and underscores", `{"properties":{"Action_Type":{"enum":["a","b"]}}}`, "Action_Type", []string{"a", "b"}},
		{"type that may be left out", `{"properties":{"type":{"enum":["a","b"]}}}`, "", nil},
		{"type that is needed", `{"properties":{"type":{"enum":["a","b"]}},"required":["type"]}`, "type", []string{"a", "b"}},
		{"kind in a list", `{"properties":{"actions":{"type":"array","items":{"required":["kind"],"properties":{"kind":{"enum":["a","b"]}}}}}}`,
			"actions[].kind", []string{"a", "b"}},
		{"kinds by branch", `{"properties":{"actions":{"type":"array","items":{"oneOf":[
			{"properties":{"kind":{"const":"add"},"x":{}}},{"properties":{"kind":{"const":"del"}}}]}}}}`, "actions[].kind", []string{"add", "del"}},
		{"references", `{"$defs":{"add":{"properties":{"kind":{"const":"add"}}},"del":{"properties":{"kind":{"$ref":"#/$defs/k"}}},"k":{"const":"del"},
			"all":{"anyOf":[{"$ref":"#/$defs/add"},{"$ref":"#/$defs/del"}]}},
			"properties":{"actions":{"type":"array","items":{"$ref":"#/$defs/all"}}}}`, "actions[].kind", []string{"add", "del"}},
		{"references escaped, in a list", `{"definitions":{"a/b~c":[{"enum":["x","y"]}]},"properties":{"mode":{"$ref":"#/definitions/a~1b~0c/0"}}}`, "mode", []string{"x", "y"}},
		{"a reference elsewhere", `{"properties":{"mode":{"$ref":"https://example.com/x.json"}}}`, "", nil},
		{"a reference to nothing", `{"properties":{"mode":{"$ref":"#/$defs/none"}}}`, "", nil},
		{"references in a circle", `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"mode":{"$ref":"#/$defs/a"}}}`, "", nil},
		{"itself", `{"$ref":"#"}`, "", nil},
		{"recursive", `{"$defs":{"n":{"properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/n"}},"op":{"enum":["a","b"]}}}},"properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]}`,
			"n.op", []string{"a", "b"}},
		{"allOf", `{"allOf":[{"properties":{"command":{"enum":["a","b"]}}},{"properties":{"x":{}}}]}`, "command", []string{"a", "b"}},
		{"members named for actions", `{"properties":{"actions":{"type":"array","items":{"properties":{"get":{"type":"object"},"put":{"anyOf":[{"type":"object"},{"type":"null"}]},"flush":{"type":"boolean"}}}}}}`,
			"actions[].*", []string{"flush", "get", "put"}},
		{"each branch requires its own", `{"properties":{"requests":{"items":{"oneOf":[{"required":["a"],"properties":{"a":{"type":"object"}}},{"required":["b"],"properties":{"b":{"type":"object"}}}]}}}}`,
			"requests[].*", []string{"a", "b"}},
		{"too deep", `{"properties":{"a":{"type":"object","properties":{"b":{"type":"object","properties":{"c":{"type":"object","properties":{"op":{"enum":["a","b"]}}}},"required":["c"]}},"required":["b"]}},"required":["a"]}`, "", nil},
		{"names of siblings", `{"properties":{"what":{"enum":["page","post"]},"page":{"type":"object"},"post":{"type":"object"}},"required":["what"]}`, "what", []string{"page", "post"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := ActionsOf(eval.JSON(tt.schema))
			if a.Argument() != tt.argument || !reflect.DeepEqual(a.Names, tt.actions) || a.Left != 0 || a.Cut {
				t.Errorf("%q %q, left %d, cut %v; want %q %q", a.Argument(), a.Names, a.Left, a.Cut, tt.argument, tt.actions)
			}
		})
	}
}

// many is a list of n texts as JSON.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestActionsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		names, left  int
		cut          bool
	}{
		{"10,000 of an enum", `{"properties":{"action":{"enum":[` + many(10_000, `"a%d"`) + `]}}}`, 1000, 9000, false},
		{"10,000 of a oneOf", `{"properties":{"action":{"oneOf":[` + many(10_000, `{"const":"a%d"}`) + `]}}}`, 1000, 9000, false},
		{"10,000 branches", `{"oneOf":[` + many(10_000, `{"properties":{"kind":{"const":"a%d"}}}`) + `]}`, 1000, 9000, false},
		{"a long name", `{"properties":{"action":{"enum":["a","b","` + strings.Repeat("x", 257) + `"]}}}`, 2, 1, false},
		{"more than is read", `{"properties":{"action":{"enum":["a","b"]}},"x":"` + strings.Repeat("x", MaxSchema) + `"}`, 0, 0, true},
		{"a large part, often", `{"$defs":{"d":{` + many(50_000, `"k%d":1`) + `}},"properties":{` + many(50_000, `"p%d":{"$ref":"#/$defs/d"}`) + `}}`, 0, 0, true},
		{"a large enum, often", `{"$defs":{"d":{"enum":[` + many(50_000, `"k%d"`) + `]}},"required":[` + many(1000, `"p%d"`) + `],"properties":{` + many(1000, `"p%d":{"$ref":"#/$defs/d"}`) + `}}`, 0, 0, true},
		{"a long name, often", `{"$defs":{"d":{"properties":{"` + strings.Repeat("x", 1<<20) + `":{"enum":["a","b"]}}}},"required":[` + many(20_000, `"p%d"`) + `],"properties":{` + many(20_000, `"p%d":{"type":"object","$ref":"#/$defs/d"}`) + `}}`, 0, 0, true},
		{"a long value, often", `{"$defs":{"d":{"enum":["a","` + strings.Repeat("x", 1<<20) + `"]}},"required":[` + many(20_000, `"p%d"`) + `],"properties":{` + many(20_000, `"p%d":{"$ref":"#/$defs/d"}`) + `}}`, 0, 0, true},
		{"a long reference, often", `{"$defs":{"d":{"$ref":"#/no` + strings.Repeat("/x", 1<<20) + `"}},"required":[` + many(20_000, `"p%d"`) + `],"properties":{` + many(20_000, `"p%d":{"$ref":"#/$defs/d"}`) + `}}`, 0, 0, true},
		{"allOf in itself", `{"properties":{"x":{}},"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}`, 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := ActionsOf(eval.JSON(tt.schema))
			if len(a.Names) != tt.names || a.Left != tt.left || a.Cut != tt.cut {
				t.Errorf("%d actions, %d left, cut %v; want %d, %d, %v", len(a.Names), a.Left, a.Cut, tt.names, tt.left, tt.cut)
			}
		})
	}
}

func TestCalled(t *testing.T) {
	const (
		mode   = `{"properties":{"mode":{"enum":["list","drop"],"default":"list"}}}`
		kinds  = `{"properties":{"actions":{"items":{"required":["kind"],"properties":{"kind":{"enum":["a","b"]}}}}}}`
		keys   = `{"properties":{"actions":{"items":{"properties":{"get":{"type":"object"},"put":{"type":"object"}}}}}}`
		number = `{"properties":{"op":{"enum":[1,2]}}}`
	)
	for _, tt := range []struct {
		schema, arguments string
		want              []string
		bad               bool
	}{
		{mode, `{"mode":"drop"}`, []string{"drop"}, false},
		{mode, `{}`, []string{"list"}, false},
		{mode, ``, []string{"list"}, false},
		{mode, `{"mode":"other"}`, []string{"other"}, false},
		{mode, `"{\"mode\":\"drop\"}"`, []string{"drop"}, false},
		{mode, `"mode"`, nil, true},
		{mode, `{"mode":`, nil, true},
		{kinds, `{"actions":[{"kind":"b"},{"kind":"a"},{"kind":"b"},7,{"kind":{}}]}`, []string{"b", "a", "b"}, false},
		{kinds, `{"actions":{"kind":"b"}}`, nil, false},
		{keys, `{"actions":[{"put":{"x":1},"get":null},{"get":{}}]}`, []string{"put", "get"}, false},
		{number, `{"op":2}`, []string{"2"}, false},
		{kinds, `{"actions":[` + strings.TrimSuffix(strings.Repeat(`{"kind":"a"},`, 20_000), ",") + `]}`, nil, false},
	} {
		a := ActionsOf(eval.JSON(tt.schema))
		got, ok := a.Called(eval.JSON(tt.arguments))
		if len(tt.arguments) > 10_000 {
			if len(got) > maxEntries {
				t.Errorf("%d actions of one call", len(got))
			}
			continue
		}
		if ok == tt.bad || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.arguments, got, ok, tt.want)
		}
	}
}

func FuzzActionsOf(f *testing.F) {
	f.Add([]byte(`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"properties":{"kind":{"const":"x"}}}]}},"properties":{"actions":{"items":{"$ref":"#/$defs/a"}}}}`), []byte(`{"actions":[{"kind":"x"}]}`))
	f.Add([]byte(`{"allOf":[{"$ref":"#"},{"$ref":"#/allOf/0"}],"properties":{"mode":{"enum":["a",null,1]}}}`), []byte(`"{\"mode\":1}"`))
	f.Add([]byte(`{"properties":{"actions":{"items":{"properties":{"a":{"type":"object"},"b":true}}}}}`), []byte(`{"actions":[{"a":{},"b":false}]}`))
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		a := ActionsOf(schema)
		if len(a.Names) > MaxActions || len(unique(append([]string{}, a.Names...))) != len(a.Names) {
			t.Errorf("%d actions, or one of them twice", len(a.Names))
		}
		if a.Argument() == "" && len(a.Names) > 0 {
			t.Error("actions, and nothing that names them")
		}
		if len(a.Names) == 0 {
			return
		}
		if names, _ := a.Called(arguments); len(names) > maxEntries+1 {
			t.Errorf("%d actions of one call", len(names))
		}
	})
}

func BenchmarkActionsOf(b *testing.B) {
	schema := eval.JSON(`{"properties":{"actions":{"items":{"oneOf":[` + many(1000, `{"properties":{"kind":{"const":"a%d"},"x":{"type":"string"}}}`) + `]}}}}`)
	for b.Loop() {
		ActionsOf(schema)
	}
}

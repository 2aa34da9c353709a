package coverage

import (
	"reflect"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestAsksOf(t *testing.T) {
	ask := func(a ...Ask) []Ask {
		for i := range a {
			a[i].Use = "u"
		}
		return a
	}
	for _, tt := range []struct {
		scorer, params string
		role           eval.Role
		want           []Ask
	}{
		{"tools/called", `{"tool":"a*","action":"x"}`, eval.RoleAssert, ask(Ask{Tools: []string{"a*"}, Action: "x"})},
		{"tools/called", `{"tool":"a","max":0}`, eval.RoleAssert, nil},
		{"tools/called", `{"tool":"a","min":0}`, eval.RoleAssert, nil},
		{"tools/count", `{"tool":"a","max":3}`, eval.RoleAssert, nil},
		{"tools/count", `{"tool":"a","min":2,"max":3}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}})},
		{"tools/count", `{"tool":"a","equals":2}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}})},
		{"tools/count", `{"tool":"a","equals":0}`, eval.RoleAssert, nil},
		{"tools/order", `{"tools":["a","b/c"]}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}}, Ask{Tools: []string{"b/c"}})},
		{"tools/expected", `{"tools":["a"]}`, eval.RoleMeasure, ask(Ask{Tools: []string{"a"}})},
		{"tools/arguments", `{"tool":"a","value":{"mode":"x","n":2,"o":{}}}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}, Values: map[string]string{"/mode": "x", "/n": "2"}})},
		{"tools/arguments", `{"tool":"a","pointer":"/a~1b","value":"x","match":"exact"}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}, Values: map[string]string{"/a~1b": "x"}})},
		{"tools/arguments", `{"tool":"a","value":"^x$","match":"regex"}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}})},
		{"tools/result", `{"tool":"a"}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}})},
		{"tools/not_called", `{"tool":"a"}`, eval.RoleAssert, nil},
		{"tools/no_errors", `{}`, eval.RoleAssert, nil},
		{"own/wrote", `{"tool":"a","tools":["b"]}`, eval.RoleAssert, ask(Ask{Tools: []string{"a"}}, Ask{Tools: []string{"b"}})},
		{"own/wrote", `{"tool":"a"}`, eval.RoleMeasure, nil},
		{"tools/called", `{"tool":7}`, eval.RoleAssert, nil},
		{"tools/called", ``, eval.RoleAssert, nil},
	} {
		if got := AsksOf(Use{Name: "u", Scorer: tt.scorer, Role: tt.role, Params: eval.JSON(tt.params)}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s: %+v; want %+v", tt.scorer, tt.params, got, tt.want)
		}
	}
}

package story

import (
	"reflect"
	"testing"
)

func TestCallTexts(t *testing.T) {
	for _, tt := range []struct {
		condition string
		want      []string
		demanded  bool
	}{
		{`length([for c in calls : c if c.tool == "publish" && c.status == "ok"]) == 1`, []string{"publish", "ok"}, true},
		{`anytrue([for c in calls : c.tool == var.word])`, []string{"hello"}, true},
		{`anytrue([for c in calls : contains(local.list, c.tool)])`, []string{"a"}, true},
		{`!anytrue([for c in calls : c.tool == "drop"])`, []string{"drop"}, false},
		{`length(calls) < 5`, nil, false},
		{`answer == "publish"`, nil, false},
		{`anytrue([for c in calls : c.tool == var.hidden])`, nil, true},
	} {
		files := map[string]string{
			"suite.hcl": header + "variable \"word\" { default = \"hello\" }\nvariable \"hidden\" { sensitive = true }\nlocals {\n list = [\"a\", 1]\n}\nstory \"x\" {\n  target = target.site\n  prompt = \"x\"\n  check \"c\" {\n condition = " + tt.condition + "\n  }\n}\n",
		}
		texts, demanded := CallTexts(mustLoad(t, files, Options{Vars: map[string]string{"hidden": "s3cr3t-value"}}).Stories[0].Checks[0])
		if !reflect.DeepEqual(texts, tt.want) || demanded != tt.demanded {
			t.Errorf("%s: %q, %v; want %q, %v", tt.condition, texts, demanded, tt.want, tt.demanded)
		}
	}
}

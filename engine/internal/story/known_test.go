package story

import "testing"

func TestKnownValues(t *testing.T) {
	for _, tt := range []struct{ condition, written, values string }{
		{"(answer   ==\n   \"x\")", `(answer == "x")`, ""},
		{"(answer == var.word)", `(answer == var.word)`, `var.word = "hello"`},
		{`contains([for c in local.list : c], answer)`, `contains([for c in local.list : c], answer)`, `local.list = ["a",1]`},
		{`answer == file("want.txt")`, `answer == file("want.txt")`, `file() = "the text"`},
		{`strcontains(answer, upper(var.word)) && answer != path.suite`, `strcontains(answer, upper(var.word)) && answer != path.suite`,
			"upper() = \"HELLO\"\nvar.word = \"hello\""},
		{`answer == trimspace(state.x)`, `answer == trimspace(state.x)`, ""},
	} {
		files := map[string]string{
			"want.txt":  "the text",
			"suite.hcl": header + "variable \"word\" { default = \"hello\" }\nlocals {\n list = [\"a\", 1]\n}\nstory \"x\" {\n  target = target.site\n  prompt = \"x\"\n  check \"c\" {\n condition = " + tt.condition + "\n  }\n}\n",
		}
		c := mustLoad(t, files, Options{}).Stories[0].Checks[0]
		if c.Written != tt.written || c.Values != tt.values {
			t.Errorf("%s:\n  written %q, want %q\n  values %q, want %q", tt.condition, c.Written, tt.written, c.Values, tt.values)
		}
	}
}

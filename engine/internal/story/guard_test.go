package story

import (
	"strings"
	"testing"
)

func TestTooDeep(t *testing.T) {
	const n = 100_000
	tests := []struct {
		name, src string
		want      bool
	}{
		{"brackets", "a = " + strings.Repeat("[", n), true},
		{"brackets beside strings of closing ones", "a = " + strings.Repeat(`[")))",`, n), true},
		{"braces", strings.Repeat("a {\n", n), true},
		{"not", "a = " + strings.Repeat("!", n) + "true", true},
		{"minus on lines in brackets", "a = (" + strings.Repeat("-\n", n) + "1)", true},
		{"minus on lines in a template", "a = \"${" + strings.Repeat("-\n", n) + "1}\"", true},
		{"minus on lines in a for", "a = {for x in y : x => " + strings.Repeat("-\n", n) + "1}", true},
		{"sum", "a = 1" + strings.Repeat("+1", n), true},
		{"choice", "a = " + strings.Repeat("b ? c : ", n) + "d", true},
		{"templates", "a = " + strings.Repeat(`"${`, n), true},
		{"directives", "a = <<EOT\n" + strings.Repeat("%{ if true }", n) + "\nEOT\n", true},
		{"directives on lines", "a = <<EOT\n" + strings.Repeat("%{ if true }\n", n) + "\nEOT\n", true},
		{"many blocks", strings.Repeat("a { b = [1, (2), \"${c}\"] }\n", 10_000), false},
		{"many operators in a list", "a = [" + strings.Repeat("-1, ", 10_000) + "]", false},
		{"many operators on lines", strings.Repeat("a = 1 + 2 - 3\n", 10_000), false},
		{"a rule of dashes", "# " + strings.Repeat("-", 10_000) + "\n", false},
		{"dashes in a text", "a = \"" + strings.Repeat("-", 10_000) + "\"\n", false},
	}
	for _, tt := range tests {
		if _, got := tooDeep([]byte(tt.src), "x.hcl"); got != tt.want {
			t.Errorf("%s: tooDeep = %v; want %v", tt.name, got, tt.want)
		}
	}
}

func TestLoadOfADeepFileIsAnError(t *testing.T) {
	_, list := load(t, map[string]string{"suite.hcl": "suite \"s\" {\n  hosts = " + strings.Repeat("[", 100_000) + "\n}\n"}, Options{})
	if len(list) != 1 || list[0].Summary != "expression too complex" || list[0].Subject.Start.Line != 2 {
		t.Errorf("Load = %v; want one error on line 2", list)
	}
	_, list = load(t, map[string]string{
		"suite.hcl": header + "story \"x\" { prompt = templatefile(\"t\", {}) }\n",
		"t":         strings.Repeat("%{ if true }\n", 100_000),
	}, Options{})
	if len(list) != 1 || !strings.Contains(list[0].Detail, "nested too deep") {
		t.Errorf("Load of a deep template = %v; want one error", list)
	}
}

func TestOpenTemplate(t *testing.T) {
	tests := []struct{ before, after, want string }{
		{"a = \"x ${", "name}\"", "${"},
		{"a = \"x ", "${name}\"", "${"},
		{"a = \"%{ if ", "x }\"", "%{"},
		{"a = \"${b} ", "c\"", ""},
		{"a = \"$${ ", "c\"", ""},
		{"a = \"${ { b = ", "c } }\"", "${"},
		{"a { b = ", "c }", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		if got := openTemplate([]byte(tt.before+tt.after), len(tt.before)); got != tt.want {
			t.Errorf("openTemplate(%q|%q) = %q; want %q", tt.before, tt.after, got, tt.want)
		}
	}
}

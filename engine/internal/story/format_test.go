package story

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestFormat(t *testing.T) {
	list := func(s ...string) cty.Value {
		var v []cty.Value
		for _, e := range s {
			v = append(v, cty.StringVal(e))
		}
		return cty.ListVal(v)
	}
	for _, c := range []struct {
		name, ty, format string
		v                cty.Value
		err              string
	}{
		{"expression", "string", "regex", cty.StringVal(`^\d+$`), ""},
		{"no expression", "string", "regex", cty.StringVal("(a"), "\"(a\" is no regular expression: missing closing ): `(a`"},
		{"look-ahead", "string", "regex", cty.StringVal("(?=a)"), "\"(?=a)\" is no regular expression: invalid or unsupported Perl syntax: `(?=`"},
		{"second of a list", "list(string)", "regex", list("a", "["), "\"[\" is no regular expression: missing closing ]: `[`"},
		{"a list", "list(string)", "regex", list("a", "b"), ""},
		{"null", "string", "regex", cty.NullVal(cty.String), ""},
		{"not known yet", "string", "regex", cty.UnknownVal(cty.String), ""},
		{"pointer", "string", "pointer", cty.StringVal("/a~1b/0/"), ""},
		{"whole value", "string", "pointer", cty.StringVal(""), ""},
		{"no slash", "string", "pointer", cty.StringVal("a/b"), `"a/b" is no JSON Pointer: it is empty or begins with /, and holds ~ as ~0 and / as ~1`},
		{"bare tilde", "string", "pointer", cty.StringVal("/a~b"), `"/a~b" is no JSON Pointer: it is empty or begins with /, and holds ~ as ~0 and / as ~1`},
		{"of a later time", "string", "smell", cty.StringVal("("), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := compileAttr(eval.Attribute{Name: "a", Type: c.ty, Format: c.format})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if _, err := a.convert(c.v); err != nil {
				got = err.Error()
			}
			if got != c.err {
				t.Errorf("error %q, want %q", got, c.err)
			}
		})
	}
}

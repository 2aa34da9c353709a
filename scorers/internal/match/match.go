// Package match holds the parameters match, value and pointer, which scorers of
// arguments, results and answers share: how a JSON value is compared with the one
// in the suite. Start at [New].
package match

import (
	"errors"
	"regexp"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/schema"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Params returns the parameters that [New] reads.
func Params() []eval.Attribute {
	return []eval.Attribute{
		{Name: "match", Type: "string", Default: eval.JSON(`"subset"`),
			Enum: []string{"exact", "subset", "contains", "regex", "schema", "exists"},
			Doc: "exact: it equals value. subset: it contains value; objects may have more members, lists more elements between. " +
				"contains: its text contains value. regex: its text matches value. schema: it satisfies the JSON Schema in value. exists: it is there."},
		{Name: "value", Type: "any", Doc: "What to compare with; left out it is null."},
		{Name: "pointer", Type: "string", Format: eval.FormatPointer, Default: eval.JSON(`""`),
			Doc: "A JSON pointer to the part to compare; empty is all of it."},
	}
}

// Matcher compares values with what the suite wants.
type Matcher struct {
	pointer string
	wrong   func(tree.Value) string
}

const shown = 120

// New reads the parameters.
func New(p scorer.Params) (*Matcher, error) {
	m := &Matcher{pointer: p.String("pointer")}
	if err := tree.CheckPointer(m.pointer); err != nil {
		return nil, err
	}
	value := p.JSON("value")
	var err error
	switch how := p.String("match"); how {
	case "exact":
		want := orNull(value)
		m.wrong = func(v tree.Value) string { return mismatch(tree.Differs(v, want)) }
	case "subset":
		want := orNull(value)
		m.wrong = func(v tree.Value) string { return mismatch(tree.Lacks(v, want)) }
	case "schema":
		var s *schema.Schema
		if s, err = schema.Compile(value); err == nil {
			m.wrong = s.Check
		}
	case "exists":
		m.wrong = func(tree.Value) string { return "" }
	default:
		m.wrong, err = textMatcher(how, value)
	}
	return m, err
}

// Wrong says what does not match in the part of v that the pointer names, "" for
// nothing.
func (m *Matcher) Wrong(v tree.Value) string {
	part := v.Find(m.pointer)
	if !part.Exists() {
		return "nothing at " + tree.Cut(m.pointer, shown)
	}
	return m.wrong(part)
}

func textMatcher(how string, value jsonv.Value) (func(tree.Value) string, error) {
	want, ok := value.Str()
	if !ok {
		return nil, errors.New(`value must be a string for match = "` + how + `"`)
	}
	holds, what := func(s string) bool { return strings.Contains(s, want) }, "does not contain "
	if how == "regex" {
		re, err := regexp.Compile(want)
		if err != nil {
			return nil, errors.New("value: " + err.Error())
		}
		holds, what = re.MatchString, "does not match "
	}
	return func(v tree.Value) string {
		if holds(v.JSON().String()) {
			return ""
		}
		return "got " + v.Show(shown) + ", which " + what + tree.Cut(want, shown)
	}, nil
}

func orNull(v jsonv.Value) tree.Value {
	if !v.Exists() {
		v, _ = jsonv.Parse([]byte("null"))
	}
	return tree.Of(v)
}

func mismatch(m *tree.Mismatch) string {
	if m == nil {
		return ""
	}
	return m.String()
}

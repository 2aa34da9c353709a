package main

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

var (
	matchParam = eval.Attribute{Name: "match", Type: "string", Default: eval.JSON(`"subset"`),
		Enum: []string{"exact", "subset", "contains", "regex", "schema"},
		Doc: "exact: equal. subset: objects may have more members, lists more elements. contains: the text contains value. " +
			"regex: the text matches value. schema: it satisfies the JSON Schema in value."}
	valueParam   = eval.Attribute{Name: "value", Type: "any", Doc: "What to match with; left out it is null."}
	pointerParam = eval.Attribute{Name: "pointer", Type: "string", Default: eval.JSON(`""`),
		Doc: "A JSON pointer to the part to look at; empty is all of it."}
	whichParam = eval.Attribute{Name: "which", Type: "string", Default: eval.JSON(`"any"`),
		Enum: []string{"any", "all", "first", "last"}, Doc: "Which of the calls must match."}
)

// matcher says what is wrong with a value, "" for nothing.
type matcher func(tree.Value) string

func newMatcher(p scorer.Params) (matcher, error) {
	value := p.JSON("value")
	switch p.String("match") {
	case "exact":
		want := orNull(value)
		return func(v tree.Value) string { return mismatch(tree.Differs(v, want)) }, nil
	case "subset":
		want := orNull(value)
		return func(v tree.Value) string { return mismatch(tree.Lacks(v, want)) }, nil
	case "schema":
		s, err := schema.Compile(value)
		if err != nil {
			return nil, err
		}
		return s.Check, nil
	}
	text, ok := value.Str()
	if !ok {
		return nil, errors.New("value must be a string for match = \"" + p.String("match") + "\"")
	}
	if p.String("match") == "contains" {
		return func(v tree.Value) string {
			return lacksText(v, strings.Contains(v.JSON().String(), text), "which does not contain "+text)
		}, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, errors.New("value: " + err.Error())
	}
	return func(v tree.Value) string {
		return lacksText(v, re.MatchString(v.JSON().String()), "which does not match "+text)
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

func lacksText(v tree.Value, ok bool, what string) string {
	const limit = 120
	if ok {
		return ""
	}
	return "got " + v.Show(limit) + ", " + tree.Cut(what, limit)
}

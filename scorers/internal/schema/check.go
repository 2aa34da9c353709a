package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

const shown = 120

// Check returns the first problem of v, with where it lies, and "" where v
// satisfies the schema.
func (s *Schema) Check(v tree.Value) string { return s.check(v, "") }

func (s *Schema) check(v tree.Value, at string) string {
	if s.never {
		return problem(at, "got "+v.Show(shown)+", want nothing here")
	}
	for _, check := range []func(tree.Value, string) string{
		s.checkValue, s.checkObject, s.checkArray, s.checkText, s.checkNumber, s.checkOthers,
	} {
		if p := check(v, at); p != "" {
			return p
		}
	}
	return ""
}

func problem(at, what string) string {
	if at == "" {
		return what
	}
	return "at " + tree.Cut(at, shown) + " " + what
}

func (s *Schema) checkValue(v tree.Value, at string) string {
	if s.types != nil && !s.hasType(v) {
		return problem(at, "got "+v.Show(shown)+", want type "+strings.Join(s.types, " or "))
	}
	if s.constant.Exists() && !tree.Equal(v, s.constant) {
		return problem(at, "got "+v.Show(shown)+", want "+s.constant.Show(shown))
	}
	if s.enum != nil && !s.inEnum(v) {
		return problem(at, "got "+v.Show(shown)+", which is not one of the enum's")
	}
	return ""
}

func (s *Schema) hasType(v tree.Value) bool {
	for _, t := range s.types {
		ok := false
		switch v.Kind() {
		case jsonv.Null:
			ok = t == "null"
		case jsonv.Bool:
			ok = t == "boolean"
		case jsonv.Object:
			ok = t == "object"
		case jsonv.Array:
			ok = t == "array"
		case jsonv.String:
			ok = t == "string"
		case jsonv.Number:
			ok = t == "number" || t == "integer" && isInteger(v)
		}
		if ok {
			return true
		}
	}
	return false
}

// isInteger reports whether a number has no fraction. One too large for an int64
// is taken at its float64, which has none.
func isInteger(v tree.Value) bool {
	w := v.JSON()
	if _, ok := w.Int(); ok {
		return true
	}
	f, _ := w.Float()
	return f >= 1<<63 || f <= -1<<63
}

func (s *Schema) inEnum(v tree.Value) bool {
	for _, e := range s.enum {
		if tree.Equal(v, e) {
			return true
		}
	}
	return false
}

func (s *Schema) checkObject(v tree.Value, at string) string {
	if v.Kind() != jsonv.Object || (s.required == nil && s.properties == nil && s.additional == nil) {
		return ""
	}
	members := v.Members()
	for _, name := range s.required {
		if !members[name].Exists() {
			return problem(at, "lacks "+strconv.Quote(tree.Cut(name, shown)))
		}
	}
	for c := range v.Each {
		name := c.Key()
		sub := s.properties[name]
		if sub == nil {
			sub = s.additional
		}
		if sub == nil || members[name] != c {
			continue
		}
		if p := sub.check(c, at+"/"+jsonv.EscapeToken(name)); p != "" {
			return p
		}
	}
	return ""
}

func (s *Schema) checkArray(v tree.Value, at string) string {
	if v.Kind() != jsonv.Array {
		return ""
	}
	if p := size(v.Len(), s.minItems, s.maxItems, "elements", at); p != "" {
		return p
	}
	if s.items == nil {
		return ""
	}
	i := 0
	for c := range v.Each {
		if p := s.items.check(c, at+"/"+strconv.Itoa(i)); p != "" {
			return p
		}
		i++
	}
	return ""
}

func size(n int, low, high *int, of, at string) string {
	switch {
	case low != nil && n < *low:
		return problem(at, "has "+strconv.Itoa(n)+" "+of+", want at least "+strconv.Itoa(*low))
	case high != nil && n > *high:
		return problem(at, "has "+strconv.Itoa(n)+" "+of+", want at most "+strconv.Itoa(*high))
	}
	return ""
}

func (s *Schema) checkText(v tree.Value, at string) string {
	if v.Kind() != jsonv.String || (s.pattern == nil && s.minLen == nil && s.maxLen == nil) {
		return ""
	}
	text := v.Text()
	if p := size(utf8.RuneCountInString(text), s.minLen, s.maxLen, "characters", at); p != "" {
		return p
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		return problem(at, "got "+v.Show(shown)+", which does not match "+s.pattern.String())
	}
	return ""
}

func (s *Schema) checkNumber(v tree.Value, at string) string {
	if v.Kind() != jsonv.Number {
		return ""
	}
	for _, b := range s.bounds {
		c := jsonv.Compare(v.JSON(), b.limit)
		ok := c == 0
		switch b.keyword {
		case "minimum":
			ok = c >= 0
		case "maximum":
			ok = c <= 0
		case "exclusiveMinimum":
			ok = c > 0
		case "exclusiveMaximum":
			ok = c < 0
		}
		if !ok {
			return problem(at, "got "+v.Show(shown)+", want "+b.keyword+" "+b.limit.String())
		}
	}
	return ""
}

func (s *Schema) checkOthers(v tree.Value, at string) string {
	for _, sub := range s.all {
		if p := sub.check(v, at); p != "" {
			return p
		}
	}
	if s.any != nil && count(s.any, v, 1) == 0 {
		return problem(at, "got "+v.Show(shown)+", which fits none of anyOf")
	}
	if s.one != nil {
		if n := count(s.one, v, 2); n != 1 {
			return problem(at, "got "+v.Show(shown)+", which fits "+[]string{"none", "one", "several"}[n]+" of oneOf")
		}
	}
	if s.not != nil && s.not.check(v, at) == "" {
		return problem(at, "got "+v.Show(shown)+", which fits what it must not")
	}
	return ""
}

// count returns how many schemas v satisfies, at most limit.
func count(list []*Schema, v tree.Value, limit int) int {
	n := 0
	for _, s := range list {
		if s.check(v, "") == "" {
			if n++; n == limit {
				break
			}
		}
	}
	return n
}

package jsonpath

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// test is a logical expression of a filter.
type test interface {
	holds(r *run, current tree.Value) bool
}

type orTest []test

func (t orTest) holds(r *run, current tree.Value) bool {
	for _, x := range t {
		if x.holds(r, current) {
			return true
		}
	}
	return false
}

type andTest []test

func (t andTest) holds(r *run, current tree.Value) bool {
	for _, x := range t {
		if !x.holds(r, current) {
			return false
		}
	}
	return true
}

type notTest struct{ test }

func (t notTest) holds(r *run, current tree.Value) bool { return !t.test.holds(r, current) }

// subquery is a query within a filter. Alone it tests whether it finds anything.
type subquery struct {
	// absolute begins at the root, not at the current value.
	absolute bool
	// singular can find one value at most.
	singular bool
	segments []segment
}

func (q *subquery) holds(r *run, current tree.Value) bool { return len(q.nodes(r, current)) > 0 }

func (q *subquery) nodes(r *run, current tree.Value) []tree.Value {
	if q.absolute {
		current = r.root
	}
	return r.query(q.segments, current)
}

// value is what a query found where that is one value: absent where it found
// nothing, or several.
func (q *subquery) value(r *run, current tree.Value) operandValue {
	if q.singular {
		return operandValue{v: q.follow(r, current)}
	}
	if found := q.nodes(r, current); len(found) == 1 {
		return operandValue{v: found[0]}
	}
	return operandValue{}
}

// follow is query for names and indexes alone, which need no lists.
func (q *subquery) follow(r *run, v tree.Value) tree.Value {
	if q.absolute {
		v = r.root
	}
	for i := range q.segments {
		s := &q.segments[i].selectors[0]
		r.left--
		if s.kind == byName {
			v = r.member(v, s.name)
		} else {
			v = r.element(v, s.index)
		}
	}
	return v
}

// operand is one side of a comparison or an argument that is a value.
type operand interface {
	value(r *run, current tree.Value) operandValue
}

// operandValue is a JSON value, a count, or nothing.
type operandValue struct {
	v       tree.Value
	count   int
	counted bool
}

type literal struct{ v tree.Value }

func (l literal) value(*run, tree.Value) operandValue { return operandValue{v: l.v} }

func (o operandValue) json() jsonv.Value {
	if o.counted {
		v, _ := jsonv.Parse(strconv.AppendInt(nil, int64(o.count), 10))
		return v
	}
	return o.v.JSON()
}

func (o operandValue) kind() jsonv.Kind {
	if o.counted {
		return jsonv.Number
	}
	return o.v.Kind()
}

type comparison struct {
	left, right operand
	op          string
}

func (c *comparison) holds(r *run, current tree.Value) bool {
	a, b := c.left.value(r, current), c.right.value(r, current)
	switch c.op {
	case "==":
		return r.equal(a, b)
	case "!=":
		return !r.equal(a, b)
	case "<":
		return less(a, b)
	case ">":
		return less(b, a)
	case "<=":
		return less(a, b) || r.equal(a, b)
	default:
		return less(b, a) || r.equal(a, b)
	}
}

func (r *run) equal(a, b operandValue) bool {
	if a.counted || b.counted {
		return a.kind() == b.kind() && jsonv.Equal(a.json(), b.json())
	}
	r.left -= min(a.v.Size(), b.v.Size())
	return tree.Equal(a.v, b.v)
}

// less is false for values that are not both numbers or both strings.
func less(a, b operandValue) bool {
	k := a.kind()
	if k != b.kind() || (k != jsonv.Number && k != jsonv.String) {
		return false
	}
	if x, ok := a.short(); ok && k == jsonv.Number {
		if y, ok := b.short(); ok {
			return x < y
		}
	}
	return jsonv.Compare(a.json(), b.json()) < 0
}

// short returns a number of so few digits that its float64 orders as it does.
func (o operandValue) short() (float64, bool) {
	const digits = 15
	if o.counted {
		return float64(o.count), true
	}
	raw := o.v.Raw()
	if len(raw) > digits || bytes.IndexAny(raw, "eE") >= 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// length is the function length().
type length struct{ of operand }

func (f length) value(r *run, current tree.Value) operandValue {
	o := f.of.value(r, current)
	switch o.kind() {
	case jsonv.String:
		return operandValue{count: utf8.RuneCountInString(o.v.Text()), counted: true}
	case jsonv.Array, jsonv.Object:
		n := o.v.Len()
		r.left -= n
		return operandValue{count: n, counted: true}
	}
	return operandValue{}
}

// count is the function count().
type count struct{ of *subquery }

func (f count) value(r *run, current tree.Value) operandValue {
	return operandValue{count: len(f.of.nodes(r, current)), counted: true}
}

// only is the function value().
type only struct{ of *subquery }

func (f only) value(r *run, current tree.Value) operandValue { return f.of.value(r, current) }

// match is the functions match() and search().
type match struct {
	text, pattern operand
	whole         bool
}

func (f *match) holds(r *run, current tree.Value) bool {
	text, pattern := f.text.value(r, current), f.pattern.value(r, current)
	if text.kind() != jsonv.String || pattern.kind() != jsonv.String {
		return false
	}
	re := r.pattern(pattern.v.Text(), f.whole)
	s := text.v.Text()
	r.left -= len(s) / 16
	return re != nil && re.MatchString(s)
}

// comparable operators, the longer ones first.
var operators = [...]string{"==", "!=", "<=", ">=", "<", ">"}

func operatorAt(s string) string {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

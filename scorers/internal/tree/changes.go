package tree

import (
	"bytes"
	"slices"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Change is one place that differs between two documents. Before is absent for
// what was added, After for what was removed.
type Change struct{ Before, After Value }

// Comparison compares values of one document with values of another.
type Comparison struct {
	before, after summary
	// left is how many bytes may still be compared byte by byte: most of what is
	// equal is equal in its bytes, but finding out at every level of a deep
	// document would be without end.
	left int
}

// Compare prepares to compare two documents, given by any of their values.
// skipBefore and skipAfter leave values, with all that is below them, out of the
// comparison; nil skips nothing.
func Compare(before, after Value, skipBefore, skipAfter func(Value) bool) *Comparison {
	c := &Comparison{before: summary{skip: skipBefore}, after: summary{skip: skipAfter}}
	if before.d != nil && after.d != nil {
		c.left = 10 * (len(before.d.src) + len(after.d.src))
	}
	return c
}

// Changes returns what differs between two values, at most limit places. In each
// container what was removed comes first. An array's elements are compared in
// order after equal ones at both ends have been put aside, so that one element
// more is one change.
func (c *Comparison) Changes(before, after Value, limit int) []Change {
	d := diff{Comparison: c, limit: limit}
	d.compare(before, after)
	return d.changes
}

// ListChanges compares two lists of values as the elements of two arrays.
func (c *Comparison) ListChanges(before, after []Value, limit int) []Change {
	d := diff{Comparison: c, limit: limit}
	d.lists(slices.DeleteFunc(slices.Clone(before), c.before.skipped), slices.DeleteFunc(slices.Clone(after), c.after.skipped))
	return d.changes
}

type diff struct {
	*Comparison
	limit   int
	changes []Change
}

func (d *diff) add(before, after Value) {
	if len(d.changes) < d.limit {
		d.changes = append(d.changes, Change{before, after})
	}
}

func (c *Comparison) sameBytes(a, b Value) bool {
	x, y := a.Raw(), b.Raw()
	if len(x) != len(y) || c.left < 0 {
		return false
	}
	c.left -= len(x)
	return bytes.Equal(x, y)
}

func (c *Comparison) same(a, b Value) bool {
	return c.sameBytes(a, b) || c.before.of(a) == c.after.of(b)
}

func (d *diff) compare(a, b Value) {
	k := a.Kind()
	switch {
	case len(d.changes) >= d.limit, d.sameBytes(a, b):
	case k != b.Kind():
		d.add(a, b)
	case k == jsonv.Object:
		d.objects(a, b)
	case k == jsonv.Array:
		d.lists(d.before.kept(a), d.after.kept(b))
	case !d.same(a, b):
		d.add(a, b)
	}
}

func (d *diff) objects(a, b Value) {
	x, y := a.Members(), b.Members()
	for c := range a.Each {
		if name := c.Key(); !y[name].Exists() && x[name] == c && !d.before.skipped(c) {
			d.add(c, Value{})
		}
	}
	for c := range b.Each {
		name := c.Key()
		if y[name] != c || d.after.skipped(c) {
			continue
		}
		switch old := x[name]; {
		case !old.Exists():
			d.add(Value{}, c)
		case !d.before.skipped(old):
			d.compare(old, c)
		}
	}
}

func (d *diff) lists(x, y []Value) {
	if len(x) == 1 && len(y) == 1 { // no need to know whether they are equal
		d.compare(x[0], y[0])
		return
	}
	for len(x) > 0 && len(y) > 0 && d.same(x[0], y[0]) {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && d.same(x[len(x)-1], y[len(y)-1]) {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	both := min(len(x), len(y))
	for i := range both {
		d.compare(x[i], y[i])
	}
	for _, v := range x[both:] {
		d.add(v, Value{})
	}
	for _, v := range y[both:] {
		d.add(Value{}, v)
	}
}

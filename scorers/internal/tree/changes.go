package tree

import "github.com/evalengine/evalengine/scorers/scorer/jsonv"

// Change is one place that differs between two documents. Before is absent for
// what was added, After for what was removed.
type Change struct{ Before, After Value }

// Changes returns what differs between two whole documents, at most limit
// places. In each container what was removed comes first. An array's elements
// are compared in order after equal ones at both ends have been put aside, so
// that one element more is one change.
//
// skipBefore and skipAfter leave values, with all that is below them, out of the
// comparison; nil skips nothing.
func Changes(before, after Value, skipBefore, skipAfter func(Value) bool, limit int) []Change {
	d := diff{
		before: summarise(before, skipBefore),
		after:  summarise(after, skipAfter),
		limit:  limit,
	}
	d.compare(before, after)
	return d.changes
}

type diff struct {
	before, after summary
	limit         int
	changes       []Change
}

func (d *diff) add(before, after Value) {
	if len(d.changes) < d.limit {
		d.changes = append(d.changes, Change{before, after})
	}
}

func (d *diff) same(a, b Value) bool { return d.before.of(a) == d.after.of(b) }

func (d *diff) compare(a, b Value) {
	switch {
	case len(d.changes) >= d.limit, d.same(a, b):
	case a.Kind() == jsonv.Object && b.Kind() == jsonv.Object:
		d.objects(a, b)
	case a.Kind() == jsonv.Array && b.Kind() == jsonv.Array:
		d.arrays(a, b)
	default:
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

func (d *diff) arrays(a, b Value) {
	x, y := d.before.kept(a), d.after.kept(b)
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

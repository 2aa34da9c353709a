package tree

import (
	"bytes"
	"strconv"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Equal reports whether a and b are the same JSON value: numbers by value,
// objects without regard to the order of members. Absent equals only absent.
func Equal(a, b Value) bool {
	return bytes.Equal(a.Raw(), b.Raw()) || equal(a, b)
}

func equal(a, b Value) bool {
	k := a.Kind()
	if k != b.Kind() {
		return false
	}
	switch k {
	case jsonv.Array:
		return pairwise(a, b, func(x, y Value) bool { return equal(x, y) })
	case jsonv.Object:
		if pairwise(a, b, sameKey) {
			return pairwise(a, b, equal)
		}
		return equalMembers(a, b)
	}
	return bytes.Equal(a.Raw(), b.Raw()) || jsonv.Equal(a.JSON(), b.JSON())
}

// pairwise reports whether a and b have equally many children that all satisfy
// same, in order.
func pairwise(a, b Value, same func(x, y Value) bool) bool {
	if a.d == nil || b.d == nil {
		return a.d == b.d
	}
	i, endA := a.i+1, a.d.nodes[a.i].next
	j, endB := b.i+1, b.d.nodes[b.i].next
	for i < endA && j < endB {
		if !same(Value{a.d, i}, Value{b.d, j}) {
			return false
		}
		i, j = a.d.nodes[i].next, b.d.nodes[j].next
	}
	return i >= endA && j >= endB
}

func sameKey(x, y Value) bool { return x.Key() == y.Key() }

func equalMembers(a, b Value) bool {
	x, y := a.Members(), b.Members()
	if len(x) != len(y) {
		return false
	}
	for name, v := range x {
		w, ok := y[name]
		if !ok || !equal(v, w) {
			return false
		}
	}
	return true
}

// Members returns an object's members by name, the last of each name.
func (v Value) Members() map[string]Value {
	m := map[string]Value{}
	if v.Kind() == jsonv.Object {
		for c := range v.Each {
			m[c.Key()] = c
		}
	}
	return m
}

// Mismatch is the first place where a value is not what was wanted.
type Mismatch struct {
	// Pointer is the place within both values.
	Pointer   string
	Got, Want Value
}

// String says the mismatch in a few words.
func (m Mismatch) String() string {
	const limit = 120
	at := ""
	if m.Pointer != "" {
		at = " at " + Cut(m.Pointer, limit)
	}
	return "got " + m.Got.Show(limit) + at + ", want " + m.Want.Show(limit)
}

// Differs returns the first mismatch between got and want, nil where they are
// [Equal].
func Differs(got, want Value) *Mismatch {
	if Equal(got, want) {
		return nil
	}
	m := mismatch{subset: false}
	return m.find(got, want, "")
}

// Lacks returns the first place where part is not contained in got, nil where it
// is: an object's members are each contained in the member of the same name, an
// array's elements each in an element of their own, in the same order, and all
// else is equal.
func Lacks(got, part Value) *Mismatch {
	m := mismatch{subset: true}
	return m.find(got, part, "")
}

type mismatch struct{ subset bool }

func (m mismatch) find(got, want Value, at string) *Mismatch {
	switch {
	case got.Kind() != want.Kind():
		return &Mismatch{at, got, want}
	case want.Kind() == jsonv.Object:
		return m.object(got, want, at)
	case want.Kind() == jsonv.Array && m.subset:
		return m.contained(got, want, at)
	case want.Kind() == jsonv.Array:
		return m.array(got, want, at)
	case !equal(got, want):
		return &Mismatch{at, got, want}
	}
	return nil
}

func (m mismatch) object(got, want Value, at string) *Mismatch {
	have, wanted := got.Members(), want.Members()
	for c := range want.Each {
		name := c.Key()
		if found := m.find(have[name], wanted[name], at+"/"+jsonv.EscapeToken(name)); found != nil {
			return found
		}
	}
	if m.subset {
		return nil
	}
	for c := range got.Each {
		if name := c.Key(); !wanted[name].Exists() {
			return &Mismatch{at + "/" + jsonv.EscapeToken(name), have[name], Value{}}
		}
	}
	return nil
}

func (m mismatch) array(got, want Value, at string) *Mismatch {
	i, end := got.i+1, got.d.nodes[got.i].next
	n := 0
	for w := range want.Each {
		g := Value{}
		if i < end {
			g = Value{got.d, i}
			i = got.d.nodes[i].next
		}
		if found := m.find(g, w, at+"/"+strconv.Itoa(n)); found != nil {
			return found
		}
		n++
	}
	if i < end {
		return &Mismatch{at + "/" + strconv.Itoa(n), Value{got.d, i}, Value{}}
	}
	return nil
}

// contained looks for want's elements in got's, in order. The first that fits
// is the right one to take: it leaves the most for those that follow.
func (m mismatch) contained(got, want Value, at string) *Mismatch {
	i, end := got.i+1, got.d.nodes[got.i].next
	n := 0
	for w := range want.Each {
		for ; i < end && m.find(Value{got.d, i}, w, "") != nil; i = got.d.nodes[i].next {
		}
		if i >= end {
			return &Mismatch{at + "/" + strconv.Itoa(n), Value{}, w}
		}
		i = got.d.nodes[i].next
		n++
	}
	return nil
}

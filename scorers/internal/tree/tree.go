// Package tree indexes a whole JSON document, for scorers that walk, search or
// compare documents rather than look up a member: a state of several megabytes,
// a query over all of it, the difference between two of them.
//
// It stands on [jsonv], which decodes texts and numbers. A jsonv.Value finds the
// end of a value by reading it, again at every level; a tree has read it once,
// so that a walk costs no more in a deep document than in a flat one. A value
// costs sixteen bytes beside the text. Start at [Parse].
package tree

import (
	"errors"
	"strconv"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// node is one value: where it lies in the text, where its key begins (at its
// quote, 0 for none) and the index behind its last descendant.
type node struct {
	start, end, key, next uint32
}

type document struct {
	src   []byte
	nodes []node
	// escapedKeys says that some key does not stand for itself: keys cannot be
	// compared byte by byte.
	escapedKeys bool
}

// Value is one value of a document. The zero Value is absent, and every method
// of an absent value yields absent, zero or empty. Values are small: pass them
// by value.
type Value struct {
	d *document
	i uint32
}

// ErrLarge is returned by [Parse] for a document that an index cannot hold.
var ErrLarge = errors.New("larger than 1 GiB")

// Parse indexes one JSON value. The document keeps src, which must not be
// changed after.
func Parse(src []byte) (Value, error) {
	if len(src) > 1<<30 {
		return Value{}, ErrLarge
	}
	v, err := jsonv.Parse(src)
	if err != nil {
		return Value{}, err
	}
	return Value{d: index(v.Raw())}, nil
}

// Of indexes a value.
func Of(v jsonv.Value) Value {
	if !v.Exists() || len(v.Raw()) > 1<<30 {
		return Value{}
	}
	return Value{d: index(v.Raw())}
}

// JSON returns v for decoding.
func (v Value) JSON() jsonv.Value {
	w, _ := jsonv.Parse(v.Raw()) // of an absent value this is absent
	return w
}

// Kind returns what v is.
func (v Value) Kind() jsonv.Kind {
	if v.d == nil {
		return jsonv.Absent
	}
	switch v.d.src[v.d.nodes[v.i].start] {
	case '{':
		return jsonv.Object
	case '[':
		return jsonv.Array
	case '"':
		return jsonv.String
	case 't', 'f':
		return jsonv.Bool
	case 'n':
		return jsonv.Null
	}
	return jsonv.Number
}

// Exists reports whether v is not absent.
func (v Value) Exists() bool { return v.d != nil }

// Raw returns v's own bytes. They must not be changed.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := v.d.nodes[v.i]
	return v.d.src[n.start:n.end:n.end]
}

// Text returns a string's text and "" for any other value.
func (v Value) Text() string {
	if v.Kind() != jsonv.String {
		return ""
	}
	return v.JSON().String()
}

// Key returns the name that v has in its object, and "" where it has none.
func (v Value) Key() string {
	if v.d == nil {
		return ""
	}
	k := v.d.nodes[v.i].key
	if k == 0 {
		return ""
	}
	end, plain := stringEnd(v.d.src, int(k))
	if plain {
		return string(v.d.src[k+1 : end-1])
	}
	name, _ := jsonv.Parse(v.d.src[k:end])
	return name.String()
}

// Len returns how many elements or members v has.
func (v Value) Len() int {
	n := 0
	for range v.Each {
		n++
	}
	return n
}

// Size returns how many values v holds, itself included.
func (v Value) Size() int {
	if v.d == nil {
		return 0
	}
	return int(v.d.nodes[v.i].next - v.i)
}

// Order is v's place in its document, unique there and growing in the order of
// the text.
func (v Value) Order() int { return int(v.i) }

// Each yields v's elements or members in order.
func (v Value) Each(yield func(Value) bool) {
	if v.d == nil {
		return
	}
	nodes := v.d.nodes
	for c, end := v.i+1, nodes[v.i].next; c < end; c = nodes[c].next {
		if !yield(Value{v.d, c}) {
			return
		}
	}
}

// Walk yields v and all its descendants in the order of the text.
func (v Value) Walk(yield func(Value) bool) {
	if v.d == nil {
		return
	}
	for c, end := v.i, v.d.nodes[v.i].next; c < end; c++ {
		if !yield(Value{v.d, c}) {
			return
		}
	}
}

// Get returns an object's member of that name, the last where there are
// several.
func (v Value) Get(name string) Value {
	found, _ := v.Lookup(name)
	return found
}

// Lookup is [Value.Get] that also says how many members it looked at.
func (v Value) Lookup(name string) (found Value, looked int) {
	if v.Kind() != jsonv.Object {
		return Value{}, 0
	}
	for c := range v.Each {
		looked++
		if c.hasKey(name) {
			found = c
		}
	}
	return found, looked
}

func (v Value) hasKey(name string) bool {
	if v.d.escapedKeys {
		return v.Key() == name
	}
	from := int(v.d.nodes[v.i].key) + 1
	end := from + len(name)
	return end < len(v.d.src) && v.d.src[end] == '"' && string(v.d.src[from:end]) == name
}

// At returns an array's element at index i, counted from the end where i is
// negative.
func (v Value) At(i int) Value {
	if v.Kind() != jsonv.Array {
		return Value{}
	}
	if i < 0 {
		if i += v.Len(); i < 0 {
			return Value{}
		}
	}
	for c := range v.Each {
		if i == 0 {
			return c
		}
		i--
	}
	return Value{}
}

// Pointer returns the JSON pointer from root to v, which must lie below it.
func (v Value) Pointer(root Value) string {
	p := ""
	for at := root; at.i != v.i; {
		i, array := 0, at.Kind() == jsonv.Array
		for c := range at.Each {
			if v.i < at.d.nodes[c.i].next {
				name := strconv.Itoa(i)
				if !array {
					name = c.Key()
				}
				p, at = p+"/"+jsonv.EscapeToken(name), c
				break
			}
			i++
		}
	}
	return p
}

// Package jsonv reads JSON values lazily, for scorers: encoding/json in a
// WebAssembly guest costs ten times what it costs natively, and most scorers
// look at a few members of a large document. A [Value] is a piece of the
// document's bytes; nothing is decoded before it is asked for.
//
// It accepts exactly what encoding/json accepts, and reads it the same way: the
// last of several members of one name counts, and invalid UTF-8 and half
// surrogate pairs become U+FFFD. Numbers are compared by their exact decimal
// value, so 1, 1.0 and 10e-1 are equal and 2^53 and 2^53+1 are not.
package jsonv

import (
	"errors"
	"iter"
	"strconv"
)

// Kind says what a value is.
type Kind uint8

// Absent is the kind of the zero [Value]: no value at all, which is not null.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"absent", "null", "bool", "number", "string", "array", "object"}

func (k Kind) String() string { return kindNames[k] }

// ErrSyntax is returned by [Parse] for bytes that are not one JSON value.
var ErrSyntax = errors.New("not a JSON value")

// Value is one JSON value. The zero Value is absent; every method of an absent
// value yields absent, zero or empty, so lookups can be chained without checks.
type Value struct {
	b []byte // valid JSON without surrounding space
}

// Parse checks that b is one JSON value and returns it. The value shares b's
// memory. Nesting is bounded at 10,000 levels, as in encoding/json.
func Parse(b []byte) (Value, error) {
	i := space(b, 0)
	end, ok := valid(b, i)
	if !ok || space(b, end) != len(b) {
		return Value{}, ErrSyntax
	}
	return Value{b[i:end:end]}, nil
}

// Valid reports whether b is one JSON value.
func Valid(b []byte) bool {
	_, err := Parse(b)
	return err == nil
}

// Kind returns what v is.
func (v Value) Kind() Kind {
	if len(v.b) == 0 {
		return Absent
	}
	switch v.b[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Exists reports whether v is not absent; null exists.
func (v Value) Exists() bool { return len(v.b) > 0 }

// IsNull reports whether v is null or absent.
func (v Value) IsNull() bool { return len(v.b) == 0 || v.b[0] == 'n' }

// Raw returns v's JSON as it was received, without surrounding space. It must
// not be changed.
func (v Value) Raw() []byte { return v.b }

// Bool returns v's truth; ok says whether v is a bool.
func (v Value) Bool() (b, ok bool) {
	return v.Kind() == Bool && v.b[0] == 't', v.Kind() == Bool
}

// Float returns the number nearest to v; ok is false where v is no number or
// lies outside what a float64 can hold.
func (v Value) Float() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.b), 64)
	return f, err == nil
}

// Int returns v as an integer; ok is false where v is no number, has a fraction
// or does not fit. 1.0 and 1e3 are integers.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(v.b), 10, 64); err == nil {
		return n, true
	}
	return decimalOf(v.b).int64()
}

// Str returns v's string; ok says whether v is a string.
func (v Value) Str() (s string, ok bool) {
	if v.Kind() != String {
		return "", false
	}
	return unquote(v.b), true
}

// String returns a string's text, and any other value as JSON.
func (v Value) String() string {
	if s, ok := v.Str(); ok {
		return s
	}
	return string(v.b)
}

// Get returns the member of that name, absent where v is no object or has none.
func (v Value) Get(name string) Value {
	var found Value
	if v.Kind() != Object {
		return found
	}
	for m := newMembers(v.b); m.next(); {
		if m.is(name) {
			found = m.value()
		}
	}
	return found
}

// At returns the i-th element from 0, absent where v is no array or too short.
func (v Value) At(i int) Value {
	if v.Kind() != Array || i < 0 {
		return Value{}
	}
	for e := newElements(v.b); e.next(); i-- {
		if i == 0 {
			return e.value()
		}
	}
	return Value{}
}

// Len returns how many elements an array or members an object has, members of
// one name counted each; 0 for all else.
func (v Value) Len() int {
	n := 0
	switch v.Kind() {
	case Object:
		for m := newMembers(v.b); m.next(); {
			n++
		}
	case Array:
		for e := newElements(v.b); e.next(); {
			n++
		}
	}
	return n
}

// Elements yields an array's elements in order; nothing for all else.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		i := 0
		for e := newElements(v.b); e.next(); i++ {
			if !yield(i, e.value()) {
				return
			}
		}
	}
}

// Members yields an object's members in the order of the document, also those
// that a later one of the same name overrides; nothing for all else.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != Object {
			return
		}
		for m := newMembers(v.b); m.next(); {
			if !yield(unquote(m.name), m.value()) {
				return
			}
		}
	}
}

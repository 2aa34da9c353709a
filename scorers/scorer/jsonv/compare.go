package jsonv

import (
	"bytes"
	"strings"
)

// Equal reports whether a and b are the same JSON value: numbers by value,
// objects without regard to the order of members. Absent equals only absent.
func Equal(a, b Value) bool {
	if bytes.Equal(a.b, b.b) {
		return true
	}
	k := a.Kind()
	if k != b.Kind() {
		return false
	}
	switch k {
	case Number:
		return Compare(a, b) == 0
	case String:
		return unquote(a.b) == unquote(b.b)
	case Array:
		return equalArrays(a, b)
	case Object:
		return equalObjects(a, b)
	}
	return false
}

func equalArrays(a, b Value) bool {
	x, y := newElements(a.b), newElements(b.b)
	for x.next() {
		if !y.next() || !Equal(x.value(), y.value()) {
			return false
		}
	}
	return !y.next()
}

func equalObjects(a, b Value) bool {
	x, y := a.Map(), b.Map()
	if len(x) != len(y) {
		return false
	}
	for name, v := range x {
		w, ok := y[name]
		if !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

// Map returns an object's members by name, the last of each name; nil for all
// else. It is worth its cost where many members are looked up.
func (v Value) Map() map[string]Value {
	if v.Kind() != Object {
		return nil
	}
	m := map[string]Value{}
	for name, value := range v.Members() {
		m[name] = value
	}
	return m
}

// Contains reports whether part is contained in whole: an object's members are
// each contained in the member of the same name, an array's elements each in an
// element of their own, in the same order, and all else is equal.
func Contains(whole, part Value) bool {
	switch part.Kind() {
	case Object:
		if whole.Kind() != Object {
			return false
		}
		for name, v := range part.Map() {
			if !Contains(whole.Get(name), v) {
				return false
			}
		}
		return true
	case Array:
		return containsElements(whole, part)
	}
	return Equal(whole, part)
}

func containsElements(whole, part Value) bool {
	if whole.Kind() != Array {
		return false
	}
	x := newElements(whole.b)
	for _, want := range part.Elements() {
		for {
			if !x.next() {
				return false
			}
			if Contains(x.value(), want) {
				break
			}
		}
	}
	return true
}

// Compare orders two numbers by value or two strings by their bytes: -1, 0 or
// 1. Values of other kinds, or of two kinds, compare as 0 only where [Equal].
func Compare(a, b Value) int {
	switch {
	case a.Kind() == Number && b.Kind() == Number:
		return decimalOf(a.b).compare(decimalOf(b.b))
	case a.Kind() == String && b.Kind() == String:
		return strings.Compare(unquote(a.b), unquote(b.b))
	case a.Kind() == b.Kind() && Equal(a, b):
		return 0
	case a.Kind() < b.Kind():
		return -1
	}
	return 1
}

// Pointer returns what the JSON pointer (RFC 6901) p points at below v, absent
// where there is nothing. The empty pointer is v itself.
func (v Value) Pointer(p string) Value {
	if p == "" {
		return v
	}
	if p[0] != '/' {
		return Value{}
	}
	for token := range strings.SplitSeq(p[1:], "/") {
		switch v.Kind() {
		case Object:
			v = v.Get(unescapeToken(token))
		case Array:
			v = v.At(index(token))
		default:
			return Value{}
		}
	}
	return v
}

// EscapeToken returns name as one token of a JSON pointer.
func EscapeToken(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescapeToken(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}

// index returns the array index that a token stands for, or -1.
func index(s string) int {
	if s == "" || len(s) > 9 || len(s) > 1 && s[0] == '0' {
		return -1
	}
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

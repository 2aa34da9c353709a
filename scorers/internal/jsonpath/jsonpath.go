// Package jsonpath finds values in a JSON document with the query language of
// RFC 9535: all of it, checked against the standard's compliance suite.
//
// It is this project's own because a scorer runs in WebAssembly: the libraries
// stand on maps of any, encoding/json and reflection, which cost two megabytes
// of module and many times the time, and yield an object's members in random
// order. Start at [Parse].
package jsonpath

import (
	"errors"
	"regexp"

	"github.com/evalengine/evalengine/scorers/internal/tree"
)

// Limits of queries and of their work.
const (
	// MaxQuery is how many bytes a query may have.
	MaxQuery = 8 << 10
	// MaxSteps is how many values a query may look at, all segments and filters
	// together: "$..*..*..*" asks for more than there is time for.
	MaxSteps = 20_000_000
	// maxNesting bounds parentheses, functions and queries within filters.
	maxNesting = 50
)

// ErrSteps is returned by [Query.Select] for a query that looks at more than
// [MaxSteps] values.
var ErrSteps = errors.New("the query looks at more than 20 million values")

// Query is a parsed query. It is safe for concurrent use.
type Query struct {
	text     string
	segments []segment
}

// String returns the query as it was written.
func (q *Query) String() string { return q.text }

// Select returns the values that the query finds below root, in the order that
// the standard gives; an object's members come in the order of the document. A
// value may be found more than once.
func (q *Query) Select(root tree.Value) ([]tree.Value, error) {
	r := run{root: root, left: MaxSteps}
	found := r.query(q.segments, root)
	if r.left < 0 {
		return nil, ErrSteps
	}
	return found, nil
}

// segment is one step of a query: selectors applied to each value found so far,
// and to all below it where it is a descendant segment.
type segment struct {
	descendant bool
	selectors  []selector
}

type selectorKind uint8

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byFilter
	all
)

type selector struct {
	kind  selectorKind
	name  string
	index int
	slice slice
	test  test
}

type slice struct {
	start, end       int
	hasStart, hasEnd bool
	step             int
}

// run is one evaluation.
type run struct {
	root tree.Value
	// left counts down the steps; below 0 the run has ended.
	left     int
	patterns map[string]*regexp.Regexp
}

func (r *run) query(segments []segment, from tree.Value) []tree.Value {
	if !from.Exists() {
		return nil
	}
	found := []tree.Value{from}
	for _, s := range segments {
		var next []tree.Value
		for _, v := range found {
			if s.descendant {
				for d := range v.Walk {
					next = r.apply(s.selectors, d, next)
				}
			} else {
				next = r.apply(s.selectors, v, next)
			}
			if r.left < 0 {
				return nil
			}
		}
		found = next
	}
	return found
}

// apply appends what the selectors find in v to found.
func (r *run) apply(selectors []selector, v tree.Value, found []tree.Value) []tree.Value {
	for i := range selectors {
		s := &selectors[i]
		r.left--
		if r.left < 0 {
			return found
		}
		switch s.kind {
		case byName:
			if m := r.member(v, s.name); m.Exists() {
				found = append(found, m)
			}
		case byIndex:
			if e := r.element(v, s.index); e.Exists() {
				found = append(found, e)
			}
		case bySlice:
			found = r.slice(s.slice, v, found)
		case all:
			for c := range v.Each {
				r.left--
				found = append(found, c)
			}
		case byFilter:
			for c := range v.Each {
				r.left--
				if r.left < 0 {
					return found
				}
				if s.test.holds(r, c) {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// member and element count what finding them costs.

func (r *run) member(v tree.Value, name string) tree.Value {
	m, looked := v.Lookup(name)
	r.left -= looked / 4
	return m
}

func (r *run) element(v tree.Value, i int) tree.Value {
	e := v.At(i)
	if i < 0 || !e.Exists() {
		r.left -= v.Len() / 4
	} else {
		r.left -= i / 4
	}
	return e
}

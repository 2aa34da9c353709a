package jsonpath

import (
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// slice appends the elements of v that s selects, as RFC 9535, 2.3.4.2 says.
func (r *run) slice(s slice, v tree.Value, found []tree.Value) []tree.Value {
	if v.Kind() != jsonv.Array || s.step == 0 {
		return found
	}
	var elements []tree.Value
	for c := range v.Each {
		elements = append(elements, c)
	}
	n := len(elements)
	r.left -= n
	if s.step > 0 {
		lower, upper := 0, n
		if s.hasStart {
			lower = clamp(fromEnd(s.start, n), 0, n)
		}
		if s.hasEnd {
			upper = clamp(fromEnd(s.end, n), 0, n)
		}
		for i := lower; i < upper; i += min(s.step, n) {
			found = append(found, elements[i])
		}
		return found
	}
	upper, lower := n-1, -1
	if s.hasStart {
		upper = clamp(fromEnd(s.start, n), -1, n-1)
	}
	if s.hasEnd {
		lower = clamp(fromEnd(s.end, n), -1, n-1)
	}
	for i := upper; i > lower; i += max(s.step, -n) {
		found = append(found, elements[i])
	}
	return found
}

func fromEnd(i, n int) int {
	if i < 0 {
		return i + n
	}
	return i
}

func clamp(i, low, high int) int { return max(low, min(i, high)) }

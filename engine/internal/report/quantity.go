package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// quantity is a row of an arm's numbers, the same in every format.
type quantity struct {
	// Kind is gate, score or effort.
	Kind string
	*eval.Stat
}

// quantities are an arm's gates, scores and effort, in this order and each apart.
func quantities(a *eval.Arm) []quantity {
	out := make([]quantity, 0, len(a.Gates)+len(a.Scores)+len(a.Effort))
	for _, part := range []struct {
		kind string
		list []eval.Stat
	}{{"gate", a.Gates}, {"score", a.Scores}, {"effort", a.Effort}} {
		for i := range part.list {
			out = append(out, quantity{part.kind, &part.list[i]})
		}
	}
	return out
}

// Label is the quantity's name, and of a gate that it is one.
func (q quantity) Label() string {
	if q.Kind == "gate" {
		return "all asserts of " + q.Name
	}
	return q.Name
}

// What says which role and dimension the quantity has.
func (q quantity) What() string {
	switch q.Kind {
	case "gate":
		return "gate"
	case "effort":
		return "effort"
	}
	return string(q.Role) + ", " + string(q.Dimension)
}

// exact is a number in full precision; what is not finite is said in words.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return precise(*v)
}

func precise(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return "inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// raw are the values in the order of trials, at most n of them; 0 is all.
func raw(s *eval.Stat, n int, format func(float64) string) string {
	var b strings.Builder
	for i, v := range s.Values {
		if i > 0 {
			b.WriteByte(' ')
		}
		if n > 0 && i == n {
			b.WriteString("… " + strconv.Itoa(len(s.Values)-i) + " more")
			break
		}
		b.WriteString(format(v))
	}
	return b.String()
}

// bounded says whether all values lie in 0..1.
func bounded(values []float64) bool {
	for _, v := range values {
		if !(v >= 0 && v <= 1) {
			return false
		}
	}
	return true
}

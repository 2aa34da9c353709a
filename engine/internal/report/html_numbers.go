package report

import (
	"fmt"
	"math"

	"github.com/evalengine/evalengine/engine/eval"
)

// storyView is a story with the numbers of its arms.
type storyView struct {
	Name, ID string
	// Open is set where a trial is not passed.
	Open bool
	Arms []armView
}

type armView struct {
	Name, Status, Tally, Reliability string
	Flaky                            *eval.Flaky
	Rows                             []numberRow
}

// numberRow is a quantity with its strip.
type numberRow struct {
	quantity
	strip
	Values string
	Lost   string
}

func (d *Document) viewStories(v *runView) {
	at := map[string]int{}
	for i := range d.Summary.Arms {
		a := &d.Summary.Arms[i]
		n, ok := at[a.Story]
		if !ok {
			n = len(v.Stories)
			at[a.Story] = n
			v.Stories = append(v.Stories, storyView{Name: a.Story, ID: storyID(a.Story)})
		}
		s := &v.Stories[n]
		s.Open = s.Open || a.Trials.Passed < a.Trials.Total || a.Trials.Total == 0
		s.Arms = append(s.Arms, d.armView(a))
	}
	if len(v.Stories) == 1 {
		v.Stories[0].Open = true
	}
}

func (d *Document) armView(a *eval.Arm) armView {
	out := armView{Name: arm(a.Variant, a.Host), Status: armStatus(a), Tally: d.tally(a), Reliability: passAt(a), Flaky: a.Flaky}
	for _, q := range quantities(a) {
		var picture strip
		if q.Kind == "score" && q.Role != eval.RoleAssert {
			picture = newStrip(q.Stat)
		}
		out.Rows = append(out.Rows, numberRow{q, picture, raw(q.Stat, htmlValues, number), lost(q.Errored, q.Skipped)})
	}
	return out
}

// passAt are an arm's pass@k and pass^k in words.
func passAt(a *eval.Arm) string {
	text := ""
	for _, p := range a.PassAt {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("pass@%d %s, pass^%d %s", p.K, undefined(p.PassAt), p.K, undefined(p.PassHat))
	}
	return text
}

// Measures of a strip, in the units of its picture.
const (
	stripWidth  = 120.0
	stripMargin = 6.0
	stripDots   = 60
)

// strip is a small picture of values on one line: a dot for each, their mean, and
// the interval of the mean.
type strip struct {
	Drawn  bool
	Dots   []string
	Centre string
	Lo, Hi string
}

// newStrip draws on 0..1 where all values lie there, else from the smallest value to
// the largest, or from 0. What is not a finite number is not drawn.
func newStrip(s *eval.Stat) strip {
	if len(s.Values) < 2 || s.Mean == nil {
		return strip{}
	}
	lo, hi := 0.0, 1.0
	for _, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return strip{}
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	if hi-lo > math.MaxFloat64/2 {
		return strip{}
	}
	x := func(v float64) string {
		v = min(max(v, lo), hi)
		return fmt.Sprintf("%.1f", stripMargin+(stripWidth-2*stripMargin)*(v-lo)/(hi-lo))
	}
	out := strip{Drawn: true, Centre: x(*s.Mean)}
	seen := map[string]bool{}
	for _, v := range s.Values {
		if at := x(v); !seen[at] && len(out.Dots) < stripDots {
			seen[at] = true
			out.Dots = append(out.Dots, at)
		}
	}
	if len(s.Interval) == 2 {
		out.Lo, out.Hi = x(s.Interval[0]), x(s.Interval[1])
	}
	return out
}

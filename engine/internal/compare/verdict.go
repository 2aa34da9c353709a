package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// decide gives each quantity its verdict. Those that gate are corrected together, and
// so are their single stories; the others are for information and stand by themselves.
func decide(list []*quantity, alpha float64) {
	var over, within []*hypothesis
	for _, q := range list {
		if !q.out.Gated || q.out.NotComparable != "" {
			continue
		}
		if q.test != nil {
			over = append(over, q.test)
		}
		for i := range q.out.Changed {
			if h := q.within[i]; h != nil {
				within = append(within, h)
			}
		}
	}
	adjust(over, alpha)
	adjust(within, alpha)
	for _, q := range list {
		q.decide(alpha)
	}
}

// adjust corrects by Holm over the tests that can reach the level at all (Tarone,
// 1990). Whether one can is known from how many trials or stories differ, whichever
// way they do; those that cannot stay without an adjusted value.
func adjust(tests []*hypothesis, alpha float64) {
	tests = slices.Clone(tests)
	for {
		n := len(tests)
		tests = slices.DeleteFunc(tests, func(h *hypothesis) bool { return h.given*float64(n) > alpha+same })
		if len(tests) == n {
			break
		}
	}
	p := make([]float64, len(tests))
	for i, h := range tests {
		p[i] = h.p
	}
	for i, v := range stats.Holm(p) {
		tests[i].adjusted = &v
	}
}

// verdict of a test. One whose sample could not reach the level, however it came out,
// says nothing.
func (h *hypothesis) verdict(gated bool, alpha float64) eval.ComparisonVerdict {
	if h == nil || h.lowest > alpha+same {
		return eval.InsufficientData
	}
	p := h.adjusted
	if !gated {
		p = &h.p
	}
	switch {
	case p == nil || *p > alpha:
		return eval.NoEvidence
	case h.better:
		return eval.Improved
	}
	return eval.Regressed
}

// shown is the p-value that decides.
func (h *hypothesis) shown() string {
	if h.adjusted == nil {
		return pvalue(h.p)
	}
	return pvalue(*h.adjusted)
}

func (q *quantity) decide(alpha float64) {
	out := &q.out
	if out.NotComparable != "" {
		out.Test, out.TestWhy, q.test, q.within = "", "", nil, nil
		out.Verdict, out.Reason = eval.InsufficientData, "not comparable: "+out.NotComparable
		return
	}
	for i := range out.Changed {
		s, h := &out.Changed[i], q.within[i]
		s.Verdict = h.verdict(true, alpha)
		if h != nil {
			s.P, s.Adjusted = &h.p, h.adjusted
		}
	}
	out.Verdict = q.test.verdict(out.Gated, alpha)
	if q.test != nil {
		out.P, out.Adjusted = &q.test.p, q.test.adjusted
	}
	switch {
	case out.Stories == 0:
		out.Reason = q.nothing()
	case out.Verdict == eval.InsufficientData:
		q.few(alpha)
	default:
		out.Reason = q.said()
	}
	q.single()
}

func (q *quantity) nothing() string {
	base, head := q.out.Base, q.out.Head
	switch {
	case len(q.out.OneSided) > 0:
		return "no story has a value on both sides"
	case base.Errored+base.Skipped+base.Refused+head.Errored+head.Skipped+head.Refused > 0:
		return "no story has a value on both sides; scores that errored or were skipped do not count"
	}
	return "no story has it on both sides"
}

// said is the reason of a verdict by the test over stories.
func (q *quantity) said() string {
	out := &q.out
	if q.lost+q.won == 0 {
		return fmt.Sprintf("all %s have the same mean on both sides", stories(out.Stories))
	}
	text := fmt.Sprintf("%s over %s, p = %s", direction(*out.Difference, out.Unit), stories(out.Stories), q.test.shown())
	if !out.Gated {
		text += ", not corrected for how many quantities there are"
	}
	if out.Rate && (q.won > q.lost) != q.better(*out.Difference) {
		text += fmt.Sprintf("; by number of stories %d are worse and %d better", q.lost, q.won)
	}
	if out.Verdict == eval.NoEvidence {
		text = "the difference may be chance: " + text
	}
	if out.Detectable == nil && out.Stories > 1 && q.lost+q.won > 0 {
		text += "; every story differs by the same, so how far stories vary is not known"
	}
	return text
}

// few is for a sample of stories that no test over stories can decide on. A rate can
// still be tested within single stories.
func (q *quantity) few(alpha float64) {
	out := &q.out
	out.Verdict = eval.InsufficientData
	need := "more"
	if q.test != nil {
		need = fmt.Sprint(needed(out.Rate, alpha))
	}
	out.Reason = fmt.Sprintf("%s: the test over stories needs at least %s to reach its level", stories(out.Stories), need)
	var can []*hypothesis
	for i := range out.Changed {
		if h := q.within[i]; h.verdict(true, alpha) != eval.InsufficientData {
			can = append(can, h)
		}
	}
	if len(can) == 0 {
		if out.Rate {
			out.Reason += ", and a test within a story more repeats"
		}
		return
	}
	least := slices.MinFunc(can, func(a, b *hypothesis) int { return cmp.Compare(a.p, b.p) })
	out.Test = testFisher
	out.TestWhy = "too few stories for a test over them: Fisher's exact test within each story, on its own repeats; it speaks of these stories alone"
	out.P, out.Adjusted = &least.p, least.adjusted
	out.Verdict = eval.NoEvidence
	out.Reason = fmt.Sprintf("within %s, none of them changed beyond chance; %s are too few to speak of others", stories(len(can)), stories(out.Stories))
}

// needed is how many stories let a test reach the level.
func needed(rate bool, alpha float64) int {
	p, n := 1.0, 0
	if !rate {
		p = 2
	}
	for p > alpha && n < 64 {
		p, n = p/2, n+1
	}
	return n
}

// single lets stories that changed beyond chance by themselves decide where the test
// over all of them does not: one story that broke is a regression.
func (q *quantity) single() {
	out := &q.out
	for _, v := range []eval.ComparisonVerdict{eval.Regressed, eval.Improved} {
		var names []string
		for _, s := range out.Changed {
			if s.Verdict == v {
				names = append(names, fmt.Sprintf("%s from %s to %s (p = %s within the story)", s.Story, number(s.Base), number(s.Head), pvalue(*s.Adjusted)))
			}
		}
		if len(names) == 0 {
			continue
		}
		switch {
		case out.Verdict == v || out.Verdict == eval.Regressed || out.Verdict == eval.Improved && v == eval.Improved:
			out.Reason += "; by itself: " + few(names)
		default:
			out.Verdict = v
			out.Reason = few(names)
		}
	}
}

// few is a list, cut where it is long.
func few(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// overall is the verdict of the quantities that gate.
func overall(list []eval.Compared) (eval.ComparisonVerdict, string) {
	of := map[eval.ComparisonVerdict][]string{}
	gated := 0
	for _, q := range list {
		if q.Gated {
			gated++
			of[q.Verdict] = append(of[q.Verdict], q.Name)
		}
	}
	named := func(v eval.ComparisonVerdict, word string) string { return word + ": " + strings.Join(of[v], ", ") }
	switch {
	case gated == 0:
		return eval.InsufficientData, "nothing gates: no story has an assert, and no quantity was asked for"
	case len(of[eval.Regressed]) > 0:
		return eval.Regressed, named(eval.Regressed, "regressed")
	case len(of[eval.InsufficientData]) == gated:
		return eval.InsufficientData, named(eval.InsufficientData, "too little data for")
	case len(of[eval.Improved]) > 0:
		return eval.Improved, named(eval.Improved, "improved")
	case len(of[eval.InsufficientData]) > 0:
		return eval.NoEvidence, named(eval.NoEvidence, "no evidence of a change") + "; " + named(eval.InsufficientData, "too little data for")
	}
	return eval.NoEvidence, named(eval.NoEvidence, "no evidence of a change")
}

func stories(n int) string {
	if n == 1 {
		return "1 story"
	}
	return fmt.Sprintf("%d stories", n)
}

func direction(d float64, unit string) string {
	switch {
	case math.Abs(d) <= same:
		return "the mean is the same"
	case d < 0:
		return "down by " + amount(-d, unit)
	}
	return "up by " + amount(d, unit)
}

func amount(v float64, unit string) string {
	if unit == "" {
		return number(v)
	}
	return number(v) + " " + unit
}

func number(v float64) string {
	if v != 0 && math.Abs(v) < 0.01 {
		return fmt.Sprintf("%.2g", v)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", v), ".00")
}

func pvalue(p float64) string {
	if p < 0.0001 {
		return "below 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// Names of tests and intervals.
const (
	testMcNemar     = "mcnemar_mid_p"
	testSignFlip    = "sign_flip_exact"
	testSignDrawn   = "sign_flip_drawn"
	testFisher      = "fisher_exact_within_stories"
	intervalNewcomb = "newcombe"
	intervalPairedT = "paired_t"
)

// same is how near to 0 a difference is none but for rounding.
const same = 1e-12

// quantity is one quantity while it is being compared.
type quantity struct {
	key   quantityKey
	out   eval.Compared
	pairs []*storyPair
	// test is over stories, within has one for each story that can be tested by
	// itself, by its place in out.Changed.
	test   *hypothesis
	within map[int]*hypothesis
	// lost and won count stories that are worse and better on the head side.
	lost, won int
}

// hypothesis is one test: its p-value, the lowest that a sample of its size can give,
// and the lowest given how many differ at all, whichever way.
type hypothesis struct {
	p, lowest, given float64
	// adjusted is set where the test is among those that are corrected together.
	adjusted *float64
	// better says that the difference is one for the better.
	better bool
}

func (q *quantity) worse(d float64) bool { return worse(d, q.out.LowerIsBetter) }

// worse reports whether a difference is one for the worse.
func worse(d float64, lowerIsBetter bool) bool {
	if lowerIsBetter {
		return d > same
	}
	return d < -same
}

func (q *quantity) better(d float64) bool { return math.Abs(d) > same && !q.worse(d) }

// measure computes all that does not depend on the other quantities.
func (q *quantity) measure(o Options) {
	out := &q.out
	out.Stories = len(q.pairs)
	if len(q.pairs) == 0 {
		return
	}
	d := make([]float64, len(q.pairs))
	base, head := 0.0, 0.0
	for i, p := range q.pairs {
		d[i] = p.difference()
		base, head = base+p.base, head+p.head
		out.Base.N, out.Head.N = out.Base.N+p.baseAll.n, out.Head.N+p.headAll.n
		switch {
		case q.worse(d[i]):
			q.lost++
		case q.better(d[i]):
			q.won++
		}
	}
	n := float64(len(d))
	out.Base.Mean, out.Head.Mean = new(base/n), new(head/n)
	mean, _ := stats.Mean(d)
	out.Difference = &mean
	q.spread(d, o)
	q.stories()
	if out.Rate {
		q.rate(o)
	} else {
		q.value(d, o)
	}
	q.parts(o)
}

// spread has what the stories' differences say of their mean.
func (q *quantity) spread(d []float64, o Options) {
	t, ok := stats.DifferencesT(d, o.Level)
	if !ok {
		return
	}
	if e, ok := stats.DetectableBy(t.SE, t.DF, o.Level, power); ok {
		q.out.Detectable = &e
	}
	if e, ok := stats.CohenDz(d); ok {
		q.out.Effect = &e
	}
	if !q.out.Rate && t.TOK {
		q.out.PairedT = &t.P
		q.out.Interval, q.out.Method = []float64{t.Lo, t.Hi}, intervalPairedT
	}
}

// rate tests a rate over stories; what one story's own trials say is tested apart.
func (q *quantity) rate(o Options) {
	out := &q.out
	b, h := effective(q.pairs, func(p *storyPair) cell { return p.baseAll }), effective(q.pairs, func(p *storyPair) cell { return p.headAll })
	if lo, hi, ok := stats.Newcombe(*out.Head.Mean, h, *out.Base.Mean, b, o.Level); ok {
		out.Interval, out.Method = []float64{lo, hi}, intervalNewcomb
	}
	m, ok := stats.McNemar(q.lost, q.won, len(q.pairs))
	if !ok {
		return
	}
	q.test = &hypothesis{p: m.MidP, lowest: m.Lowest, given: m.Given, better: q.won > q.lost}
	out.Test = testMcNemar
	out.TestWhy = fmt.Sprintf("a rate, paired by story: each story counts once, however many repeats it has; %d worse, %d better, %d the same; mid-p, since the exact test stays far below its level", q.lost, q.won, len(q.pairs)-q.lost-q.won)
	for i, p := range q.pairs {
		if f, ok := within(p); ok && out.Gated {
			q.within[i] = &hypothesis{p: f.P, lowest: f.Lowest, given: f.Given, better: q.better(p.difference())}
		}
	}
}

// within tests the trials of one story, its arms held apart: repeats are repeats of
// one thing there.
func within(p *storyPair) (stats.Table, bool) {
	var tables []stats.Counts
	for _, a := range p.arms {
		if a.base.n < 2 || a.head.n < 2 {
			return stats.Table{}, false
		}
		tables = append(tables, stats.Counts{K1: a.base.ones, N1: a.base.n, K2: a.head.ones, N2: a.head.n})
	}
	return stats.FisherStrata(tables)
}

// value tests the differences of a quantity that is no rate.
func (q *quantity) value(d []float64, o Options) {
	f, ok := stats.SignFlip(d, o.Draws, o.Seed)
	if !ok {
		return
	}
	q.test = &hypothesis{p: f.P, lowest: f.Lowest, given: f.Given, better: q.better(*q.out.Difference)}
	q.out.Test = testSignFlip
	q.out.TestWhy = fmt.Sprintf("values, paired by story: all %d patterns of signs of %d differences are counted, which needs no normal distribution", f.Patterns, len(d))
	if !f.Exact {
		q.out.Test = testSignDrawn
		q.out.TestWhy = fmt.Sprintf("values, paired by story: of the patterns of signs of %d differences %d were drawn from seed %d, since all of them are too many to count", len(d), f.Patterns-1, o.Seed)
	}
}

// stories are shown those first that are worst.
func (q *quantity) stories() {
	q.within = map[int]*hypothesis{}
	slices.SortStableFunc(q.pairs, func(a, b *storyPair) int {
		x, y := a.difference(), b.difference()
		if q.out.LowerIsBetter {
			x, y = y, x
		}
		return cmp.Compare(x, y)
	})
	for _, p := range q.pairs {
		q.out.Changed = append(q.out.Changed, eval.ComparedStory{
			Story: p.story, Base: p.base, Head: p.head, BaseN: p.baseAll.n, HeadN: p.headAll.n, Difference: p.difference(),
			Verdict: eval.InsufficientData,
		})
	}
}

// effective is how many independent trials a side's repeats are worth: their number
// over the design effect 1 + (m-1) ICC, and at least one for each story. Repeats that
// never differ are worth one.
func effective(pairs []*storyPair, of func(*storyPair) cell) float64 {
	stories, n, within, squares := float64(len(pairs)), 0.0, 0.0, 0.0
	var all cell
	for _, p := range pairs {
		c := of(p)
		all = join(all, c)
		n += float64(c.n)
		squares += float64(c.n) * float64(c.n)
		within += c.m2
	}
	if n <= stories || stories < 2 {
		return stories
	}
	msb, msw := (all.m2-within)/(stories-1), within/(n-stories)
	size := (n - squares/n) / (stories - 1)
	icc := 1.0
	if total := msb + (size-1)*msw; total > same {
		icc = min(1, max(0, (msb-msw)/total))
	}
	return max(stories, n/(1+(n/stories-1)*icc))
}

// parts are the quantity on each host, of each variant, where there are several.
func (q *quantity) parts(o Options) {
	var order []armKey
	of := map[armKey][]float64{}
	sums := map[armKey][2]float64{}
	for _, p := range q.pairs {
		for _, a := range p.arms {
			k := armKey{variant: a.key.variant, host: a.key.host}
			if _, ok := of[k]; !ok {
				order = append(order, k)
			}
			of[k] = append(of[k], a.head.mean-a.base.mean)
			s := sums[k]
			sums[k] = [2]float64{s[0] + a.base.mean, s[1] + a.head.mean}
		}
	}
	if len(order) < 2 {
		return
	}
	for _, k := range order {
		d := of[k]
		n := float64(len(d))
		mean, _ := stats.Mean(d)
		w := eval.ComparedPart{Host: k.host, Variant: k.variant, Stories: len(d), Base: new(sums[k][0] / n), Head: new(sums[k][1] / n), Difference: &mean}
		if t, ok := stats.DifferencesT(d, o.Level); ok && t.TOK {
			w.Interval = []float64{t.Lo, t.Hi}
		}
		if f, ok := stats.SignFlip(d, o.Draws, o.Seed); ok {
			w.P = &f.P
		}
		q.out.Within = append(q.out.Within, w)
	}
}

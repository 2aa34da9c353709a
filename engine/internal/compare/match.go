package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// matching pairs the arms of two sides. In the keys of pairs a host or variant that
// tells the sides apart is empty.
type matching struct {
	base, head *Side
	by         string
	// noHost and noVariant say which part of an arm's key tells the sides apart.
	noHost, noVariant bool
	// force compares what is not of one scorer.
	force    bool
	pairs    []armPair
	baseOnly []armKey
	headOnly []armKey
	notes    []string
}

type armPair struct {
	key        armKey
	base, head *arm
	baseKey    armKey
	headKey    armKey
}

func newMatching(base, head *Side, by string) *matching {
	m := &matching{base: base, head: head, by: by, noHost: by == ByHost, noVariant: by == ByVariant}
	if by == "" {
		// Runs on one host each, or of one variant each, are compared with each other
		// where these differ: that they do is said as a change.
		m.noHost = single(base, head, func(k armKey) string { return k.host })
		m.noVariant = single(base, head, func(k armKey) string { return k.variant })
	}
	heads := map[armKey]armKey{}
	for _, k := range head.order {
		heads[m.blank(k)] = k
	}
	paired := map[armKey]bool{}
	for _, k := range base.order {
		key := m.blank(k)
		h, ok := heads[key]
		if !ok {
			m.baseOnly = append(m.baseOnly, k)
			continue
		}
		paired[h] = true
		m.pairs = append(m.pairs, armPair{key: key, base: base.arms[k], head: head.arms[h], baseKey: k, headKey: h})
	}
	for _, k := range head.order {
		if !paired[k] {
			m.headOnly = append(m.headOnly, k)
		}
	}
	return m
}

// single reports whether each side has one value only, and they differ.
func single(a, b *Side, of func(armKey) string) bool {
	one := func(s *Side) (string, bool) {
		for _, k := range s.order {
			if of(k) != of(s.order[0]) {
				return "", false
			}
		}
		if len(s.order) == 0 {
			return "", false
		}
		return of(s.order[0]), true
	}
	x, okX := one(a)
	y, okY := one(b)
	return okX && okY && x != y
}

func (m *matching) blank(k armKey) armKey {
	if m.noHost {
		k.host = ""
	}
	if m.noVariant {
		k.variant = ""
	}
	return k
}

// unpaired lists what only one side has.
func (m *matching) unpaired() []eval.Unpaired {
	shared := map[string]bool{}
	for _, p := range m.pairs {
		shared[p.key.story] = true
	}
	var out []eval.Unpaired
	add := func(s *Side, side string, keys []armKey) {
		for _, k := range keys {
			out = append(out, eval.Unpaired{
				Story: k.story, Variant: k.variant, Host: k.host, Side: side, Whole: !shared[k.story], Trials: s.arms[k].trials,
			})
		}
	}
	add(m.base, "base", m.baseOnly)
	add(m.head, "head", m.headOnly)
	return out
}

// storyPair is one story of a quantity.
type storyPair struct {
	story string
	arms  []cellPair
	// base and head are the means of the arms' means, all the cells of all values.
	base, head       float64
	baseAll, headAll cell
}

type cellPair struct {
	key        armKey
	base, head *cell
}

// difference is none where it is due to rounding.
func (p *storyPair) difference() float64 {
	if d := p.head - p.base; math.Abs(d) > same*max(1, math.Abs(p.base), math.Abs(p.head)) {
		return d
	}
	return 0
}

// quantities are all that either side has values of, those that gate first.
func (m *matching) quantities(o Options) []*quantity {
	keys := slices.Clone(m.base.named)
	for _, k := range m.head.named {
		if _, ok := m.base.facts[k]; !ok {
			keys = append(keys, k)
		}
	}
	var out []*quantity
	for _, k := range keys {
		f, ok := m.head.facts[k]
		if !ok {
			f = m.base.facts[k]
		}
		gated := k.kind == eval.QuantityGate
		for _, g := range o.Gates {
			gated = gated || eval.Glob(g, k.name)
		}
		out = append(out, m.quantity(k, f, gated))
	}
	rank := func(q *quantity) int {
		kinds := []eval.QuantityKind{eval.QuantityGate, eval.QuantityScore, eval.QuantityEffort}
		if q.out.Gated {
			return slices.Index(kinds, q.key.kind)
		}
		return len(kinds) + slices.Index(kinds, q.key.kind)
	}
	slices.SortStableFunc(out, func(a, b *quantity) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

func (m *matching) quantity(k quantityKey, f facts, gated bool) *quantity {
	q := &quantity{key: k, out: eval.Compared{
		Kind: k.kind, Name: k.name, Role: f.role, Dimension: f.dimension, Unit: f.unit, LowerIsBetter: f.lower, Gated: gated,
		Changed: []eval.ComparedStory{},
	}}
	q.out.Base, q.out.Head = m.base.values(k), m.head.values(k)
	pairs := m.storyPairs(k, q)
	fit, changed := m.comparable(k, pairs)
	q.pairs = fit
	switch {
	case len(changed) == 0:
	case m.force:
		q.pairs, q.out.Forced = pairs, changed
	case len(fit) == 0:
		q.pairs = pairs
		q.out.NotComparable = strings.Join(changed, "; ")
	default:
		q.out.LeftOut = changed
	}
	others := 0
	for _, s := range []*Side{m.base, m.head} {
		for _, a := range s.arms {
			if c := a.cells[k]; c != nil {
				others += c.others
			}
		}
	}
	q.out.Rate = k.kind == eval.QuantityGate || f.role == eval.RoleAssert && others == 0
	return q
}

// values counts what a side has of a quantity without a value.
func (s *Side) values(k quantityKey) eval.ComparedValues {
	var v eval.ComparedValues
	for _, a := range s.arms {
		if c := a.cells[k]; c != nil {
			v.Errored, v.Skipped, v.Refused = v.Errored+c.errored, v.Skipped+c.skipped, v.Refused+c.refused
		}
	}
	return v
}

// storyPairs are the stories that both sides have values of, in the base's order;
// those that only one has are named in the quantity.
func (m *matching) storyPairs(k quantityKey, q *quantity) []*storyPair {
	var out []*storyPair
	at := map[string]*storyPair{}
	lone := map[string]bool{}
	for _, p := range m.pairs {
		b, h := p.base.cells[k], p.head.cells[k]
		has := func(c *cell) bool { return c != nil && c.n > 0 }
		if !has(b) || !has(h) {
			if has(b) || has(h) {
				lone[p.key.story] = true
			}
			continue
		}
		s := at[p.key.story]
		if s == nil {
			s = &storyPair{story: p.key.story}
			at[p.key.story] = s
			out = append(out, s)
		}
		s.arms = append(s.arms, cellPair{p.key, b, h})
		s.baseAll, s.headAll = join(s.baseAll, *b), join(s.headAll, *h)
	}
	for story := range lone {
		if at[story] == nil {
			q.out.OneSided = append(q.out.OneSided, story)
		}
	}
	slices.Sort(q.out.OneSided)
	for _, s := range out {
		for _, c := range s.arms {
			s.base += c.base.mean
			s.head += c.head.mean
		}
		s.base /= float64(len(s.arms))
		s.head /= float64(len(s.arms))
	}
	return out
}

// comparable parts the stories whose values are of one scale on both sides from
// those that are not, and says why they are not.
func (m *matching) comparable(k quantityKey, pairs []*storyPair) (fit []*storyPair, why []string) {
	said := map[string]bool{}
	for _, p := range pairs {
		reason := m.scorerChanged(k, p)
		if reason == "" {
			fit = append(fit, p)
			continue
		}
		if !said[reason] {
			said[reason] = true
			why = append(why, reason)
		}
	}
	return fit, why
}

func (m *matching) scorerChanged(k quantityKey, p *storyPair) string {
	for _, part := range append(slices.Clone(p.baseAll.parts), p.headAll.parts...) {
		module, _, _ := strings.Cut(part.scorer, "/")
		key := changeKey{changeScorer, module}
		if b, h := m.base.made.sets[key], m.head.made.sets[key]; b != nil && h != nil && !b.equal(h) {
			return fmt.Sprintf("scorer module %s changed from %s to %s", module, b.list(), h.list())
		}
		why, known := m.definitionChanged(scoreKey{p.story, part.score})
		if why != "" {
			return why
		}
		if known {
			continue
		}
		b, okB := m.base.parameters[scoreKey{p.story, part.score}]
		h, okH := m.head.parameters[scoreKey{p.story, part.score}]
		if okB && okH && b != h {
			return fmt.Sprintf("story %s: the parameters of %s changed", p.story, part.score)
		}
	}
	if k.kind == eval.QuantityGate {
		if gone, new := lacks(p.headAll.parts, p.baseAll.parts), lacks(p.baseAll.parts, p.headAll.parts); gone+new != "" {
			return fmt.Sprintf("story %s: its %s asserts are not the same%s%s", p.story, k.name, prefixed("; gone: ", gone), prefixed("; new: ", new))
		}
	}
	return ""
}

// lacks are the scores of b that a has none of.
func lacks(a, b []part) string {
	var names []string
	for _, p := range b {
		if !slices.ContainsFunc(a, func(q part) bool { return q.score == p.score }) {
			names = append(names, p.score)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

package suggest

import (
	"context"
	"fmt"
	"slices"

	"github.com/evalengine/evalengine/engine/internal/usage"
)

const (
	// shortest is the fewest calls of a pattern.
	shortest = 2
	// maxPatterns and maxSteps bound a search: beyond them it begins again with
	// twice the sessions asked of a pattern.
	maxPatterns = 50_000
	maxSteps    = 2_000_000_000
)

// mined is a frequent sequence.
type mined struct {
	items                   []usage.Item
	sessions, known, failed int
}

// place is where a pattern's last call lies in the sequences, with the marks of one
// way to find the pattern there in the two highest bits.
type place uint32

const atMask = 1<<30 - 1

func (p place) at() int      { return int(p & atMask) }
func (p place) marks() uint8 { return uint8(p >> 30) }

func placed(at int, marks uint8) place { return place(at) | place(marks)<<30 }

// miner searches for sequences that are frequent.
type miner struct {
	*sequences
	ctx            context.Context
	min            int
	gap, length    int
	found          []mined
	steps          int
	prefix         []usage.Item
	sessions       []int
	last           []uint32
	offset         []int
	tooMany        bool
	limit, maxStep int
}

// mine finds every sequence that at least o.MinSessions sessions have, with at most
// o.MaxGap other calls between two of its own. The method is PrefixSpan with
// pseudo-projection (Pei, Han, Mortazavi-Asl, Pinto, Chen, Dayal and Hsu,
// "PrefixSpan: Mining Sequential Patterns Efficiently by Prefix-Projected Pattern
// Growth", ICDE 2001), under the gap constraint of Srikant and Agrawal ("Mining
// Sequential Patterns: Generalizations and Performance Improvements", EDBT 1996):
// a projection keeps every place where a prefix can end, not the first alone, for
// under a bounded gap the first may be one that cannot go on where a later one can.
// Prefixes only ever lose sessions as they grow, so the search stops at the first
// that has too few.
func (s *sequences) mine(ctx context.Context, o Options) ([]mined, int, error) {
	return s.search(ctx, o, maxPatterns, maxSteps)
}

func (s *sequences) search(ctx context.Context, o Options, patterns, steps int) ([]mined, int, error) {
	if len(s.items) > atMask {
		return nil, 0, fmt.Errorf("more than %d calls in sequences", atMask)
	}
	for k := o.MinSessions; ; k *= 2 {
		m := &miner{sequences: s, ctx: ctx, min: k, gap: o.MaxGap, length: o.MaxLength, limit: patterns, maxStep: steps}
		m.start()
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if !m.tooMany {
			return m.found, k, nil
		}
	}
}

// start searches from each frequent item.
func (m *miner) start() {
	names := 0
	for _, i := range m.items {
		if i < end && i < rare {
			names = max(names, int(i)+1)
		}
	}
	m.sessions, m.last, m.offset = make([]int, names), make([]uint32, names), make([]int, names)
	counts := make([]int, names+1)
	for _, i := range m.items {
		if int(i) < names {
			counts[i+1]++
		}
	}
	for i := range names {
		counts[i+1] += counts[i]
	}
	all := make([]place, counts[names])
	next := slices.Clone(counts[:names])
	for at, i := range m.items {
		if int(i) < names {
			all[next[i]] = placed(at, m.marks[at])
			next[i]++
		}
	}
	m.prefix = make([]usage.Item, 0, m.length)
	var spare [maxLength + 1][]place
	for i := range names {
		m.prefix = append(m.prefix[:0], usage.Item(i))
		if part := all[counts[i]:counts[i+1]]; len(part) >= m.min {
			m.grow(part, &spare)
		}
	}
}

// grow keeps the prefix where it is a pattern and searches what goes on from it.
func (m *miner) grow(places []place, spare *[maxLength + 1][]place) {
	if m.tooMany || m.ctx.Err() != nil {
		return
	}
	depth := len(m.prefix)
	if depth >= shortest {
		m.keep(places)
	}
	if depth == m.length {
		return
	}
	parts, kept := m.project(places, spare[depth])
	spare[depth] = nil // the buffer is in use
	for _, p := range parts {
		m.prefix = append(m.prefix[:depth], p.item)
		m.grow(p.places, spare)
	}
	spare[depth] = kept
	m.prefix = m.prefix[:depth]
}

// part is where the prefix goes on with an item.
type part struct {
	item   usage.Item
	places []place
}

// project finds where the prefix goes on, for each item with which enough sessions
// do. buf is used for the places and returned, larger maybe.
func (m *miner) project(places []place, buf []place) ([]part, []place) {
	var touched []usage.Item
	total := map[usage.Item]int{}
	m.extend(places, func(at int, _ uint8) {
		i := m.items[at]
		if total[i] == 0 {
			touched = append(touched, i)
			m.sessions[i], m.last[i] = 0, 0
		}
		total[i]++
		if now := m.of[at] + 1; m.last[i] != now {
			m.last[i] = now
			m.sessions[i]++
		}
	})
	slices.Sort(touched)
	var parts []part
	size := 0
	for _, i := range touched {
		m.offset[i] = -1
		if m.sessions[i] >= m.min {
			m.offset[i] = size
			parts = append(parts, part{item: i})
			size += total[i]
		}
	}
	if cap(buf) < size {
		buf = make([]place, size)
	}
	buf = buf[:cap(buf)]
	if size == 0 {
		return nil, buf
	}
	m.extend(places, func(at int, marks uint8) {
		i := m.items[at]
		if o := m.offset[i]; o >= 0 {
			buf[o] = placed(at, marks)
			m.offset[i]++
		}
	})
	from := 0
	for n := range parts {
		to := from + total[parts[n].item]
		parts[n].places = buf[from:to:to]
		from = to
	}
	return parts, buf
}

// extend calls f with each place where the prefix goes on, in order and once.
// Several ways to the same place make one: a call failed where it failed on one of
// them, and an outcome is unknown where it is on all of them.
func (m *miner) extend(places []place, f func(at int, marks uint8)) {
	done := -1
	same := m.prefix[len(m.prefix)-1]
	for n, p := range places {
		for at := p.at() + 1; at <= p.at()+1+m.gap; at++ {
			i := m.items[at]
			if i == end {
				break
			}
			m.steps++
			if at <= done || i == rare || i == same {
				continue
			}
			done = at
			marks := p.marks()
			for k := n + 1; k < len(places) && places[k].at() < at; k++ {
				marks = either(marks, places[k].marks())
			}
			f(at, marks|m.marks[at])
		}
	}
	m.tooMany = m.tooMany || m.steps > m.maxStep
}

func either(a, b uint8) uint8 { return (a|b)&bad | a&b&unknown }

// keep adds the prefix to what is found.
func (m *miner) keep(places []place) {
	if len(m.found) == m.limit {
		m.tooMany = true
		return
	}
	p := mined{items: slices.Clone(m.prefix)}
	for n := 0; n < len(places); {
		session := m.of[places[n].at()]
		marks := uint8(unknown)
		for ; n < len(places) && m.of[places[n].at()] == session; n++ {
			marks = either(marks, places[n].marks())
		}
		p.sessions++
		switch {
		case marks&bad != 0:
			p.failed++
			p.known++
		case marks&unknown == 0:
			p.known++
		}
	}
	m.found = append(m.found, p)
}

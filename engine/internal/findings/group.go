package findings

import (
	"cmp"
	"slices"
	"strings"
)

// maxLeaders bounds how many findings of one kind, tool and action a text is compared
// with. Past it a text that was not there before stands for itself.
const maxLeaders = 1000

// blockKey is what all findings of a group share beside what they say.
type blockKey struct{ kind, tool, action string }

func (m *member) block() blockKey {
	return blockKey{m.kind, strings.ToLower(m.tool), strings.ToLower(m.action)}
}

// block has the groups of one kind, tool and action.
type block struct {
	leaders []leader
	// having are, for each four-gram, the leaders that have it.
	having map[string][]int32
	shared []int32 // scratch: how many four-grams each leader shares
}

// leader is the oldest finding of a group, which the others are compared with: a
// group does not drift from one wording to the next, and does not change when
// younger findings come.
type leader struct {
	group  *group
	sketch sketch
}

// group is one finding over runs and hosts.
type group struct {
	id      string
	members []*member
}

// groups puts members into groups: each joins the most similar of the older groups
// of its kind, tool and action, the older one of two, or begins its own. Members are
// taken by age, so the order in which they were added does not matter; those that are
// verified go first, so that what cites nothing leads no group that counts.
func groups(members []*member) []*group {
	slices.SortFunc(members, func(a, b *member) int {
		return cmp.Or(
			compareBool(b.verified, a.verified),
			a.first.At.Compare(b.first.At), cmp.Compare(a.first.Run, b.first.Run),
			cmp.Compare(a.fingerprint, b.fingerprint), cmp.Compare(a.kind, b.kind), cmp.Compare(a.tool, b.tool), cmp.Compare(a.action, b.action),
		)
	})
	var out []*group
	blocks := map[blockKey]*block{}
	for _, m := range members {
		b := blocks[m.block()]
		if b == nil {
			b = &block{having: map[string][]int32{}}
			blocks[m.block()] = b
		}
		s := sketchOf(m.tool, m.action, m.firstText)
		if g := b.nearest(s); g != nil {
			g.members = append(g.members, m)
			continue
		}
		g := &group{id: m.fingerprint, members: []*member{m}}
		b.lead(g, s)
		out = append(out, g)
	}
	return out
}

func compareBool(a, b bool) int {
	return map[bool]int{true: 1}[a] - map[bool]int{true: 1}[b]
}

// lead takes in a new group.
func (b *block) lead(g *group, s sketch) {
	if len(b.leaders) == maxLeaders {
		return
	}
	at := int32(len(b.leaders))
	b.leaders = append(b.leaders, leader{g, s})
	b.shared = append(b.shared, 0)
	for _, gram := range s.grams {
		b.having[gram] = append(b.having[gram], at)
	}
}

// nearest is the group that says the same; nil where none does.
func (b *block) nearest(s sketch) *group {
	for _, gram := range s.grams {
		for _, at := range b.having[gram] {
			b.shared[at]++
		}
	}
	var best *group
	most := 0.0
	for i := range b.leaders {
		l := &b.leaders[i]
		d := dice(int(b.shared[i]), len(l.sketch.grams), len(s.grams))
		b.shared[i] = 0
		if d >= Threshold && d > most && !opposed(l.sketch, s) {
			best, most = l.group, d
		}
	}
	return best
}

package agentout

import (
	"fmt"
	"hash/maphash"

	"github.com/evalengine/evalengine/engine/eval"
)

// MaxNotes bounds the warnings of one turn, MaxNote the bytes of one.
const (
	MaxNotes = 20
	MaxNote  = 500
)

// Notes are the warnings of one turn, bounded and each said once.
type Notes struct {
	emit func(eval.Event)
	said map[string]bool
	more int
}

// NewNotes returns notes that go to emit.
func NewNotes(emit func(eval.Event)) *Notes {
	return &Notes{emit: emit, said: map[string]bool{}}
}

// Add warns.
func (n *Notes) Add(format string, args ...any) {
	text := Cut(fmt.Sprintf(format, args...), MaxNote)
	switch {
	case n.said[text]:
	case len(n.said) < MaxNotes:
		n.said[text] = true
		n.emit(eval.Event{Warning: text})
	default:
		n.more++
	}
}

// Close says how many warnings were left out.
func (n *Notes) Close() {
	if n.more > 0 {
		n.emit(eval.Event{Warning: fmt.Sprintf("%d more warnings of this turn are left out", n.more)})
		n.more = 0
	}
}

// maxSeen bounds the memory of a [Seen]: past it, doubles are no longer found.
const maxSeen = 1 << 18

// Seen remembers what was seen, to find what comes twice.
type Seen struct {
	seed maphash.Seed
	set  map[uint64]struct{}
}

// Again reports whether the parts, together, were seen before, and remembers
// them. All parts empty is never seen.
func (s *Seen) Again(parts ...string) bool {
	if s.set == nil {
		s.seed, s.set = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	empty := true
	for _, p := range parts {
		empty = empty && p == ""
		_, _ = h.WriteString(p)
		_ = h.WriteByte(0)
	}
	if empty {
		return false
	}
	k := h.Sum64()
	if _, ok := s.set[k]; ok {
		return true
	}
	if len(s.set) < maxSeen {
		s.set[k] = struct{}{}
	}
	return false
}

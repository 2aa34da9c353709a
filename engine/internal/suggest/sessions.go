package suggest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evalengine/evalengine/engine/internal/usage"
)

const (
	// maxEvents bounds what is kept of one file, at 24 bytes an event.
	maxEvents = 50_000_000
	parts     = 256
	chunk     = 1024
)

// call is an event as it is kept until all are read. Sessions may interleave and
// times may be out of order, so nothing can be put in order before that.
type call struct {
	session uint64
	at      int64
	// n counts the events: calls at the same time stay in the order of the file.
	n       uint32
	item    usage.Item
	outcome usage.Outcome
}

// calls are events, parted by session so that each part is put in order by itself,
// in chunks so that none is ever copied to grow.
type calls struct {
	parts [parts][][]call
	n     int
}

func collect(ctx context.Context, r *usage.Reader) (*calls, error) {
	c := &calls{}
	for {
		if c.n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		if c.n == maxEvents {
			return nil, fmt.Errorf("more than %d events: give a shorter period", maxEvents)
		}
		c.add(e)
	}
}

func (c *calls) add(e usage.Event) {
	p := &c.parts[e.Session>>56]
	if n := len(*p); n == 0 || len((*p)[n-1]) == chunk {
		*p = append(*p, make([]call, 0, chunk))
	}
	last := &(*p)[len(*p)-1]
	*last = append(*last, call{session: e.Session, at: e.At, n: uint32(c.n), item: e.Item, outcome: e.Outcome})
	c.n++
}

// Marks of a place in sequences.
const (
	bad     = 1 << iota // a call failed
	unknown             // the outcome of a call is not known
)

// Items that are none.
const (
	rare usage.Item = 1<<16 - 1 - iota // a name that is not to be told
	end                                // behind each sequence
)

// sequences are the sessions, one after the other, the same call in a row being one.
type sequences struct {
	items []usage.Item
	marks []uint8
	// of is the number of the session of each place.
	of    []uint32
	count int
}

// sequences makes sequences of the calls, which are gone after it.
func (c *calls) sequences() *sequences {
	s := &sequences{items: make([]usage.Item, 0, c.n), marks: make([]uint8, 0, c.n), of: make([]uint32, 0, c.n)}
	var part []call
	for i := range c.parts {
		part = part[:0]
		for _, ch := range c.parts[i] {
			part = append(part, ch...)
		}
		c.parts[i] = nil
		slices.SortFunc(part, func(a, b call) int {
			return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.at, b.at), cmp.Compare(a.n, b.n))
		})
		for i := range part {
			if i > 0 && part[i].session != part[i-1].session {
				s.close()
			}
			s.put(part[i].item, part[i].outcome)
		}
		if len(part) > 0 {
			s.close()
		}
	}
	return s
}

func (s *sequences) put(item usage.Item, o usage.Outcome) {
	mark := uint8(0)
	switch o {
	case usage.Failed:
		mark = bad
	case usage.Unknown:
		mark = unknown
	}
	if n := len(s.items); n > 0 && s.items[n-1] == item {
		s.marks[n-1] |= mark
		return
	}
	s.add(item, mark)
}

func (s *sequences) add(item usage.Item, mark uint8) {
	s.items, s.marks, s.of = append(s.items, item), append(s.marks, mark), append(s.of, uint32(s.count))
}

func (s *sequences) close() {
	s.add(end, 0)
	s.count++
}

// dropRare takes the names away that fewer than k sessions have, and returns how
// many they are. Their places stay: they count as calls between others.
func (s *sequences) dropRare(names, k int) int {
	sessions, last := make([]int, names), make([]uint32, names)
	for at, i := range s.items {
		if i == end {
			continue
		}
		if now := s.of[at] + 1; last[i] != now {
			last[i] = now
			sessions[i]++
		}
	}
	for at, i := range s.items {
		if i != end && sessions[i] < k {
			s.items[at] = rare
		}
	}
	n := 0
	for _, have := range sessions {
		if have < k {
			n++
		}
	}
	return n
}

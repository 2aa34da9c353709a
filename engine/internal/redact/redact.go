// Package redact takes secret values out of whatever the engine writes or
// shows. It matches by value in the usual encodings, never by the look of a key.
package redact

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// MinLength is the fewest characters that a secret may have: a shorter one
// would take half of every log with it.
const MinLength = 8

// ErrShort is returned by [Set.Add] for a value under MinLength characters:
// make the secret longer, or do not declare it one.
var ErrShort = errors.New("a secret must have at least 8 characters")

// Mark is what stands in a secret's place. It is no longer than any secret, so
// that redacting never makes a text longer.
const Mark = "[secret]"

// Set is the secret values known so far. It is safe for concurrent use; the
// zero Set knows none.
type Set struct {
	mu     sync.RWMutex
	values map[string]bool
	index  index
}

// Add makes value a secret. The empty value is ignored.
func (s *Set) Add(name, value string) error {
	if value == "" {
		return nil
	}
	if utf8.RuneCountInString(value) < MinLength {
		return fmt.Errorf("%s: %w", name, ErrShort)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[value] {
		return nil
	}
	if s.values == nil {
		s.values = map[string]bool{}
	}
	s.values[value] = true
	for _, p := range patterns(value) {
		s.index.add(p)
	}
	return nil
}

// String returns text with every secret replaced by [Mark].
func (s *Set) String(text string) string {
	if b := []byte(text); !s.none() && s.Has(b) {
		return string(s.Bytes(b))
	}
	return text
}

// Has reports whether b holds a secret in any of its forms.
func (s *Set) Has(b []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	from, _ := s.index.find(b, 0, len(b))
	return from >= 0
}

// Bytes returns b with every secret replaced; b itself where there is none.
func (s *Set) Bytes(b []byte) []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	from, to := s.index.find(b, 0, len(b))
	if from < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	done := 0
	for from >= 0 {
		out = append(append(out, b[done:from]...), Mark...)
		done = to
		from, to = s.index.find(b, done, len(b))
	}
	return append(out, b[done:]...)
}

func (s *Set) none() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.values) == 0
}

// Writer returns a writer that takes secrets out of each write on its own and
// passes it on to w. Whoever writes to it must write what belongs together at
// once, such as a line.
func (s *Set) Writer(w io.Writer) io.Writer { return &writer{set: s, w: w} }

type writer struct {
	set *Set
	w   io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if _, err := w.w.Write(w.set.Bytes(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// index finds patterns by the first bytes of their plain form.
type index struct {
	// pairs has a bit for each two bytes that a pattern can begin with.
	pairs [1 << 16 / 64]uint64
	// byPair and byFirst are the patterns by their plain beginning.
	byPair  map[uint16][]*pattern
	byFirst map[byte][]*pattern
	// longest is how long the longest form of any pattern can be.
	longest int
}

func (x *index) add(p *pattern) {
	if x.byPair == nil {
		x.byPair, x.byFirst = map[uint16][]*pattern{}, map[byte][]*pattern{}
	}
	for _, pair := range p.beginnings() {
		x.pairs[pair/64] |= 1 << (pair % 64)
		x.byPair[pair] = append(x.byPair[pair], p)
	}
	for _, c := range p.units[0].firsts() {
		if !slices.Contains(x.byFirst[c], p) {
			x.byFirst[c] = append(x.byFirst[c], p)
		}
	}
	x.longest = max(x.longest, p.longest())
}

// find returns the first secret of b that begins in [from, limit), joined with
// those that begin within it; -1 where there is none.
func (x *index) find(b []byte, from, limit int) (start, end int) {
	if x.longest == 0 {
		return -1, -1
	}
	for i := from; i < limit; i++ {
		s, e := x.at(b, from, i)
		if e < 0 {
			continue
		}
		for j := i + 1; j < min(e, limit); j++ {
			_, more := x.at(b, j, j)
			e = max(e, more)
		}
		return s, e
	}
	return -1, -1
}

// at returns the longest secret that begins at b[i], whose start may be a
// backslash before it that escapes its first character; an end of -1 where none
// begins there. Nothing before floor is taken.
func (x *index) at(b []byte, floor, i int) (start, end int) {
	end = -1
	try := func(list []*pattern) {
		for _, p := range list {
			if e := p.match(b, i); e > end {
				end = e
			}
		}
	}
	c := b[i]
	switch {
	case c == '\\':
		if i > floor && b[i-1] == '\\' {
			// The run was tried as a whole; a secret may begin with a part of it.
			try(x.byFirst['\\'])
			break
		}
		for _, first := range escaped(b, i) {
			try(x.byFirst[first])
		}
	case c == '%':
		try(x.byFirst['%'])
		if v, _, ok := percent(b, i); ok && v != '%' {
			try(x.byFirst[v])
		}
		if v, _, ok := entity(b, i); ok {
			try(x.byFirst[v[0]])
		}
	case c == '&':
		try(x.byFirst['&'])
		if v, _, ok := entity(b, i); ok && v[0] != '&' {
			try(x.byFirst[v[0]])
		}
	case c == '=':
		try(x.byFirst['='])
		if v, _, ok := printable(b, i); ok && v != '=' {
			try(x.byFirst[v])
		}
	case i+1 < len(b):
		pair := uint16(c)<<8 | uint16(b[i+1])
		if x.pairs[pair/64]&(1<<(pair%64)) != 0 {
			try(x.byPair[pair])
		}
	}
	if end < 0 {
		return i, -1
	}
	// A text may have a backslash before the secret's first character, and a
	// backslash before the mark would break a JSON string.
	run := 0
	for i-run > floor && b[i-run-1] == '\\' {
		run++
	}
	return i - run%2, end
}

package suggest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/internal/usage"
)

// tolerance is the share of a pattern's sessions from which a pattern with one more
// call stands for it (delta-tolerance closed patterns: Cheng, Ke and Ng, ICDM 2006;
// at 1 these are the closed patterns of BIDE, Wang and Han, ICDE 2004, within one
// call).
const tolerance = 0.9

// Choice says what is drafted.
type Choice struct {
	// Limit is how many patterns at most.
	Limit int
	// Covers says which stories and trials there are already.
	Covers Covers
}

// Chosen are the patterns that are worth a story, best first, and what became of
// the others.
type Chosen struct {
	Patterns                           []Pattern
	Absorbed, Covered, Redundant, Left int
}

// Score is what patterns are ranked by: share x (1 + failure rate), a failure rate
// that is not known being none.
func (f *Found) Score(p *Pattern) float64 {
	rate, _ := p.FailureRate()
	return f.Share(p) * (1 + rate)
}

// Share is the share of a pattern's sessions in all.
func (f *Found) Share(p *Pattern) float64 { return float64(p.Sessions) / float64(f.Sessions) }

// Rank chooses what is to be drafted.
func (f *Found) Rank(c Choice) Chosen {
	var out Chosen
	absorbed := f.absorbed()
	var left []Pattern
	for i, p := range f.Patterns {
		switch {
		case absorbed[i]:
			out.Absorbed++
		case c.Covers.Have(p.Calls, f.o.MaxGap):
			out.Covered++
		default:
			left = append(left, p)
		}
	}
	slices.SortFunc(left, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(f.Score(&b), f.Score(&a)), cmp.Compare(len(b.Calls), len(a.Calls)), cmp.Compare(key(a.Calls), key(b.Calls)))
	})
	for _, p := range left {
		switch {
		case slices.ContainsFunc(out.Patterns, func(q Pattern) bool { return within(p.Calls, q.Calls) }):
			out.Redundant++
		case len(out.Patterns) == c.Limit:
			out.Left++
		default:
			out.Patterns = append(out.Patterns, p)
		}
	}
	return out
}

// absorbed says for which patterns one with one more call stands.
func (f *Found) absorbed() []bool {
	index := make(map[string]int, len(f.Patterns))
	for i, p := range f.Patterns {
		index[key(p.Calls)] = i
	}
	out := make([]bool, len(f.Patterns))
	for _, p := range f.Patterns {
		for at := range p.Calls {
			less := slices.Delete(slices.Clone(p.Calls), at, at+1)
			if i, ok := index[key(less)]; ok && float64(p.Sessions) >= tolerance*float64(f.Patterns[i].Sessions) {
				out[i] = true
			}
		}
	}
	return out
}

// words are the calls as texts that no other calls have.
func words(calls []usage.Name) []string {
	var out []string
	for _, c := range calls {
		w := c.Tool
		if c.Action != "" {
			w += "." + c.Action
		}
		out = append(out, w)
	}
	return out
}

func key(calls []usage.Name) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Tool + "\x00" + c.Action + "\x01")
	}
	return b.String()
}

// within reports whether all calls are among others, in order.
func within(calls, of []usage.Name) bool {
	n := 0
	for _, c := range of {
		if n < len(calls) && calls[n] == c {
			n++
		}
	}
	return n == len(calls)
}

// HeldOut reports whether a pattern is among the given share of all that there can
// be. It is the same for a pattern whenever it is asked.
func HeldOut(calls []usage.Name, share float64) bool {
	sum := sha256.Sum256([]byte("held-out\x02" + key(calls)))
	return float64(binary.BigEndian.Uint64(sum[:8]))/math.MaxUint64 < share
}

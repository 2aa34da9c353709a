package tree

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Hash returns a hash of v that [Equal] values share.
func Hash(v Value) uint64 {
	var s summary
	return s.of(v)
}

// summary has hashes of values of a document, of what is not skipped in them.
// Equal values have equal hashes, so that values which differ in their bytes are
// compared in one pass, however deep they are. Each is computed when it is asked
// for, and once.
type summary struct {
	hash []uint64
	skip func(Value) bool
}

func (s *summary) skipped(v Value) bool { return s.skip != nil && s.skip(v) }

func (s *summary) kept(v Value) []Value {
	var out []Value
	for c := range v.Each {
		if !s.skipped(c) {
			out = append(out, c)
		}
	}
	return out
}

// of returns v's hash, never 0 for a value that exists.
func (s *summary) of(v Value) uint64 {
	if v.d == nil {
		return 0
	}
	if s.hash == nil {
		s.hash = make([]uint64, len(v.d.nodes))
	}
	if s.hash[v.i] == 0 {
		s.hash[v.i] = s.sum(v) | 1
	}
	return s.hash[v.i]
}

func (s *summary) sum(v Value) uint64 {
	k := v.Kind()
	h := mix(uint64(k), 1)
	switch k {
	case jsonv.Array:
		for c := range v.Each {
			if !s.skipped(c) {
				h = mix(h, s.of(c))
			}
		}
	case jsonv.Object:
		for c := range v.Each {
			if !s.skipped(c) {
				h += mix(hashText(v.d.keyBytes(c.i)), s.of(c))
			}
		}
	case jsonv.String:
		raw := v.Raw()
		h = mix(h, hashText(raw[1:len(raw)-1]))
	case jsonv.Number:
		h = mix(h, hashNumber(v.Raw()))
	default:
		h = mix(h, uint64(v.Raw()[0]))
	}
	return h
}

// keyBytes returns the inside of a member's quoted name.
func (d *document) keyBytes(i uint32) []byte {
	k := int(d.nodes[i].key)
	end, _ := stringEnd(d.src, k)
	return d.src[k+1 : end-1]
}

// hashText hashes the inside of a quoted text by what it stands for.
func hashText(s []byte) uint64 {
	if bytes.IndexByte(s, '\\') >= 0 || !utf8.Valid(s) {
		quoted := append(append([]byte{'"'}, s...), '"')
		v, _ := jsonv.Parse(quoted)
		return hashBytes([]byte(v.String()))
	}
	return hashBytes(s)
}

// hashNumber hashes an integer by its digits, and all else by the nearest
// float64.
func hashNumber(raw []byte) uint64 {
	const exact = 1 << 53
	if bytes.IndexAny(raw, ".eE") < 0 && (len(raw) < 2 || raw[0] != '-' || raw[1] != '0') {
		return hashBytes(raw)
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // out of range is infinite: near enough
	if f == math.Trunc(f) && math.Abs(f) < exact {
		return hashBytes(strconv.AppendInt(nil, int64(f), 10))
	}
	return mix(math.Float64bits(f), 2)
}

func hashBytes(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return mix(h, uint64(len(b)))
}

// mix folds b into a; the finaliser of SplitMix64 spreads every bit.
func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

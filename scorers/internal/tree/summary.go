package tree

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// summary has a hash of every value of a document, of what is not skipped in
// it: equal values have equal hashes, so that two documents are compared in one
// pass, however deep they are.
type summary struct {
	hash []uint64
	skip []bool
}

func summarise(root Value, skip func(Value) bool) summary {
	var s summary
	if root.d == nil {
		return s
	}
	n := len(root.d.nodes)
	s.hash = make([]uint64, n)
	if skip != nil {
		s.skip = make([]bool, n)
	}
	for i := n - 1; i >= 0; i-- { // children lie behind their parents
		v := Value{root.d, uint32(i)}
		if skip != nil && skip(v) {
			s.skip[i] = true
		}
		s.hash[i] = s.sum(v)
	}
	return s
}

func (s *summary) of(v Value) uint64 {
	if v.d == nil {
		return 0
	}
	return s.hash[v.i]
}

func (s *summary) skipped(v Value) bool { return s.skip != nil && s.skip[v.i] }

func (s *summary) kept(v Value) []Value {
	var out []Value
	for c := range v.Each {
		if !s.skipped(c) {
			out = append(out, c)
		}
	}
	return out
}

func (s *summary) sum(v Value) uint64 {
	k := v.Kind()
	h := mix(uint64(k), 1)
	switch k {
	case jsonv.Array:
		for c := range v.Each {
			if !s.skipped(c) {
				h = mix(h, s.hash[c.i])
			}
		}
	case jsonv.Object:
		for c := range v.Each {
			if !s.skipped(c) {
				h += mix(hashText(v.d.keyBytes(c.i)), s.hash[c.i])
			}
		}
	case jsonv.String:
		raw := v.Raw()
		h = mix(h, hashText(raw[1:len(raw)-1]))
	case jsonv.Number:
		h = mix(h, hashNumber(v))
	default:
		h = mix(h, uint64(v.Raw()[0]))
	}
	return h
}

// keyBytes returns the inside of a member's quoted name.
func (d *document) keyBytes(i uint32) []byte {
	k := int(d.nodes[i].key)
	return d.src[k+1 : stringEnd(d.src, k)-1]
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

// hashNumber hashes an integer by its value, and all else by the nearest
// float64.
func hashNumber(v Value) uint64 {
	raw := v.Raw()
	if bytes.IndexAny(raw, ".eE") < 0 && (len(raw) < 2 || raw[0] != '-' || raw[1] != '0') {
		return hashBytes(raw)
	}
	w := v.JSON()
	if n, ok := w.Int(); ok {
		return hashBytes(strconv.AppendInt(nil, n, 10))
	}
	f, _ := w.Float()
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

// Hash returns a hash of v that [Equal] values share.
func Hash(v Value) uint64 {
	s := summarise(v, nil)
	return s.of(v)
}

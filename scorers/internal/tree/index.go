package tree

import (
	"bytes"
	"unicode/utf8"
)

// index reads a checked JSON text without space around it.
func index(src []byte) *document {
	x := indexer{d: &document{src: src, nodes: make([]node, 0, estimate(src))}}
	for i := 0; i < len(src); {
		i = x.token(i)
	}
	return x.d
}

// estimate is about how many values src has, from a look at its start.
func estimate(src []byte) int {
	head := src[:min(len(src), 64<<10)]
	n := 8 + bytes.Count(head, []byte{','}) + bytes.Count(head, []byte{'['}) + bytes.Count(head, []byte{'{'})
	return min(n*(len(src)/len(head)+1), 64+len(src)/6)
}

type indexer struct {
	d *document
	// open are the containers around the current token.
	open []uint32
	// key is where the name of the next value begins, 0 for none.
	key uint32
}

// token reads the token at i and returns where the next one may begin.
func (x *indexer) token(i int) int {
	src := x.d.src
	switch src[i] {
	case '{', '[':
		x.open = append(x.open, x.add(i))
		return i + 1
	case '}', ']':
		x.end(x.open[len(x.open)-1], i+1)
		x.open = x.open[:len(x.open)-1]
		return i + 1
	case ' ', '\n', '\t', '\r', ',', ':':
		return i + 1
	case '"':
		end, plain := stringEnd(src, i)
		if x.key == 0 && x.inObject() {
			x.key = uint32(i) // never 0: an object begins before it
			x.d.escapedKeys = x.d.escapedKeys || !plain && !standsForItself(src[i:end])
			return end
		}
		x.end(x.add(i), end)
		return end
	default:
		end := scalarEnd(src, i)
		x.end(x.add(i), end)
		return end
	}
}

func (x *indexer) inObject() bool {
	return len(x.open) > 0 && x.d.src[x.d.nodes[x.open[len(x.open)-1]].start] == '{'
}

func standsForItself(key []byte) bool {
	return bytes.IndexByte(key, '\\') < 0 && utf8.Valid(key)
}

func (x *indexer) add(i int) uint32 {
	x.d.nodes = append(x.d.nodes, node{start: uint32(i), key: x.key})
	x.key = 0
	return uint32(len(x.d.nodes) - 1)
}

func (x *indexer) end(n uint32, at int) {
	x.d.nodes[n].end = uint32(at)
	x.d.nodes[n].next = uint32(len(x.d.nodes))
}

// stringEnd returns where the string that begins at i ends, its quote included,
// and whether it is plain ASCII without escapes.
func stringEnd(src []byte, i int) (end int, plain bool) {
	plain = true
	for i++; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			i++
			plain = false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return i, plain
}

// scalarEnd returns where the word or number that begins at i ends.
func scalarEnd(src []byte, i int) int {
	for i < len(src) {
		switch src[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

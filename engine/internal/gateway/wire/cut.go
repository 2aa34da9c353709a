package wire

import (
	"bytes"
	"unicode/utf8"
)

// Cut returns the beginning of a JSON value as a JSON value of its own: strings
// that are cut end on a whole character, what is open is closed, what is half
// is left out. It is null where nothing is left. prefix must be the beginning
// of valid JSON.
func Cut(prefix []byte) []byte {
	c := cutter{good: -1, text: -1}
	for i := 0; i < len(prefix); {
		i = c.step(prefix, i)
	}
	return c.close(prefix)
}

type cutter struct {
	stack []byte
	// good is where the value can be ended, with the stack as it was then.
	good  int
	depth int
	// text is where an unfinished string begins, -1 outside; key says that it is
	// a name.
	text int
	key  bool
	name bool // in an object, a name comes next
}

func (c *cutter) mark(i int) { c.good, c.depth = i, len(c.stack) }

func (c *cutter) step(p []byte, i int) int {
	c.text = -1
	switch p[i] {
	case '{', '[':
		c.stack = append(c.stack, p[i])
		c.name = p[i] == '{'
		c.mark(i + 1)
	case '}', ']':
		if len(c.stack) > 0 {
			c.stack = c.stack[:len(c.stack)-1]
		}
		c.mark(i + 1)
	case ',':
		c.name = len(c.stack) > 0 && c.stack[len(c.stack)-1] == '{'
	case ':':
		c.name = false
	case '"':
		return c.inString(p, i)
	case ' ', '\t', '\r', '\n':
	default:
		return c.literal(p, i)
	}
	return i + 1
}

func (c *cutter) inString(p []byte, i int) int {
	end := int(skipString(p, int64(i)))
	whole := end <= len(p) && end > i+1 && p[end-1] == '"' && complete(p[i:end])
	switch {
	case !whole && !c.name:
		c.text = i
	case whole && !c.name:
		c.mark(end)
	}
	return end
}

// complete reports whether the quoted bytes end with a quote that is no part of
// an escape.
func complete(s []byte) bool {
	n := 0
	for i := len(s) - 2; i > 0 && s[i] == '\\'; i-- {
		n++
	}
	return n%2 == 0
}

func (c *cutter) literal(p []byte, i int) int {
	end := i
	for end < len(p) && !bytes.ContainsRune([]byte(",}] \t\r\n:"), rune(p[end])) {
		end++
	}
	if end < len(p) {
		c.mark(end)
	}
	return end
}

func (c *cutter) close(p []byte) []byte {
	var out []byte
	depth := c.depth
	switch {
	case c.text >= 0:
		out = append(out, wholeText(p, c.text)...)
		out = append(out, '"')
		depth = len(c.stack)
	case c.good < 0:
		return []byte("null")
	default:
		out = append(out, p[:c.good]...)
	}
	for i := depth - 1; i >= 0; i-- {
		if c.stack[i] == '{' {
			out = append(out, '}')
		} else {
			out = append(out, ']')
		}
	}
	return out
}

// wholeText is p without the half of an escape or character at its end; the
// string starts at start.
func wholeText(p []byte, start int) []byte {
	i := start + 1
	for i < len(p) {
		n := 1
		switch {
		case p[i] == '\\' && i+1 < len(p) && p[i+1] == 'u':
			n = 6
			if highSurrogate(p, i) {
				n = 12
			}
		case p[i] == '\\':
			n = 2
		case p[i] >= utf8.RuneSelf:
			if !utf8.FullRune(p[i:]) {
				return p[:i]
			}
			_, n = utf8.DecodeRune(p[i:])
		}
		if i+n > len(p) {
			return p[:i]
		}
		i += n
	}
	return p
}

// highSurrogate reports whether the escape at i is the first half of a pair
// whose second half follows or may follow.
func highSurrogate(p []byte, i int) bool {
	if i+4 > len(p) || (p[i+2] != 'd' && p[i+2] != 'D') {
		return false
	}
	switch p[i+3] {
	case '8', '9', 'a', 'b', 'A', 'B':
		return i+6 >= len(p) || p[i+6] == '\\' && (i+7 >= len(p) || p[i+7] == 'u')
	}
	return false
}

package agentout

import "unicode/utf8"

// Salvage makes the beginning of a JSON value whole: an open string is ended, what
// is incomplete is left out, open objects and lists are closed. It is for a line
// that passed the reader's limit, so that the call whose result was too large is
// still known to have ended. The result is not marked as cut: that is the
// caller's to say. nil means that nothing could be kept.
func Salvage(prefix []byte) []byte {
	s := salvager{b: prefix}
	s.scan()
	if s.safe == 0 {
		return nil
	}
	open := s.stack[:s.depth]
	out := append(make([]byte, 0, s.safe+len(s.tail)+len(open)), prefix[:s.safe]...)
	out = append(out, s.tail...)
	for i := len(open) - 1; i >= 0; i-- {
		out = append(out, open[i]+2) // '{'+2 is '}', '['+2 is ']'
	}
	return out
}

// maxDepth is below encoding/json's own limit.
const maxDepth = 5000

type salvager struct {
	b     []byte
	stack []byte // open brackets at the place of reading
	// safe is how much of b can be kept, tail what ends it, depth how many brackets
	// are open there. Each bracket moves safe, so the stack is still that one.
	safe  int
	tail  string
	depth int
}

// keep says that b[:n] followed by tail can be closed.
func (s *salvager) keep(n int, tail string) {
	s.safe, s.tail, s.depth = n, tail, len(s.stack)
}

func (s *salvager) scan() {
	value := true // a value may begin here, as against a key
	for i := 0; i < len(s.b); i++ {
		switch c := s.b[i]; c {
		case '{', '[':
			if len(s.stack) == maxDepth {
				return
			}
			s.stack = append(s.stack, c)
			s.keep(i+1, "")
			value = c == '['
		case '}', ']':
			if len(s.stack) == 0 {
				return
			}
			s.stack = s.stack[:len(s.stack)-1]
			s.keep(i+1, "")
		case ',':
			value = len(s.stack) > 0 && s.stack[len(s.stack)-1] == '['
		case ':':
			value = true
		case '"':
			end, whole := stringEnd(s.b, i)
			if value {
				tail := ""
				if !whole {
					tail = `"`
				}
				s.keep(end, tail)
			}
			if !whole {
				return
			}
			i = end - 1
		case ' ', '\t', '\r', '\n':
		default:
			end := i
			for end < len(s.b) && !delimiter(s.b[end]) {
				end++
			}
			if end == len(s.b) {
				return // a number or a word that may go on
			}
			s.keep(end, "")
			i = end - 1
		}
	}
}

func delimiter(c byte) bool {
	switch c {
	case ',', ':', '{', '}', '[', ']', '"', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// stringEnd returns where the string that begins at i ends, and whether it does:
// if not, where it can be cut between characters.
func stringEnd(b []byte, i int) (end int, whole bool) {
	last := i + 1
	for j := i + 1; j < len(b); {
		last = j
		switch c := b[j]; {
		case c == '"':
			return j + 1, true
		case c == '\\':
			n := 2
			if j+1 < len(b) && b[j+1] == 'u' {
				n = 6
			}
			if j+n > len(b) {
				return j, false
			}
			j += n
		case c < utf8.RuneSelf:
			j++
		default:
			if !utf8.FullRune(b[j:]) {
				return j, false
			}
			_, n := utf8.DecodeRune(b[j:])
			j += n
		}
		last = j
	}
	return last, false
}

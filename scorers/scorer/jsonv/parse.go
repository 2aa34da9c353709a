package jsonv

const maxDepth = 10000

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// valid checks the value that starts at i, without recursion, and returns where
// it ends.
func valid(b []byte, i int) (end int, ok bool) {
	var open []byte // '{' and '[' that are not closed
	for {
		// A value starts at i.
		if i >= len(b) {
			return i, false
		}
		switch c := b[i]; c {
		case '{', '[':
			if len(open) == maxDepth {
				return i, false
			}
			j := space(b, i+1)
			if j < len(b) && b[j] == c+2 { // '}' is '{'+2, ']' is '['+2
				i = j + 1
				break
			}
			open = append(open, c)
			i = j
			if c == '{' {
				if i, ok = validName(b, i); !ok {
					return i, false
				}
			}
			continue
		default:
			if i, ok = validScalar(b, i); !ok {
				return i, false
			}
		}
		// A value ended before i.
		for {
			if len(open) == 0 {
				return i, true
			}
			i = space(b, i)
			if i >= len(b) {
				return i, false
			}
			c := open[len(open)-1]
			if b[i] == c+2 {
				open = open[:len(open)-1]
				i++
				continue
			}
			if b[i] != ',' {
				return i, false
			}
			i = space(b, i+1)
			if c == '{' {
				if i, ok = validName(b, i); !ok {
					return i, false
				}
			}
			break
		}
	}
}

// validName checks a member's name and colon and returns where the value starts.
func validName(b []byte, i int) (int, bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	i, ok := validString(b, i)
	if !ok {
		return i, false
	}
	i = space(b, i)
	if i >= len(b) || b[i] != ':' {
		return i, false
	}
	return space(b, i+1), true
}

func validScalar(b []byte, i int) (int, bool) {
	switch c := b[i]; {
	case c == '"':
		return validString(b, i)
	case c == 't':
		return validWord(b, i, "true")
	case c == 'f':
		return validWord(b, i, "false")
	case c == 'n':
		return validWord(b, i, "null")
	case c == '-' || isDigit(c):
		return validNumber(b, i)
	}
	return i, false
}

func validWord(b []byte, i int, word string) (int, bool) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, false
	}
	return i + len(word), true
}

func validString(b []byte, i int) (int, bool) {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, true
		case c < ' ':
			return i, false
		case c != '\\':
		case i+1 >= len(b):
			return i, false
		case b[i+1] == 'u':
			if i+6 > len(b) || hex4(b[i+2:]) < 0 {
				return i, false
			}
			i += 5
		default:
			if escapes[b[i+1]] == 0 {
				return i, false
			}
			i++
		}
	}
	return i, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

func validNumber(b []byte, i int) (int, bool) {
	if b[i] == '-' {
		i++
	}
	j := digits(b, i)
	if j == i || j > i+1 && b[i] == '0' {
		return i, false
	}
	i = j
	if i < len(b) && b[i] == '.' {
		if j = digits(b, i+1); j == i+1 {
			return i, false
		}
		i = j
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if j = digits(b, i); j == i {
			return i, false
		}
		i = j
	}
	return i, true
}

// skip returns where the value at i ends. b is valid, so only strings and
// brackets matter.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
	default:
		for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
			i++
		}
		return i
	}
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// elements walks a valid array.
type elements struct {
	b          []byte
	start, end int // the element's
}

func newElements(b []byte) elements { return elements{b: b} }

func (e *elements) next() bool {
	// b[end] is '[' at first, then what follows an element.
	i := space(e.b, space(e.b, e.end)+1)
	if i >= len(e.b) || e.b[i] == ']' {
		return false
	}
	e.start, e.end = i, skip(e.b, i)
	return true
}

func (e *elements) value() Value { return Value{e.b[e.start:e.end:e.end]} }

// members walks a valid object.
type members struct {
	elements
	name []byte // with its quotes
}

func newMembers(b []byte) members { return members{elements: elements{b: b}} }

func (m *members) next() bool {
	i := space(m.b, space(m.b, m.end)+1)
	if i >= len(m.b) || m.b[i] == '}' {
		return false
	}
	end := skipString(m.b, i)
	m.name = m.b[i:end]
	m.start = space(m.b, space(m.b, end)+1)
	m.end = skip(m.b, m.start)
	return true
}

// is reports whether the member's name is s.
func (m *members) is(s string) bool {
	if in := m.name[1 : len(m.name)-1]; plain(in) {
		return string(in) == s
	}
	return unquote(m.name) == s
}

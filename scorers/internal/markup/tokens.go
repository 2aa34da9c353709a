package markup

import "bytes"

// token is a piece of a document.
type token int

const (
	end token = iota // of the document
	textToken
	startToken
	endToken
)

// scanner cuts a document into tokens. Comments, doctypes and tags that do not end
// are passed over.
type scanner struct {
	src []byte
	at  int
	// from is where the token begins. name, attributes and selfClosing are of a tag;
	// text is of text, entities in it as they are written.
	from        int
	name        []byte
	attributes  []attribute
	selfClosing bool
	text        []byte
}

func (s *scanner) next() token {
	for s.at < len(s.src) {
		s.from = s.at
		if s.src[s.at] != '<' {
			return s.plain(s.at)
		}
		rest := s.src[s.at+1:]
		switch {
		case len(rest) == 0:
			return s.plain(s.at + 1)
		case isLetter(rest[0]):
			if s.at++; s.tag() {
				return startToken
			}
		case rest[0] == '!' || rest[0] == '?':
			s.comment(rest)
		case rest[0] != '/':
			return s.plain(s.at + 1)
		case len(rest) > 1 && isLetter(rest[1]):
			if s.at += 2; s.tag() {
				return endToken
			}
		case len(rest) == 1:
			return s.plain(s.at + 2)
		default:
			s.skipTo(s.at+2, ">")
		}
	}
	return end
}

// plain takes text up to the next < from there on.
func (s *scanner) plain(from int) token {
	n := bytes.IndexByte(s.src[from:], '<')
	if n < 0 {
		n = len(s.src) - from
	}
	s.text, s.at = s.src[s.at:from+n], from+n
	return textToken
}

func (s *scanner) skipTo(from int, mark string) {
	if n := bytes.Index(s.src[from:], []byte(mark)); n >= 0 {
		s.at = from + n + len(mark)
		return
	}
	s.at = len(s.src)
}

// comment passes over what begins with <! or <?.
func (s *scanner) comment(rest []byte) {
	switch {
	case bytes.HasPrefix(rest, []byte("!-->")), bytes.HasPrefix(rest, []byte("!--->")):
		s.skipTo(s.at, ">")
	case bytes.HasPrefix(rest, []byte("!--")):
		s.skipTo(s.at+4, "-->")
	case bytes.HasPrefix(rest, []byte("![CDATA[")):
		s.skipTo(s.at, "]]>")
	default:
		s.skipTo(s.at, ">")
	}
}

// tag reads a tag from its name on; false says that the document ended within.
func (s *scanner) tag() bool {
	src, i := s.src, s.at
	for i < len(src) && !(ends[src[i]] && src[i] != '=') {
		i++
	}
	s.name, s.attributes, s.selfClosing = src[s.at:i], s.attributes[:0], false
	for i < len(src) {
		switch c := src[i]; {
		case c == '>':
			s.at = i + 1
			return true
		case c == '/':
			s.selfClosing = i+1 < len(src) && src[i+1] == '>'
			i++
		case isSpace(c):
			i++
		default:
			i = s.attribute(i)
		}
	}
	s.at = len(src)
	return false
}

// attribute reads one attribute and returns what is behind it.
func (s *scanner) attribute(i int) int {
	src, from := s.src, i
	for i++; i < len(src) && !ends[src[i]]; i++ {
	}
	a := attribute{key: src[from:i]}
	j := i
	for j < len(src) && isSpace(src[j]) {
		j++
	}
	if j < len(src) && src[j] == '=' {
		a.value, i = value(src, j+1)
	}
	s.attributes = append(s.attributes, a)
	return i
}

// value reads an attribute's value and returns what is behind it.
func value(src []byte, i int) ([]byte, int) {
	for i < len(src) && isSpace(src[i]) {
		i++
	}
	if i == len(src) || src[i] == '>' {
		return nil, i
	}
	if q := src[i]; q == '"' || q == '\'' {
		i++
		n := bytes.IndexByte(src[i:], q)
		if n < 0 {
			return src[i:], len(src)
		}
		return src[i : i+n], i + n + 1
	}
	from := i
	for i < len(src) && src[i] != '>' && !isSpace(src[i]) {
		i++
	}
	return src[from:i], i
}

// raw takes what is in an element whose content is text up to its end tag.
func (s *scanner) raw(name string) {
	for i := s.at; ; i++ {
		n := bytes.IndexByte(s.src[i:], '<')
		if n < 0 {
			s.text, s.at = s.src[s.at:], len(s.src)
			return
		}
		i += n
		behind := i + 2 + len(name)
		if behind <= len(s.src) && s.src[i+1] == '/' && equalFold(s.src[i+2:behind], name) &&
			(behind == len(s.src) || isSpace(s.src[behind]) || s.src[behind] == '/' || s.src[behind] == '>') {
			s.text, s.at = s.src[s.at:i], i
			return
		}
	}
}

// equalFold compares with a name in lower case; only ASCII letters have cases.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// ends are the bytes that end an attribute's name.
var ends = [256]bool{' ': true, '\n': true, '\t': true, '\r': true, '\f': true, '/': true, '>': true, '=': true}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

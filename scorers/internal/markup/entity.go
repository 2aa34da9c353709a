package markup

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// unescape returns text with its character references replaced, as far as a capture
// writes them and numbers; it is text itself where there are none.
func unescape(text []byte) []byte {
	i := bytes.IndexByte(text, '&')
	if i < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[:i]...)
	for i < len(text) {
		r, n := reference(text[i:])
		if n == 0 {
			out, n = append(out, text[i]), 1
		} else {
			out = utf8.AppendRune(out, r)
		}
		i += n
		next := bytes.IndexByte(text[i:], '&')
		if next < 0 {
			next = len(text) - i
		}
		out = append(out, text[i:i+next]...)
		i += next
	}
	return out
}

// reference reads a character reference at the beginning of text; n is 0 for none.
func reference(text []byte) (r rune, n int) {
	const longest = 12
	end := bytes.IndexByte(text[:min(len(text), longest)], ';')
	if end < 2 {
		return 0, 0
	}
	switch name := string(text[1:end]); {
	case name == "amp":
		r = '&'
	case name == "lt":
		r = '<'
	case name == "gt":
		r = '>'
	case name == "quot":
		r = '"'
	case name == "apos":
		r = '\''
	case name == "nbsp":
		r = '\u00a0'
	case name[0] == '#' && len(name) > 2 && name[1]|0x20 == 'x':
		c, err := strconv.ParseUint(name[2:], 16, 31)
		if err != nil {
			return 0, 0
		}
		r = rune(c)
	case name[0] == '#':
		c, err := strconv.ParseUint(name[1:], 10, 31)
		if err != nil {
			return 0, 0
		}
		r = rune(c)
	default:
		return 0, 0
	}
	return r, end + 1
}

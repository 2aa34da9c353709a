package jsonpath

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a string in single or double quotes.
func (p *parser) quoted() (string, error) {
	quote := p.peek()
	p.pos++
	var out []byte
	for {
		c := p.peek()
		switch {
		case p.pos >= len(p.s):
			return "", p.fail("expected a closing quote")
		case c == quote:
			p.pos++
			return string(out), nil
		case c < ' ':
			return "", p.fail("a control character in a string")
		case c == '\\':
			p.pos++
			r, err := p.escape(quote)
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
			p.pos++
		}
	}
}

// escape reads what follows a backslash.
func (p *parser) escape(quote byte) (rune, error) {
	c := p.peek()
	p.pos++
	switch c {
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case '/', '\\', quote:
		return rune(c), nil
	case 'u':
		return p.unicode()
	}
	p.pos--
	return 0, p.fail("an unknown escape in a string")
}

func (p *parser) unicode() (rune, error) {
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if p.take(`\u`) {
		low, err := p.hex4()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
	}
	return 0, p.fail("half a surrogate pair in a string")
}

func (p *parser) hex4() (rune, error) {
	if len(p.rest()) < 4 {
		return 0, p.fail("expected four hexadecimal digits")
	}
	for _, c := range []byte(p.rest()[:4]) {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0, p.fail("expected four hexadecimal digits")
		}
	}
	n, err := strconv.ParseUint(p.rest()[:4], 16, 32)
	p.pos += 4
	return rune(n), err
}

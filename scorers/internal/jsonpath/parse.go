package jsonpath

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/scorers/internal/tree"
)

// Parse reads a query. The error says what is wrong and where, for whoever wrote
// it.
func Parse(query string) (*Query, error) {
	p := &parser{s: query}
	q, err := p.parse()
	if err != nil {
		return nil, err
	}
	return q, nil
}

type parser struct {
	s     string
	pos   int
	depth int
}

func (p *parser) parse() (*Query, error) {
	switch {
	case len(p.s) > MaxQuery:
		return nil, errors.New("query is longer than " + strconv.Itoa(MaxQuery) + " bytes")
	case !utf8.ValidString(p.s):
		return nil, errors.New("query is not UTF-8")
	case !p.take("$"):
		return nil, p.fail("a query begins with $")
	}
	segments, err := p.segments()
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.s) {
		return nil, p.fail("expected . or [ or the end")
	}
	return &Query{text: p.s, segments: segments}, nil
}

func (p *parser) fail(what string) error {
	return errors.New("query " + strconv.Quote(tree.Cut(p.s, 200)) + ", character " +
		strconv.Itoa(utf8.RuneCountInString(p.s[:min(p.pos, len(p.s))])+1) + ": " + what)
}

func (p *parser) rest() string { return p.s[p.pos:] }

func (p *parser) take(token string) bool {
	if strings.HasPrefix(p.rest(), token) {
		p.pos += len(token)
		return true
	}
	return false
}

func (p *parser) peek() byte {
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

func (p *parser) space() {
	for p.pos < len(p.s) && strings.IndexByte(" \t\n\r", p.s[p.pos]) >= 0 {
		p.pos++
	}
}

// deeper counts a level of nesting; the caller must call the function returned.
func (p *parser) deeper() (done func(), err error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail("nested deeper than " + strconv.Itoa(maxNesting) + " levels")
	}
	return func() { p.depth-- }, nil
}

// segments reads as many segments as there are. Space before a segment belongs
// to it; space behind the last does not.
func (p *parser) segments() ([]segment, error) {
	var list []segment
	for {
		before := p.pos
		p.space()
		s, ok, err := p.segment()
		if err != nil {
			return nil, err
		}
		if !ok {
			p.pos = before
			return list, nil
		}
		list = append(list, s)
	}
}

func (p *parser) segment() (s segment, ok bool, err error) {
	switch {
	case p.take(".."):
		s.descendant = true
		if p.peek() != '[' {
			s.selectors, err = p.shorthand()
			return s, true, err
		}
		s.selectors, err = p.bracketed()
		return s, true, err
	case p.take("."):
		s.selectors, err = p.shorthand()
		return s, true, err
	case p.peek() == '[':
		s.selectors, err = p.bracketed()
		return s, true, err
	}
	return s, false, nil
}

// shorthand reads * or a name without quotes.
func (p *parser) shorthand() ([]selector, error) {
	if p.take("*") {
		return []selector{{kind: all}}, nil
	}
	start := p.pos
	for i, r := range p.rest() {
		if !nameRune(r, i == 0) {
			break
		}
		p.pos = start + i + utf8.RuneLen(r)
	}
	if p.pos == start {
		return nil, p.fail("expected a name or *")
	}
	return []selector{{kind: byName, name: p.s[start:p.pos]}}, nil
}

func nameRune(r rune, first bool) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r >= 0x80:
		return true
	}
	return !first && r >= '0' && r <= '9'
}

func (p *parser) bracketed() ([]selector, error) {
	p.pos++
	var list []selector
	for {
		p.space()
		s, err := p.selector()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		p.space()
		switch {
		case p.take(","):
		case p.take("]"):
			return list, nil
		default:
			return nil, p.fail("expected , or ]")
		}
	}
}

func (p *parser) selector() (selector, error) {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		name, err := p.quoted()
		return selector{kind: byName, name: name}, err
	case p.take("*"):
		return selector{kind: all}, nil
	case p.take("?"):
		p.space()
		t, err := p.or()
		return selector{kind: byFilter, test: t}, err
	case c == ':' || c == '-' || isDigit(c):
		return p.indexOrSlice()
	}
	return selector{}, p.fail("expected a name in quotes, an index, a slice, * or ?")
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) indexOrSlice() (selector, error) {
	var s slice
	var err error
	if p.peek() != ':' {
		if s.start, err = p.integer(); err != nil {
			return selector{}, err
		}
		s.hasStart = true
		before := p.pos
		p.space()
		if p.peek() != ':' {
			p.pos = before
			return selector{kind: byIndex, index: s.start}, nil
		}
	}
	p.pos++ // the colon
	s.step = 1
	if s.end, s.hasEnd, err = p.optional(); err != nil {
		return selector{}, err
	}
	if p.take(":") {
		step, given, err := p.optional()
		if err != nil {
			return selector{}, err
		}
		if given {
			s.step = step
		}
	}
	return selector{kind: bySlice, slice: s}, nil
}

// optional reads an integer with space around it, where there is one.
func (p *parser) optional() (n int, given bool, err error) {
	p.space()
	if c := p.peek(); c != '-' && !isDigit(c) {
		return 0, false, nil
	}
	n, err = p.integer()
	p.space()
	return n, true, err
}

func (p *parser) integer() (int, error) {
	const limit = 1<<53 - 1
	start := p.pos
	p.take("-")
	first := p.pos
	for isDigit(p.peek()) {
		p.pos++
	}
	text := p.s[start:p.pos]
	n, err := strconv.ParseInt(text, 10, 64)
	leadingZero := p.pos > first && p.s[first] == '0' && (p.pos > first+1 || text[0] == '-')
	if err != nil || leadingZero || n > limit || n < -limit {
		p.pos = start
		return 0, p.fail("expected an integer within ±(2^53-1) without leading zeros")
	}
	return int(n), nil
}

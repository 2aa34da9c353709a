package jsonpath

import (
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func (p *parser) or() (test, error) {
	list, err := p.joined("||", p.and)
	if err != nil || len(list) == 1 {
		return first(list), err
	}
	return orTest(list), nil
}

func (p *parser) and() (test, error) {
	list, err := p.joined("&&", p.basic)
	if err != nil || len(list) == 1 {
		return first(list), err
	}
	return andTest(list), nil
}

func first(list []test) test {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// joined reads tests with op between them. Space behind the last belongs to
// whatever follows.
func (p *parser) joined(op string, read func() (test, error)) ([]test, error) {
	var list []test
	for {
		t, err := read()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		before := p.pos
		p.space()
		if !p.take(op) {
			p.pos = before
			return list, nil
		}
		p.space()
	}
}

// basic reads a parenthesis, a comparison or a test, negated or not.
func (p *parser) basic() (test, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	if p.take("!") {
		p.space()
		t, err := p.negatable()
		if err != nil {
			return nil, err
		}
		return notTest{t}, nil
	}
	if p.peek() == '(' {
		return p.parenthesis()
	}
	return p.testOrComparison()
}

// negatable reads what may follow !: a parenthesis or a test, no comparison.
func (p *parser) negatable() (test, error) {
	if p.peek() == '(' {
		return p.parenthesis()
	}
	e, err := p.term()
	if err != nil {
		return nil, err
	}
	return p.asTest(e)
}

func (p *parser) parenthesis() (test, error) {
	p.pos++
	p.space()
	t, err := p.or()
	if err != nil {
		return nil, err
	}
	p.space()
	if !p.take(")") {
		return nil, p.fail("expected )")
	}
	return t, nil
}

func (p *parser) testOrComparison() (test, error) {
	left, err := p.term()
	if err != nil {
		return nil, err
	}
	before := p.pos
	p.space()
	op := operatorAt(p.rest())
	if op == "" {
		p.pos = before
		return p.asTest(left)
	}
	a, err := p.asOperand(left)
	if err != nil {
		return nil, err
	}
	p.pos += len(op)
	p.space()
	right, err := p.term()
	if err != nil {
		return nil, err
	}
	b, err := p.asOperand(right)
	if err != nil {
		return nil, err
	}
	return &comparison{left: a, right: b, op: op}, nil
}

// asTest returns a term that stands alone: a query or a function that is true
// or false.
func (p *parser) asTest(term any) (test, error) {
	if t, ok := term.(test); ok {
		return t, nil
	}
	return nil, p.fail("expected a comparison: a value alone is neither true nor false")
}

// asOperand returns a term that is one value.
func (p *parser) asOperand(term any) (operand, error) {
	if q, ok := term.(*subquery); ok && !q.singular {
		return nil, p.fail("expected a query that finds one value at most: names and indexes alone")
	}
	if o, ok := term.(operand); ok {
		return o, nil
	}
	return nil, p.fail("expected a value: this function is true or false")
}

// term reads a query, a function or a literal.
func (p *parser) term() (any, error) {
	switch c := p.peek(); {
	case c == '@' || c == '$':
		return p.subquery()
	case c == '\'' || c == '"':
		text, err := p.quoted()
		if err != nil {
			return nil, err
		}
		return p.literal(jsonv.AppendString(nil, text))
	case c == '-' || isDigit(c):
		return p.number()
	case c >= 'a' && c <= 'z':
		return p.word()
	}
	return nil, p.fail("expected a query, a function or a literal")
}

func (p *parser) literal(json []byte) (any, error) {
	v, err := tree.Parse(json)
	if err != nil {
		return nil, p.fail("not a JSON value")
	}
	return literal{v}, nil
}

func (p *parser) number() (any, error) {
	start := p.pos
	for c := p.peek(); isDigit(c) || (c != 0 && indexByte("+-.eE", c)); c = p.peek() {
		p.pos++
	}
	return p.literal([]byte(p.s[start:p.pos]))
}

func indexByte(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}

func (p *parser) subquery() (any, error) {
	q := &subquery{absolute: p.peek() == '$'}
	p.pos++
	var err error
	q.segments, err = p.segments()
	q.singular = isSingular(q.segments)
	return q, err
}

func isSingular(segments []segment) bool {
	for _, s := range segments {
		if s.descendant || len(s.selectors) != 1 || (s.selectors[0].kind != byName && s.selectors[0].kind != byIndex) {
			return false
		}
	}
	return true
}

// word reads true, false, null or a function.
func (p *parser) word() (any, error) {
	start := p.pos
	for c := p.peek(); c == '_' || isDigit(c) || (c >= 'a' && c <= 'z'); c = p.peek() {
		p.pos++
	}
	name := p.s[start:p.pos]
	if p.peek() == '(' {
		return p.function(name)
	}
	switch name {
	case "true", "false", "null":
		return p.literal([]byte(name))
	}
	p.pos = start
	return nil, p.fail("expected true, false, null or a function")
}

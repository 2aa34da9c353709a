package jsonpath

import "strconv"

// function reads a function's arguments, from the parenthesis on, and checks
// their types.
func (p *parser) function(name string) (any, error) {
	done, err := p.deeper()
	if err != nil {
		return nil, err
	}
	defer done()
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	switch name {
	case "length":
		return p.lengthOf(args)
	case "count", "value":
		return p.ofNodes(name, args)
	case "match", "search":
		return p.matchOf(name, args)
	}
	return nil, p.fail("unknown function " + name + ": there are length, count, value, match and search")
}

func (p *parser) arguments() ([]any, error) {
	p.pos++
	p.space()
	var args []any
	if p.take(")") {
		return nil, nil
	}
	for {
		a, err := p.term()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		p.space()
		switch {
		case p.take(")"):
			return args, nil
		case p.take(","):
			p.space()
		default:
			return nil, p.fail("expected , or )")
		}
	}
}

func (p *parser) want(name string, args []any, n int) error {
	if len(args) != n {
		return p.fail(name + " takes " + strconv.Itoa(n) + " arguments, not " + strconv.Itoa(len(args)))
	}
	return nil
}

func (p *parser) lengthOf(args []any) (any, error) {
	if err := p.want("length", args, 1); err != nil {
		return nil, err
	}
	of, err := p.asOperand(args[0])
	if err != nil {
		return nil, err
	}
	return length{of}, nil
}

func (p *parser) ofNodes(name string, args []any) (any, error) {
	if err := p.want(name, args, 1); err != nil {
		return nil, err
	}
	q, ok := args[0].(*subquery)
	if !ok {
		return nil, p.fail(name + " takes a query")
	}
	if name == "count" {
		return count{q}, nil
	}
	return only{q}, nil
}

func (p *parser) matchOf(name string, args []any) (any, error) {
	if err := p.want(name, args, 2); err != nil {
		return nil, err
	}
	text, err := p.asOperand(args[0])
	if err != nil {
		return nil, err
	}
	pattern, err := p.asOperand(args[1])
	if err != nil {
		return nil, err
	}
	return &match{text: text, pattern: pattern, whole: name == "match"}, nil
}

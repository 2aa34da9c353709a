package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds how deeply a script may nest.
const maxDepth = 64

// A node is one JSON value of a script together with the place where it
// begins, so that an error can point at it.
type node struct {
	off     int
	kind    nodeKind
	members []member // of an object, in source order
	items   []*node  // of an array
	str     string   // of a string, or the digits of a number
	truth   bool
}

type member struct {
	name  string
	off   int
	value *node
}

type nodeKind int

const (
	_ nodeKind = iota
	objectNode
	arrayNode
	stringNode
	numberNode
	boolNode
	nullNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "an object", "a list", "a string", "a number", "true or false", "null"}[k]
}

// A syntaxError is a fault in a script's JSON at an offset.
type syntaxError struct {
	off int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

// parseNode reads one JSON document and nothing after it. Unlike
// json.Unmarshal it refuses a member that is written twice.
func parseNode(src []byte) (*node, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(src, &whole); err != nil {
		var se *json.SyntaxError
		if errors.As(err, &se) {
			return nil, &syntaxError{int(se.Offset) - 1, se.Error()}
		}
		return nil, &syntaxError{0, err.Error()}
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	p := &nodeParser{src: src, dec: dec}
	return p.value(0)
}

type nodeParser struct {
	src []byte
	dec *json.Decoder
}

// start is the offset of the next token: the decoder only tells where the last one ended.
func (p *nodeParser) start() int {
	i := int(p.dec.InputOffset())
	for i < len(p.src) && strings.IndexByte(" \t\r\n,:", p.src[i]) >= 0 {
		i++
	}
	return i
}

func (p *nodeParser) value(depth int) (*node, error) {
	off := p.start()
	if depth > maxDepth {
		return nil, &syntaxError{off, fmt.Sprintf("nested deeper than %d", maxDepth)}
	}
	tok, err := p.dec.Token()
	if err != nil {
		return nil, &syntaxError{off, err.Error()}
	}
	n := &node{off: off}
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			return n, p.object(n, depth)
		}
		return n, p.array(n, depth)
	case string:
		n.kind, n.str = stringNode, v
	case json.Number:
		n.kind, n.str = numberNode, v.String()
	case bool:
		n.kind, n.truth = boolNode, v
	default:
		n.kind = nullNode
	}
	return n, nil
}

func (p *nodeParser) object(n *node, depth int) error {
	n.kind = objectNode
	seen := map[string]bool{}
	for p.dec.More() {
		off := p.start()
		tok, err := p.dec.Token()
		name, ok := tok.(string)
		if err != nil || !ok {
			return &syntaxError{off, "an object's member needs a name"}
		}
		if seen[name] {
			return &syntaxError{off, fmt.Sprintf("%q is written twice", name)}
		}
		seen[name] = true
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{name, off, v})
	}
	return p.end()
}

func (p *nodeParser) array(n *node, depth int) error {
	n.kind = arrayNode
	for p.dec.More() {
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, v)
	}
	return p.end()
}

func (p *nodeParser) end() error {
	if _, err := p.dec.Token(); err != nil && err != io.EOF {
		return &syntaxError{p.start(), err.Error()}
	}
	return nil
}

// plain is the value as encoding/json would give it, numbers kept as written.
func (n *node) plain() any {
	switch n.kind {
	case objectNode:
		m := map[string]any{}
		for _, f := range n.members {
			m[f.name] = f.value.plain()
		}
		return m
	case arrayNode:
		list := make([]any, len(n.items))
		for i, v := range n.items {
			list[i] = v.plain()
		}
		return list
	case stringNode:
		return n.str
	case numberNode:
		return json.Number(n.str)
	case boolNode:
		return n.truth
	default:
		return nil
	}
}

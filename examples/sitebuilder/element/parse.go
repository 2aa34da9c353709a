package element

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// FromJSON reads one element with its children. A list is refused: a call builds one root element.
func FromJSON(data []byte) (*Element, error) {
	if len(data) > MaxSource {
		return nil, fmt.Errorf("element is %d bytes long; the limit is %d", len(data), MaxSource)
	}
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("element is not JSON: %v", err)
		}
		return nil, fmt.Errorf("element is a list of %d; there must be exactly one root element: wrap them in one, or call once for each", len(list))
	}
	if len(data) == 0 || data[0] != '{' {
		return nil, errors.New("element must be an object with tag, text, classes, attributes and children")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	e := new(Element)
	if err := dec.Decode(e); err != nil {
		return nil, fmt.Errorf("element: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if e.Tag == TextTag {
		return nil, errors.New("the root must be an element, not bare text")
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	e.Walk(func(n *Element, _ int) { n.ID = "" })
	return e, nil
}

// FromHTML reads one element with its children from HTML. Several roots are refused, as is bare text.
func FromHTML(src string) (*Element, error) {
	roots, err := Fragment(src)
	if err != nil {
		return nil, err
	}
	switch {
	case len(roots) == 0:
		return nil, errors.New("html holds no element")
	case len(roots) > 1:
		names := make([]string, 0, len(roots))
		for _, r := range roots {
			names = append(names, r.Tag)
		}
		return nil, fmt.Errorf("html has %d root elements (%s); there must be exactly one: wrap them in one, or call once for each",
			len(roots), clip(strings.Join(names, ", ")))
	case roots[0].Tag == TextTag:
		return nil, errors.New("the root must be an element, not bare text")
	}
	return roots[0], nil
}

// Fragment reads any number of elements and runs of text from HTML. Comments are dropped. What a page may not hold
// (scripts, style attributes, frames, event handlers) is an error, not silently lost.
func Fragment(src string) ([]*Element, error) {
	if len(src) > MaxSource {
		return nil, fmt.Errorf("html is %d bytes long; the limit is %d", len(src), MaxSource)
	}
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(src), body)
	if err != nil {
		return nil, fmt.Errorf("html: %s", strings.TrimPrefix(err.Error(), "html: "))
	}
	p := parser{}
	roots, err := p.list(nodes, false, 1)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		if err := r.Check(); err != nil {
			return nil, err
		}
	}
	return roots, nil
}

type parser struct{ count int }

// list turns sibling nodes into elements. White space that holds a line break only lays out the source.
func (p *parser) list(nodes []*html.Node, verbatim bool, depth int) ([]*Element, error) {
	var out []*Element
	for _, n := range nodes {
		if n.Type == html.TextNode {
			if t := textOf(n.Data, verbatim); t != "" {
				out = append(out, &Element{Tag: TextTag, Text: t})
			}
			continue
		}
		if n.Type != html.ElementNode {
			continue
		}
		e, err := p.element(n, verbatim, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return trim(out, verbatim), nil
}

func (p *parser) element(n *html.Node, verbatim bool, depth int) (*Element, error) {
	if p.count++; p.count > MaxElements {
		return nil, fmt.Errorf("more than %d elements in one call; build the page in several calls", MaxElements)
	}
	if depth > MaxDepth {
		return nil, fmt.Errorf("elements are nested more than %d deep", MaxDepth)
	}
	if n.Namespace != "" {
		return nil, fmt.Errorf("element <%s> is not supported", clip(n.Data))
	}
	e := &Element{Tag: n.Data}
	for _, a := range n.Attr {
		// As JSON has it: an element looks the same on both ways.
		a.Val = strings.ToValidUTF8(a.Val, "")
		if a.Key == "class" {
			e.Classes = strings.Fields(a.Val)
			continue
		}
		if e.Attributes == nil {
			e.Attributes = map[string]string{}
		}
		e.Attributes[a.Key] = a.Val
	}
	verbatim = verbatim || n.DataAtom == atom.Pre || n.DataAtom == atom.Textarea
	var nodes []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		nodes = append(nodes, c)
	}
	children, err := p.list(nodes, verbatim, depth+1)
	if err != nil {
		return nil, err
	}
	if len(children) == 1 && children[0].Tag == TextTag {
		e.Text = children[0].Text
		return e, nil
	}
	e.Children = children
	return e, nil
}

func textOf(s string, verbatim bool) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
	if verbatim {
		return s
	}
	words := strings.Join(strings.Fields(s), " ")
	if words == "" {
		if s == "" || strings.Contains(s, "\n") {
			return ""
		}
		return " "
	}
	if strings.TrimLeft(s, " \t\r\n\f") != s {
		words = " " + words
	}
	if strings.TrimRight(s, " \t\r\n\f") != s {
		words += " "
	}
	return words
}

// trim takes the outer white space off a list of siblings.
func trim(list []*Element, verbatim bool) []*Element {
	if verbatim {
		return list
	}
	for len(list) > 0 && list[0].Tag == TextTag {
		if list[0].Text = strings.TrimLeft(list[0].Text, " "); list[0].Text != "" {
			break
		}
		list = list[1:]
	}
	for len(list) > 0 && list[len(list)-1].Tag == TextTag {
		last := list[len(list)-1]
		if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
			break
		}
		list = list[:len(list)-1]
	}
	return list
}

// Package element holds the tree that a page is made of, and the two ways in which an agent writes one: as nested JSON
// objects ([FromJSON]) and as HTML ([FromHTML]). It knows which tags, attributes and class names a page may hold; it
// does not know pages, styles or collections, and it does not render. Start at [Element].
package element

import (
	"maps"
	"slices"
	"strings"
)

// TextTag is the tag of a bare run of text between other elements.
const TextTag = "#text"

// ListTag is the tag of an element that repeats its children for each item of a CMS collection. Its "collection"
// attribute names the collection by slug.
const ListTag = "collection-list"

// An Element is one node of a page. It owns its children: the same node is never in two trees.
type Element struct {
	// ID is given by the store when the element is put on a page, and is empty before.
	ID         string            `json:"id,omitempty"`
	Tag        string            `json:"tag"`
	Text       string            `json:"text,omitempty"`
	Classes    []string          `json:"classes,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
	Children   []*Element        `json:"children,omitempty"`
}

// Clone returns a deep copy.
func (e *Element) Clone() *Element {
	if e == nil {
		return nil
	}
	c := *e
	c.Classes = slices.Clone(e.Classes)
	c.Attributes = maps.Clone(e.Attributes)
	c.Children = nil
	for _, child := range e.Children {
		c.Children = append(c.Children, child.Clone())
	}
	return &c
}

// Walk calls f for e and everything below it, parents first, with the depth below e.
func (e *Element) Walk(f func(n *Element, depth int)) { e.walk(f, 0) }

func (e *Element) walk(f func(*Element, int), depth int) {
	f(e, depth)
	for _, c := range e.Children {
		c.walk(f, depth+1)
	}
}

// Count returns the number of elements in the tree, e included.
func (e *Element) Count() int {
	n := 0
	e.Walk(func(*Element, int) { n++ })
	return n
}

// Find returns the element with that id and its parent (nil for e itself), or nil, nil.
func (e *Element) Find(id string) (found, parent *Element) {
	if e.ID == id {
		return e, nil
	}
	for _, c := range e.Children {
		if c.ID == id {
			return c, e
		}
		if f, p := c.Find(id); f != nil {
			return f, p
		}
	}
	return nil, nil
}

// PlainText returns the words that a visitor reads, in order, with single spaces between the parts.
func (e *Element) PlainText() string {
	var parts []string
	e.Walk(func(n *Element, _ int) {
		if t := strings.Join(strings.Fields(n.Text), " "); t != "" {
			parts = append(parts, t)
		}
	})
	return strings.Join(parts, " ")
}

// A Heading is one entry of a page's outline.
type Heading struct {
	Level int    `json:"level"`
	Text  string `json:"text"`
}

// Outline returns the headings h1 to h6 in order.
func (e *Element) Outline() []Heading {
	out := []Heading{}
	e.Walk(func(n *Element, _ int) {
		if len(n.Tag) == 2 && n.Tag[0] == 'h' && n.Tag[1] >= '1' && n.Tag[1] <= '6' {
			out = append(out, Heading{int(n.Tag[1] - '0'), n.PlainText()})
		}
	})
	return out
}

// ClassNames returns the names of all classes used in the tree, sorted, each once.
func (e *Element) ClassNames() []string {
	out := []string{}
	e.Walk(func(n *Element, _ int) { out = append(out, n.Classes...) })
	slices.Sort(out)
	return slices.Compact(out)
}

// Equal says whether two trees are the same, ids included. Absent and empty lists are the same.
func (e *Element) Equal(o *Element) bool {
	return e.ID == o.ID && e.Tag == o.Tag && e.Text == o.Text && slices.Equal(e.Classes, o.Classes) &&
		maps.Equal(e.Attributes, o.Attributes) && slices.EqualFunc(e.Children, o.Children, (*Element).Equal)
}

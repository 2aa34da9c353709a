package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

// Insert puts a tree on a page's draft, at a position (append, prepend, before or after) seen from the target, which
// is an element's id or "" for the body. The tree, now with ids, is returned.
func (s *Store) Insert(pageID, targetID, position string, tree *element.Element) (out *element.Element, err error) {
	err = s.change(func() error {
		w, p, err := s.page(pageID)
		if err != nil {
			return err
		}
		if err := tree.Check(); err != nil {
			return err
		}
		if n := p.Body.Count() + tree.Count(); n > maxPageElements {
			return fmt.Errorf("page %s would hold %d elements; the limit is %d", pageID, n, maxPageElements)
		}
		if err := w.checkLists(tree); err != nil {
			return err
		}
		put, err := s.place(p, targetID, position, nil)
		if err != nil {
			return err
		}
		tree = tree.Clone()
		tree.Walk(func(n *element.Element, _ int) { n.ID = s.newID("el") })
		put(tree)
		out = tree.Clone()
		return nil
	})
	return out, err
}

// checkLists says which collection list of the tree names no collection of the site.
func (w *Site) checkLists(tree *element.Element) error {
	var err error
	tree.Walk(func(n *element.Element, _ int) {
		if n.Tag != element.ListTag || err != nil {
			return
		}
		var slugs []string
		for _, c := range w.Draft.Collections {
			if c.Slug == n.Attributes["collection"] {
				return
			}
			slugs = append(slugs, c.Slug)
		}
		err = fmt.Errorf("<%s> names the collection %q, which the site does not have; its collections are: %s",
			element.ListTag, n.Attributes["collection"], strings.Join(slugs, ", "))
	})
	return err
}

// place finds a position on the page and returns the function that puts an element there. moved, if not nil, is the
// element that is to go there: neither it nor anything inside it can be the target.
func (s *Store) place(p *Page, targetID, position string, moved *element.Element) (func(*element.Element), error) {
	if targetID == "" {
		targetID = p.Body.ID
	}
	target, parent := p.Body.Find(targetID)
	if target == nil {
		return nil, fmt.Errorf("element %q is not on page %s; pages_get gives the ids", targetID, p.ID)
	}
	if moved != nil {
		if inside, _ := moved.Find(targetID); inside != nil {
			return nil, fmt.Errorf("element %s cannot be moved into or next to itself", moved.ID)
		}
	}
	switch position {
	case "", "append", "prepend":
		if target.Tag == element.TextTag || element.Void(target.Tag) {
			return nil, fmt.Errorf("element %s is <%s>, which can hold no children; use before or after", target.ID, target.Tag)
		}
		return func(e *element.Element) {
			s.demoteText(target)
			at := len(target.Children)
			if position == "prepend" {
				at = 0
			}
			target.Children = slices.Insert(target.Children, at, e)
		}, nil
	case "before", "after":
		if parent == nil {
			return nil, fmt.Errorf("element %s is the body of the page; use append or prepend", target.ID)
		}
		return func(e *element.Element) {
			at := slices.Index(parent.Children, target)
			if position == "after" {
				at++
			}
			parent.Children = slices.Insert(parent.Children, at, e)
		}, nil
	}
	return nil, fmt.Errorf("position %q is not known; use append, prepend, before or after", position)
}

// demoteText turns an element's own text into its first child, so that the order of text and children is kept.
func (s *Store) demoteText(e *element.Element) {
	if e.Text == "" {
		return
	}
	e.Children = slices.Insert(e.Children, 0, &element.Element{ID: s.newID("el"), Tag: element.TextTag, Text: e.Text})
	e.Text = ""
}

// An ElementPatch names what to change of one element; nil leaves a part as it is. A nil attribute is removed.
type ElementPatch struct {
	Text       *string            `json:"text"`
	Classes    *[]string          `json:"classes"`
	Attributes map[string]*string `json:"attributes"`
}

// UpdateElement changes one element of a page's draft.
func (s *Store) UpdateElement(pageID, elementID string, patch ElementPatch) (out *element.Element, err error) {
	err = s.change(func() error {
		w, p, e, _, err := s.onPage(pageID, elementID)
		if err != nil {
			return err
		}
		next, err := patched(p, e, patch)
		if err != nil {
			return err
		}
		if err := w.checkLists(&next); err != nil {
			return err
		}
		*e = next
		out = e.Clone()
		return nil
	})
	return out, err
}

func (s *Store) onPage(pageID, elementID string) (w *Site, p *Page, e, parent *element.Element, err error) {
	w, p, err = s.page(pageID)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	e, parent = p.Body.Find(elementID)
	if e == nil {
		return nil, nil, nil, nil, fmt.Errorf("element %q is not on page %s; pages_get gives the ids", elementID, pageID)
	}
	return w, p, e, parent, nil
}

func patched(p *Page, e *element.Element, patch ElementPatch) (element.Element, error) {
	next := *e.Clone()
	next.Children = e.Children
	if e == p.Body {
		return next, fmt.Errorf("element %s is the body of the page; change the elements in it", e.ID)
	}
	if patch.Text == nil && patch.Classes == nil && patch.Attributes == nil {
		return next, errors.New("nothing to change: give text, classes or attributes")
	}
	if patch.Text != nil {
		if len(e.Children) > 0 {
			return next, fmt.Errorf("element %s has child elements, so it has no text of its own; change the text of its children: %s", e.ID, children(e))
		}
		next.Text = *patch.Text
	}
	if patch.Classes != nil {
		next.Classes = slices.Clone(*patch.Classes)
	}
	for name, value := range patch.Attributes {
		if value == nil {
			delete(next.Attributes, name)
			continue
		}
		if next.Attributes == nil {
			next.Attributes = map[string]string{}
		}
		next.Attributes[name] = *value
	}
	return next, next.Check()
}

func children(e *element.Element) string {
	var out []string
	for _, c := range e.Children {
		text := c.PlainText()
		if len(text) > 40 {
			text = strings.ToValidUTF8(text[:40], "") + "..."
		}
		out = append(out, fmt.Sprintf("%s <%s> %q", c.ID, c.Tag, text))
	}
	return strings.Join(out, ", ")
}

// MoveElement moves an element to another place of the same page's draft.
func (s *Store) MoveElement(pageID, elementID, targetID, position string) (out *element.Element, err error) {
	err = s.change(func() error {
		_, p, e, parent, err := s.onPage(pageID, elementID)
		if err != nil {
			return err
		}
		if parent == nil {
			return fmt.Errorf("element %s is the body of the page and stays where it is", elementID)
		}
		put, err := s.place(p, targetID, position, e)
		if err != nil {
			return err
		}
		parent.Children = slices.DeleteFunc(parent.Children, func(c *element.Element) bool { return c == e })
		put(e)
		out = e.Clone()
		return nil
	})
	return out, err
}

// DeleteElement removes an element and all in it from a page's draft, and returns how many those were.
func (s *Store) DeleteElement(pageID, elementID string) (n int, err error) {
	err = s.change(func() error {
		_, _, e, parent, err := s.onPage(pageID, elementID)
		if err != nil {
			return err
		}
		if parent == nil {
			return fmt.Errorf("element %s is the body of the page and cannot be deleted", elementID)
		}
		parent.Children = slices.DeleteFunc(parent.Children, func(c *element.Element) bool { return c == e })
		n = e.Count()
		return nil
	})
	return n, err
}

// Unstyled returns the classes of the tree that no style of the page's site has, sorted.
func (s *Store) Unstyled(pageID string, tree *element.Element) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []string{}
	w, _, err := s.page(pageID)
	if err != nil {
		return out
	}
	for _, name := range tree.ClassNames() {
		if !slices.ContainsFunc(w.Draft.Styles, func(st *Style) bool { return st.Name == name }) {
			out = append(out, name)
		}
	}
	return out
}

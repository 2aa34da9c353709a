// Package site holds the sites of one builder account: pages of nested elements, styles, CMS collections with typed
// fields and items, each as a draft and as published. A [Store] is the only way in; every change is checked there and
// [Store.State] shows the whole of it. Ids are counted, so the same calls give the same state, and nothing in the
// state depends on the clock. The package neither renders nor serves.
package site

import (
	"slices"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

// A Site is one website. What visitors see is Live; every change is made to Draft and is copied by [Store.Publish].
type Site struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Slug      string   `json:"slug"`
	Publishes int      `json:"publishes"`
	Draft     *Content `json:"draft"`
	// Live is nil until the site is published for the first time.
	Live *Content `json:"live"`
}

// Content is all that a site is made of, once as draft and once as published.
type Content struct {
	Pages       []*Page       `json:"pages"`
	Styles      []*Style      `json:"styles"`
	Collections []*Collection `json:"collections"`
}

// A Page is one address of the site. The home page has the empty slug.
type Page struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Slug        string `json:"slug"`
	SEOTitle    string `json:"seo_title"`
	Description string `json:"description"`
	// Draft holds the page back when the site is published.
	Draft bool             `json:"draft"`
	Body  *element.Element `json:"body"`
}

// Path is the address of the page on the site.
func (p *Page) Path() string { return "/" + p.Slug }

// A Style is one class: CSS declarations, and others for a state or a narrower screen.
type Style struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Properties map[string]string `json:"properties"`
	// Variants maps hover, medium, small and tiny to the declarations that differ there.
	Variants map[string]map[string]string `json:"variants,omitempty"`
}

// A Collection is a CMS content type with its items.
type Collection struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Slug   string  `json:"slug"`
	Fields []Field `json:"fields"`
	Items  []*Item `json:"items"`
}

// A Field is one typed value that the items of a collection have.
type Field struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Slug     string `json:"slug"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
	// Options are the choices of an option field.
	Options []string `json:"options,omitempty"`
	// CollectionID is the collection whose items a reference field points at.
	CollectionID string `json:"collection_id,omitempty"`
}

// An Item is one entry of a collection. Fields are keyed by field slug.
type Item struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	// Draft holds the item back when the site is published.
	Draft  bool           `json:"draft"`
	Fields map[string]any `json:"fields"`
}

func (c *Content) clone() *Content {
	out := &Content{Pages: []*Page{}, Styles: []*Style{}, Collections: []*Collection{}}
	for _, p := range c.Pages {
		out.Pages = append(out.Pages, p.clone())
	}
	for _, s := range c.Styles {
		out.Styles = append(out.Styles, s.clone())
	}
	for _, l := range c.Collections {
		out.Collections = append(out.Collections, l.clone())
	}
	return out
}

func (p *Page) clone() *Page {
	c := *p
	c.Body = p.Body.Clone()
	return &c
}

func (s *Style) clone() *Style {
	c := *s
	c.Properties = cloneMap(s.Properties)
	c.Variants = nil
	for name, props := range s.Variants {
		if c.Variants == nil {
			c.Variants = map[string]map[string]string{}
		}
		c.Variants[name] = cloneMap(props)
	}
	return &c
}

func (c *Collection) clone() *Collection {
	d := *c
	d.Fields = make([]Field, 0, len(c.Fields))
	for _, f := range c.Fields {
		f.Options = slices.Clone(f.Options)
		d.Fields = append(d.Fields, f)
	}
	d.Items = make([]*Item, 0, len(c.Items))
	for _, it := range c.Items {
		d.Items = append(d.Items, it.clone())
	}
	return &d
}

func (it *Item) clone() *Item {
	c := *it
	c.Fields = make(map[string]any, len(it.Fields))
	for k, v := range it.Fields {
		if m, ok := v.(map[string]any); ok {
			v = cloneMap(m)
		}
		c.Fields[k] = v
	}
	return &c
}

func cloneMap[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// Title is what the item is called: the value of the first text field, else the slug.
func (it *Item) Title(fields []Field) string {
	for _, f := range fields {
		if s, ok := it.Fields[f.Slug].(string); ok && s != "" && f.Type == "text" {
			return s
		}
	}
	return it.Slug
}

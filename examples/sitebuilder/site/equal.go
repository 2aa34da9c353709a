package site

import (
	"maps"
	"reflect"
	"slices"
)

func (c *Content) equal(o *Content) bool {
	return slices.EqualFunc(c.Pages, o.Pages, (*Page).equal) && slices.EqualFunc(c.Styles, o.Styles, (*Style).equal) &&
		slices.EqualFunc(c.Collections, o.Collections, (*Collection).equal)
}

func (p *Page) equal(o *Page) bool {
	a, b := *p, *o
	a.Body, b.Body = nil, nil
	return a == b && p.Body.Equal(o.Body)
}

func (s *Style) equal(o *Style) bool {
	return s.ID == o.ID && s.Name == o.Name && maps.Equal(s.Properties, o.Properties) &&
		maps.EqualFunc(s.Variants, o.Variants, maps.Equal[map[string]string, map[string]string])
}

func (c *Collection) equal(o *Collection) bool {
	return c.ID == o.ID && c.Name == o.Name && c.Slug == o.Slug && slices.EqualFunc(c.Fields, o.Fields, Field.equal) &&
		slices.EqualFunc(c.Items, o.Items, (*Item).equal)
}

func (f Field) equal(o Field) bool {
	return f.ID == o.ID && f.Name == o.Name && f.Slug == o.Slug && f.Type == o.Type && f.Required == o.Required &&
		f.CollectionID == o.CollectionID && slices.Equal(f.Options, o.Options)
}

func (it *Item) equal(o *Item) bool {
	return it.ID == o.ID && it.Slug == o.Slug && it.Draft == o.Draft && maps.EqualFunc(it.Fields, o.Fields, equalValue)
}

func equalValue(a, b any) bool {
	if _, ok := a.(map[string]any); ok {
		return reflect.DeepEqual(a, b)
	}
	if _, ok := b.(map[string]any); ok {
		return false
	}
	return a == b
}

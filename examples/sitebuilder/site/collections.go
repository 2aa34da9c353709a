package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CollectionInfo is a collection without its items.
type CollectionInfo struct {
	ID     string  `json:"id"`
	SiteID string  `json:"site_id"`
	Name   string  `json:"name"`
	Slug   string  `json:"slug"`
	Items  int     `json:"items"`
	Fields []Field `json:"fields"`
	// Live says whether visitors can see the collection's published items.
	Live bool `json:"live"`
}

func (w *Site) collectionInfo(c *Collection) CollectionInfo {
	return CollectionInfo{c.ID, w.ID, c.Name, c.Slug, len(c.Items), c.clone().Fields, w.Live.collection(c.ID) != nil}
}

// Collections lists the collections of a site's draft.
func (s *Store) Collections(siteID string) ([]CollectionInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, err := s.site(siteID)
	if err != nil {
		return nil, err
	}
	out := []CollectionInfo{}
	for _, c := range w.Draft.Collections {
		out = append(out, w.collectionInfo(c))
	}
	return out, nil
}

// Collection returns one collection of the draft.
func (s *Store) Collection(id string) (CollectionInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, c, err := s.collection(id)
	if err != nil {
		return CollectionInfo{}, err
	}
	return w.collectionInfo(c), nil
}

// A FieldSpec is what a new field is made from. Slug may be empty: it is then made from the name.
type FieldSpec struct {
	Name         string   `json:"name"`
	Slug         string   `json:"slug"`
	Type         string   `json:"type"`
	Required     bool     `json:"required"`
	Options      []string `json:"options"`
	CollectionID string   `json:"reference_collection_id"`
}

// FieldTypes are the types a field can have.
func FieldTypes() []string {
	return []string{"text", "richtext", "number", "boolean", "date", "image", "link", "option", "reference"}
}

// CreateCollection adds a collection to a site's draft. A second one of the same name is not refused; its slug gets a
// number.
func (s *Store) CreateCollection(siteID, name, slug string, fields []FieldSpec) (info CollectionInfo, err error) {
	err = s.change(func() error {
		w, err := s.site(siteID)
		if err != nil {
			return err
		}
		if len(w.Draft.Collections) >= maxCollections {
			return fmt.Errorf("site %q has %d collections, which is the limit", siteID, maxCollections)
		}
		if err := checkName("collection", name); err != nil {
			return err
		}
		taken := func(n string) bool {
			return slices.ContainsFunc(w.Draft.Collections, func(c *Collection) bool { return c.Slug == n })
		}
		if slug == "" {
			slug = free(slugify(name, "-"), taken)
		}
		if err := checkSlug("collection", slug); err != nil {
			return err
		}
		if taken(slug) {
			return fmt.Errorf("slug %q is taken by another collection", slug)
		}
		c := &Collection{Name: name, Slug: slug, Items: []*Item{}, Fields: []Field{}}
		for _, spec := range fields {
			f, err := s.newField(c, spec)
			if err != nil {
				return err
			}
			c.Fields = append(c.Fields, f)
		}
		c.ID = s.newID("col")
		for i := range c.Fields {
			c.Fields[i].ID = s.newID("field")
		}
		w.Draft.Collections = append(w.Draft.Collections, c)
		info = w.collectionInfo(c)
		return nil
	})
	return info, err
}

// CreateField adds a field to a collection of the draft.
func (s *Store) CreateField(collectionID string, spec FieldSpec) (out Field, err error) {
	err = s.change(func() error {
		_, c, err := s.collection(collectionID)
		if err != nil {
			return err
		}
		f, err := s.newField(c, spec)
		if err != nil {
			return err
		}
		f.ID = s.newID("field")
		c.Fields = append(c.Fields, f)
		out = f
		return nil
	})
	return out, err
}

func (s *Store) newField(c *Collection, spec FieldSpec) (Field, error) {
	if err := checkName("field", spec.Name); err != nil {
		return Field{}, err
	}
	if len(c.Fields) >= maxFields {
		return Field{}, fmt.Errorf("collection %q has %d fields, which is the limit", c.Name, maxFields)
	}
	if !slices.Contains(FieldTypes(), spec.Type) {
		return Field{}, fmt.Errorf("type %q of field %q is not known; use one of %s", spec.Type, spec.Name, strings.Join(FieldTypes(), ", "))
	}
	slug := spec.Slug
	if slug == "" {
		slug = slugify(spec.Name, "_")
	}
	if slug == "" || slug != slugify(slug, "_") {
		return Field{}, fmt.Errorf("slug %q of field %q: use lower case letters, digits and _", slug, spec.Name)
	}
	if slug == "url" || slug == "slug" {
		return Field{}, fmt.Errorf("slug %q of field %q is reserved: each item has it already", slug, spec.Name)
	}
	for _, f := range c.Fields {
		if f.Slug == slug {
			return Field{}, fmt.Errorf("collection %q already has a field with the slug %q", c.Name, slug)
		}
	}
	f := Field{Name: spec.Name, Slug: slug, Type: spec.Type, Required: spec.Required}
	return f, s.fieldTarget(&f, spec)
}

func (s *Store) fieldTarget(f *Field, spec FieldSpec) error {
	switch {
	case f.Type != "option" && len(spec.Options) > 0:
		return fmt.Errorf("field %q has options, which only the type option can have", f.Name)
	case f.Type != "reference" && spec.CollectionID != "":
		return fmt.Errorf("field %q has a collection_id, which only the type reference can have", f.Name)
	case f.Type == "option":
		if len(spec.Options) == 0 {
			return fmt.Errorf("field %q of type option needs options", f.Name)
		}
		f.Options = slices.Clone(spec.Options)
	case f.Type == "reference":
		if _, _, err := s.collection(spec.CollectionID); err != nil {
			return fmt.Errorf("field %q of type reference: %w", f.Name, err)
		}
		f.CollectionID = spec.CollectionID
	}
	return nil
}

// DeleteCollection removes a collection and its items from the draft, unless a field of another refers to it. The live
// site keeps them until it is published again.
func (s *Store) DeleteCollection(id string) (items int, err error) {
	err = s.change(func() error {
		w, c, err := s.collection(id)
		if err != nil {
			return err
		}
		for _, other := range w.Draft.Collections {
			for _, f := range other.Fields {
				if f.CollectionID == id && other != c {
					return fmt.Errorf("collection %s (%s) is referred to by the field %q of collection %s (%s)", id, c.Name, f.Name, other.ID, other.Name)
				}
			}
		}
		w.Draft.Collections = slices.DeleteFunc(w.Draft.Collections, func(o *Collection) bool { return o == c })
		items = len(c.Items)
		return nil
	})
	return items, err
}

var errNoItems = errors.New("no items given")

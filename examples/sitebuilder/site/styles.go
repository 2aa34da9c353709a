package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

// Styles lists the styles of a site's draft.
func (s *Store) Styles(siteID string) ([]*Style, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	w, err := s.site(siteID)
	if err != nil {
		return nil, err
	}
	out := []*Style{}
	for _, st := range w.Draft.Styles {
		out = append(out, st.clone())
	}
	return out, nil
}

// CreateStyle adds a class. If the name is taken the new class gets the next free one ("hero" becomes "hero-2"); the
// answer holds the name that was given.
func (s *Store) CreateStyle(siteID, name string, props map[string]string, variants map[string]map[string]string) (out *Style, err error) {
	err = s.change(func() error {
		w, err := s.site(siteID)
		if err != nil {
			return err
		}
		if len(w.Draft.Styles) >= maxStyles {
			return fmt.Errorf("site %q has %d styles, which is the limit", siteID, maxStyles)
		}
		name = strings.Join(strings.Fields(strings.TrimPrefix(name, ".")), "-")
		if err := element.CheckClass(name); err != nil {
			return err
		}
		st := &Style{Name: name, Properties: cloneMap(props), Variants: variants}
		if err := st.check(); err != nil {
			return err
		}
		st.Name = free(name, func(n string) bool {
			return slices.ContainsFunc(w.Draft.Styles, func(o *Style) bool { return o.Name == n })
		})
		st.ID = s.newID("style")
		st = st.clone()
		w.Draft.Styles = append(w.Draft.Styles, st)
		out = st.clone()
		return nil
	})
	return out, err
}

// UpdateStyle changes declarations of a class. An empty value removes one; others stay as they are.
func (s *Store) UpdateStyle(id string, props map[string]string, variants map[string]map[string]string) (out *Style, err error) {
	err = s.change(func() error {
		st, err := s.style(id)
		if err != nil {
			return err
		}
		if len(props)+len(variants) == 0 {
			return errors.New("nothing to change: give properties or variants")
		}
		next := st.clone()
		merge(next.Properties, props)
		for name, set := range variants {
			if next.Variants == nil {
				next.Variants = map[string]map[string]string{}
			}
			if next.Variants[name] == nil {
				next.Variants[name] = map[string]string{}
			}
			merge(next.Variants[name], set)
		}
		if err := next.check(); err != nil {
			return err
		}
		*st = *next
		out = st.clone()
		return nil
	})
	return out, err
}

func merge(into, from map[string]string) {
	for k, v := range from {
		into[k] = v
		if v == "" {
			delete(into, k)
		}
	}
}

func (s *Store) style(id string) (*Style, error) {
	for _, w := range s.data.Sites {
		for _, st := range w.Draft.Styles {
			if st.ID == id {
				return st, nil
			}
		}
	}
	return nil, fmt.Errorf("style %q not found; styles_list gives the ids", id)
}

// variantNames are the states and screens for which a style can differ, in the order of the sheet.
func variantNames() []string { return []string{"hover", "medium", "small", "tiny"} }

func (st *Style) check() error {
	if err := checkDeclarations(st.Properties); err != nil {
		return err
	}
	for name, props := range st.Variants {
		if !slices.Contains(variantNames(), name) {
			return fmt.Errorf("variant %q is not known; use one of %s", name, strings.Join(variantNames(), ", "))
		}
		if err := checkDeclarations(props); err != nil {
			return err
		}
	}
	return nil
}

func checkDeclarations(props map[string]string) error {
	if len(props) > 100 {
		return fmt.Errorf("%d declarations in one style; the limit is 100", len(props))
	}
	for _, name := range sorted(props) {
		if !propertyName(name) {
			return fmt.Errorf("%q is not the name of a CSS property (background-color, not backgroundColor)", name)
		}
		value := props[name]
		if !propertyValue(value) {
			return fmt.Errorf("%q is not a value that the property %s can have", value, name)
		}
	}
	return nil
}

func propertyName(name string) bool {
	if len(name) < 2 || len(name) > 60 {
		return false
	}
	for i, r := range name {
		if (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return true
}

// propertyValue says whether a value ends where it should: nothing in it can reach beyond its own declaration.
func propertyValue(value string) bool {
	if strings.TrimSpace(value) == "" || len(value) > 500 || strings.ContainsAny(value, "{}<>;\\@\n\r\f\x00") || strings.Contains(value, "/*") {
		return false
	}
	var open []rune
	var quote rune
	for _, r := range value {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '(':
			open = append(open, ')')
		case r == '[':
			open = append(open, ']')
		case r == ')' || r == ']':
			if len(open) == 0 || open[len(open)-1] != r {
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return quote == 0 && len(open) == 0
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

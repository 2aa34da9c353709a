package site

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/examples/sitebuilder/element"
)

// checkFields checks an item's values and returns them as they are stored: text, number, boolean, or an object with
// url and alt for an image.
func (s *Store) checkFields(c *Collection, values map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, slug := range sorted(values) {
		i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Slug == slug })
		if i < 0 {
			return nil, fmt.Errorf("collection %q has no field %q; its fields are: %s", c.Name, slug, fieldSlugs(c))
		}
		if values[slug] == nil {
			continue
		}
		v, err := s.checkValue(c.Fields[i], values[slug])
		if err != nil {
			return nil, err
		}
		out[slug] = v
	}
	for _, f := range c.Fields {
		if v, ok := out[f.Slug]; f.Required && (!ok || v == "") {
			return nil, fmt.Errorf("field %q of collection %q is required", f.Slug, c.Name)
		}
	}
	return out, nil
}

func fieldSlugs(c *Collection) string {
	var out []string
	for _, f := range c.Fields {
		out = append(out, f.Slug+" ("+f.Type+")")
	}
	if len(out) == 0 {
		return "none yet"
	}
	return strings.Join(out, ", ")
}

func (s *Store) checkValue(f Field, v any) (any, error) {
	switch f.Type {
	case "number":
		if n, ok := v.(float64); ok {
			return n, nil
		}
		return nil, mismatch(f, "a number", v)
	case "boolean":
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, mismatch(f, "true or false", v)
	case "image":
		return checkImage(f, v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, mismatch(f, "a string", v)
	}
	if len(text) > element.MaxText {
		return nil, fmt.Errorf("field %q: %d bytes; the limit is %d", f.Slug, len(text), element.MaxText)
	}
	return text, s.checkText(f, text)
}

func (s *Store) checkText(f Field, text string) error {
	switch f.Type {
	case "richtext":
		if _, err := element.Fragment(text); err != nil {
			return fmt.Errorf("field %q: %w", f.Slug, err)
		}
	case "date":
		if _, err := time.Parse("2006-01-02", text); err != nil {
			if _, err := time.Parse(time.RFC3339, text); err != nil {
				return fmt.Errorf("field %q: %q is not a date; write it like 2026-03-31", f.Slug, text)
			}
		}
	case "link":
		if text == "" || !element.SafeURL(text) || strings.ContainsAny(text, " {}<>\"") {
			return fmt.Errorf("field %q: %q is not an address", f.Slug, text)
		}
	case "option":
		if !slices.Contains(f.Options, text) {
			return fmt.Errorf("field %q: %q is not one of the options %s", f.Slug, text, strings.Join(f.Options, ", "))
		}
	case "reference":
		_, c, err := s.collection(f.CollectionID)
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Slug, err)
		}
		if c.item(text) == nil {
			return fmt.Errorf("field %q: %q is not the id of an item of collection %q", f.Slug, text, c.Name)
		}
	}
	return nil
}

func checkImage(f Field, v any) (any, error) {
	m, ok := v.(map[string]any)
	if u, isText := v.(string); isText {
		m, ok = map[string]any{"url": u}, true
	}
	if !ok {
		return nil, mismatch(f, "an address, or an object with url and alt", v)
	}
	out := map[string]any{"url": "", "alt": ""}
	for key, value := range m {
		text, isText := value.(string)
		if _, known := out[key]; !known || !isText {
			return nil, fmt.Errorf("field %q: an image has the texts url and alt, not %q", f.Slug, key)
		}
		out[key] = text
	}
	u := out["url"].(string)
	if u == "" || !element.SafeURL(u) && !element.SafeImage(u) {
		return nil, fmt.Errorf("field %q: %q is not the address of an image", f.Slug, u)
	}
	return out, nil
}

func mismatch(f Field, want string, v any) error {
	got := fmt.Sprintf("%T", v)
	switch v.(type) {
	case string:
		got = "a string"
	case float64:
		got = "a number"
	case bool:
		got = "a boolean"
	case map[string]any:
		got = "an object"
	case []any:
		got = "a list"
	}
	return fmt.Errorf("field %q of type %s: want %s, got %s", f.Slug, f.Type, want, got)
}

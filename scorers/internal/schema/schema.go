// Package schema checks JSON values against a subset of JSON Schema (draft
// 2020-12): type, enum, const, properties, required, additionalProperties,
// items, minItems, maxItems, minLength, maxLength, pattern, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, allOf, anyOf, oneOf and not. Annotations
// (title, description, default, examples, $comment, $schema) say nothing.
//
// Any other keyword is an error, not ignored as the standard has it: a check
// that silently does nothing is worse than none. Start at [Compile].
package schema

import (
	"errors"
	"regexp"
	"strconv"

	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Schema is a compiled schema.
type Schema struct {
	// never is the schema false, which no value satisfies.
	never      bool
	types      []string
	enum       []tree.Value
	constant   tree.Value
	required   []string
	properties map[string]*Schema
	// additional is for the members that properties does not name, nil where
	// they may be anything.
	additional *Schema
	items      *Schema
	pattern    *regexp.Regexp
	// bounds by keyword, exclusive ones included.
	bounds                             []bound
	minItems, maxItems, minLen, maxLen *int
	all, any, one                      []*Schema
	not                                *Schema
}

type bound struct {
	keyword string
	limit   jsonv.Value
}

const maxDepth = 100

// Compile reads a schema. The error says what is wrong with it and where.
func Compile(v jsonv.Value) (*Schema, error) { return compile(v, "", 0) }

func compile(v jsonv.Value, at string, depth int) (*Schema, error) {
	if depth > maxDepth {
		return nil, fail(at, "nested deeper than "+strconv.Itoa(maxDepth)+" levels")
	}
	if b, ok := v.Bool(); ok {
		return &Schema{never: !b}, nil
	}
	if v.Kind() != jsonv.Object {
		return nil, fail(at, "want an object or a bool, not "+v.Kind().String())
	}
	s := &Schema{}
	for keyword, value := range v.Members() {
		c := compiler{s: s, at: at + "/" + jsonv.EscapeToken(keyword), depth: depth}
		if err := c.keyword(keyword, value); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func fail(at, what string) error {
	if at == "" {
		return errors.New("schema: " + what)
	}
	return errors.New("schema at " + at + ": " + what)
}

// compiler reads one keyword.
type compiler struct {
	s     *Schema
	at    string
	depth int
}

func (c *compiler) fail(what string) error { return fail(c.at, what) }

func (c *compiler) keyword(name string, v jsonv.Value) (err error) {
	s := c.s
	switch name {
	case "title", "description", "default", "examples", "$comment", "$schema":
	case "type":
		s.types, err = c.typeNames(v)
	case "enum":
		if v.Kind() != jsonv.Array {
			return c.fail("want a list")
		}
		s.enum = []tree.Value{}
		for _, e := range v.Elements() {
			s.enum = append(s.enum, tree.Of(e))
		}
	case "const":
		s.constant = tree.Of(v)
	case "required":
		s.required, err = c.strings(v)
	case "properties":
		s.properties, err = c.schemas(v)
	case "additionalProperties":
		s.additional, err = compile(v, c.at, c.depth+1)
	case "items":
		s.items, err = compile(v, c.at, c.depth+1)
	case "not":
		s.not, err = compile(v, c.at, c.depth+1)
	case "allOf":
		s.all, err = c.list(v)
	case "anyOf":
		s.any, err = c.list(v)
	case "oneOf":
		s.one, err = c.list(v)
	case "minItems":
		s.minItems, err = c.size(v)
	case "maxItems":
		s.maxItems, err = c.size(v)
	case "minLength":
		s.minLen, err = c.size(v)
	case "maxLength":
		s.maxLen, err = c.size(v)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if v.Kind() != jsonv.Number {
			return c.fail("want a number")
		}
		s.bounds = append(s.bounds, bound{name, v})
	case "pattern":
		s.pattern, err = c.regexp(v)
	default:
		return c.fail("keyword " + strconv.Quote(name) + " is not supported")
	}
	return err
}

func (c *compiler) typeNames(v jsonv.Value) ([]string, error) {
	names := []string{v.String()}
	if v.Kind() != jsonv.String {
		var err error
		if names, err = c.strings(v); err != nil {
			return nil, err
		}
	}
	for _, n := range names {
		switch n {
		case "null", "boolean", "object", "array", "number", "string", "integer":
		default:
			return nil, c.fail("unknown type " + strconv.Quote(n))
		}
	}
	return names, nil
}

func (c *compiler) strings(v jsonv.Value) ([]string, error) {
	if v.Kind() != jsonv.Array {
		return nil, c.fail("want a list of strings")
	}
	var list []string
	for _, e := range v.Elements() {
		s, ok := e.Str()
		if !ok {
			return nil, c.fail("want a list of strings")
		}
		list = append(list, s)
	}
	return list, nil
}

func (c *compiler) schemas(v jsonv.Value) (map[string]*Schema, error) {
	if v.Kind() != jsonv.Object {
		return nil, c.fail("want an object of schemas")
	}
	m := map[string]*Schema{}
	for name, e := range v.Members() {
		s, err := compile(e, c.at+"/"+jsonv.EscapeToken(name), c.depth+1)
		if err != nil {
			return nil, err
		}
		m[name] = s
	}
	return m, nil
}

func (c *compiler) list(v jsonv.Value) ([]*Schema, error) {
	if v.Kind() != jsonv.Array || v.Len() == 0 {
		return nil, c.fail("want a list of schemas")
	}
	var list []*Schema
	for i, e := range v.Elements() {
		s, err := compile(e, c.at+"/"+strconv.Itoa(i), c.depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func (c *compiler) size(v jsonv.Value) (*int, error) {
	n, ok := v.Int()
	if !ok || n < 0 || n > 1<<40 {
		return nil, c.fail("want a whole number that is not negative")
	}
	size := int(n)
	return &size, nil
}

func (c *compiler) regexp(v jsonv.Value) (*regexp.Regexp, error) {
	text, ok := v.Str()
	if !ok {
		return nil, c.fail("want a regular expression")
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, c.fail(err.Error())
	}
	return re, nil
}

package story

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/evalengine/evalengine/engine/eval"
)

// schema is an eval.Schema with its types read.
type schema struct {
	attrs []schemaAttr
	index map[string]int
}

type schemaAttr struct {
	eval.Attribute
	ty       cty.Type
	optional *typeexpr.Defaults
	// def is the default as JSON of the type; empty is none.
	def []byte
}

// maxAttributes bounds what a plugin can declare.
const maxAttributes = 1000

// compile reads a schema once for each key. The error is the plugin's.
func (c *catalog) compile(key string, from eval.Schema) (*schema, error) {
	if s := c.schemas[key]; s != nil {
		return s, nil
	}
	if len(from.Attributes) > maxAttributes {
		return nil, fmt.Errorf("its schema has %d attributes; %d are allowed", len(from.Attributes), maxAttributes)
	}
	s := &schema{index: map[string]int{}}
	for _, a := range from.Attributes {
		sa, err := compileAttr(a)
		if err != nil {
			return nil, fmt.Errorf("its schema's attribute %q %w", a.Name, err)
		}
		if _, twice := s.index[a.Name]; twice {
			return nil, fmt.Errorf("its schema has the attribute %q twice", a.Name)
		}
		s.index[a.Name] = len(s.attrs)
		s.attrs = append(s.attrs, sa)
	}
	c.schemas[key] = s
	return s, nil
}

func compileAttr(a eval.Attribute) (schemaAttr, error) {
	if !hclsyntax.ValidIdentifier(a.Name) {
		return schemaAttr{}, fmt.Errorf("has a name that HCL cannot write")
	}
	expr, diags := parseLiteral([]byte(a.Type), "type of "+a.Name)
	if diags.HasErrors() {
		return schemaAttr{}, fmt.Errorf("has the unreadable type %q", a.Type)
	}
	ty, optional, diags := typeexpr.TypeConstraintWithDefaults(expr)
	if diags.HasErrors() {
		return schemaAttr{}, fmt.Errorf("has the unreadable type %q: %s", a.Type, firstDetail(diags))
	}
	out := schemaAttr{Attribute: a, ty: ty, optional: optional}
	if a.Default.IsZero() || string(a.Default) == "null" {
		return out, nil
	}
	v, err := fromJSON(a.Default)
	if err == nil {
		v, err = out.convert(v)
	}
	if err == nil {
		out.def, err = ctyjson.Marshal(v, v.Type())
	}
	if err != nil {
		return schemaAttr{}, fmt.Errorf("has a default that does not fit its type: %w", err)
	}
	return out, nil
}

func (s *schema) names() []string {
	var names []string
	for _, a := range s.attrs {
		names = append(names, a.Name)
	}
	return names
}

// convert makes v a value of the attribute's type and checks what a type cannot
// say. Unknown parts stay unknown.
func (a *schemaAttr) convert(v cty.Value) (cty.Value, error) {
	if err := surplus(v, a.ty, nil); err != nil {
		return cty.NilVal, err
	}
	if a.optional != nil && v.IsKnown() && !v.IsNull() {
		v = a.optional.Apply(v)
	}
	out, err := convert.Convert(v, a.ty)
	if err != nil {
		return cty.NilVal, err
	}
	if err := a.enum(out); err != nil {
		return out, err
	}
	return out, a.format(out)
}

// surplus finds attributes of objects that the type does not have: converting
// would leave them out without a word.
func surplus(v cty.Value, t cty.Type, path cty.Path) error {
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	vt := v.Type()
	switch {
	case t.IsObjectType() && vt.IsObjectType():
		for _, name := range sortedKeys(vt.AttributeTypes()) {
			if !t.HasAttribute(name) {
				return path.NewErrorf("%s", sentence(fmt.Sprintf("there is no attribute %q.", name), strings.TrimSuffix(suggest(name, sortedKeys(t.AttributeTypes())), ".")))
			}
			if err := surplus(v.GetAttr(name), t.AttributeType(name), path.GetAttr(name)); err != nil {
				return err
			}
		}
	case t.IsCollectionType() && v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			if err := surplus(e, t.ElementType(), path.Index(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// enum checks texts, also those within a list, against the allowed ones.
func (a *schemaAttr) enum(v cty.Value) error {
	if len(a.Enum) == 0 || !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch {
	case v.Type() == cty.String:
		if s := v.AsString(); !slices.Contains(a.Enum, s) {
			hint := ""
			if near := nearest(s, a.Enum); near != "" {
				hint = fmt.Sprintf("; did you mean %q", near)
			}
			return fmt.Errorf("%q is not one of %s%s", s, quoted(a.Enum), hint)
		}
	case isSequence(v.Type()):
		for it := v.ElementIterator(); it.Next(); {
			if _, e := it.Element(); a.enum(e) != nil {
				return a.enum(e)
			}
		}
	}
	return nil
}

// format checks texts, also those within a list, against the language that they
// are said to be written in.
func (a *schemaAttr) format(v cty.Value) error {
	check := formats[a.Format]
	if check == nil || !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch {
	case v.Type() == cty.String:
		return check(v.AsString())
	case isSequence(v.Type()):
		for it := v.ElementIterator(); it.Next(); {
			if _, e := it.Element(); a.format(e) != nil {
				return a.format(e)
			}
		}
	}
	return nil
}

// formats say what is wrong with a text of a format.
var formats = map[string]func(string) error{
	eval.FormatRegex: func(s string) error {
		if _, err := regexp.Compile(s); err != nil {
			return fmt.Errorf("%q is no regular expression: %s", s, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return nil
	},
	eval.FormatPointer: func(s string) error {
		if !pointer.MatchString(s) {
			return fmt.Errorf("%q is no JSON Pointer: it is empty or begins with /, and holds ~ as ~0 and / as ~1", s)
		}
		return nil
	},
}

// pointer is the grammar of RFC 6901.
var pointer = regexp.MustCompile(`^(/([^~/]|~[01])*)*$`)

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}

// typeError is a conversion's error with the path that it happened at.
func typeError(err error) string {
	text := strings.TrimSuffix(err.Error(), ".")
	pe, ok := err.(cty.PathError)
	if !ok || len(pe.Path) == 0 {
		return text
	}
	return "at " + strings.TrimPrefix(formatPath(pe.Path), ".") + ": " + text
}

func formatPath(p cty.Path) string {
	var b strings.Builder
	for _, s := range p {
		switch s := s.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + s.Name)
		case cty.IndexStep:
			switch {
			case !s.Key.IsKnown():
				b.WriteString("[...]")
			case s.Key.Type() == cty.Number:
				b.WriteString("[" + s.Key.AsBigFloat().Text('f', -1) + "]")
			case s.Key.Type() == cty.String:
				b.WriteString("[" + strconv.Quote(s.Key.AsString()) + "]")
			}
		}
	}
	return b.String()
}

// typeName is a type as people write it.
func typeName(t cty.Type) string {
	if t == cty.DynamicPseudoType {
		return "any value"
	}
	return t.FriendlyName()
}

// configBlock checks a config block against what the plugin takes and renders
// it as one JSON object. A nil block is one without attributes; def is where
// what is missing is reported.
func (l *loader) configBlock(b *hclsyntax.Block, sch *schema, owner string, def hcl.Range) eval.JSON {
	var body *hclsyntax.Body
	if b != nil {
		body, def = b.Body, b.DefRange()
	}
	p := l.params(body, sch, l.root, owner, def, nil)
	if p == nil {
		return nil
	}
	return p.constant()
}

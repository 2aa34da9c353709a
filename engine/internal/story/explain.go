package story

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// explain is HCL's detail of a problem, made more telling where a value lacks
// what was asked of it: the usual case of a condition over the state of a site
// on which an agent did nothing.
func explain(d *hcl.Diagnostic) string {
	detail := d.Detail
	switch d.Summary {
	case "Unsupported attribute", "Missing map element", "Invalid index", "Attempt to get attribute from null value", "Attempt to index null value":
	case "Iteration over null value":
		return sentence(detail, "Where it may be absent write try(..., []).")
	default:
		return detail
	}
	e, ok := d.Expression.(*hclsyntax.ScopeTraversalExpr)
	if !ok || d.EvalContext == nil {
		return sentence(detail, "Where it may be absent write try(..., DEFAULT) or can(...).")
	}
	path := traversalText(e.Traversal)
	if lacks := firstLacking(e.Traversal, d.EvalContext); lacks != "" {
		detail = lacks
	}
	return sentence(detail, fmt.Sprintf("Where it may be absent write try(%s, DEFAULT) or can(%s).", path, path))
}

// firstLacking walks a reference as far as values go.
func firstLacking(t hcl.Traversal, ctx *hcl.EvalContext) string {
	v, ok := lookup(ctx, t.RootName())
	if !ok {
		return ""
	}
	for i, s := range t[1:] {
		so := traversalText(t[:i+1])
		v, _ = v.Unmark()
		if v.IsKnown() && v.IsNull() {
			return so + " is null."
		}
		name, _, named := step(s)
		if named && v.IsKnown() && v.Type().IsObjectType() && !v.Type().HasAttribute(name) {
			return sentence(fmt.Sprintf("%s has no attribute %q.", so, name), hasOnly(v.Type()))
		}
		next, diags := s.TraversalStep(v)
		if diags.HasErrors() {
			return ""
		}
		v = next
	}
	return ""
}

func hasOnly(t cty.Type) string {
	names := sortedKeys(t.AttributeTypes())
	switch {
	case len(names) == 0:
		return "It is empty."
	case len(names) > 12:
		return fmt.Sprintf("It has %d others.", len(names))
	}
	return "It has: " + strings.Join(names, ", ") + "."
}

func lookup(ctx *hcl.EvalContext, name string) (cty.Value, bool) {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[name]; ok {
			return v, true
		}
	}
	return cty.NilVal, false
}

// traversalText is a reference as it is written.
func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			b.WriteString(formatPath(cty.Path{cty.IndexStep{Key: s.Key}}))
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}

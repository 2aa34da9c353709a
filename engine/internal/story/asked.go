package story

import (
	"bytes"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxTexts bounds the texts of one condition.
const maxTexts = 500

// Known returns the parameters of a scorer's use that are known before a trial, as
// one JSON object. Those that wait for the trial are left out.
func Known(late eval.Late[eval.JSON]) eval.JSON {
	p, ok := late.(*params)
	if !ok {
		v, err := late.Value(eval.Vars{})
		if err != nil {
			return nil
		}
		return v
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range p.list {
		if p.list[i].json != nil {
			p.write(&b, i, p.list[i].json)
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// CallTexts returns the texts that a check's condition compares the trial's calls
// with: those written in it, and those of the suite's values that it refers to.
// A condition that does not look at the calls has none. demanded is false where
// the condition holds for an agent that calls nothing at all, whatever else is
// true of the trial: it forbids calls rather than asks for them.
func CallTexts(c eval.Check) (texts []string, demanded bool) {
	cond, ok := c.Condition.(*condition)
	if !ok || !slices.Contains(cond.roots, "calls") {
		return nil, false
	}
	hclsyntax.VisitAll(cond.expr, func(n hclsyntax.Node) hcl.Diagnostics {
		e, ok := n.(hclsyntax.Expression)
		if !ok || len(texts) >= maxTexts {
			return nil
		}
		switch e := e.(type) {
		case *hclsyntax.LiteralValueExpr:
			texts = addTexts(texts, e.Val)
		case *hclsyntax.ScopeTraversalExpr:
			if slices.Contains(factNames, e.Traversal.RootName()) {
				return nil
			}
			// The iterator of a for expression has no value here.
			if v, diags := e.Value(cond.ctx); !diags.HasErrors() {
				texts = addTexts(texts, v)
			}
		}
		return nil
	})
	return texts, !cond.holdsWithoutCalls()
}

// addTexts adds a text, or those of a list.
func addTexts(texts []string, v cty.Value) []string {
	if v.IsMarked() || v.IsNull() || !v.IsKnown() {
		return texts // what is sensitive is no tool's name
	}
	switch t := v.Type(); {
	case t == cty.String:
		if s := v.AsString(); s != "" && len(texts) < maxTexts && !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
	case isSequence(t):
		for it := v.ElementIterator(); it.Next(); {
			if _, e := it.Element(); !e.IsMarked() && e.Type() == cty.String {
				texts = addTexts(texts, e)
			}
		}
	}
	return texts
}

// holdsWithoutCalls evaluates the condition with no calls and nothing else known.
func (c *condition) holdsWithoutCalls() bool {
	child := c.ctx.NewChild()
	child.Variables = maps.Clone(unknownFacts())
	child.Variables["calls"] = cty.ListValEmpty(callType)
	v, diags := c.expr.Value(child)
	if diags.HasErrors() {
		return false
	}
	v, _ = v.UnmarkDeep()
	return v.IsKnown() && !v.IsNull() && v.Type() == cty.Bool && v.True()
}

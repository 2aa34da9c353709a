package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// leaf is a constant text within a parameter, with its place in the suite.
type leaf struct {
	text string
	rng  hcl.Range
}

// named returns the texts of parameters with one of the names, and of
// attributes with these names within other parameters.
func (p *params) named(names ...string) []leaf {
	var out []leaf
	for i := range p.list {
		it := &p.list[i]
		if it.expr == nil || it.json == nil {
			continue
		}
		leaves(it.value, it.expr, slices.Contains(names, it.attr.Name), names, &out)
	}
	return out
}

// leaves walks a value and, as far as it is written out, its expression.
func leaves(v cty.Value, e hclsyntax.Expression, wanted bool, names []string, out *[]leaf) {
	if v.IsNull() {
		return
	}
	t := v.Type()
	switch {
	case t == cty.String && wanted:
		*out = append(*out, leaf{v.AsString(), e.Range()})
	case isSequence(t):
		i := 0
		for it := v.ElementIterator(); it.Next(); i++ {
			_, element := it.Element()
			leaves(element, elementExpr(e, i, t), wanted, names, out)
		}
	case t.IsObjectType() || t.IsMapType():
		for it := v.ElementIterator(); it.Next(); {
			k, element := it.Element()
			leaves(element, attributeExpr(e, k.AsString()), slices.Contains(names, k.AsString()), names, out)
		}
	}
}

// elementExpr is where an element is written; a set is not in the order of its
// expression.
func elementExpr(e hclsyntax.Expression, i int, t cty.Type) hclsyntax.Expression {
	if c, ok := e.(*hclsyntax.TupleConsExpr); ok && i < len(c.Exprs) && !t.IsSetType() {
		return c.Exprs[i]
	}
	return e
}

func attributeExpr(e hclsyntax.Expression, name string) hclsyntax.Expression {
	c, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return e
	}
	for _, it := range c.Items {
		if hcl.ExprAsKeyword(it.KeyExpr) == name {
			return it.ValueExpr
		}
		if k, diags := it.KeyExpr.Value(nil); !diags.HasErrors() && k.Type() == cty.String && k.IsKnown() && !k.IsNull() && k.AsString() == name {
			return it.ValueExpr
		}
	}
	return e
}

// CheckTools compares the suite with the tools that a target offers: patterns of
// the target's rules, of variants, and of scorer parameters named tool or tools.
// An exact name that is not offered is an error, for an eval of it would say
// nothing of the agent; so is a bare name that two servers offer. A pattern that
// covers nothing is a warning, but an error in a variant, which would be no
// different from the original. "/Name" stands for a tool of the host's own and
// is not looked for.
func CheckTools(s *eval.Suite, target string, tools []eval.Tool) diag.List {
	c := toolCheck{target: target, tools: tools, seen: map[string]bool{}}
	if t := s.Target(target); t != nil {
		for _, r := range t.Tools {
			c.pattern(r.Pattern, fromSource(r.Source, r.Pattern), false)
		}
	}
	for i := range s.Stories {
		st := &s.Stories[i]
		if st.Target != target {
			continue
		}
		for _, v := range st.Variants {
			for _, ch := range v.Tools {
				c.pattern(ch.Pattern, fromSource(ch.Source, ch.Pattern), true)
			}
		}
		for _, u := range st.Uses {
			p, ok := u.Params.(*params)
			if !ok {
				continue
			}
			for _, leaf := range p.named("tool", "tools") {
				c.name(leaf.text, toRange(leaf.rng))
			}
		}
	}
	return c.found.list
}

// fromSource is the range of a quoted label.
func fromSource(s eval.Source, label string) diag.Range {
	start := diag.Pos{Line: s.Line, Column: s.Column, Byte: -1}
	end := start
	end.Column += len([]rune(label)) + 2
	return diag.Range{File: s.File, Start: start, End: end}
}

type toolCheck struct {
	target string
	tools  []eval.Tool
	found  problems
	// seen keeps stories of one for_each from reporting the same place again.
	seen map[string]bool
}

func isPattern(s string) bool { return strings.ContainsAny(s, "*?") }

// pattern checks a rule's or a variant's label, which may mean several tools.
func (c *toolCheck) pattern(p string, rng diag.Range, must bool) {
	if strings.HasPrefix(p, "/") || len(c.matching(p)) > 0 {
		return
	}
	switch {
	case !isPattern(p):
		c.notOffered(p, rng)
	case must:
		c.add(diag.Error, rng, "pattern covers no tool", fmt.Sprintf("No tool of target.%s is covered by %q, so the variant changes nothing.", c.target, p))
	default:
		c.nothing(p, rng)
	}
}

func (c *toolCheck) nothing(p string, rng diag.Range) {
	c.add(diag.Warning, rng, "pattern covers no tool", fmt.Sprintf("No tool of target.%s is covered by %q, so it has no effect.", c.target, p))
}

// name checks a scorer's parameter, which means one tool unless it is a
// pattern.
func (c *toolCheck) name(p string, rng diag.Range) {
	if strings.HasPrefix(p, "/") || p == "" {
		return
	}
	matching := c.matching(p)
	switch {
	case isPattern(p) && len(matching) == 0:
		c.nothing(p, rng)
	case isPattern(p):
	case len(matching) == 0:
		c.notOffered(p, rng)
	case len(matching) > 1:
		var full []string
		for _, t := range matching {
			full = append(full, t.Server+"/"+t.Name)
		}
		slices.Sort(full)
		c.add(diag.Error, rng, "ambiguous tool", fmt.Sprintf("Several servers of target.%s offer %q: write %s, or %q for any of them.", c.target, p, strings.Join(full, " or "), "*/"+p))
	}
}

func (c *toolCheck) notOffered(p string, rng diag.Range) {
	closest := ""
	if near := c.closest(p); near != "" {
		closest = " (closest: " + near + ")"
	}
	c.add(diag.Error, rng, "tool not offered by target"+closest,
		fmt.Sprintf("target.%s offers %d tools, and %q is not among them. A tool of the host's own is written with a slash before it: \"/%s\".", c.target, len(c.tools), p, p))
}

// closest is the offered tool that was most likely meant. A multi-action tool
// often has what was a tool's name among its actions, so schemas count too.
func (c *toolCheck) closest(p string) string {
	bare := p[strings.LastIndexByte(p, '/')+1:]
	var names []string
	for _, t := range c.tools {
		names = append(names, t.Name)
	}
	if near := mistyped(bare, names); near != "" {
		return near
	}
	best, most := "", 0
	for _, t := range c.tools {
		name := strings.ToLower(t.Name)
		about := strings.ToLower(t.Description + " " + string(t.InputSchema))
		n := 0
		for _, w := range split(strings.ToLower(bare)) {
			if w = strings.TrimSuffix(w, "s"); len(w) < 3 {
				continue
			}
			switch {
			case strings.Contains(name, w):
				n += 3
			case strings.Contains(about, w):
				n += 2
			}
		}
		if n > most {
			best, most = t.Name, n
		}
	}
	return best
}

func (c *toolCheck) matching(p string) []eval.Tool {
	var list []eval.Tool
	for _, t := range c.tools {
		if eval.MatchTool(p, t.Server, t.Name) {
			list = append(list, t)
		}
	}
	return list
}

func (c *toolCheck) add(s diag.Severity, rng diag.Range, summary, detail string) {
	key := fmt.Sprint(rng.File, rng.Start.Line, rng.Start.Column, summary)
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	c.found.list = append(c.found.list, diag.Diagnostic{Severity: s, Summary: summary, Detail: detail, Subject: rng})
}

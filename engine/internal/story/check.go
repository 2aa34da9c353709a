package story

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// condition is the condition and error_message of a check.
type condition struct {
	name string
	expr hclsyntax.Expression
	// message is nil where the suite gives none; fallback stands in for it.
	message  hclsyntax.Expression
	fallback string
	ctx      *hcl.EvalContext
	// roots and messageRoots are the facts that each refers to.
	roots, messageRoots []string
}

var _ eval.Condition = (*condition)(nil)

var errNoBool = errors.New("a condition is true or false")

// Eval decides the check for one trial.
func (c *condition) Eval(f eval.Facts) (passed bool, message string, err error) {
	ctx, err := factContext(c.ctx, c.roots, &f)
	if err != nil {
		return false, "", fmt.Errorf("check %q: %w", c.name, err)
	}
	v, diags := c.expr.Value(ctx)
	if diags.HasErrors() {
		return false, "", c.failed(toList(diags))
	}
	v, _ = v.UnmarkDeep()
	out, err := convert.Convert(v, cty.Bool)
	if err != nil || out.IsNull() || !out.IsKnown() {
		return false, "", c.failed(diag.List{{Severity: diag.Error, Summary: "condition is no condition",
			Detail: noBool(v), Subject: toRange(c.expr.Range())}})
	}
	if out.True() {
		return true, "", nil
	}
	return false, cutMessage(c.text(&f)), nil
}

// cutMessage keeps an error message, which may quote a state or an answer, to a
// length that a person may have to read: it is in the record several times.
func cutMessage(s string) string {
	const most = 8000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func noBool(v cty.Value) string {
	if v.IsKnown() && v.IsNull() {
		return "The condition is null: a condition is true or false. Compare with null, or write try(..., false)."
	}
	return fmt.Sprintf("The condition is %s: a condition is true or false.", typeName(v.Type()))
}

func (c *condition) failed(list diag.List) error {
	return fmt.Errorf("check %q cannot be evaluated: %w", c.name, lateError(list))
}

// text is the error message. A message that cannot be made does not change the
// verdict.
func (c *condition) text(f *eval.Facts) string {
	if c.message == nil {
		return c.fallback
	}
	why := ""
	ctx, err := factContext(c.ctx, c.messageRoots, f)
	if err != nil {
		return c.fallback
	}
	v, diags := c.message.Value(ctx)
	if diags.HasErrors() {
		why = toList(diags).Error()
	} else {
		v, _ = v.UnmarkDeep()
		if s, err := convert.Convert(v, cty.String); err == nil && s.IsKnown() && !s.IsNull() {
			return s.AsString()
		}
		why = "it is no text"
	}
	return fmt.Sprintf("%s (its error_message cannot be evaluated: %s)", c.fallback, why)
}

// decodeCheck reads a check block; it returns false where it reported an error.
func (l *loader) decodeCheck(b *hclsyntax.Block, st *storyBlock, s *scope) (eval.Check, bool) {
	before := len(l.found.list)
	attrs, _ := l.content(b.Body, &checkBody, b.DefRange())
	l.checkTitle("check", b.Labels[0], b.LabelRanges[0])
	out := eval.Check{Name: b.Labels[0], Dimension: l.checkDimension(attrs["dimension"], s), Source: toSource(b.DefRange())}
	a := attrs["condition"]
	if a == nil {
		return out, false
	}
	facts := s.with(unknownFacts(), true)
	c := &condition{name: b.Labels[0], expr: a.Expr, ctx: s.ctx}
	l.checkCondition(a, facts)
	c.fallback = "the condition does not hold: " + l.excerpt(a.Expr.Range())
	c.roots = factsOf(a.Expr.Variables()...)
	out.Written, out.Values = l.written(a.Expr.Range()), knownValues(a.Expr, s)
	if m := attrs["error_message"]; m != nil {
		l.lateText(m, facts)
		c.message, c.messageRoots = m.Expr, factsOf(m.Expr.Variables()...)
	}
	if st.target == "" && slices.ContainsFunc(c.roots, func(r string) bool { return r == "state" || r == "before" || r == "target" }) {
		l.found.fail(a.Expr.Range(), "no target", "The story has no target, so there is no state to look at. Add target = target.NAME to the story.")
	}
	out.Condition = c
	return out, !l.found.list[before:].HasErrors()
}

func (l *loader) checkDimension(a *hclsyntax.Attribute, s *scope) eval.Dimension {
	text, ok := l.textAttr(a, s)
	switch d := eval.Dimension(text); {
	case !ok:
		return eval.DimensionOutcome
	case d == eval.DimensionOutcome, d == eval.DimensionConstraint:
		return d
	}
	l.found.fail(a.Expr.Range(), "wrong dimension", "A check decides whether a trial passes: its dimension is \"outcome\" or \"constraint\". What informs without deciding is a measure.")
	return eval.DimensionOutcome
}

// checkCondition evaluates a condition with facts that have types and no
// values.
func (l *loader) checkCondition(a *hclsyntax.Attribute, facts *scope) {
	late, ok := l.check(a.Expr, facts)
	if !ok {
		return
	}
	v, diags := a.Expr.Value(facts.ctx)
	if diags.HasErrors() {
		l.found.addHCL(diags)
		return
	}
	v, _ = v.UnmarkDeep()
	out, err := convert.Convert(v, cty.Bool)
	if err != nil || (out.IsKnown() && out.IsNull()) {
		l.found.fail(a.Expr.Range(), "condition is no condition", "%s", noBool(v))
		return
	}
	if !late {
		l.found.warn(a.Expr.Range(), "condition without facts", "The condition refers to nothing of the trial, so it is the same in all of them. It may refer to %s.", strings.Join(factNames, ", "))
	}
}

// excerpt is a piece of the suite on one line.
func (l *loader) excerpt(rng hcl.Range) string {
	text := l.written(rng)
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "..."
	}
	return text
}

// written is a piece of the suite with its white space made one.
func (l *loader) written(rng hcl.Range) string {
	return strings.Join(strings.Fields(string(rng.SliceBytes(l.source(rng.Filename)))), " ")
}

package story

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// fixed is a late text that was known when the suite was loaded.
type fixed string

func (f fixed) Value(eval.Vars) (string, error) { return string(f), nil }

// text is a late text that refers to the trial or its target.
type text struct {
	expr hclsyntax.Expression
	ctx  *hcl.EvalContext
	name string
}

var (
	_ eval.Late[string] = fixed("")
	_ eval.Late[string] = (*text)(nil)
)

// Value evaluates the text with the trial's values.
func (t *text) Value(vars eval.Vars) (string, error) {
	ctx, err := trialContext(t.ctx, vars)
	if err != nil {
		return "", err
	}
	v, diags := t.expr.Value(ctx)
	if diags.HasErrors() {
		return "", lateError(toList(diags))
	}
	v, _ = v.UnmarkDeep()
	s, err := convert.Convert(v, cty.String)
	if err != nil {
		return "", lateProblem(t.expr.Range(), "wrong type", fmt.Sprintf("%q: %s.", t.name, typeError(err)))
	}
	if s.IsNull() || !s.IsKnown() {
		return "", lateProblem(t.expr.Range(), "no value", fmt.Sprintf("%q has no value in this trial.", t.name))
	}
	return s.AsString(), nil
}

// lateText checks a text that may refer to the trial. It returns nil where the
// attribute was left out or wrong.
func (l *loader) lateText(a *hclsyntax.Attribute, s *scope) eval.Late[string] {
	if a == nil {
		return nil
	}
	late, ok := l.check(a.Expr, s)
	if !ok {
		return nil
	}
	v, diags := a.Expr.Value(s.ctx)
	if diags.HasErrors() {
		l.found.addHCL(diags)
		return nil
	}
	v, _ = v.UnmarkDeep()
	out, err := convert.Convert(v, cty.String)
	if err != nil {
		l.wrongType(a, err)
		return nil
	}
	switch {
	case late:
		return &text{expr: a.Expr, ctx: s.ctx, name: a.Name}
	case !out.IsKnown():
		return nil
	case out.IsNull():
		return nil
	case strings.TrimSpace(out.AsString()) == "":
		l.found.fail(a.Expr.Range(), "empty text", "%q must not be empty.", a.Name)
		return nil
	}
	return fixed(out.AsString())
}

// unknownTrial is what target and trial are when the suite is loaded.
func unknownTrial() map[string]cty.Value {
	return map[string]cty.Value{"target": cty.DynamicVal, "trial": trialObject(cty.UnknownVal(cty.String), cty.UnknownVal(cty.String), cty.UnknownVal(cty.String), cty.UnknownVal(cty.Number))}
}

func trialObject(story, variant, host, repeat cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"story": story, "variant": variant, "host": host, "repeat": repeat})
}

func trialValue(t eval.Trial) cty.Value {
	return trialObject(cty.StringVal(t.Story), cty.StringVal(t.Variant), cty.StringVal(t.Host), cty.NumberVal(big.NewFloat(float64(t.Repeat))))
}

// trialContext is a load-time context with the trial's values in place of the
// unknown ones.
func trialContext(ctx *hcl.EvalContext, vars eval.Vars) (*hcl.EvalContext, error) {
	target, err := jsonValue(vars.Target, "the target's values")
	if err != nil {
		return nil, err
	}
	child := ctx.NewChild()
	child.Variables = map[string]cty.Value{"target": target, "trial": trialValue(vars.Trial)}
	return child, nil
}

func lateProblem(rng hcl.Range, summary, detail string) error {
	return lateError(diag.List{{Severity: diag.Error, Summary: summary, Detail: detail, Subject: toRange(rng)}})
}

// lateError is a located list as an error that says the place in its text too.
func lateError(list diag.List) error {
	for _, d := range list {
		if d.Severity == diag.Error {
			return fmt.Errorf("%s:%d: %w", d.Subject.File, d.Subject.Start.Line, list)
		}
	}
	return list
}

package story

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/evalengine/evalengine/engine/eval"
)

// params are a block's attributes, checked against a schema: of a config, all
// constant, or of a scorer, where they may wait for a trial.
type params struct {
	list []param
	// whole is the JSON object where every parameter is constant.
	whole eval.JSON
	ctx   *hcl.EvalContext
	owner string
}

// param is one attribute that was given or has a default.
type param struct {
	attr *schemaAttr
	// expr is nil for a default.
	expr hclsyntax.Expression
	// json and value are set where the parameter is constant.
	json  []byte
	value cty.Value
}

var _ eval.Late[eval.JSON] = (*params)(nil)

// params checks a body. except are attributes that are not the schema's; where
// s has late roots, values may wait. It returns nil where it reported an error.
func (l *loader) params(body *hclsyntax.Body, sch *schema, s *scope, owner string, def hcl.Range, except []string) *params {
	p := &params{ctx: s.ctx, owner: owner}
	before := len(l.found.list)
	attrs := attributes{}
	if body != nil {
		attrs = body.Attributes
		for _, b := range body.Blocks {
			l.found.fail(b.TypeRange, "unknown block", "%s takes attributes alone: write %s = { ... } if it is a value of its own.", upperFirst(owner), b.Type)
		}
		l.unknownParams(attrs, sch, owner, except)
	}
	for i := range sch.attrs {
		sa := &sch.attrs[i]
		if slices.Contains(except, sa.Name) {
			continue
		}
		l.param(p, sa, attrs[sa.Name], s, def)
	}
	if l.found.list[before:].HasErrors() {
		return nil
	}
	p.whole = p.constant()
	return p
}

func (l *loader) unknownParams(attrs attributes, sch *schema, owner string, except []string) {
	var list []*hclsyntax.Attribute
	for name, a := range attrs {
		if _, ok := sch.index[name]; !ok && !slices.Contains(except, name) {
			list = append(list, a)
		}
	}
	for _, a := range inOrder(list) {
		l.found.fail(a.NameRange, "unknown attribute", "%s", sentence(
			fmt.Sprintf("%s has no attribute %q.", upperFirst(owner), a.Name), suggest(a.Name, append(sch.names(), except...))))
	}
}

// param checks one attribute and adds what it becomes.
func (l *loader) param(p *params, sa *schemaAttr, a *hclsyntax.Attribute, s *scope, def hcl.Range) {
	if a == nil {
		l.absent(p, sa, def)
		return
	}
	late, ok := l.check(a.Expr, s)
	if !ok {
		return
	}
	v, diags := a.Expr.Value(s.ctx)
	if diags.HasErrors() {
		l.found.addHCL(diags)
		return
	}
	v, marks := v.UnmarkDeep()
	if !late && !v.IsWhollyKnown() {
		return
	}
	if v.IsKnown() && v.IsNull() {
		l.absent(p, sa, a.SrcRange)
		return
	}
	out, err := sa.convert(v)
	if err != nil {
		l.found.fail(a.Expr.Range(), "wrong value", "%q of %s: %s.%s", a.Name, p.owner, typeError(err), docOf(sa))
		return
	}
	if sa.Secret && !late {
		l.secretParam(a, out, len(marks) > 0, p.owner)
	}
	if late {
		p.list = append(p.list, param{attr: sa, expr: a.Expr})
		return
	}
	b, err := ctyjson.Marshal(out, out.Type())
	if err != nil {
		l.found.fail(a.Expr.Range(), "wrong value", "%q of %s cannot be passed on: %v.", a.Name, p.owner, err)
		return
	}
	p.list = append(p.list, param{attr: sa, expr: a.Expr, json: b, value: out})
}

func docOf(sa *schemaAttr) string {
	if sa.Doc == "" {
		return ""
	}
	return " It is: " + strings.TrimSuffix(sa.Doc, ".") + "."
}

func (l *loader) absent(p *params, sa *schemaAttr, rng hcl.Range) {
	switch {
	case sa.def != nil:
		p.list = append(p.list, param{attr: sa, json: sa.def})
	case sa.Required:
		l.found.fail(rng, "missing attribute", "%s needs %q (%s).%s", upperFirst(p.owner), sa.Name, sa.Type, docOf(sa))
	}
}

// secretParam keeps a secret out of the suite files, of which every run has a
// copy.
func (l *loader) secretParam(a *hclsyntax.Attribute, v cty.Value, marked bool, owner string) {
	if !marked {
		l.found.fail(a.Expr.Range(), "secret in the open",
			"%q of %s is a secret. Declare a variable with sensitive = true, refer to it here and give its value as EVALENGINE_VAR_NAME.", a.Name, owner)
		return
	}
	l.secret(v, a.Expr.Range(), strconv.Quote(a.Name))
}

// constant renders the object, or returns nil where a parameter must wait.
func (p *params) constant() eval.JSON {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range p.list {
		if p.list[i].json == nil {
			return nil
		}
		p.write(&b, i, p.list[i].json)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (p *params) write(b *bytes.Buffer, i int, value []byte) {
	if b.Len() > 1 {
		b.WriteByte(',')
	}
	b.WriteString(strconv.Quote(p.list[i].attr.Name))
	b.WriteByte(':')
	b.Write(value)
}

// Value evaluates what had to wait for the trial.
func (p *params) Value(vars eval.Vars) (eval.JSON, error) {
	if p.whole != nil {
		return p.whole, nil
	}
	ctx, err := trialContext(p.ctx, vars)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range p.list {
		value, err := p.lateValue(i, ctx)
		if err != nil {
			return nil, err
		}
		if value != nil {
			p.write(&b, i, value)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// lateValue is nil for a parameter that turned out to be null and has no
// default.
func (p *params) lateValue(i int, ctx *hcl.EvalContext) ([]byte, error) {
	it := &p.list[i]
	if it.json != nil {
		return it.json, nil
	}
	v, diags := it.expr.Value(ctx)
	if diags.HasErrors() {
		return nil, lateError(toList(diags))
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		if it.attr.Required && it.attr.def == nil {
			return nil, lateProblem(it.expr.Range(), "missing value", fmt.Sprintf("%s needs %q, and it is null in this trial.", upperFirst(p.owner), it.attr.Name))
		}
		return it.attr.def, nil
	}
	out, err := it.attr.convert(v)
	if err == nil && !out.IsWhollyKnown() {
		err = fmt.Errorf("its value is not known")
	}
	var b []byte
	if err == nil {
		b, err = ctyjson.Marshal(out, out.Type())
	}
	if err != nil {
		return nil, lateProblem(it.expr.Range(), "wrong value", fmt.Sprintf("%q of %s: %s.", it.attr.Name, p.owner, typeError(err)))
	}
	return b, nil
}

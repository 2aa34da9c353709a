package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// sensitive marks values that rest on a sensitive variable.
const sensitive = "sensitive"

// minSecret is the length from which on a secret can be taken out of records by
// its value; a shorter one would take harmless text with it.
const minSecret = 8

// variable is one variable block.
type variable struct {
	block     *hclsyntax.Block
	name      string
	ty        cty.Type
	defaults  *typeexpr.Defaults
	def       cty.Value
	sensitive bool
}

// variables gives each variable its value: --var, then files, then the
// environment, then its default.
func (l *loader) variables() {
	given := l.varFiles()
	declared := map[string]*variable{}
	vals := map[string]cty.Value{}
	l.suite.Vars = map[string]string{}
	for _, b := range l.blocks["variable"] {
		v := l.variable(b)
		if v == nil {
			continue
		}
		if first := declared[v.name]; first != nil {
			l.found.fail(b.LabelRanges[0], "duplicate variable", "The variable %q is declared already, at %s.", v.name, at(first.block.DefRange()))
			continue
		}
		declared[v.name] = v
		vals[v.name] = l.variableValue(v, given)
	}
	l.undeclared(declared, given)
	l.root.set("var", cty.ObjectVal(vals))
	l.root.set("path", cty.ObjectVal(map[string]cty.Value{"suite": cty.StringVal(l.suite.Dir)}))
	for _, b := range l.blocks["variable"] {
		if v := declared[b.Labels[0]]; v != nil && v.block == b {
			l.validate(v)
		}
	}
}

// reservedVariable would have one place in the environment with a flag.
const reservedVariable = "FILE"

func (l *loader) variable(b *hclsyntax.Block) *variable {
	attrs, _ := l.content(b.Body, &variableBody, b.DefRange())
	v := &variable{block: b, name: b.Labels[0], ty: cty.NilType, def: cty.NilVal}
	if !hclsyntax.ValidIdentifier(v.name) || len(v.name) > maxName {
		l.found.fail(b.LabelRanges[0], "unusable name", "The name of a variable begins with a letter and has letters, digits, \"_\" and \"-\".")
		return nil
	}
	if v.name == reservedVariable {
		l.found.fail(b.LabelRanges[0], "unusable name", "EVALENGINE_VAR_%s would be the value of this variable and of --var-file. Call it %s.", v.name, strings.ToLower(v.name))
		return nil
	}
	l.textAttr(attrs["description"], l.root)
	v.sensitive = l.boolAttr(attrs["sensitive"], l.root)
	if a := attrs["type"]; a != nil {
		ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Expr)
		l.found.addHCL(diags)
		if diags.HasErrors() {
			ty = cty.DynamicPseudoType
		}
		v.ty, v.defaults = ty, defaults
	}
	if a := attrs["default"]; a != nil {
		def, ok := l.eval(a.Expr, l.root)
		if !ok {
			v.def = cty.DynamicVal
			return v
		}
		v.def = def
		if v.sensitive && !blank(def) {
			l.found.fail(a.Expr.Range(), "secret in a suite file",
				"Every run keeps a copy of the suite's files. Leave the default out and give the value as EVALENGINE_VAR_%s.", v.name)
		}
		if v.ty != cty.NilType {
			v.def = l.convertVariable(v, def, a.Expr.Range(), "default")
		}
	}
	if v.ty == cty.NilType {
		v.ty = inferred(v.def)
	}
	return v
}

// blank reports whether a default of a sensitive variable gives nothing away.
func blank(v cty.Value) bool {
	return v.IsNull() || v.Type() == cty.String && v.IsKnown() && v.AsString() == ""
}

// inferred is the type of a variable that declares none.
func inferred(def cty.Value) cty.Type {
	switch {
	case def == cty.NilVal:
		return cty.String
	case def.Type().IsPrimitiveType():
		return def.Type()
	}
	return cty.DynamicPseudoType
}

func (l *loader) convertVariable(v *variable, val cty.Value, rng hcl.Range, what string) cty.Value {
	if v.defaults != nil && !val.IsNull() {
		val = v.defaults.Apply(val)
	}
	out, err := convert.Convert(val, v.ty)
	if err != nil {
		l.found.fail(rng, "wrong type", "The %s of variable %q: %s.", what, v.name, typeError(err))
		return cty.DynamicVal
	}
	return out
}

// variableValue settles the value; where that fails it is unknown, so that what
// refers to it is not reported too.
func (l *loader) variableValue(v *variable, given map[string]cty.Value) cty.Value {
	val, text, ok := l.lookUp(v, given)
	if !ok {
		return cty.DynamicVal
	}
	if v.sensitive {
		l.secret(val, v.block.LabelRanges[0], "variable "+v.name)
		return val.Mark(sensitive)
	}
	l.suite.Vars[v.name] = text
	return val
}

func (l *loader) lookUp(v *variable, given map[string]cty.Value) (val cty.Value, text string, ok bool) {
	if s, ok := l.opts.Vars[v.name]; ok {
		return l.parseVariable(v, s, "the value given with --var")
	}
	if val, ok := given[v.name]; ok {
		val = l.convertVariable(v, val, v.block.DefRange(), "value from a file")
		return val, l.variableText(val), val.IsWhollyKnown()
	}
	if l.opts.Environ != nil {
		if s, ok := l.opts.Environ("EVALENGINE_VAR_" + v.name); ok {
			return l.parseVariable(v, s, "the value of EVALENGINE_VAR_"+v.name)
		}
	}
	if v.def == cty.NilVal {
		l.found.fail(v.block.DefRange(), "variable without a value",
			"The variable %q has no default. Give it with --var %s=VALUE or EVALENGINE_VAR_%s.", v.name, v.name, v.name)
		return cty.NilVal, "", false
	}
	return v.def, l.variableText(v.def), v.def.IsWhollyKnown()
}

// parseVariable reads a value from outside HCL: as it stands for a text, as an
// expression without names for all else.
func (l *loader) parseVariable(v *variable, s, from string) (cty.Value, string, bool) {
	rng := v.block.DefRange()
	val := cty.StringVal(s)
	if !v.ty.IsPrimitiveType() {
		expr, diags := parseLiteral([]byte(s), "value of "+v.name)
		if !diags.HasErrors() {
			val, diags = expr.Value(nil)
		}
		if diags.HasErrors() {
			l.found.fail(rng, "unreadable value", "The variable %q takes %s, and %s is no such thing: %s. Texts within it are in quotes.",
				v.name, typeName(v.ty), from, firstDetail(diags))
			return cty.NilVal, "", false
		}
	}
	before := len(l.found.list)
	val = l.convertVariable(v, val, rng, strings.TrimPrefix(from, "the "))
	return val, s, len(l.found.list) == before
}

func parseLiteral(src []byte, name string) (hclsyntax.Expression, hcl.Diagnostics) {
	if rng, bad := tooDeep(src, name); bad || len(src) > maxSuiteFile {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Expression too complex", Detail: "it is too large or nested too deep", Subject: &rng}}
	}
	return hclsyntax.ParseExpression(src, name, hcl.InitialPos)
}

func firstDetail(diags hcl.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			return strings.TrimSuffix(d.Detail, ".")
		}
	}
	return ""
}

// variableText is a value in the form that --var takes.
func (l *loader) variableText(v cty.Value) string {
	if !v.IsWhollyKnown() || v.IsNull() {
		return ""
	}
	if s, err := convert.Convert(v, cty.String); err == nil {
		return s.AsString()
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return ""
	}
	return string(b)
}

// varFiles reads Options.VarFiles.
func (l *loader) varFiles() map[string]cty.Value {
	vals := map[string]cty.Value{}
	for _, name := range l.opts.VarFiles {
		data, err := readRegular(name, maxSuiteFile)
		if err != nil {
			l.found.addPlain("variable file cannot be read", plainError(name, err))
			continue
		}
		src := normal(data)
		if rng, bad := tooDeep(src, name); bad {
			l.found.fail(rng, "expression too complex", "A value is nested too deep.")
			continue
		}
		f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
		l.found.addHCL(diags)
		if diags.HasErrors() {
			continue
		}
		attrs, diags := f.Body.JustAttributes()
		l.found.addHCL(diags)
		for _, n := range slices.Sorted(maps.Keys(attrs)) {
			v, diags := attrs[n].Expr.Value(nil)
			l.found.addHCL(diags)
			if !diags.HasErrors() {
				vals[n] = v
			}
		}
	}
	return vals
}

func (l *loader) undeclared(declared map[string]*variable, given map[string]cty.Value) {
	known := sortedKeys(declared)
	for _, n := range sortedKeys(l.opts.Vars) {
		if declared[n] == nil {
			l.found.addPlain("unknown variable", sentence(fmt.Sprintf("--var %s: the suite declares no variable %q.", n, n), suggest(n, known)))
		}
	}
	for _, n := range sortedKeys(given) {
		if declared[n] == nil && !l.varDeclared(n) {
			l.found.addPlain("unknown variable", sentence(fmt.Sprintf("A variable file sets %q, which the suite does not declare.", n), suggest(n, known)))
		}
	}
}

func (l *loader) varDeclared(name string) bool {
	return slices.ContainsFunc(l.blocks["variable"], func(b *hclsyntax.Block) bool { return b.Labels[0] == name })
}

func (l *loader) validate(v *variable) {
	for _, b := range v.block.Body.Blocks {
		if b.Type != "validation" {
			continue
		}
		attrs, _ := l.content(b.Body, &validationBody, b.DefRange())
		cond, message := attrs["condition"], attrs["error_message"]
		if cond == nil || message == nil {
			continue
		}
		holds, ok := l.eval(cond.Expr, l.root)
		if !ok {
			continue
		}
		good, err := convert.Convert(holds, cty.Bool)
		if err != nil || good.IsNull() {
			l.found.fail(cond.Expr.Range(), "condition is no condition", "A condition is true or false; this is %s.", typeName(holds.Type()))
			continue
		}
		if text, ok := l.textAttr(message, l.root); ok && good.False() {
			l.found.fail(cond.Expr.Range(), "invalid value for variable", "%s (variable %q)", text, v.name)
		}
	}
}

// secret takes the texts of a value into the suite's secrets.
func (l *loader) secret(v cty.Value, rng hcl.Range, what string) {
	short := false
	// The transformation is for its walk; no callback returns an error.
	_ = cty.Walk(v, func(_ cty.Path, e cty.Value) (bool, error) {
		if e.IsKnown() && !e.IsNull() && e.Type().IsPrimitiveType() && e.Type() != cty.Bool {
			s, err := convert.Convert(e, cty.String)
			if err != nil || s.AsString() == "" {
				return true, nil
			}
			short = short || utf8.RuneCountInString(s.AsString()) < minSecret
			l.secrets[s.AsString()] = true
		}
		return true, nil
	})
	if short {
		l.found.fail(rng, "secret too short", "The value of %s has fewer than %d characters: it cannot be kept out of records without harming other text.", what, minSecret)
	}
}

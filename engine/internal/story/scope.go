package story

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// refType is the type of references to blocks.
var refType = cty.Capsule("reference", reflect.TypeOf(ref{}))

// scope is what an expression can see when the suite is loaded.
type scope struct {
	ctx *hcl.EvalContext
	// names are all roots that can be referred to, with their values as far as
	// they are known.
	names map[string]cty.Value
	// late are the roots among them that have values in a trial alone.
	late map[string]bool
	// elsewhere says of roots that exist in other places where that is.
	elsewhere map[string]string

	hosts, targets, models cty.Value
}

// Reasons why a name of the language is not to be had in a place.
const (
	onlyLate  = "It has values only while a trial runs: prompts, texts of turns and variants, a capture's url, a scorer's parameters and checks may refer to it."
	onlyCheck = "It is a fact of a finished trial: the condition and error_message of a check alone may refer to it."
	onlyEach  = "It exists in a story with for_each."
	onlyRefs  = "References to blocks stand where a block is asked for, such as hosts = [host.NAME], target = target.NAME and model = model.NAME."
)

func newRoot(l *loader) *scope {
	functions := newFunctions(l.files)
	return &scope{
		ctx:   &hcl.EvalContext{Functions: functions, Variables: map[string]cty.Value{}},
		names: map[string]cty.Value{},
		elsewhere: map[string]string{
			"target": onlyLate, "trial": onlyLate, "each": onlyEach, "host": onlyRefs, "model": onlyRefs,
			"state": onlyCheck, "before": onlyCheck, "answer": onlyCheck, "calls": onlyCheck,
			"tools": onlyCheck, "usage": onlyCheck, "pages": onlyCheck,
			"env": "Declare a variable: its value is taken from the environment as EVALENGINE_VAR_NAME.",
		},
		hosts: cty.EmptyObjectVal, targets: cty.EmptyObjectVal, models: cty.EmptyObjectVal,
	}
}

// set adds a root that all scopes made from s later see.
func (s *scope) set(name string, v cty.Value) {
	s.names[name] = v
	s.ctx.Variables[name] = v
}

// with returns a scope that sees more.
func (s *scope) with(more map[string]cty.Value, late bool) *scope {
	child := *s
	child.ctx = s.ctx.NewChild()
	child.ctx.Variables = more
	child.names = maps.Clone(s.names)
	maps.Copy(child.names, more)
	if late {
		child.late = maps.Clone(s.late)
		if child.late == nil {
			child.late = map[string]bool{}
		}
		for n := range more {
			child.late[n] = true
		}
	}
	return &child
}

// references returns a scope in which kind.NAME refers to a block.
func (s *scope) references(kind string, names cty.Value) *scope {
	return s.with(map[string]cty.Value{kind: names}, false)
}

// eval checks an expression and evaluates it to a value that is wholly known.
// It reports whether the value can be used; where not, the reason is among the
// problems.
func (l *loader) eval(e hclsyntax.Expression, s *scope) (cty.Value, bool) {
	v, _, ok := l.evalSecret(e, s)
	return v, ok
}

// evalSecret also says whether the value rests on a sensitive variable.
func (l *loader) evalSecret(e hclsyntax.Expression, s *scope) (v cty.Value, secret, ok bool) {
	if _, ok := l.check(e, s); !ok {
		return cty.DynamicVal, false, false
	}
	v, diags := e.Value(s.ctx)
	if diags.HasErrors() {
		l.found.addHCL(diags)
		return cty.DynamicVal, false, false
	}
	v, marks := v.UnmarkDeep()
	return v, len(marks) > 0, v.IsWhollyKnown()
}

func (l *loader) source(name string) []byte {
	for _, p := range l.parsed {
		if p.name == name {
			return p.source
		}
	}
	return nil
}

// check reports references and functions that do not exist. late is true where
// the expression needs a trial.
func (l *loader) check(e hclsyntax.Expression, s *scope) (late, ok bool) {
	if _, literal := e.(*hclsyntax.LiteralValueExpr); literal {
		return false, true
	}
	ok = true
	for _, t := range e.Variables() {
		root := t.RootName()
		late = late || s.late[root]
		ok = l.checkReference(t, s) && ok
	}
	hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.FunctionCallExpr:
			ok = l.checkFunction(n, s) && ok
		case *hclsyntax.ForExpr:
			ok = l.checkFor(n, s) && ok
		}
		return nil
	})
	return late, ok
}

func (l *loader) checkReference(t hcl.Traversal, s *scope) bool {
	root := t.RootName()
	v, known := s.names[root]
	if !known {
		l.unknownRoot(t, s)
		return false
	}
	return l.checkAttribute(t, v, root)
}

// checkAttribute looks at the step behind the root.
func (l *loader) checkAttribute(t hcl.Traversal, v cty.Value, path string) bool {
	if len(t) < 2 || v == cty.NilVal || !v.Type().IsObjectType() {
		return true
	}
	name, rng, named := step(t[1])
	if !named || v.Type().HasAttribute(name) {
		return true
	}
	known := slices.Collect(maps.Keys(v.Type().AttributeTypes()))
	hint := suggest(name, known)
	if len(known) == 0 {
		hint = "None is declared."
	}
	l.found.fail(rng, "unknown "+kindOf(path), "%s", sentence(fmt.Sprintf("There is no %s.%s.", path, name), hint))
	return false
}

func kindOf(root string) string {
	switch root {
	case "var":
		return "variable"
	case "local":
		return "local value"
	case "host", "target", "model":
		return root
	}
	return "name"
}

func step(t hcl.Traverser) (name string, rng hcl.Range, ok bool) {
	switch t := t.(type) {
	case hcl.TraverseAttr:
		return t.Name, t.SrcRange, true
	case hcl.TraverseIndex:
		if t.Key.Type() == cty.String && t.Key.IsKnown() && !t.Key.IsNull() {
			return t.Key.AsString(), t.SrcRange, true
		}
	}
	return "", hcl.Range{}, false
}

func (l *loader) unknownRoot(t hcl.Traversal, s *scope) {
	root, rng := t.RootName(), t[0].SourceRange()
	known := slices.Collect(maps.Keys(s.names))
	why, other := s.elsewhere[root]
	switch near := nearest(root, known); {
	case other:
	case near != "":
		why = fmt.Sprintf("Did you mean %q?", near)
	default:
		why = l.rootHint(root, s)
	}
	summary := "unknown name"
	if other && why != "" {
		summary = "name not available here"
	}
	l.found.fail(rng, summary, "%s", sentence(
		fmt.Sprintf("Nothing is called %q here.", root), why, literalHint(openTemplate(l.source(rng.Filename), rng.Start.Byte))))
}

// rootHint finds the variable or local value whose prefix was forgotten.
func (l *loader) rootHint(root string, s *scope) string {
	for _, prefix := range []string{"var", "local"} {
		if v, ok := s.names[prefix]; ok && v.Type().IsObjectType() && v.Type().HasAttribute(root) {
			return fmt.Sprintf("Did you mean %s.%s?", prefix, root)
		}
	}
	return suggest("", slices.Collect(maps.Keys(s.names)))
}

func (l *loader) checkFunction(call *hclsyntax.FunctionCallExpr, s *scope) bool {
	functions := functionsOf(s.ctx)
	if _, ok := functions[call.Name]; ok {
		return true
	}
	hint := suggest(call.Name, slices.Collect(maps.Keys(functions)))
	l.found.fail(call.NameRange, "unknown function", "%s", sentence(
		fmt.Sprintf("There is no function %q.", call.Name), hint, literalHint(openTemplate(l.source(call.NameRange.Filename), call.NameRange.Start.Byte))))
	return false
}

func functionsOf(ctx *hcl.EvalContext) map[string]function.Function {
	for ; ctx != nil; ctx = ctx.Parent() {
		if ctx.Functions != nil {
			return ctx.Functions
		}
	}
	return nil
}

// checkFor looks into `for c in calls`: evaluated with unknown calls, the body
// is not looked at.
func (l *loader) checkFor(e *hclsyntax.ForExpr, s *scope) bool {
	coll, ok := e.CollExpr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(coll.Traversal) != 1 {
		return true
	}
	v, known := s.names[coll.Traversal.RootName()]
	if !known || !v.Type().IsListType() || !v.Type().ElementType().IsObjectType() {
		return true
	}
	element := cty.UnknownVal(v.Type().ElementType())
	good := true
	for _, part := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if part == nil {
			continue
		}
		for _, t := range part.Variables() {
			if t.RootName() == e.ValVar {
				good = l.checkAttribute(t, element, e.ValVar) && good
			}
		}
	}
	return good
}

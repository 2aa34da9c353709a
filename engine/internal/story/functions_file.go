package story

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var errLatePath = errors.New("the path must be known when the suite is loaded; it cannot depend on target, trial or the facts of a check")

// pathParam takes unknown paths, in order to refuse them.
var pathParam = function.Parameter{Name: "path", Type: cty.String, AllowUnknown: true, AllowDynamicType: true}

func addFiles(all map[string]function.Function, f *files) {
	all["file"] = pathFunc(cty.String, func(path string) (cty.Value, error) {
		s, err := f.text(path)
		return cty.StringVal(s), err
	})
	all["fileexists"] = pathFunc(cty.Bool, func(path string) (cty.Value, error) {
		ok, err := f.exists(path)
		return cty.BoolVal(ok), err
	})
	all["fileset"] = filesetFunc(f)
	// A template sees every function but templatefile: it cannot include itself.
	inner := make(map[string]function.Function, len(all))
	for name, fn := range all {
		inner[name] = fn
	}
	all["templatefile"] = templateFunc(f, inner)
}

func pathFunc(t cty.Type, get func(path string) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{pathParam},
		Type:   function.StaticReturnType(t),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsKnown() {
				return cty.NilVal, function.NewArgError(0, errLatePath)
			}
			v, err := get(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return v, nil
		},
	})
}

func filesetFunc(f *files) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{pathParam, {Name: "pattern", Type: cty.String, AllowUnknown: true, AllowDynamicType: true}},
		Type:   function.StaticReturnType(cty.Set(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !args[0].IsKnown() || !args[1].IsKnown() {
				return cty.NilVal, function.NewArgError(0, errLatePath)
			}
			names, err := f.match(args[0].AsString(), args[1].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if len(names) == 0 {
				return cty.SetValEmpty(cty.String), nil
			}
			vals := make([]cty.Value, len(names))
			for i, n := range names {
				vals[i] = cty.StringVal(n)
			}
			return cty.SetVal(vals), nil
		},
	})
}

// templateFunc renders a file. The file is read, and the names in it are
// checked, as soon as its path is known, also where a value is not.
func templateFunc(f *files, functions map[string]function.Function) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		if !args[0].IsKnown() {
			return cty.NilVal, function.NewArgError(0, errLatePath)
		}
		path := args[0].AsString()
		expr, err := f.template(path)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		vars, err := templateVars(expr, path, args[1])
		if err != nil {
			return cty.NilVal, function.NewArgError(1, err)
		}
		v, diags := expr.Value(&hcl.EvalContext{Variables: vars, Functions: functions})
		if diags.HasErrors() {
			return cty.NilVal, function.NewArgErrorf(0, "%s", placed(diags))
		}
		return v, nil
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{pathParam, {Name: "vars", Type: cty.DynamicPseudoType, AllowUnknown: true, AllowDynamicType: true}},
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := render(args)
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return render(args) },
	})
}

func templateVars(expr hclsyntax.Expression, path string, v cty.Value) (map[string]cty.Value, error) {
	t := v.Type()
	if t == cty.DynamicPseudoType && !v.IsKnown() {
		return unknownVars(expr), nil
	}
	if v.IsNull() || (!t.IsObjectType() && !t.IsMapType()) {
		return nil, errors.New("an object is required, with a value for each name in the template")
	}
	if !v.IsKnown() {
		return unknownVars(expr), nil
	}
	vars := v.AsValueMap()
	for _, tr := range expr.Variables() {
		if _, ok := vars[tr.RootName()]; !ok {
			// Whoever shows the error ends its last sentence.
			return nil, errors.New(strings.TrimSuffix(sentence(fmt.Sprintf("%s uses %q, which is not among the values.", at(tr[0].SourceRange()), tr.RootName()),
				suggest(tr.RootName(), sortedKeys(vars))), "."))
		}
	}
	return vars, nil
}

func unknownVars(expr hclsyntax.Expression) map[string]cty.Value {
	vars := map[string]cty.Value{}
	for _, tr := range expr.Variables() {
		vars[tr.RootName()] = cty.DynamicVal
	}
	return vars
}

// placed is the first problem with its place, as a text.
func placed(diags hcl.Diagnostics) string {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil {
			return fmt.Sprintf("%s: %s: %s", at(*d.Subject), lowerFirst(d.Summary), d.Detail)
		}
	}
	return diags.Error()
}

package story

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// knownValues are the values that an expression takes from the suite, as one text:
// variables, locals, and what functions such as file make of those alone. Facts of
// the trial are left out, and so are names that the expression itself binds and the
// folder that the suite happens to lie in.
func knownValues(expr hclsyntax.Expression, s *scope) string {
	var list []string
	add := func(of hclsyntax.Expression, ctx *hcl.EvalContext, name string) {
		if v, diags := of.Value(ctx); !diags.HasErrors() {
			list = append(list, name+" = "+valueText(v))
		}
	}
	hclsyntax.VisitAll(expr, func(n hclsyntax.Node) hcl.Diagnostics {
		switch e := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			if known(s, e.Traversal) && e.Traversal.RootName() != "path" {
				add(e, s.ctx, traversalText(e.Traversal))
			}
		case *hclsyntax.FunctionCallExpr:
			if !slices.ContainsFunc(e.Variables(), func(t hcl.Traversal) bool { return !known(s, t) }) {
				add(e, s.ctx, e.Name+"()")
			}
		}
		return nil
	})
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "\n")
}

// known reports whether the suite has a value of a name when it is loaded.
func known(s *scope, t hcl.Traversal) bool {
	_, ok := s.names[t.RootName()]
	return ok && !s.late[t.RootName()] && !slices.Contains(factNames, t.RootName())
}

func valueText(v cty.Value) string {
	v, _ = v.UnmarkDeep()
	if !v.IsWhollyKnown() {
		return "unknown"
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return "unknown" // a reference to a block
	}
	return string(b)
}

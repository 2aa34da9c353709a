package story

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// locals evaluates the local values, each after those it refers to.
func (l *loader) locals() {
	r := &resolver{l: l, attrs: map[string]*hclsyntax.Attribute{}, state: map[string]int{}, vals: map[string]cty.Value{}}
	var order []string
	for _, b := range l.blocks["locals"] {
		for _, a := range inOrder(values(b.Body.Attributes)) {
			if first := r.attrs[a.Name]; first != nil {
				l.found.fail(a.NameRange, "duplicate local value", "The local value %q is set already, at %s.", a.Name, at(first.SrcRange))
				continue
			}
			r.attrs[a.Name] = a
			order = append(order, a.Name)
		}
		for _, inner := range b.Body.Blocks {
			l.found.fail(inner.TypeRange, "unknown block", "A locals block holds attributes alone: write %s = { ... }.", inner.Type)
		}
	}
	for _, name := range order {
		r.resolve(name)
	}
	l.root.set("local", cty.ObjectVal(r.vals))
}

func values(m attributes) []*hclsyntax.Attribute {
	list := make([]*hclsyntax.Attribute, 0, len(m))
	for _, a := range m {
		list = append(list, a)
	}
	return list
}

// resolver walks the references between local values.
type resolver struct {
	l     *loader
	attrs map[string]*hclsyntax.Attribute
	state map[string]int
	vals  map[string]cty.Value
	stack []string
	all   *scope
}

const (
	resolving = 1
	resolved  = 2
)

func (r *resolver) resolve(name string) {
	a := r.attrs[name]
	if a == nil || r.state[name] == resolved {
		return
	}
	if r.state[name] == resolving {
		r.cycle(name)
		return
	}
	r.state[name] = resolving
	r.stack = append(r.stack, name)
	for _, t := range a.Expr.Variables() {
		if t.RootName() != "local" || len(t) < 2 {
			continue
		}
		if dep, _, ok := step(t[1]); ok {
			r.resolve(dep)
		}
	}
	r.stack = r.stack[:len(r.stack)-1]
	if r.state[name] == resolved {
		return
	}
	r.state[name] = resolved
	r.vals[name] = r.value(a)
}

func (r *resolver) value(a *hclsyntax.Attribute) cty.Value {
	if _, ok := r.l.check(a.Expr, r.names()); !ok {
		return cty.DynamicVal
	}
	// Only what is referred to: an object of all values for each would make
	// many local values slow.
	known := map[string]cty.Value{}
	for _, t := range a.Expr.Variables() {
		if t.RootName() != "local" {
			continue
		}
		if len(t) < 2 {
			known = r.vals
			break
		}
		if dep, _, ok := step(t[1]); ok {
			known[dep] = r.vals[dep]
		}
	}
	sc := r.l.root.with(map[string]cty.Value{"local": cty.ObjectVal(known)}, false)
	v, diags := a.Expr.Value(sc.ctx)
	r.l.found.addHCL(diags)
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	return v
}

// names is a scope in which every local value exists and none has a value.
func (r *resolver) names() *scope {
	if r.all == nil {
		known := make(map[string]cty.Value, len(r.attrs))
		for n := range r.attrs {
			known[n] = cty.DynamicVal
		}
		r.all = r.l.root.with(map[string]cty.Value{"local": cty.ObjectVal(known)}, false)
	}
	return r.all
}

// cycle reports the local values that need each other, once.
func (r *resolver) cycle(name string) {
	from := 0
	for i, n := range r.stack {
		if n == name {
			from = i
		}
	}
	path := append(append([]string{}, r.stack[from:]...), name)
	r.l.found.fail(r.attrs[name].SrcRange, "local values in a circle", "local.%s needs itself: %s.", name, strings.Join(path, " -> "))
	for _, n := range r.stack[from:] {
		r.state[n] = resolved
		r.vals[n] = cty.DynamicVal
	}
}

package coverage

import (
	"slices"
	"strings"
)

// Ranks of the ways in which a schema names actions, the strongest sign first.
const (
	rankUnion = iota
	rankKeys
	rankNamed
	rankSiblings
)

// union finds properties that are another constant in each branch.
func (w *walker) union(p place, o object) []found {
	var parts []object
	for _, b := range o.branches {
		if w.left <= 0 {
			return nil
		}
		if w.resolve(b, 0)["type"] != "null" {
			parts = append(parts, w.object(b, 0))
		}
	}
	if len(parts) < 2 {
		return nil
	}
	var all []found
	for _, name := range sorted(parts[0].props) {
		values, ok := w.distinct(parts, name)
		if !ok {
			continue
		}
		at, _ := word(name)
		if at < 0 {
			at = len(words) + len(weak)
		}
		all = append(all, found{rank: rankUnion, word: at, path: append(slices.Clone(p.path), name), values: values})
	}
	return all
}

// distinct are the constants that a property has in the branches, none of them in
// two.
func (w *walker) distinct(parts []object, name string) ([]string, bool) {
	var values []string
	for _, o := range parts {
		if w.left <= 0 {
			return nil, false
		}
		some := w.constants(o.props[name], 0)
		if len(some) == 0 {
			return nil, false
		}
		values = append(values, some...)
	}
	return values, len(unique(slices.Clone(values))) == len(values)
}

// keys finds entries of a list of actions whose members are named for them.
func (w *walker) keys(p place, o object) []found {
	if p.list == "" || !slices.Contains(lists, strings.ToLower(p.list)) {
		return nil
	}
	names := w.optional(o)
	if names == nil {
		names = w.required(o)
	}
	if len(names) < 2 {
		return nil
	}
	return []found{{rank: rankKeys, path: p.path, values: names, byKey: true}}
}

// optional are the properties of an object, where each of them may be left out and
// is an object, or a flag for an action without arguments.
func (w *walker) optional(o object) []string {
	if len(o.required) > 0 || len(o.branches) > 0 {
		return nil
	}
	some := false
	for _, name := range sorted(o.props) {
		switch {
		case w.left <= 0:
			return nil
		case w.mayBeObject(o.props[name]):
			some = true
		case w.resolve(o.props[name], 0)["type"] != "boolean":
			return nil
		}
	}
	if !some {
		return nil
	}
	return sorted(o.props)
}

// required are the properties that the branches require, where each branch
// requires one of its own and that is an object.
func (w *walker) required(o object) []string {
	var names []string
	for _, b := range o.branches {
		if w.left <= 0 {
			return nil
		}
		part := w.object(b, 0)
		needs := sorted(part.required)
		if len(needs) != 1 || !w.mayBeObject(part.props[needs[0]]) {
			return nil
		}
		names = append(names, needs[0])
	}
	if len(unique(slices.Clone(names))) != len(names) {
		return nil
	}
	return names
}

func (w *walker) mayBeObject(node any) bool {
	m := w.resolve(node, 0)
	return isObject(m) || slices.ContainsFunc(w.branches(m), func(b any) bool { return isObject(w.resolve(b, 0)) })
}

// named finds arguments whose name says that they name the action.
func (w *walker) named(p place, o object) []found {
	var all []found
	for _, name := range sorted(o.props) {
		at, needed := word(name)
		direct := len(p.path) == 0 || p.list != ""
		if at < 0 || needed && !(o.required[name] && direct) || w.left <= 0 {
			continue
		}
		values := w.constants(o.props[name], 0)
		if len(values) < 2 {
			continue
		}
		all = append(all, found{
			rank: rankNamed, word: at, path: append(slices.Clone(p.path), name),
			values: values, def: w.byDefault(p, o.props[name], values),
		})
	}
	return all
}

// byDefault is the action of a call that leaves the argument out.
func (w *walker) byDefault(p place, node any, values []string) string {
	def, ok := constant(w.resolve(node, 0)["default"])
	if !ok || slices.Contains(p.path, entries) || !slices.Contains(values, def) {
		return ""
	}
	return def
}

// siblings finds required enums whose values are names of other arguments.
func (w *walker) siblings(p place, o object) []found {
	var all []found
	for _, name := range sorted(o.props) {
		if !o.required[name] || w.left <= 0 {
			continue
		}
		values := w.constants(o.props[name], 0)
		n := 0
		for _, v := range values {
			if _, ok := o.props[v]; ok && v != name {
				n++
			}
		}
		if len(values) >= 2 && n == len(values) {
			all = append(all, found{rank: rankSiblings, path: append(slices.Clone(p.path), name), values: values})
		}
	}
	return all
}

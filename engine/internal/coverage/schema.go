package coverage

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/evalengine/evalengine/engine/eval"
)

// ActionsOf finds the actions of a tool in its input schema. The argument that
// names the action is looked for level by level, in the arguments themselves, then
// in what they hold: in the entries of lists of objects and in required objects.
// On one level it is, in this order,
//
//  1. a property that is constant in each branch of a oneOf or anyOf, and another
//     constant in each;
//  2. in the entries of a list named actions or the like: the entries' members,
//     where all of them are optional objects or flags, or each branch requires one of
//     its own;
//  3. an argument named action, operation, command, method or mode that is an enum or
//     a oneOf of constants, or a required one named kind or type, which is common for
//     other things and so must not lie within another object;
//  4. a required enum whose values are names of its sibling arguments.
//
// An argument has two constants at least; null among them is none.
func ActionsOf(schema eval.JSON) Actions {
	if len(schema) > MaxSchema {
		return Actions{Cut: true}
	}
	root, ok := decode(schema)
	if !ok {
		return Actions{}
	}
	w := &walker{root: root, left: maxNodes}
	a := w.search()
	a.Cut = w.left <= 0
	return a
}

func (w *walker) search() Actions {
	level := []place{{node: w.root}}
	for range maxLevels {
		if a, ok := w.best(level); ok {
			return a
		}
		level = w.below(level)
	}
	return Actions{}
}

// place is an object in a call's arguments.
type place struct {
	path []string
	node any
	// list is the argument whose entries these are; empty for no list.
	list string
}

// walker looks at a schema until it has looked at enough of it.
type walker struct {
	root any
	left int
}

// object is what a schema says of an object, its references resolved.
type object struct {
	props    map[string]any
	required map[string]bool
	branches []any
}

// found is an argument that may name the action; the lowest rank wins, then the
// name's own.
type found struct {
	rank, word int
	path       []string
	values     []string
	byKey      bool
	def        string
}

func (w *walker) best(level []place) (Actions, bool) {
	var all []found
	for _, p := range level {
		o := w.object(p.node, 0)
		all = append(all, w.union(p, o)...)
		all = append(all, w.keys(p, o)...)
		all = append(all, w.named(p, o)...)
		all = append(all, w.siblings(p, o)...)
	}
	if len(all) == 0 {
		return Actions{}, false
	}
	f := slices.MinFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.word, b.word), slices.Compare(a.path, b.path))
	})
	a := Actions{path: f.path, byKey: f.byKey, Default: f.def}
	for _, v := range f.values {
		if len(a.Names) == MaxActions || len(v) > maxName {
			a.Left++
			continue
		}
		a.Names = append(a.Names, v)
	}
	return a, true
}

// below are the objects that the arguments of a level hold.
func (w *walker) below(level []place) []place {
	var next []place
	for _, p := range level {
		for _, o := range w.objects(p.node) {
			for _, name := range sorted(o.props) {
				if w.left <= 0 {
					return next
				}
				node := w.resolve(o.props[name], 0)
				path := append(slices.Clone(p.path), name)
				if items, ok := w.items(node); ok {
					next = append(next, place{append(path, entries), items, name})
				} else if o.required[name] && isObject(node) {
					next = append(next, place{path, node, ""})
				}
			}
		}
	}
	return next
}

// objects are an object and its branches.
func (w *walker) objects(node any) []object {
	o := w.object(node, 0)
	list := []object{o}
	for _, b := range o.branches {
		list = append(list, w.object(b, 0))
	}
	return list
}

// items is the schema of a list's entries, where it is one.
func (w *walker) items(node map[string]any) (any, bool) {
	if items, ok := node["items"].(map[string]any); ok {
		return items, true
	}
	for _, b := range w.branches(node) {
		if items, ok := w.resolve(b, 0)["items"].(map[string]any); ok {
			return items, true
		}
	}
	return nil, false
}

func isObject(node map[string]any) bool {
	_, props := node["properties"].(map[string]any)
	return props || node["type"] == "object"
}

// resolve is a schema as an object of its keywords: references are followed, and
// what stands beside them counts too. A boolean schema says nothing.
func (w *walker) resolve(node any, hops int) map[string]any {
	w.left--
	m, _ := node.(map[string]any)
	ref, ok := m["$ref"].(string)
	if !ok || hops >= maxHops || w.left <= 0 {
		return m
	}
	to := w.resolve(w.at(ref), hops+1)
	if w.left -= len(to) + len(m); w.left <= 0 {
		return m
	}
	out := maps.Clone(to)
	if out == nil {
		return m
	}
	for k, v := range m {
		if k != "$ref" {
			out[k] = v
		}
	}
	return out
}

// at is what a reference within the schema leads to; nil for any other.
func (w *walker) at(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if w.left -= weight(ref); !ok || w.left <= 0 {
		return nil
	}
	node := w.root
	if pointer == "" {
		return node
	}
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if w.left--; w.left <= 0 {
			return nil
		}
		part = unescape(part)
		switch v := node.(type) {
		case map[string]any:
			node = v[part]
		case []any:
			i := index(part, len(v))
			if i < 0 {
				return nil
			}
			node = v[i]
		default:
			return nil
		}
	}
	return node
}

// weight is what a long text counts for, of the parts that are looked at.
func weight(text string) int { return len(text) / 64 }

func unescape(part string) string {
	if !strings.Contains(part, "~") {
		return part
	}
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}

// index is a part of a pointer as an index of a list; -1 for none.
func index(part string, n int) int {
	i := 0
	for _, c := range part {
		if c < '0' || c > '9' || i >= n {
			return -1
		}
		i = 10*i + int(c-'0')
	}
	if part == "" || i >= n {
		return -1
	}
	return i
}

// object reads an object's schema with the parts of its allOf.
func (w *walker) object(node any, depth int) object {
	m := w.resolve(node, 0)
	o := object{props: map[string]any{}, required: map[string]bool{}}
	props, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for name := range props {
		w.left -= 1 + weight(name)
	}
	if w.left -= len(required); w.left > 0 {
		maps.Copy(o.props, props)
		for _, r := range required {
			if s, ok := r.(string); ok {
				o.required[s] = true
			}
		}
	}
	o.branches = w.branches(m)
	all, _ := m["allOf"].([]any)
	for _, part := range all {
		if depth >= maxHops || w.left <= 0 {
			break
		}
		p := w.object(part, depth+1)
		w.left -= len(p.props) + len(p.required) + len(p.branches)
		maps.Copy(o.props, p.props)
		maps.Copy(o.required, p.required)
		o.branches = append(o.branches, p.branches...)
	}
	return o
}

func (w *walker) branches(m map[string]any) []any {
	one, _ := m["oneOf"].([]any)
	any, _ := m["anyOf"].([]any)
	if w.left -= len(one) + len(any); w.left <= 0 {
		return nil
	}
	return append(slices.Clone(one), any...)
}

// constants are the values of a schema that allows nothing but constants, null left
// out.
func (w *walker) constants(node any, depth int) []string {
	m := w.resolve(node, 0)
	if c, ok := m["const"]; ok {
		if s, ok := constant(c); ok {
			w.left -= weight(s)
			return []string{s}
		}
		return nil
	}
	if list, ok := m["enum"].([]any); ok {
		for _, c := range list {
			s, _ := constant(c)
			w.left -= 1 + weight(s)
		}
		if w.left <= 0 {
			return nil
		}
		return texts(list)
	}
	if depth >= 4 {
		return nil
	}
	var values []string
	for _, b := range w.branches(m) {
		if w.left <= 0 {
			return nil
		}
		if w.resolve(b, 0)["type"] == "null" {
			continue
		}
		some := w.constants(b, depth+1)
		if some == nil {
			return nil
		}
		values = append(values, some...)
	}
	return unique(values)
}

// texts are the constants of an enum; nil where one is neither text nor number.
func texts(list []any) []string {
	var values []string
	for _, c := range list {
		if c == nil || c == "" {
			continue
		}
		s, ok := constant(c)
		if !ok {
			return nil
		}
		values = append(values, s)
	}
	return unique(values)
}

func unique(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// words are what arguments that name an action are called, letters alone; the
// first ones go first. weak ones are common names of other things. lists are those
// that hold actions.
var (
	words = []string{"action", "actiontype", "actionname", "operation", "operationtype", "operationname", "op", "command", "commandname", "cmd", "method", "subcommand", "mode"}
	weak  = []string{"kind", "type"}
	lists = []string{"action", "actions", "operations", "ops", "commands", "requests", "steps", "tasks", "calls"}
)

// word is the place of a name among the words; -1 for any other.
func word(name string) (at int, needed bool) {
	if len(name) > maxName {
		return -1, false
	}
	letters := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	if i := slices.Index(words, letters); i >= 0 {
		return i, false
	}
	if i := slices.Index(weak, letters); i >= 0 {
		return len(words) + i, true
	}
	return -1, false
}

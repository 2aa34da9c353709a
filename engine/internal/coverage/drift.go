package coverage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// Drift is how a target's list of tools differs from what it was. The order of
// tools, of members of their schemas and white space make no difference. Of tools
// of one name the first counts. Where one of the lists does not say whose its tools
// are, names alone are compared. What always fails is told by calls: [Map.Coverage] adds it.
func Drift(before, after []eval.Tool) eval.ToolDrift {
	anonymous := nobodys(before) || nobodys(after)
	was, is := byName(before, anonymous), byName(after, anonymous)
	d := eval.ToolDrift{Added: []eval.ToolName{}, Removed: []eval.ToolName{}, Changed: []eval.ToolChanged{}, Failing: []eval.ToolName{}}
	for n, t := range is {
		old, ok := was[n]
		if !ok {
			d.Added = append(d.Added, n)
		} else if c, differs := changed(n, old, t); differs {
			d.Changed = append(d.Changed, c)
		}
	}
	for n := range was {
		if _, ok := is[n]; !ok {
			d.Removed = append(d.Removed, n)
		}
	}
	slices.SortFunc(d.Added, compareNames)
	slices.SortFunc(d.Removed, compareNames)
	slices.SortFunc(d.Changed, func(a, b eval.ToolChanged) int { return compareNames(a.ToolName, b.ToolName) })
	return d
}

// nobodys reports whether no tool of a list says whose it is.
func nobodys(tools []eval.Tool) bool {
	return len(tools) > 0 && !slices.ContainsFunc(tools, func(t eval.Tool) bool { return t.Server != "" })
}

func byName(tools []eval.Tool, anonymous bool) map[eval.ToolName]*eval.Tool {
	m := make(map[eval.ToolName]*eval.Tool, len(tools))
	for i := range tools {
		n := nameOf(&tools[i])
		if anonymous {
			n.Server = ""
		}
		if m[n] == nil {
			m[n] = &tools[i]
		}
	}
	return m
}

func nameOf(t *eval.Tool) eval.ToolName { return eval.ToolName{Server: t.Server, Tool: t.Name} }

func compareNames(a, b eval.ToolName) int {
	return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
}

func changed(n eval.ToolName, was, is *eval.Tool) (eval.ToolChanged, bool) {
	c := eval.ToolChanged{ToolName: n, What: []string{}}
	if was.Description != is.Description {
		c.What = append(c.What, "description")
	}
	if !same(was.InputSchema, is.InputSchema) {
		c.What = append(c.What, "input_schema")
		old, now := ActionsOf(was.InputSchema).Names, ActionsOf(is.InputSchema).Names
		c.ActionsAdded, c.ActionsRemoved = without(now, old), without(old, now)
	}
	if !same(was.Annotations, is.Annotations) {
		c.What = append(c.What, "annotations")
	}
	return c, len(c.What) > 0
}

// same reports whether two JSON values say the same.
func same(a, b eval.JSON) bool { return bytes.Equal(a, b) || canonical(a) == canonical(b) }

// canonical is a JSON value with its members in order; what is no JSON stays as it
// is.
func canonical(j eval.JSON) string {
	v, ok := decode(j)
	if !ok {
		return string(j)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(j)
	}
	return string(b)
}

// without are the names of a list that another does not have.
func without(list, other []string) []string {
	has := make(map[string]bool, len(other))
	for _, s := range other {
		has[s] = true
	}
	var out []string
	for _, s := range list {
		if !has[s] {
			out = append(out, s)
		}
	}
	return out
}

// whose is the listed tool that a call is of: that of its server, or one of a list
// that does not say whose it is.
func whose[T any](listed map[eval.ToolName]*T, c *eval.Call) (eval.ToolName, bool) {
	if c.Observed == eval.Unconfirmed || c.Server == "" {
		return eval.ToolName{}, false
	}
	for _, n := range [...]eval.ToolName{{Server: c.Server, Tool: c.Tool}, {Tool: c.Tool}} {
		if listed[n] != nil {
			return n, true
		}
	}
	return eval.ToolName{}, false
}

// foldDrift adds the tools that always fail, and leaves out targets without drift.
func (m *Map) foldDrift() {
	for i := range m.out.Drift {
		d := &m.out.Drift[i]
		for n, t := range m.offered[d.Target] {
			if t.whole.count.use.AlwaysFails {
				d.Failing = append(d.Failing, n)
			}
		}
		slices.SortFunc(d.Failing, compareNames)
	}
	m.out.Drift = slices.DeleteFunc(m.out.Drift, eval.ToolDrift.None)
}

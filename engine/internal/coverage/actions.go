package coverage

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of what is looked at in one tool's schema and in one call.
const (
	MaxActions = 1000    // actions of one tool
	MaxSchema  = 4 << 20 // bytes of a schema
	maxName    = 256     // bytes of an action's name
	maxNodes   = 500_000 // parts of a schema that are looked at, each as often as it is
	maxHops    = 16      // references in a row
	maxLevels  = 3       // arguments within arguments
	maxCall    = 4 << 20 // bytes of a call's arguments
	maxEntries = 10_000  // entries of a call's lists
)

// Actions are the actions of a multi-action tool and how a call names them. The
// zero Actions are those of a tool without.
type Actions struct {
	// Names are in the order of the schema, at most MaxActions; Left is how many
	// more there are, or have a name that is too long.
	Names []string
	Left  int
	// Cut says that the schema is too large to be looked at whole, so that there may
	// be other actions.
	Cut bool
	// Default is the action of a call that names none; empty is none.
	Default string
	// path leads from a call's arguments to where the action is named.
	path []string
	// byKey says that the members there are named for the actions.
	byKey bool
}

// entries is the step of a path that goes into each entry of a list.
const entries = "[]"

// Argument is the argument that names the action: "mode", "actions[].kind", or
// "actions[].*" where its members are named for actions.
func (a *Actions) Argument() string {
	var b strings.Builder
	for _, step := range a.path {
		if b.Len() > 0 && step != entries {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	if a.byKey {
		b.WriteString(".*")
	}
	return b.String()
}

// pointers reports whether a JSON pointer into a call's arguments leads to the
// argument that names the action.
func (a *Actions) pointers(pointer string) bool {
	parts := strings.Split(pointer, "/")
	if len(parts) != len(a.path)+1 || parts[0] != "" || a.byKey {
		return false
	}
	for i, step := range a.path {
		part := unescape(parts[i+1])
		if part != step && (step != entries || part == "") {
			return false
		}
	}
	return true
}

// Called returns the actions that a call with these arguments performs, once for
// each time; not ok where the arguments cannot be read.
func (a *Actions) Called(arguments eval.JSON) (names []string, ok bool) {
	var v any
	switch {
	case len(arguments) > maxCall:
		return nil, false
	case len(arguments) > 0:
		if v, ok = decode(arguments); !ok {
			return nil, false
		}
	}
	// Some agents encode their arguments twice.
	if s, is := v.(string); is {
		if v, ok = decode([]byte(s)); !ok {
			return nil, false
		}
	}
	budget := maxEntries
	names = a.collect(v, a.path, nil, &budget)
	if len(names) == 0 && a.Default != "" {
		names = []string{a.Default}
	}
	return names, true
}

func (a *Actions) collect(v any, path, names []string, budget *int) []string {
	if *budget--; *budget < 0 {
		return names
	}
	switch v := v.(type) {
	case []any:
		if len(path) > 0 && path[0] == entries {
			for _, e := range v {
				names = a.collect(e, path[1:], names, budget)
			}
		}
	case map[string]any:
		switch {
		case len(path) > 0 && path[0] != entries:
			if m, ok := v[path[0]]; ok {
				names = a.collect(m, path[1:], names, budget)
			}
		case len(path) == 0 && a.byKey:
			for _, k := range sorted(v) {
				if v[k] != nil && v[k] != false {
					names = append(names, k)
				}
			}
		}
	default:
		if name, ok := constant(v); ok && len(path) == 0 && !a.byKey {
			names = append(names, name)
		}
	}
	return names
}

// decode reads one JSON value; numbers stay as they are written.
func decode(b []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil, false
	}
	return v, true
}

// constant is a constant as an action's name: a text or a number.
func constant(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case json.Number:
		return v.String(), true
	}
	return "", false
}

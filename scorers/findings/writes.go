package main

import (
	"bytes"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func writeParams() []eval.Attribute {
	return []eval.Attribute{
		{Name: "writes", Type: "list(string)", Doc: "Tools that change things, as patterns, where neither their annotations nor their names say so."},
		{Name: "reads", Type: "list(string)", Doc: "Tools that change nothing, likewise."},
	}
}

func stateParams() []eval.Attribute {
	return append(writeParams(), eval.Attribute{Name: "ignore", Type: "list(string)",
		Doc: "JSONPath queries for parts of the state that change by themselves, such as times."})
}

// effect is what a call does to the target.
type effect int

const (
	unknown effect = iota
	reads
	writes
	// undoes also writes: it takes away, or brings back what was.
	undoes
)

// effectOf goes by what is surest: the suite's word, the actions of a call that
// lists some, the server's annotations, the verbs in the tool's name.
func (s *scene) effectOf(h calls.Hit) effect {
	named := verb(h.Tool)
	switch {
	case matches(s.p.Strings("reads"), h):
		return reads
	case matches(s.p.Strings("writes"), h):
		return max(named, writes)
	}
	if e := effectOfActions(calls.Actions(h.Call)); e != unknown {
		return e
	}
	t := s.log.Tool(h.Call)
	if t == nil {
		return named
	}
	hints, _ := jsonv.Parse(t.Annotations)
	readOnly, told := hints.Get("readOnlyHint").Bool()
	switch {
	case told && readOnly:
		return reads
	case told || t.Destructive:
		return max(named, writes)
	}
	return named
}

// effectOfActions is the strongest effect of any action, unknown where one is.
func effectOfActions(list []calls.Action) effect {
	e := unknown
	for _, a := range list {
		v := verb(a.Name)
		if v == unknown {
			return unknown
		}
		e = max(e, v)
	}
	return e
}

func matches(patterns []string, h calls.Hit) bool {
	for _, p := range patterns {
		if eval.MatchTool(p, h.Server, h.Tool) {
			return true
		}
	}
	return false
}

// verb is what the first verb in a tool's name says.
func verb(name string) effect {
	for _, w := range words(name) {
		switch w {
		case "get", "list", "read", "search", "find", "query", "fetch", "show", "view", "describe", "count", "check", "validate", "preview",
			"export", "download", "inspect", "browse", "status", "help", "lookup", "diff", "compare":
			return reads
		case "create", "add", "insert", "update", "set", "edit", "change", "modify", "move", "publish", "upload", "write", "put", "patch", "rename",
			"build", "apply", "save", "import", "replace", "append", "duplicate", "upsert", "assign", "attach", "enable", "submit", "send":
			return writes
		case "delete", "remove", "destroy", "drop", "clear", "reset", "undo", "revert", "restore", "rollback", "unpublish", "archive", "discard",
			"disable", "detach", "unassign":
			return undoes
		}
	}
	return unknown
}

// words are the parts of a name in lower case: of snake_case, kebab-case and
// camelCase.
func words(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if lower && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		b.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// wish is a text that a call's arguments ask for.
type wish struct{ key, text string }

const (
	maxWishes = 50
	maxWish   = 200
)

// wishes are the short texts in a call's arguments, without those that name a
// thing by its id.
func (s *scene) wishes(h calls.Hit) []wish {
	var list []wish
	eachText(s.log.ArgumentsOf(h.Call).Value, "", 0, func(key string, v tree.Value) bool {
		if t := v.Text(); t != "" && len(t) <= maxWish && !isID(key) {
			list = append(list, wish{key, t})
		}
		return len(list) < maxWishes
	})
	return list
}

func isID(key string) bool {
	w := words(key)
	if len(w) == 0 {
		return false
	}
	switch w[len(w)-1] {
	case "id", "ids", "uuid", "guid", "action", "type", "position":
		return true
	}
	return false
}

// eachText yields the texts below v with the key that each stands under, its own
// or that of the list around it.
func eachText(v tree.Value, key string, depth int, yield func(key string, v tree.Value) bool) bool {
	const deepest = 200
	if k := v.Key(); k != "" {
		key = k
	}
	switch v.Kind() {
	case jsonv.String:
		return yield(key, v)
	case jsonv.Object, jsonv.Array:
		if depth == deepest {
			return true
		}
		for c := range v.Each {
			if !eachText(c, key, depth+1, yield) {
				return false
			}
		}
	}
	return true
}

// snapshot is a state with the short texts in it.
type snapshot struct {
	root  tree.Value
	texts map[string]bool
	// byKey has, for each key, the places of texts under it, one a text.
	byKey map[string][]tree.Value
	under map[wish]bool
}

// maxTexts bounds how much of a huge state is looked at by its texts.
const maxTexts = 500_000

func snapshotOf(root tree.Value) *snapshot {
	s := &snapshot{root: root, texts: map[string]bool{}, byKey: map[string][]tree.Value{}, under: map[wish]bool{}}
	n := 0
	eachText(root, "", 0, func(key string, v tree.Value) bool {
		n++
		if len(v.Raw()) > 2*maxWish {
			return n < maxTexts
		}
		t := v.Text()
		s.texts[t] = true
		if w := (wish{key, t}); !s.under[w] {
			s.under[w] = true
			s.byKey[key] = append(s.byKey[key], v)
		}
		return n < maxTexts
	})
	return s
}

// mentions reports whether a text stands anywhere in the state, as it is or within
// another.
func (s *snapshot) mentions(t string) bool {
	if s.texts[t] {
		return true
	}
	quoted := jsonv.Quote(t)
	return bytes.Contains(s.root.Raw(), []byte(quoted[1:len(quoted)-1]))
}

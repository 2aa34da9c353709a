package calls

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Arguments is what a call was made with.
type Arguments struct {
	// Value is absent where Problem is set.
	Value tree.Value
	// Problem says why the arguments cannot be looked at.
	Problem string
	// DoublyEncoded says that the arguments were a JSON string of JSON, which
	// has been decoded once.
	DoublyEncoded bool
}

// ArgumentsOf reads a call's arguments. Arguments of null are an empty object
// where the tool has no required ones.
func (l *Log) ArgumentsOf(c *eval.Call) Arguments {
	if c.BadArguments {
		raw, _ := jsonv.Parse(c.Arguments)
		return Arguments{Problem: "unparsable arguments: " + tree.Cut(raw.String(), 120)}
	}
	if len(c.Arguments) == 0 {
		return l.noArguments(c)
	}
	v, err := jsonv.Parse(c.Arguments)
	if err != nil {
		return Arguments{Problem: "unparsable arguments: " + tree.Cut(string(c.Arguments), 120)}
	}
	switch v.Kind() {
	case jsonv.Null:
		return l.noArguments(c)
	case jsonv.String:
		inner, err := jsonv.Parse([]byte(v.String()))
		if k := inner.Kind(); err == nil && (k == jsonv.Object || k == jsonv.Array) {
			return Arguments{Value: tree.Of(inner), DoublyEncoded: true}
		}
		// Half an object, or two of them, is no text that anybody meant.
		if text := strings.TrimSpace(v.String()); err != nil && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
			return Arguments{Problem: "unparsable arguments: " + tree.Cut(text, 120)}
		}
	}
	return Arguments{Value: tree.Of(v)}
}

func (l *Log) noArguments(c *eval.Call) Arguments {
	text := "null"
	if !l.hasRequired(c) {
		text = "{}"
	}
	v, _ := tree.Parse([]byte(text))
	return Arguments{Value: v}
}

func (l *Log) hasRequired(c *eval.Call) bool {
	t := l.Tool(c)
	if t == nil {
		return false
	}
	schema, _ := jsonv.Parse(t.InputSchema)
	return schema.Get("required").Len() > 0
}

// Tool returns the tool that a call names, nil where the target does not offer it.
func (l *Log) Tool(c *eval.Call) *eval.Tool {
	for i := range l.Tools {
		if t := &l.Tools[i]; t.Name == c.Tool && t.Server == c.Server {
			return t
		}
	}
	return nil
}

// Action is one entry of a multi-action tool's list.
type Action struct {
	Name string
	// Arguments are the action's own.
	Arguments tree.Value
}

// Actions returns the actions of a call: the entries of the list "actions" in its
// arguments. An entry {"create_page": {...}} is the action create_page with these
// arguments; an entry {"action": "create_page", ...}, or "type" in its place, is
// create_page with the entry's members. A call without such a list has none.
func Actions(c *eval.Call) []Action {
	if c.BadArguments {
		return nil
	}
	args := (&Log{}).ArgumentsOf(c).Value.Get("actions")
	var list []Action
	for entry := range args.Each {
		if name := actionName(entry); name != "" {
			list = append(list, Action{name, entry})
			continue
		}
		for member := range entry.Each {
			if entry.Kind() == jsonv.Object && member.Kind() != jsonv.Null {
				list = append(list, Action{member.Key(), member})
			}
		}
	}
	return list
}

func actionName(entry tree.Value) string {
	for _, key := range [...]string{"action", "type"} {
		if name := entry.Get(key).Text(); name != "" {
			return name
		}
	}
	return ""
}

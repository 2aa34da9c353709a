package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A value is a JSON value of a script, parts of which may be taken from the
// conversation when the step is answered.
type value interface {
	eval(*conversation) (any, error)
}

type (
	literalValue struct{ v any }
	listValue    []value
	objectValue  []namedValue
	concatValue  []value

	namedValue struct {
		name  string
		value value
	}
	// A resultValue takes from the result of an earlier call.
	resultValue struct {
		tool     string // bare name; empty: any call
		nth      int    // from 1, or from the end when negative
		path     string
		regex    *regexp.Regexp
		fallback value
	}
	// A promptValue takes from a user's prompt.
	promptValue struct {
		turn     int // from 1; 0: the present turn
		regex    *regexp.Regexp
		fallback value
	}
)

// value reads a value. An object whose one member begins with "$" is a
// reference; every other value stands for itself.
func (c *checker) value(n *node, path string) value {
	switch n.kind {
	case arrayNode:
		return c.values(n, path)
	case objectNode:
		return c.object(n, path)
	default:
		return literalValue{n.plain()}
	}
}

func (c *checker) values(n *node, path string) listValue {
	list := make(listValue, len(n.items))
	for i, item := range n.items {
		list[i] = c.value(item, fmt.Sprintf("%s[%d]", path, i))
	}
	return list
}

var references = []string{"$result", "$prompt", "$concat", "$literal"}

func (c *checker) object(n *node, path string) value {
	for _, m := range n.members {
		if !strings.HasPrefix(m.name, "$") {
			continue
		}
		if !slices.Contains(references, m.name) {
			c.errorf(m.off, path, `unknown reference %q%s; write {"$literal": ...} for an object with such a member`, m.name, didYouMean(m.name, references))
		} else if len(n.members) > 1 {
			c.errorf(m.off, path, "%s must be the only member of its object", m.name)
		} else {
			return c.reference(m, path+"."+m.name)
		}
		return literalValue{nil}
	}
	obj := make(objectValue, len(n.members))
	for i, m := range n.members {
		obj[i] = namedValue{m.name, c.value(m.value, path+"."+m.name)}
	}
	return obj
}

func (c *checker) reference(m member, path string) value {
	switch m.name {
	case "$literal":
		return literalValue{m.value.plain()}
	case "$concat":
		if m.value.kind != arrayNode {
			c.errorf(m.value.off, path, "want a list, found %v", m.value.kind)
			return literalValue{nil}
		}
		return concatValue(c.values(m.value, path))
	case "$prompt":
		f := c.fields(m.value, path, "turn", "regex", "default")
		return promptValue{turn: f.whole("turn", 1, maxTurns), regex: f.regex("regex"), fallback: f.value("default")}
	}
	return c.result(m.value, path)
}

func (c *checker) result(n *node, path string) value {
	f := c.fields(n, path, "call", "nth", "path", "regex", "default")
	v := resultValue{nth: -1, path: f.str("path"), regex: f.regex("regex"), fallback: f.value("default")}
	switch call := f.members["call"]; {
	case call == nil:
		c.errorf(n.off, path, `"call" is missing: a tool's name, or -1 for the last call, -2 for the one before, 1 for the first`)
	case call.kind == stringNode && call.str != "":
		v.tool = call.str
		if f.has("nth") {
			v.nth = f.whole("nth", -maxSteps, maxSteps)
		}
	default:
		v.nth = f.whole("call", -maxSteps, maxSteps)
		if f.has("nth") {
			c.errorf(f.members["nth"].off, path, `"nth" goes with a tool's name in "call"`)
		}
	}
	if v.nth == 0 && len(c.problems) == 0 {
		c.errorf(n.off, path, "calls count from 1, or from -1 for the last")
	}
	if v.path != "" && !strings.HasPrefix(v.path, "/") {
		c.errorf(f.members["path"].off, f.sub("path"), `a JSON pointer begins with "/", such as /structuredContent/id`)
	}
	return v
}

func (f fields) value(name string) value {
	n := f.members[name]
	if n == nil {
		return nil
	}
	return f.c.value(n, f.sub(name))
}

// text reads a text: a string, a reference, or a list of both to be joined.
func (f fields) text(name string) value {
	n := f.members[name]
	if n == nil {
		return nil
	}
	switch n.kind {
	case stringNode, objectNode:
		return f.c.value(n, f.sub(name))
	case arrayNode:
		return concatValue(f.c.values(n, f.sub(name)))
	}
	f.c.errorf(n.off, f.sub(name), "want a string, or a list of strings and references, found %v", n.kind)
	return nil
}

func (v literalValue) eval(*conversation) (any, error) { return v.v, nil }

func (v listValue) eval(c *conversation) (any, error) {
	out := make([]any, len(v))
	for i, item := range v {
		got, err := item.eval(c)
		if err != nil {
			return nil, err
		}
		out[i] = got
	}
	return out, nil
}

func (v objectValue) eval(c *conversation) (any, error) {
	out := make(map[string]any, len(v))
	for _, m := range v {
		got, err := m.value.eval(c)
		if err != nil {
			return nil, err
		}
		out[m.name] = got
	}
	return out, nil
}

func (v concatValue) eval(c *conversation) (any, error) {
	var b strings.Builder
	for _, part := range v {
		got, err := part.eval(c)
		if err != nil {
			return nil, err
		}
		b.WriteString(asText(got))
	}
	return b.String(), nil
}

func (v resultValue) eval(c *conversation) (any, error) {
	got, err := v.find(c)
	if err != nil && v.fallback != nil {
		return v.fallback.eval(c)
	}
	return got, err
}

func (v resultValue) find(c *conversation) (any, error) {
	r, err := c.find(v.tool, v.nth)
	if err != nil {
		return nil, err
	}
	var got any = r.text()
	if v.path != "" {
		if got, err = pointer(r.document(), v.path); err != nil {
			return nil, fmt.Errorf("result of %s: %w", r.name, err)
		}
	}
	if v.regex == nil {
		return got, nil
	}
	return match(v.regex, asText(got), "the result of "+r.name.String())
}

func (v promptValue) eval(c *conversation) (any, error) {
	got, err := v.find(c)
	if err != nil && v.fallback != nil {
		return v.fallback.eval(c)
	}
	return got, err
}

func (v promptValue) find(c *conversation) (any, error) {
	i := len(c.turns)
	if v.turn > 0 {
		i = v.turn
	}
	if i < 1 || i > len(c.turns) {
		return nil, fmt.Errorf("turn %d has no prompt yet", i)
	}
	if v.regex == nil {
		return c.turns[i-1].prompt, nil
	}
	return match(v.regex, c.turns[i-1].prompt, fmt.Sprintf("the prompt of turn %d", i))
}

// match gives the first group of the first match, or all of it without groups.
func match(re *regexp.Regexp, s, where string) (any, error) {
	m := re.FindStringSubmatch(s)
	if m == nil {
		return nil, fmt.Errorf("%q does not match %s", re, where)
	}
	return m[min(1, len(m)-1)], nil
}

// pointer follows a JSON pointer (RFC 6901).
func pointer(doc any, path string) (any, error) {
	at := doc
	for _, key := range strings.Split(path, "/")[1:] {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		var ok bool
		switch v := at.(type) {
		case map[string]any:
			at, ok = v[key]
		case []any:
			var i int
			i, ok = index(key, len(v))
			if ok {
				at = v[i]
			}
		}
		if !ok {
			return nil, fmt.Errorf("nothing at %s", path)
		}
	}
	return at, nil
}

func index(key string, n int) (int, bool) {
	i, err := strconv.Atoi(key)
	return i, err == nil && i >= 0 && i < n
}

// asText is a string as it is and any other value as compact JSON.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(compact(v))
}

// compact encodes a value that is known to be JSON, without HTML escapes.
func compact(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("scripted-model: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

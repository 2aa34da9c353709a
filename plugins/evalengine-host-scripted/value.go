package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// reference is a value of an earlier result.
type reference struct {
	name    string
	pointer []string
}

// text is a string with references in it: literal parts and references take turns.
type text struct {
	parts []any // string or reference
}

// value is a JSON value with references in it. Without any it is kept as written.
type value struct {
	raw  eval.JSON
	tree any // nil where there is no reference
}

var placeholder = regexp.MustCompile(`\{\{\{\{|\{\{([^{}]*)\}\}`)

// text reads a string's placeholders.
func (p *parser) text(s, at string) (*text, error) {
	t := &text{}
	end := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(s, -1) {
		t.parts = append(t.parts, s[end:m[0]])
		end = m[1]
		if m[2] < 0 {
			t.parts = append(t.parts, "{{")
			continue
		}
		name, pointer, _ := strings.Cut(s[m[2]:m[3]], "/")
		if pointer != "" || strings.HasSuffix(s[m[2]:m[3]], "/") {
			pointer = "/" + pointer
		}
		r, err := p.reference(name, pointer, at)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, r)
	}
	t.parts = append(t.parts, s[end:])
	return t, nil
}

func (p *parser) reference(name, pointer, at string) (reference, error) {
	if !p.saved[name] {
		return reference{}, fmt.Errorf("%s: %q is not the save of an earlier step", at, name)
	}
	if pointer != "" && pointer[0] != '/' {
		return reference{}, fmt.Errorf("%s: pointer %q does not begin with a slash", at, pointer)
	}
	r := reference{name: name}
	if pointer == "" {
		return r, nil
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		r.pointer = append(r.pointer, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return r, nil
}

// value reads a JSON value's references.
func (p *parser) value(b json.RawMessage, at string) (value, error) {
	v := value{raw: eval.JSON(bytes.TrimSpace(b))}
	if !bytes.Contains(b, []byte("$from")) && !bytes.Contains(b, []byte("{{")) {
		return v, nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return v, fmt.Errorf("%s: %w", at, err)
	}
	var err error
	v.tree, err = p.tree(tree, at)
	return v, err
}

// tree replaces what stands for a value in a decoded one.
func (p *parser) tree(v any, at string) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return p.text(v, at)
	case []any:
		for i := range v {
			if v[i], err = p.tree(v[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if _, ok := v["$from"]; ok {
			return p.fromObject(v, at)
		}
		for k := range v {
			if v[k], err = p.tree(v[k], at+"."+k); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func (p *parser) fromObject(v map[string]any, at string) (any, error) {
	name, ok := v["$from"].(string)
	pointer, ok2 := v["pointer"].(string)
	_, given := v["pointer"]
	if !ok || given != ok2 || len(v) > 2 || (len(v) == 2 && !given) {
		return nil, fmt.Errorf(`%s: want {"$from": NAME, "pointer": POINTER} and nothing else`, at)
	}
	return p.reference(name, pointer, at)
}

// render puts in the values of the results saved so far.
func (t *text) render(saved map[string]any) (string, error) {
	var b strings.Builder
	for _, part := range t.parts {
		r, ok := part.(reference)
		if !ok {
			b.WriteString(part.(string))
			continue
		}
		v, err := r.resolve(saved)
		if err != nil {
			return "", err
		}
		if s, ok := v.(string); ok {
			b.WriteString(s)
			continue
		}
		j, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		b.Write(j)
	}
	return b.String(), nil
}

// render puts in the values of the results saved so far.
func (v value) render(saved map[string]any) (eval.JSON, error) {
	if v.tree == nil {
		return v.raw, nil
	}
	tree, err := renderTree(v.tree, saved)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

func renderTree(v any, saved map[string]any) (any, error) {
	var err error
	switch v := v.(type) {
	case reference:
		return v.resolve(saved)
	case *text:
		return v.render(saved)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			if out[i], err = renderTree(v[i], saved); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			if out[k], err = renderTree(v[k], saved); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

var errNotThere = errors.New("not in the result")

func (r reference) resolve(saved map[string]any) (any, error) {
	v := saved[r.name]
	for i, token := range r.pointer {
		next, err := member(v, token)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", r.name, strings.Join(r.pointer[:i+1], "/"), err)
		}
		v = next
	}
	return v, nil
}

// member goes one token of a pointer further.
func member(v any, token string) (any, error) {
	if s, ok := v.(string); ok {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%w: the text is not JSON", errNotThere)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if m, ok := v[token]; ok {
			return m, nil
		}
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			return v[i], nil
		}
		if field, want, ok := strings.Cut(token, "="); ok {
			return first(v, field, want)
		}
	}
	return nil, errNotThere
}

// first is the first object of a list that has the value in the field.
func first(list []any, field, want string) (any, error) {
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		if got, ok := m[field]; ok && fmt.Sprint(got) == want {
			return e, nil
		}
	}
	return nil, errNotThere
}

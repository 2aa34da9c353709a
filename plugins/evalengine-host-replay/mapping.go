package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// minInside is the shortest recorded value that is replaced inside longer strings:
// a shorter one would be found where it is not meant.
const minInside = 6

// mapping carries values from a recorded target over to a fresh one. See
// REPLAY.md for the rule.
type mapping struct {
	strings map[string]string
	numbers map[string]json.Number
	// inside are the strings of at least minInside bytes, longest first.
	inside []string
}

func newMapping() *mapping {
	return &mapping{strings: map[string]string{}, numbers: map[string]json.Number{}}
}

// decode reads a JSON value; numbers keep their form.
func decode(j []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	return v, !d.More()
}

// learn pairs what differs between a recorded and a fresh result.
func (m *mapping) learn(recorded, fresh eval.JSON) {
	was, ok1 := decode(recorded)
	is, ok2 := decode(fresh)
	if ok1 && ok2 {
		m.pair(was, is)
	}
}

// learnText pairs the words of a recorded and a fresh prompt.
func (m *mapping) learnText(recorded, fresh string) {
	was, is := strings.Fields(recorded), strings.Fields(fresh)
	if len(was) != len(is) {
		return
	}
	const marks = `.,;:!?()[]{}<>"'` + "`"
	for i := range was {
		m.pairStrings(strings.Trim(was[i], marks), strings.Trim(is[i], marks))
	}
}

func (m *mapping) pair(was, is any) {
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			for k := range was {
				if v, ok := is[k]; ok {
					m.pair(was[k], v)
				}
			}
		}
	case []any:
		if is, ok := is.([]any); ok {
			for i := range min(len(was), len(is)) {
				m.pair(was[i], is[i])
			}
		}
	case string:
		if is, ok := is.(string); ok {
			m.pairStrings(was, is)
		}
	case json.Number:
		if is, ok := is.(json.Number); ok {
			m.numbers[was.String()] = is
		}
	}
}

// pairStrings pairs two strings, or what is in them where both are JSON.
func (m *mapping) pairStrings(was, is string) {
	if a, ok := container(was); ok {
		if b, ok := container(is); ok {
			m.pair(a, b)
			return
		}
	}
	old, known := m.strings[was]
	if was == "" || (was == is && !known) || (known && old == is) {
		return
	}
	m.strings[was] = is
	if len(was) < minInside || known {
		return
	}
	m.inside = append(m.inside, was)
	slices.SortFunc(m.inside, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

// container reads a text that is a JSON object or list.
func container(s string) (any, bool) {
	s = strings.TrimSpace(s)
	if s == "" || (s[0] != '{' && s[0] != '[') {
		return nil, false
	}
	return decode([]byte(s))
}

// arguments rewrites a call's arguments; what has nothing to rewrite is kept as
// written.
func (m *mapping) arguments(j eval.JSON) eval.JSON {
	v, ok := decode(j)
	if !ok {
		return j
	}
	changed := false
	v = m.rewrite(v, "", &changed)
	if !changed {
		return j
	}
	b, err := json.Marshal(v)
	if err != nil {
		return j
	}
	return b
}

func (m *mapping) rewrite(v any, field string, changed *bool) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = m.rewrite(v[k], k, changed)
		}
	case []any:
		for i := range v {
			v[i] = m.rewrite(v[i], field, changed)
		}
	case string:
		s := m.text(v)
		*changed = *changed || s != v
		return s
	case json.Number:
		if is, ok := m.numbers[v.String()]; ok && isID(field) {
			*changed = *changed || is != v
			return is
		}
	}
	return v
}

// text rewrites a string.
func (m *mapping) text(s string) string {
	if is, ok := m.strings[s]; ok {
		return is
	}
	var pairs []string
	for _, was := range m.inside {
		if strings.Contains(s, was) {
			pairs = append(pairs, was, m.strings[was])
		}
	}
	if len(pairs) == 0 {
		return s
	}
	// One pass, so that what was put in is not replaced again.
	return strings.NewReplacer(pairs...).Replace(s)
}

func isID(field string) bool {
	if field == "id" || field == "ids" {
		return true
	}
	for _, end := range []string{"_id", "Id", "ID", "_ids", "Ids", "IDs"} {
		if strings.HasSuffix(field, end) {
			return true
		}
	}
	return false
}

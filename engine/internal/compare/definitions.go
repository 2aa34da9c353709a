package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// definition is what a side's trials say that a score of a story was made from.
type definition struct {
	// made has each thing said once, sorted by its text; more says that there are
	// others.
	made   []madeFrom
	more   bool
	untold bool
}

type madeFrom struct {
	text  string
	parts map[string]string
}

// addDefinitions takes in what a record says that its scores were made from. One
// that says nothing leaves it unknown.
func (s *Side) addDefinitions(r *eval.Record) {
	for _, sc := range r.Scores {
		key := scoreKey{r.Story, sc.Name}
		d := s.definitions[key]
		if d == nil {
			d = &definition{}
			s.definitions[key] = d
		}
		d.add(r.MadeFrom(sc.Name))
		s.untold = s.untold || d.untold
	}
}

func (d *definition) add(parts map[string]string) {
	// The text of parameters that cannot be followed says nothing of them.
	if parts == nil || parts["params"] == "untold" {
		d.untold = true
		return
	}
	// A map's JSON is sorted by its keys.
	b, err := json.Marshal(parts)
	if err != nil {
		d.untold = true
		return
	}
	i, there := slices.BinarySearchFunc(d.made, string(b), func(m madeFrom, text string) int { return strings.Compare(m.text, text) })
	switch {
	case there:
	case len(d.made) == maxValues:
		d.more = true
	default:
		d.made = slices.Insert(d.made, i, madeFrom{string(b), parts})
	}
}

// Defined reports whether each trial says what its scores were made from: nothing
// else need be asked for it.
func (s *Side) Defined() bool { return !s.untold }

// defined reports whether both sides know what a score was made from, and returns
// the parts that are not the same; several things on one side are part "".
func (m *matching) defined(key scoreKey) (changed []string, known bool) {
	b, h := m.base.definitions[key], m.head.definitions[key]
	if b == nil || h == nil || b.untold || h.untold {
		return nil, false
	}
	if slices.EqualFunc(b.made, h.made, func(x, y madeFrom) bool { return x.text == y.text }) && b.more == h.more {
		return nil, true
	}
	if len(b.made) != 1 || len(h.made) != 1 {
		return []string{""}, true
	}
	x, y := b.made[0].parts, h.made[0].parts
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, part := range slices.Sorted(maps.Keys(all)) {
		if x[part] != y[part] {
			changed = append(changed, part)
		}
	}
	return changed, true
}

// definitionChanged says why a score of a story is not of one scale on both sides;
// known is false where the records do not tell.
func (m *matching) definitionChanged(key scoreKey) (why string, known bool) {
	changed, known := m.defined(key)
	if len(changed) == 0 {
		return "", known
	}
	if changed[0] == "" {
		return fmt.Sprintf("story %s: trials of one side made %s from different things", key.story, key.score), true
	}
	words := make([]string, len(changed))
	for i, part := range changed {
		words[i] = partWords(part)
	}
	return fmt.Sprintf("story %s: %s of %s changed", key.story, strings.Join(words, ", "), key.score), true
}

func partWords(part string) string {
	kind, rest, _ := strings.Cut(part, ".")
	switch {
	case kind == "module":
		return "the scorer module"
	case kind == "model":
		return "the model " + rest
	case kind == "param" && (rest == "rubric" || rest == "brief"):
		return "the " + rest
	case kind == "param":
		return "the parameter " + rest
	case kind == "params":
		return "the parameters"
	case kind == "condition":
		return "the condition"
	case kind == "values":
		return "what the condition refers to"
	}
	return "the " + part
}

// definitionChanges are scores that are made from something else; what a change of a
// scorer's module says already is left out.
func (m *matching) definitionChanges() []eval.Change {
	var out []eval.Change
	for key := range m.base.definitions {
		changed, _ := m.defined(key)
		changed = slices.DeleteFunc(changed, func(part string) bool { return part == "module" || part == "" })
		if len(changed) == 0 {
			continue
		}
		b, h := m.base.definitions[key].made[0].parts, m.head.definitions[key].made[0].parts
		c := eval.Change{What: changeParameters, Name: key.story + " " + key.score}
		for _, part := range changed {
			c.Base, c.Head = append(c.Base, told(part, b)), append(c.Head, told(part, h))
		}
		out = append(out, c)
	}
	return out
}

func told(part string, parts map[string]string) string {
	if v := parts[part]; v != "" {
		return part + " " + v
	}
	return part + " none"
}

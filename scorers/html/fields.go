package main

import (
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/markup"
)

// fieldList has what decides whether form fields have labels: it is known only at
// the end of the page.
type fieldList struct {
	open []field
	// texts says of each label whether it has text, targets which IDs such labels are
	// for.
	texts   []bool
	targets map[string]bool
	ids     map[string]bool
	// around are the labels that are open, by number.
	around []int
}

// field is a field with neither aria-label nor title.
type field struct {
	id, labelledBy string
	spot           markup.Spot
	// label is the number of the label around it, or -1.
	label       int
	placeholder bool
}

// Bounds of what is kept of one page, and how much of an ID.
const (
	maxFields = 20_000
	maxIDs    = 200_000
	maxID     = 200
)

func newFieldList() fieldList {
	return fieldList{targets: map[string]bool{}, ids: map[string]bool{}}
}

func (l *fieldList) id(v []byte) {
	if len(v) > 0 && len(v) <= maxID && len(l.ids) < maxIDs {
		l.ids[string(v)] = true
	}
}

// field notes a field for later, or counts it where its own attributes name it.
func (s *surveyor) field(e *markup.Element) {
	if e.Has("aria-label") || e.Has("title") {
		s.fields.add("", nil)
		return
	}
	if len(s.fieldList.open) >= maxFields {
		return
	}
	f := field{label: -1, spot: e.Spot(), placeholder: e.Has("placeholder"), id: attr(e, "id"), labelledBy: attr(e, "aria-labelledby")}
	if n := len(s.around); n > 0 {
		f.label = s.around[n-1]
	}
	s.fieldList.open = append(s.fieldList.open, f)
}

func attr(e *markup.Element, name string) string {
	v, _ := e.Attr(name)
	return string(v[:min(len(v), maxID)])
}

func (s *surveyor) openLabel(e *markup.Element, f *frame) {
	if f.collects {
		return
	}
	n := named{e: e, kind: kindLabel, label: len(s.texts), target: attr(e, "for")}
	s.texts = append(s.texts, false)
	s.around = append(s.around, n.label)
	s.open(f, n)
}

func (s *surveyor) closeLabel(n named, name string) {
	s.around = s.around[:len(s.around)-1]
	if name == "" {
		return
	}
	s.texts[n.label] = true
	if n.target != "" {
		s.targets[n.target] = true
	}
}

// resolve counts the fields that were noted.
func (s *surveyor) resolve() {
	for _, f := range s.fieldList.open {
		s.fields.add(s.problem(f), f.spot.String)
	}
}

func (l *fieldList) problem(f field) string {
	dangling := false
	for _, id := range strings.Fields(f.labelledBy) {
		if l.ids[id] {
			return ""
		}
		dangling = true
	}
	switch {
	case f.id != "" && l.targets[f.id], f.label >= 0 && l.texts[f.label]:
		return ""
	case dangling:
		return "aria-labelledby names no element"
	case f.placeholder:
		return "a placeholder is no label"
	}
	return "field without a label"
}

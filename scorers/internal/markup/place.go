package markup

import (
	"bytes"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/tree"
)

// above is how many elements around an element its place names.
const above = 3

// Place says where an element is and how it begins, for a person:
// `main > ul.nav > img <img src="a.png">`.
func (e *Element) Place() string { return e.Spot().String() }

// Spot is where an element is, to be told later if at all. It keeps the document.
type Spot struct {
	src []byte
	// tags are the start tags, from the element's own outwards.
	tags [above + 1]span
}

// Spot returns where an element is.
func (e *Element) Spot() Spot {
	s := Spot{src: e.src}
	for i := 0; e != nil && i <= above; i, e = i+1, e.Parent {
		s.tags[i] = e.tag
	}
	return s
}

// String is what [Element.Place] says.
func (s Spot) String() string {
	const shown = 100
	path := selector(s.tags[0].of(s.src))
	for _, t := range s.tags[1:] {
		if t.to > 0 {
			path = selector(t.of(s.src)) + " > " + path
		}
	}
	return path + " " + cut(s.tags[0].of(s.src), shown)
}

// selector is the tag with its ID, or else its first class.
func selector(source []byte) string {
	const shown = 40
	id, class := []byte(nil), []byte(nil)
	s := scanner{src: source}
	s.next()
	for _, a := range s.attributes {
		switch {
		case equalFold(a.key, "id"):
			id = first(a.value)
		case equalFold(a.key, "class"):
			class = first(a.value)
		}
	}
	name := strings.ToLower(cut(s.name, shown))
	switch {
	case len(id) > 0:
		return name + "#" + cut(id, shown)
	case len(class) > 0:
		return name + "." + cut(class, shown)
	}
	return name
}

// first returns the first word.
func first(value []byte) []byte {
	value = bytes.TrimSpace(value)
	if i := bytes.IndexAny(value, " \t\r\n\f"); i >= 0 {
		value = value[:i]
	}
	return value
}

// cut returns text for a reason, white space in it as one space.
func cut(text []byte, limit int) string {
	const long = 4
	text = text[:min(len(text), limit*long)]
	return tree.Cut(strings.Join(strings.Fields(string(unescape(text))), " "), limit)
}

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
	names   [above + 1]string
	sources [above + 1][]byte
}

// Spot returns where an element is.
func (e *Element) Spot() Spot {
	var s Spot
	for i := 0; e != nil && i <= above; i, e = i+1, e.Parent {
		s.names[i], s.sources[i] = e.Tag.Name, e.source
	}
	return s
}

// String is what [Element.Place] says.
func (s Spot) String() string {
	const shown = 100
	path := selector(s.names[0], s.sources[0])
	for i := 1; i <= above && s.names[i] != ""; i++ {
		path = selector(s.names[i], s.sources[i]) + " > " + path
	}
	return path + " " + cut(s.sources[0], shown)
}

// selector is the tag with its ID, or else its first class.
func selector(name string, source []byte) string {
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
	name = tree.Cut(name, shown)
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

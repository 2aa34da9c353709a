package main

import (
	"bytes"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/markup"
)

// surveyor walks a page once and gathers what all measures of it need.
type surveyor struct {
	*facts
	// frames are of the open elements, by their depth.
	frames []frame
	tables []layout
	named  []named
	level  int
	fieldList
}

// frame is what is known of an open element's inside.
type frame struct {
	divs int
	// hidden from assistive technology, inside a landmark, inside a sectioning
	// element, inside a frame of the page.
	hidden, marked, section, framed bool
	// collects and layout say that the element ends one of named, of tables.
	collects, layout bool
}

// layout is an open table: its parts count when it is known what it is.
type layout struct {
	parts int
	data  bool
	// off is set for a table whose role takes its meaning away.
	off bool
}

func survey(page *eval.Page) *facts {
	s := &surveyor{facts: &facts{page: page.Name}, fieldList: newFieldList()}
	markup.Walk(page.HTML, classify, s)
	s.resolve()
	if s.headings.all == 0 && s.text > 0 {
		s.headings = tally{all: 1, wrong: 1, first: []string{"no heading at all"}}
	}
	return s.facts
}

// inside is the frame of an element; of none it is empty.
func (s *surveyor) inside(e *markup.Element) frame {
	if e == nil {
		return frame{}
	}
	return s.frames[e.Depth]
}

func (s *surveyor) Open(e *markup.Element) {
	f := s.inside(e.Parent)
	f.collects, f.layout = false, false
	kind := e.Tag.Class
	if v, _ := e.Attr("aria-hidden"); string(v) == "true" {
		f.hidden = true
	}
	if !e.Foreign {
		s.page(e, &f, kind)
	} else if kind&kindMask == kindSVG && !f.hidden {
		s.svg(e, &f)
	}
	if e.Depth == len(s.frames) {
		s.frames = append(s.frames, f)
	} else {
		s.frames[e.Depth] = f
	}
}

// page looks at an element of HTML itself.
func (s *surveyor) page(e *markup.Element, f *frame, class int) {
	r := ""
	if v, ok := e.Attr("role"); ok {
		r = role(v)
	}
	if id, ok := e.Attr("id"); ok {
		s.id(id)
	}
	s.count(e, f, class, r)
	s.landmark(e, f, class, r)
	f.section = f.section || class&section != 0
	kind := class & kindMask
	f.framed = f.framed || kind == kindFrame
	if kind == kindDiv {
		s.div(e, f)
	}
	switch {
	case f.hidden:
	case kind == kindHeading && !isGeneric(r) || r == "heading":
		s.open(f, named{e: e, kind: kindHeading, level: level(e)})
	case kind == kindLink:
		if href, ok := e.Attr("href"); ok {
			s.open(f, named{e: e, kind: kindLink, dead: dead(href)})
		}
	case kind == kindLabel:
		s.openLabel(e, f)
	case kind == kindImage, kind == kindArea, kind == kindInput && isType(e, "image"):
		s.image(e, kind, r)
	case kind == kindInput && !isType(e, "hidden", "submit", "button", "reset"), kind == kindField:
		s.field(e)
	case r == "img":
		s.images.at(unless(hasName(e), "no name"), e)
	}
}

// count adds an element to the semantic or the generic ones.
func (s *surveyor) count(e *markup.Element, f *frame, class int, r string) {
	kind := class & kindMask
	switch {
	case kind == kindTable:
		s.tables = append(s.tables, layout{parts: 1, off: isGeneric(r), data: r == "table" || r == "grid" || r == "treegrid"})
		f.layout = true
	case class&table != 0:
		if len(s.tables) == 0 {
			s.generic++
			return
		}
		t := &s.tables[len(s.tables)-1]
		t.parts++
		t.data = t.data || kind == kindTableHead
	case kind == kindLink:
		if _, ok := e.Attr("href"); ok && !isGeneric(r) {
			s.semantic++
		} else {
			s.generic++
		}
	case kind == kindInput && isType(e, "hidden"):
	case class&semantic != 0 && !isGeneric(r):
		s.semantic++
	case class&(semantic|generic) != 0:
		s.generic++
	}
}

func (s *surveyor) div(e *markup.Element, f *frame) {
	if f.divs++; f.divs > s.depth {
		s.depth = f.divs
		s.deepest = ""
		if f.divs > defaultDepth/2 {
			s.deepest = e.Place()
		}
	}
}

func (s *surveyor) landmark(e *markup.Element, f *frame, class int, r string) {
	if f.framed {
		return
	}
	is := false
	switch kind := class & kindMask; {
	case r != "":
		is = landmark(r, hasName(e))
	case kind == kindMain, kind == kindLandmark, class == kinds["search"]:
		is = true
	case kind == kindHeader:
		is = !f.section
	case kind == kindNamedLandmark:
		is = hasName(e)
	}
	if !is {
		return
	}
	s.marks++
	f.marked = true
	if r == "main" || r == "" && class&kindMask == kindMain {
		s.mains++
	}
}

func (s *surveyor) Text(parent *markup.Element, text []byte) {
	if parent == nil {
		s.text += ink(text)
		return
	}
	f := &s.frames[parent.Depth]
	if parent.Tag.Class != kindTitle {
		n := ink(text)
		s.text += n
		if f.marked {
			s.inLandmarks += n
		}
	}
	if kind := parent.Tag.Class & kindMask; !f.hidden && len(s.named) > 0 && kind != kindField && kind != kindOption {
		s.say(text)
	}
}

func (s *surveyor) Close(e *markup.Element) {
	f := &s.frames[e.Depth]
	if f.collects {
		s.close()
	}
	if f.layout {
		t := s.tables[len(s.tables)-1]
		s.tables = s.tables[:len(s.tables)-1]
		if t.data && !t.off {
			s.semantic += t.parts
		} else {
			s.generic += t.parts
		}
	}
}

// ink is how many bytes are not white space.
func ink(text []byte) int {
	n := 0
	for _, c := range text {
		if c > ' ' {
			n++
		}
	}
	return n
}

func hasName(e *markup.Element) bool {
	return e.Has("aria-label") || e.Has("aria-labelledby") || e.Has("title")
}

func isType(e *markup.Element, types ...string) bool {
	v, ok := e.Attr("type")
	if !ok {
		return false
	}
	for _, t := range types {
		if bytes.EqualFold(bytes.TrimSpace(v), []byte(t)) {
			return true
		}
	}
	return false
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

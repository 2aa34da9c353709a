package main

import (
	"bytes"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/markup"
)

// named is an open element whose content is its name: a heading, a link, a label.
type named struct {
	e    *markup.Element
	kind int
	// text is its content, as far as it matters; fixed is set where an attribute is
	// its name instead.
	text  []byte
	fixed bool
	// fallback is its name where the content says nothing.
	fallback string
	level    int
	// dead says what is wrong with a link's address.
	dead string
	// label is a label's number, target the ID of its field.
	label  int
	target string
}

// nameLimit is how much of a name is kept.
const nameLimit = 80

// open begins to collect the name of an element.
func (s *surveyor) open(f *frame, n named) {
	if f.collects {
		return
	}
	if v, _ := n.e.Attr("aria-label"); len(bytes.TrimSpace(v)) > 0 {
		n.text, n.fixed = appendText(nil, v), true
	} else if n.e.Has("aria-labelledby") {
		n.text, n.fixed = []byte("(named by another element)"), true
	} else if v, ok := n.e.Attr("title"); ok {
		n.fallback = string(appendText(nil, v))
	}
	f.collects = true
	s.named = append(s.named, n)
}

// say adds text to the innermost name.
func (s *surveyor) say(text []byte) {
	if n := &s.named[len(s.named)-1]; !n.fixed {
		n.text = appendText(n.text, text)
	}
}

// appendText adds text without the white space around it, up to the limit.
func appendText(b, text []byte) []byte {
	if len(b) >= nameLimit {
		return b
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return b
	}
	if len(b) > 0 {
		b = append(b, ' ')
	}
	return append(b, text[:min(len(text), nameLimit)]...)
}

// close takes the innermost name; what is around it has it for content too.
func (s *surveyor) close() {
	n := s.named[len(s.named)-1]
	s.named = s.named[:len(s.named)-1]
	name := string(n.text)
	if name == "" {
		name = n.fallback
	}
	switch n.kind {
	case kindHeading:
		s.heading(n, name)
	case kindLink:
		s.links.at(linkProblem(n, name), n.e)
	case kindLabel:
		s.closeLabel(n, name)
	case kindSVG:
		s.images.at(unless(name != "", "no name"), n.e)
	}
	if len(s.named) > 0 && len(n.text) > 0 {
		s.say(n.text)
	}
}

func level(e *markup.Element) int {
	if v, ok := e.Attr("aria-level"); ok {
		if len(v) == 1 && v[0] >= '1' && v[0] <= '9' {
			return int(v[0] - '0')
		}
	}
	if name := e.Tag.Name; len(name) == 2 && name[0] == 'h' {
		return int(name[1] - '0')
	}
	return 2
}

// heading holds a heading to the one before it.
func (s *surveyor) heading(n named, name string) {
	if s.frames[n.e.Depth].framed {
		return
	}
	before, why := s.level, ""
	switch {
	case name == "":
		why = "heading without text"
	case before == 0 && n.level != 1:
		why = "the first heading is of level " + string(rune('0'+n.level))
	case before != 0 && n.level == 1:
		why = "one more heading of level 1"
	case before != 0 && n.level > before+1:
		why = "level " + string(rune('0'+n.level)) + " follows level " + string(rune('0'+before))
	}
	if why != "" && name != "" {
		why += " (" + quoted(name) + ")"
	}
	s.headings.at(why, n.e)
	if name != "" {
		s.level = n.level
	}
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return `"` + s + `"`
}

// vague are names that say nothing of where a link leads.
var vague = map[string]bool{
	"click here": true, "here": true, "click": true, "link": true, "this": true, "this link": true, "this page": true, "more": true,
	"read more": true, "learn more": true, "see more": true, "details": true, "go": true, "...": true, "…": true, ">": true, "»": true, "›": true,
}

func linkProblem(n named, name string) string {
	switch {
	case name == "":
		return "link without a name"
	case n.dead != "":
		return "link " + n.dead
	case vague[strings.ToLower(strings.TrimRight(name, " .→>»›!"))] || vague[name]:
		return "link says only " + quoted(name)
	}
	return ""
}

// dead says what is wrong with an address, "" for nothing.
func dead(href []byte) string {
	href = bytes.TrimSpace(href)
	switch {
	case len(href) == 0:
		return "with an empty address"
	case string(href) == "#":
		return `to "#"`
	case len(href) >= 11 && bytes.EqualFold(href[:11], []byte("javascript:")):
		return "to a script"
	}
	return ""
}

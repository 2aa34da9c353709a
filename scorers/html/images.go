package main

import (
	"bytes"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/markup"
)

// image looks at the text that stands for a picture.
func (s *surveyor) image(e *markup.Element, kind int, r string) {
	if kind == kindArea {
		if _, ok := e.Attr("href"); !ok {
			return
		}
	}
	alt, ok := e.Attr("alt")
	if text := bytes.TrimSpace(alt); len(text) > 0 && kind == kindImage && len(s.named) > 0 {
		s.say(text)
	} else if v, _ := e.Attr("aria-label"); kind == kindImage && len(s.named) > 0 {
		s.say(v)
	}
	s.images.at(imageProblem(e, alt, ok, kind == kindImage, r), e)
}

func imageProblem(e *markup.Element, alt []byte, ok, decorative bool, r string) string {
	text := strings.TrimSpace(string(alt[:min(len(alt), 4096)]))
	switch {
	case decorative && isGeneric(r), text == "" && hasName(e), text == "" && ok && decorative:
		return ""
	case text == "":
		return "no alt text"
	case isFileName(text, e):
		return "the alt text is a file name"
	}
	return ""
}

// isFileName reports whether a text is the name of a picture's file rather than
// what it shows.
func isFileName(text string, e *markup.Element) bool {
	lower := strings.ToLower(text)
	if !strings.ContainsAny(text, " \t\n") {
		for _, ext := range [...]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif"} {
			if strings.HasSuffix(lower, ext) {
				return true
			}
		}
	}
	src, _ := e.Attr("src")
	return len(text) > 3 && len(src) < 4096 && text == string(src)
}

// svg looks at a picture drawn in the page: one that says it is a picture has its
// title or an attribute for its name.
func (s *surveyor) svg(e *markup.Element, f *frame) {
	r, _ := e.Attr("role")
	if role(r) == "img" {
		s.open(f, named{e: e, kind: kindSVG})
		return
	}
	if v, _ := e.Attr("aria-label"); len(s.named) > 0 {
		s.say(v)
	}
}

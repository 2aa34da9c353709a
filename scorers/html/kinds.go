package main

import "strings"

// What a tag is, as [markup.Tag.Class]: one kind, and marks.
const (
	kindMask = 0xff

	semantic = 1 << 8  // says what it is for
	generic  = 1 << 9  // says nothing
	table    = 1 << 10 // counts with the table that it is in
	section  = 1 << 11 // a header in it is not the page's
)

const (
	kindOther = iota
	kindDiv
	kindLink
	kindImage
	kindArea
	kindInput
	kindField
	kindLabel
	kindHeading
	kindMain
	kindLandmark
	kindHeader
	kindNamedLandmark
	kindTable
	kindTableHead
	kindTitle
	kindFrame
	kindSVG
	kindOption
)

var kinds = map[string]int{
	"title": kindTitle, "eval-frame": kindFrame, "svg": kindSVG, "option": kindOption,

	"div": kindDiv | generic, "span": generic, "font": generic, "center": generic,

	"main": kindMain | semantic | section, "nav": kindLandmark | semantic | section, "aside": kindLandmark | semantic | section,
	"search": kindLandmark | semantic, "header": kindHeader | semantic, "footer": kindHeader | semantic,
	"section": kindNamedLandmark | semantic | section, "form": kindNamedLandmark | semantic, "article": semantic | section,
	"address": semantic, "hgroup": semantic, "figure": semantic, "figcaption": semantic, "dialog": semantic,

	"h1": kindHeading | semantic, "h2": kindHeading | semantic, "h3": kindHeading | semantic,
	"h4": kindHeading | semantic, "h5": kindHeading | semantic, "h6": kindHeading | semantic,

	"p": semantic, "blockquote": semantic, "pre": semantic, "ul": semantic, "ol": semantic, "menu": semantic, "li": semantic,
	"dl": semantic, "dt": semantic, "dd": semantic,

	"table": kindTable | table, "caption": kindTableHead | table, "th": kindTableHead | table, "thead": table, "tbody": table,
	"tfoot": table, "tr": table, "td": table,

	"a": kindLink, "area": kindArea, "img": kindImage,
	"button": semantic, "label": kindLabel | semantic, "input": kindInput | semantic, "select": kindField | semantic,
	"textarea": kindField | semantic, "fieldset": semantic, "legend": semantic, "optgroup": semantic,
	"output": semantic, "progress": kindField | semantic, "meter": kindField | semantic, "details": semantic, "summary": semantic,

	"em": semantic, "strong": semantic, "code": semantic, "time": semantic, "abbr": semantic, "cite": semantic, "q": semantic,
	"dfn": semantic, "mark": semantic, "kbd": semantic, "samp": semantic, "var": semantic, "sub": semantic, "sup": semantic,
	"del": semantic, "ins": semantic, "data": semantic,
}

func classify(name string) int { return kinds[name] }

const ratioDoc = "Elements that say what they are for, as a share of these and generic wrappers: S / (S + G). Both are numbers of elements " +
	"added over all pages before they are divided, so that a page counts by its volume of markup. S, semantic: " +
	"main, nav, aside, search, header, footer, section, article, address, hgroup, figure, figcaption, dialog; h1 to h6; p, blockquote, pre, ul, ol, menu, li, dl, dt, dd; " +
	"a with href, button, form, label, input, select, textarea, fieldset, legend, optgroup, output, progress, meter, details, summary; " +
	"em, strong, code, time, abbr, cite, q, dfn, mark, kbd, samp, var, sub, sup, del, ins, data; " +
	"table, caption, thead, tbody, tfoot, tr, th, td of a table that has a caption or th. G, generic: div, span, font, center, a without href, " +
	"any of S with role presentation or none, and all of a table without caption and th, which is taken for layout. A role on a wrapper does not make it semantic. " +
	"Nothing else counts: media, svg and math, custom elements (what they hold does), html, head, body, option. 1 is all semantic; a good page has some wrappers."

func ratio(pages []*facts, _ limits) measured {
	s, g := 0, 0
	for _, f := range pages {
		s, g = s+f.semantic, g+f.generic
	}
	if s+g == 0 {
		return measured{nothing: "no element that is semantic or generic"}
	}
	m := measured{value: float64(s) / float64(s+g)}
	m.reason = count(s, "semantic element") + ", " + count(g, "generic wrapper")
	if len(pages) > 1 {
		m.reason += "; " + each(pages, func(f *facts) string {
			if f.semantic+f.generic == 0 {
				return "empty"
			}
			return percent(f.semantic, f.semantic+f.generic)
		})
	}
	return m
}

// isGeneric reports whether a role takes an element's meaning away.
func isGeneric(role string) bool { return role == "none" || role == "presentation" }

// landmark reports whether a role is a landmark; a region needs a name.
func landmark(role string, named bool) bool {
	switch role {
	case "banner", "complementary", "contentinfo", "main", "navigation", "search":
		return true
	case "region", "form":
		return named
	}
	return false
}

// role is the first of the roles in an attribute.
func role(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(value)), " ")
	return strings.ToLower(first)
}

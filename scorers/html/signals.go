package main

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

const landmarksDoc = "Whether the page's parts are marked: half of the value is the share of the text, in bytes other than white space over all pages, " +
	"that lies in a landmark, the other half the share of pages with exactly one main landmark. Landmarks are main, nav, aside, search; header and footer outside of " +
	"article, aside, main, nav, section; section and form with a name (aria-label, aria-labelledby, title); and the roles banner, complementary, contentinfo, main, " +
	"navigation, search, and region and form with a name. Landmarks of frames are not the page's. A page without main is a finding (other, minor)."

func landmarks(pages []*facts, _ limits) measured {
	all, marked, right := 0, 0, 0
	m := measured{}
	for _, f := range pages {
		all, marked = all+f.text, marked+f.inLandmarks
		if f.mains == 1 {
			right++
		}
		if f.mains == 0 && f.text > 0 {
			m.findings = append(m.findings, finding(f.page, "the page "+f.page+" has no main landmark", "Put the page's own content into one main element."))
		}
	}
	if all == 0 {
		m.nothing = "no text"
		return m
	}
	m.value = 0.5*float64(marked)/float64(all) + 0.5*float64(right)/float64(len(pages))
	m.reason = percent(marked, all) + " of the text in landmarks, " + text.Int(right) + " of " + count(len(pages), "page") + " with exactly one main; " +
		each(pages, func(f *facts) string {
			return percent(f.inLandmarks, f.text) + ", " + count(f.marks, "landmark") + ", " + text.Int(f.mains) + " main"
		})
	m.findings = m.findings[:min(len(m.findings), maxFindings)]
	return m
}

// maxFindings bounds the findings of one measure.
const maxFindings = 10

func finding(page, said, suggestion string) eval.Finding {
	return eval.Finding{
		Kind: "other", Severity: eval.SeverityMinor, Text: said, Suggestion: suggestion,
		Evidence: []eval.Evidence{scorer.PageEvidence(page)},
	}
}

// findings are one for each page on which something is wrong.
func findings(pages []*facts, of func(*facts) *tally, what, suggestion string) []eval.Finding {
	var list []eval.Finding
	for _, f := range pages {
		if t := of(f); t.wrong > 0 && len(list) < maxFindings {
			list = append(list, finding(f.page, what+" on the page "+f.page+" ("+text.Int(t.wrong)+" of "+text.Int(t.all)+"): "+
				strings.Join(few(t.first), "; "), suggestion))
		}
	}
	return list
}

const headingsDoc = "Headings that stand right, as a share of all headings of all pages. A heading is wrong that has no text, that goes down by more than one level " +
	"(level 4 after level 2), that is the first of its page and not of level 1, or a further one of level 1. A page with text and no heading counts as one wrong heading. " +
	"Role heading counts, with aria-level or else 2; headings of frames do not. The raw value is how many are wrong."

func headings(pages []*facts, _ limits) measured {
	return total(pages, "heading", "out of order", func(f *facts) *tally { return &f.headings })
}

const imagesDoc = "Pictures with a text for those who do not see them, as a share of all pictures: img, area with href, input of type image, svg and other elements with role img. " +
	"Right is a text in alt, aria-label, aria-labelledby or title (of an svg, its title element too), and for an img also an empty alt or role presentation, which say that it is decoration. " +
	"Wrong is no alt, and an alt that is a file's name. What is hidden with aria-hidden does not count. The raw value is how many are wrong; each page with such is a finding (other, minor)."

func images(pages []*facts, _ limits) measured {
	of := func(f *facts) *tally { return &f.images }
	m := total(pages, "image", "without a text in their place", of)
	m.findings = findings(pages, of, "images without a text in their place", `Give every image an alt text that says what it shows, or alt="" if it is decoration.`)
	return m
}

const labelsDoc = "Form fields with a label, as a share of all fields: input (other than hidden, submit, button, reset, image), select, textarea, progress, meter. " +
	"A label is a label element with text, around the field or for its id; aria-label; title; aria-labelledby that names an element of the page. A placeholder is none. " +
	"At most 20,000 fields of a page are looked at. The raw value is how many have none; each page with such is a finding (other, minor)."

func labels(pages []*facts, _ limits) measured {
	of := func(f *facts) *tally { return &f.fields }
	m := total(pages, "field", "without a label", of)
	m.findings = findings(pages, of, "form fields without a label", "Give every field a label element that is for its id.")
	return m
}

const linksDoc = "Links that say where they lead and lead somewhere, as a share of all links (a with href). Wrong is a link without a name " +
	"(text, alt text of an image in it, aria-label, aria-labelledby, title), one whose whole name is as vague as \"click here\" or \"read more\", and one with an empty address, \"#\" or a script for its address. " +
	"The raw value is how many are wrong."

func links(pages []*facts, _ limits) measured {
	return total(pages, "link", "that say nothing or lead nowhere", func(f *facts) *tally { return &f.links })
}

const depthDoc = "How deep divs nest: the largest number of div elements around one place of a page, itself included, on any page. The value is 1 up to max and max / number above it. " +
	"Other elements between them do not matter. The raw value is the number."

func divDepth(pages []*facts, l limits) measured {
	var worst *facts
	for _, f := range pages {
		if worst == nil || f.depth > worst.depth {
			worst = f
		}
	}
	if elements(pages) == 0 {
		return measured{nothing: "no element that is semantic or generic"}
	}
	m := measured{value: 1, raw: float64(worst.depth), reason: count(worst.depth, "level") + " of div on " + worst.page}
	if m.raw > l.depth {
		m.value = l.depth / m.raw
		m.reason += ", more than " + text.Number(l.depth)
	}
	if worst.deepest != "" {
		m.reason += ": " + worst.deepest
	}
	return m
}

func elements(pages []*facts) int {
	n := 0
	for _, f := range pages {
		n += f.semantic + f.generic
	}
	return n
}

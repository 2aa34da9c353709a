package main

import (
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/markup"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
)

// facts are what one page's HTML, or its accessibility tree, comes to.
type facts struct {
	page              string
	semantic, generic int
	// text is the text that is not white space, in bytes; inLandmarks is how much of
	// it is in a landmark.
	text, inLandmarks int
	mains, marks      int
	headings          tally
	images            tally
	fields            tally
	links             tally
	tree              tally
	// depth is how many divs are around the innermost one, itself included.
	depth   int
	deepest string
}

// tally counts things and those of them that are wrong.
type tally struct {
	all, wrong int
	first      []string
}

// shown is how many wrong things of a page are told one by one.
const shown = 5

// add counts a thing; place says where it is and is asked only where that is told.
func (t *tally) add(why string, place func() string) {
	t.all++
	if why == "" {
		return
	}
	if t.wrong++; len(t.first) < shown {
		t.first = append(t.first, why+": "+place())
	}
}

// at counts a thing at an element.
func (t *tally) at(why string, e *markup.Element) {
	if why == "" {
		t.all++
		return
	}
	t.add(why, e.Place)
}

// total folds a tally of each page into the share of what is right.
func total(pages []*facts, noun, wrong string, of func(*facts) *tally) measured {
	all, bad := 0, 0
	var worst *facts
	for _, f := range pages {
		t := of(f)
		all, bad = all+t.all, bad+t.wrong
		if t.wrong > 0 && (worst == nil || t.wrong > of(worst).wrong) {
			worst = f
		}
	}
	if all == 0 {
		return measured{nothing: "no " + noun}
	}
	m := measured{value: float64(all-bad) / float64(all), raw: float64(bad)}
	m.reason = text.Int(bad) + " of " + count(all, noun) + " " + wrong
	if worst != nil {
		m.reason += ": " + worst.page + ": " + strings.Join(few(of(worst).first), "; ")
	}
	return m
}

// few are the first of a list, enough for a reason.
func few(list []string) []string { return list[:min(len(list), 3)] }

func count(n int, noun string) string { return text.Count(n, noun) }

func percent(n, of int) string {
	if of == 0 {
		return "0 %"
	}
	return text.Int(int(float64(n)/float64(of)*100+0.5)) + " %"
}

// each says something of every page, of the first few at most.
func each(pages []*facts, say func(*facts) string) string {
	const most = 8
	var list []string
	for _, f := range pages[:min(len(pages), most)] {
		list = append(list, tree.Cut(f.page, 60)+" "+say(f))
	}
	if more := len(pages) - most; more > 0 {
		list = append(list, text.Count(more, "more page"))
	}
	return strings.Join(list, ", ")
}

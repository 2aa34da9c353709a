package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// picture is a tile of a page that is shown to a judge.
type picture struct {
	page       *eval.Page
	gold       bool
	shot, tile int
}

// picturesOf are the pictures of pages in order, at most limit. Where there are
// more, every shot gets its share, one after the other: its first tile, its last
// one and others evenly between.
func picturesOf(pages []eval.Page, gold bool, limit int) []picture {
	var list []picture
	share := sharesOf(pages, limit)
	n := 0
	for i := range pages {
		for j := range pages[i].Shots {
			for _, tile := range spreadOver(len(pages[i].Shots[j].Tiles), share[n]) {
				list = append(list, picture{&pages[i], gold, j, tile})
			}
			n++
		}
	}
	return list
}

// sharesOf is how many tiles of each shot are shown.
func sharesOf(pages []eval.Page, limit int) []int {
	var have []int
	total := 0
	for i := range pages {
		for j := range pages[i].Shots {
			have = append(have, len(pages[i].Shots[j].Tiles))
			total += have[len(have)-1]
		}
	}
	share := make([]int, len(have))
	for left := min(limit, total); left > 0; {
		for i := range share {
			if share[i] < have[i] && left > 0 {
				share[i]++
				left--
			}
		}
	}
	return share
}

// spreadOver returns k of the numbers below n, evenly, the first and the last
// included.
func spreadOver(n, k int) []int {
	if k == 1 {
		return []int{0}
	}
	var list []int
	for i := range k {
		list = append(list, int(math.Round(float64(i)*float64(n-1)/float64(k-1))))
	}
	return list
}

// parts are the pictures of one result with what is known of their sizes; first is
// the number of the first. Only numbers, and names that the suite gave, stand here.
func parts(list []picture, first int, of string) []eval.ModelPart {
	var out []eval.ModelPart
	for i, p := range list {
		said := ""
		if i == 0 || list[i-1].page != p.page || list[i-1].shot != p.shot {
			said = shotText(list, p, of) + "\n"
		}
		out = append(out, eval.ModelPart{Text: said + "Picture " + strconv.Itoa(first+i) + ": " + p.text()},
			eval.ModelPart{Image: &eval.ModelImage{Page: p.page.Name, Gold: p.gold, Shot: p.shot, Tile: p.tile}})
	}
	return out
}

func (p picture) text() string {
	s := &p.page.Shots[p.shot]
	t := &s.Tiles[p.tile]
	height := float64(t.Height)
	if s.Scale > 0 {
		height /= s.Scale
	}
	return "tile " + strconv.Itoa(p.tile+1) + " of " + strconv.Itoa(len(s.Tiles)) + ", from y = " + strconv.Itoa(t.Y) + " px, " + text.Number(height) + " px high."
}

// shotText says what a shot's tiles are, before the first of them.
func shotText(list []picture, p picture, of string) string {
	s := &p.page.Shots[p.shot]
	var shown []string
	for _, o := range list {
		if o.page == p.page && o.shot == p.shot {
			shown = append(shown, strconv.Itoa(o.tile+1))
		}
	}
	said := "\n" + of + "page " + jsonv.Quote(visible(p.page.Name)) + " at a viewport of " + strconv.Itoa(s.Viewport.Width) + "x" + strconv.Itoa(s.Viewport.Height) +
		": the page is " + strconv.Itoa(s.Height) + " px high, its tiles cover " + strconv.Itoa(s.Covered) + " px from the top, each below the one before. "
	if len(shown) == len(s.Tiles) {
		return said + "All " + text.Count(len(s.Tiles), "tile") + " shown."
	}
	return said + "Of its " + text.Count(len(s.Tiles), "tile") + " these are shown: " + strings.Join(shown, ", ") + ". What the others show is unknown to you."
}

const shownLines = 6

// pageFacts is what is known of pages beside their pictures: data.
func pageFacts(pages []eval.Page, limit int) string {
	var sb strings.Builder
	for i := range pages {
		p := &pages[i]
		line := func(name, value string) {
			if value != "" && value != "0" {
				sb.WriteString("  " + name + ": " + inLine(tree.Cut(value, 300)) + "\n")
			}
		}
		sb.WriteString("page " + jsonv.Quote(inLine(p.Name)) + "\n")
		line("address", p.URL)
		line("address in the end", p.FinalURL)
		line("title", p.Title)
		line("HTTP status", strconv.Itoa(p.Status))
		line("could not be taken", p.Error)
		for _, u := range p.Unsettled {
			line("not at rest when it was taken", u)
		}
		for _, m := range p.Console[:min(len(p.Console), shownLines)] {
			line("console "+m.Level, m.Text)
		}
		for _, f := range p.Failed[:min(len(p.Failed), shownLines)] {
			line("failed request", f.Method+" "+f.URL+" "+strconv.Itoa(f.Status)+" "+f.Error)
		}
		if more := max(len(p.Console)-shownLines, 0) + max(len(p.Failed)-shownLines, 0); more > 0 {
			line("more console messages and failed requests", strconv.Itoa(more))
		}
	}
	return cut(sb.String(), limit)
}

// named returns the pages that one of the patterns means, all without any, and a
// pattern that means none.
func named(pages []eval.Page, patterns []string) (list []eval.Page, unknown string) {
	if len(patterns) == 0 {
		return pages, ""
	}
	for _, pattern := range patterns {
		if !slices.ContainsFunc(pages, func(p eval.Page) bool { return eval.MatchTool(pattern, "", p.Name) }) {
			return nil, pattern
		}
	}
	for _, p := range pages {
		if slices.ContainsFunc(patterns, func(pattern string) bool { return eval.MatchTool(pattern, "", p.Name) }) {
			list = append(list, p)
		}
	}
	return list, ""
}

// pictureCiter looks up pictures by their numbers, from 1.
type pictureCiter struct{ pictures []picture }

func (c *pictureCiter) cite(v jsonv.Value) citation {
	var found citation
	for _, e := range v.Get("pictures").Elements() {
		n, _ := e.Int()
		if n < 1 || n > int64(len(c.pictures)) {
			found.missing = append(found.missing, "picture "+e.String())
			continue
		}
		found.there = append(found.there, eval.Evidence{Page: c.pictures[n-1].page.Name})
	}
	found.there = distinct(found.there)
	return found
}

// tool takes any name: a judge of pictures is not asked for one.
func (c *pictureCiter) tool(name string) (string, bool) { return name, true }

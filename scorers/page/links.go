package main

import (
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/markup"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// Bounds of what is kept of one page.
const (
	maxLinks = 20_000
	maxNames = 200_000
)

// collector gathers the links and the anchors of a page.
type collector struct {
	links []link
	seen  map[string]bool
	names map[string]bool
	base  string
	// framed is the depth of the frame of the page that is open, plus one: its links
	// have addresses of their own.
	framed int
}

type link struct {
	href string
	spot markup.Spot
}

func (c *collector) Open(e *markup.Element) {
	if c.framed > 0 || e.Foreign {
		return
	}
	for _, name := range [...]string{"id", "name"} {
		if v, ok := e.Attr(name); ok && len(c.names) < maxNames && len(v) < 1000 && (name == "id" || e.Tag.Name == "a") {
			c.names[string(v)] = true
		}
	}
	switch e.Tag.Name {
	case "eval-frame":
		c.framed = e.Depth + 1
	case "base":
		if v, ok := e.Attr("href"); ok && c.base == "" {
			c.base = string(v[:min(len(v), maxAddress)])
		}
	case "a", "area":
		if v, ok := e.Attr("href"); ok && len(v) < maxAddress && !c.seen[string(v)] && len(c.links) < maxLinks {
			c.seen[string(v)] = true
			c.links = append(c.links, link{string(v), e.Spot()})
		}
	}
}

func (c *collector) Text(*markup.Element, []byte) {}

func (c *collector) Close(e *markup.Element) {
	if c.framed == e.Depth+1 {
		c.framed = 0
	}
}

func brokenLinks(pages []*eval.Page, p scorer.Params) (out found) {
	status := known(pages)
	ignore, looked, unknown := p.Strings("ignore"), 0, 0
	for _, page := range pages {
		c := &collector{seen: map[string]bool{}, names: map[string]bool{}}
		markup.Walk(page.HTML, nil, c)
		own := address(page)
		base := resolve(own, c.base)
		for _, l := range c.links {
			target, anchor := cutAnchor(resolve(base, l.href))
			code, ok := status[target]
			here := target == withoutAnchor(own)
			if matchesAny(ignore, target) {
				continue
			}
			if !ok && !(here && anchor != "") {
				if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
					unknown++
				}
				continue
			}
			looked++
			switch {
			case code >= 400:
				out.list = append(out.list, trouble{page.Name, tree.Cut(target, 160) + " has status " + strconv.Itoa(code) + ": " + l.spot.String()})
			case here && anchor != "" && !anchored(c.names, anchor):
				out.list = append(out.list, trouble{page.Name, "no anchor #" + tree.Cut(anchor, 80) + ": " + l.spot.String()})
			}
		}
	}
	if looked == 0 {
		out.nothing = "no capture shows where a link leads"
	}
	out.looked = ", " + text.Count(looked, "known link")
	if unknown > 0 {
		out.looked += ", " + text.Int(unknown) + " to what no capture shows and nobody looked at"
		if looked == 0 {
			out.nothing += " (" + text.Count(unknown, "link") + " to what no capture shows)"
		}
	}
	return out
}

// known returns the status of each address that a capture shows. A page that was
// taken well outweighs what failed elsewhere.
func known(pages []*eval.Page) map[string]int {
	status := map[string]int{}
	for _, page := range pages {
		for _, f := range page.Failed {
			if f.Status >= 400 && (f.Method == "GET" || f.Method == "") {
				status[withoutAnchor(f.URL)] = f.Status
			}
		}
	}
	for _, page := range pages {
		if page.Status == 0 {
			continue
		}
		status[withoutAnchor(resolve(page.URL, ""))] = page.Status
		status[withoutAnchor(address(page))] = page.Status
	}
	return status
}

// anchored reports whether an anchor is on the page; "top" always is.
func anchored(names map[string]bool, anchor string) bool {
	return names[anchor] || names[unquote(anchor)] || anchor == "top" || anchor[0] == ':' || anchor[0] == '!' || anchor[0] == '/'
}

// Package captured chooses the captured pages that a scorer looks at. A page that
// could not be taken is left out and named in the reason: it is no zero.
package captured

import (
	"errors"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// Param is the parameter pages.
var Param = eval.Attribute{Name: "pages", Type: "list(string)", Doc: "Looks only at these captures, by their names; all where it is left out."}

// Set are the pages to look at.
type Set struct {
	Pages []*eval.Page
	// Skip says why there is nothing to look at, "" where there is.
	Skip string
	left []string
}

// Of returns the pages that the parameter pages means.
func Of(in *scorer.Input, p scorer.Params) (Set, error) { return Named(in, p.Strings("pages")) }

// Named returns the pages of those names; all for none.
func Named(in *scorer.Input, names []string) (Set, error) {
	var s Set
	seen := map[string]bool{}
	for i := range in.Pages {
		seen[in.Pages[i].Name] = true
	}
	wanted := map[string]bool{}
	for _, name := range names {
		if !seen[name] && len(in.Pages) > 0 {
			return s, errors.New("no capture is named " + tree.Cut(name, 80) + "; there are " + list(in.Pages))
		}
		wanted[name] = true
	}
	for i := range in.Pages {
		if page := &in.Pages[i]; len(names) == 0 || wanted[page.Name] {
			s.add(page)
		}
	}
	switch {
	case len(in.Pages) == 0:
		s.Skip = "no page was captured"
	case len(s.Pages) == 0:
		s.Skip = "no page could be taken: " + s.leftOut()
	}
	return s, nil
}

func (s *Set) add(page *eval.Page) {
	if page.Error != "" {
		s.left = append(s.left, page.Name+" ("+tree.Cut(page.Error, 120)+")")
		return
	}
	s.Pages = append(s.Pages, page)
}

// Keep leaves out pages which ok refuses, and says so.
func (s *Set) Keep(ok func(*eval.Page) bool, why string) {
	var kept []*eval.Page
	for _, page := range s.Pages {
		if ok(page) {
			kept = append(kept, page)
			continue
		}
		s.left = append(s.left, page.Name+" ("+why+")")
	}
	if s.Pages = kept; len(kept) == 0 && s.Skip == "" {
		s.Skip = "nothing to measure: " + s.leftOut()
	}
}

// Note is a reason with the pages that were left out.
func (s *Set) Note(reason string) string {
	if len(s.left) == 0 {
		return reason
	}
	return reason + "; left out: " + s.leftOut()
}

func (s *Set) leftOut() string {
	const shown = 5
	if more := len(s.left) - shown; more > 0 {
		return strings.Join(s.left[:shown], ", ") + " and " + text.Count(more, "more page")
	}
	return strings.Join(s.left, ", ")
}

func list(pages []eval.Page) string {
	const shown = 10
	var names []string
	for i := range pages[:min(len(pages), shown)] {
		names = append(names, tree.Cut(pages[i].Name, 80))
	}
	if more := len(pages) - shown; more > 0 {
		names = append(names, text.Count(more, "more"))
	}
	return strings.Join(names, ", ")
}

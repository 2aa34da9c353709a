package main

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// describe says what is wrong: how much, and the first of it.
func describe(out found, unit string, pages int) string {
	const shown = 3
	said := text.Int(len(out.list)) + " " + unit
	if len(out.list) == 1 {
		said = "1 " + strings.TrimSuffix(unit, "s")
	}
	said += " on " + text.Count(pages, "page") + out.looked
	for i, t := range out.list[:min(len(out.list), shown)] {
		if said += "; "; i == 0 {
			said = strings.TrimSuffix(said, "; ") + ": "
		}
		said += t.page + ": " + tree.Cut(t.text, 200)
	}
	return said
}

// evidence names the pages on which something is wrong, each once.
func evidence(list []trouble) []eval.Evidence {
	var out []eval.Evidence
	seen := map[string]bool{}
	for _, t := range list {
		if !seen[t.page] {
			seen[t.page] = true
			out = append(out, scorer.PageEvidence(t.page))
		}
	}
	return out
}

// findings are one for each page on which something is wrong.
func (f fact) findings(list []trouble) []eval.Finding {
	const most, shown = 10, 3
	var out []eval.Finding
	for i := 0; i < len(list) && len(out) < most; {
		j := i
		var said []string
		for ; j < len(list) && list[j].page == list[i].page; j++ {
			if len(said) < shown {
				said = append(said, tree.Cut(list[j].text, 160))
			}
		}
		out = append(out, eval.Finding{
			Kind: "other", Severity: eval.SeverityMinor, Source: "page/" + f.name, Suggestion: f.suggestion,
			Text:     f.unit + " of the page " + list[i].page + " (" + text.Int(j-i) + "): " + strings.Join(said, "; "),
			Evidence: []eval.Evidence{scorer.PageEvidence(list[i].page)},
		})
		i = j
	}
	return out
}

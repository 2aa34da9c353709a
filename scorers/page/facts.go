package main

import (
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

var ignoreParam = eval.Attribute{Name: "ignore", Type: "list(string)", Default: eval.JSON(`["*/favicon.ico"]`),
	Doc: "Addresses that do not matter; * stands for anything."}

var facts = []fact{
	{
		name: "console_errors", unit: "console errors", assert: "no_console_errors",
		doc:       "How many errors and uncaught exceptions the pages wrote to their console; the same one on the same page counts once.",
		assertDoc: "Passes if the pages wrote at most allow errors and uncaught exceptions to their console, counted as page/console_errors does.",
		attrs: []eval.Attribute{
			{Name: "warnings", Type: "bool", Default: eval.JSON("false"), Doc: "Counts warnings too."},
			{Name: "ignore", Type: "list(string)", Doc: "Texts that do not matter; * stands for anything."},
		},
		needs: []eval.Part{eval.PartPages}, find: consoleErrors,
		suggestion: "Mend the script that fails.",
	},
	{
		name: "failed_requests", unit: "failed requests", assert: "no_failed_requests",
		doc: "How many requests of the pages got no answer or one of 400 and above, the page's own document included. " +
			"The same address on the same page counts once.",
		assertDoc: "Passes if at most allow requests of the pages failed, counted as page/failed_requests does.",
		attrs: []eval.Attribute{
			ignoreParam,
			{Name: "blocked", Type: "bool", Default: eval.JSON("false"), Doc: "Counts requests too that the suite does not let pages make."},
		},
		needs: []eval.Part{eval.PartPages}, find: failedRequests,
		suggestion: "Add what is missing, or remove what asks for it.",
	},
	{
		name: "broken_links", unit: "broken links", assert: "no_broken_links",
		doc: "How many links of the pages are known to lead nowhere: to a captured page with a status of 400 and above, to an address at which a captured page got such an answer, " +
			"or to an anchor (#name) that the page itself does not have. Nothing is asked for it: a link to what no capture shows is not known, and the reason says how many there are. The same address on the same page counts once. Skipped where no link is known.",
		assertDoc: "Passes if at most allow links of the pages are broken, counted as page/broken_links does.",
		attrs:     []eval.Attribute{ignoreParam},
		needs:     []eval.Part{eval.PartPages, eval.PartPagesHTML}, find: brokenLinks,
		suggestion: "Correct the address, or make the page it leads to.",
	},
}

func consoleErrors(pages []*eval.Page, p scorer.Params) (out found) {
	warnings, ignore := p.Bool("warnings"), p.Strings("ignore")
	for _, page := range pages {
		seen := map[string]bool{}
		for _, m := range page.Console {
			if m.Level == "warning" && !warnings || seen[m.Level+m.Text] || matchesAny(ignore, m.Text) {
				continue
			}
			seen[m.Level+m.Text] = true
			said := m.Level + ": " + tree.Cut(m.Text, 160)
			if m.URL != "" {
				said += " (" + tree.Cut(m.URL, 100) + ":" + strconv.Itoa(m.Line) + ")"
			}
			out.list = append(out.list, trouble{page.Name, said})
		}
	}
	return out
}

func failedRequests(pages []*eval.Page, p scorer.Params) (out found) {
	blocked, ignore := p.Bool("blocked"), p.Strings("ignore")
	for _, page := range pages {
		seen := map[string]bool{}
		if url := address(page); page.Status >= 400 && !matchesAny(ignore, url) {
			seen["GET "+url] = true
			out.list = append(out.list, trouble{page.Name, "the page itself: " + tree.Cut(url, 160) + ": status " + strconv.Itoa(page.Status)})
		}
		for _, f := range page.Failed {
			key := f.Method + " " + f.URL
			if f.Blocked && !blocked || seen[key] || matchesAny(ignore, f.URL) {
				continue
			}
			seen[key] = true
			out.list = append(out.list, trouble{page.Name, f.Kind + " " + f.Method + " " + tree.Cut(f.URL, 160) + ": " + why(f)})
		}
	}
	return out
}

func why(f eval.FailedRequest) string {
	switch {
	case f.Blocked:
		return "blocked"
	case f.Status != 0:
		return "status " + strconv.Itoa(f.Status)
	case f.Error != "":
		return tree.Cut(f.Error, 80)
	}
	return "no answer"
}

// address is where the browser ended.
func address(page *eval.Page) string {
	if page.FinalURL != "" {
		return page.FinalURL
	}
	return page.URL
}

// matchesAny reports whether a text matches one of the globs.
func matchesAny(globs []string, text string) bool {
	for _, g := range globs {
		if matches(g, text) {
			return true
		}
	}
	return false
}

// matches reports whether text matches glob, in which * stands for anything.
func matches(glob, text string) bool {
	parts := strings.Split(glob, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return glob == text
	}
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return true
}

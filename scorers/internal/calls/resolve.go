package calls

import (
	"errors"
	"sort"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Resolve checks that a tool pattern means what it seems to. A name without stars
// must be one tool's: an error says that no server offers it and no call names it
// (the suite speaks of an old or misspelt tool: no fault of the agent), or that
// several servers do.
//
// A target that lists no tools at all is taken at its word, and so are the host's
// own tools, written "/Bash".
func (l *Log) Resolve(pattern string) error {
	if strings.ContainsAny(pattern, "*?") || strings.HasPrefix(pattern, "/") {
		return nil
	}
	servers := map[string]bool{}
	known := false
	l.each(func(server, tool string) {
		known = known || eval.MatchTool(pattern, server, tool)
		if tool == pattern {
			servers[Name(server, tool)] = true
		}
	})
	switch {
	case !known && len(l.Tools) > 0:
		return errors.New(l.notOffered(pattern))
	case len(servers) > 1:
		return errors.New("tool " + quote(pattern) + " is ambiguous: write " + strings.Join(sorted(servers), " or ") +
			", or */" + pattern + " for any of them")
	}
	return nil
}

func (l *Log) each(f func(server, tool string)) {
	for i := range l.Tools {
		f(l.Tools[i].Server, l.Tools[i].Name)
	}
	for i := range l.Calls {
		f(l.Calls[i].Server, l.Calls[i].Tool)
	}
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for s := range set {
		list = append(list, s)
	}
	sort.Strings(list)
	return list
}

func quote(s string) string { return `"` + s + `"` }

func (l *Log) notOffered(pattern string) string {
	text := "tool " + quote(pattern) + " is not offered by the target"
	if c := l.closest(pattern); c != "" {
		text += " (closest: " + c + ")"
	}
	return text + "; a tool of the host's own is written /" + pattern
}

// closest returns the offered tool that resembles name most, "" where none does.
func (l *Log) closest(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	best, least := "", len(name)/2+1
	for i := range l.Tools {
		if d := distance(name, l.Tools[i].Name); d < least {
			best, least = Name(l.Tools[i].Server, l.Tools[i].Name), d
		}
	}
	return best
}

// distance is Levenshtein's, of the first 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

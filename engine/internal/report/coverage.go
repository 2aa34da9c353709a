package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// What a terminal shows of a list at most; the rest is counted.
const (
	maxCoverageTools   = 500
	maxCoverageActions = 60
	maxCoverageLines   = 50
)

// Coverage writes for people what a suite's stories and trials cover.
func Coverage(w io.Writer, c *eval.Coverage, st Style) {
	p := &printer{w: w, st: st}
	p.line("coverage of %s  %s", p.st.paint(bold, Line(c.Suite, 60)), strings.Join(coverageSource(c), "; "))
	for _, t := range c.Targets {
		p.line("  target %s  %s", pad(Line(t.Name, 24), 24), coverageTarget(t))
	}
	p.line("")
	p.line("  tools    %s", coverageTally(c.Tools))
	p.line("  actions  %s", coverageTally(c.Actions))
	p.line("  in all   %s", p.st.paint(bold, coverageTally(c.Parts)))
	if c.Use != nil {
		p.line("  by use   %s", coverageUse(c.Use))
	}
	p.coverageList(c)
	for _, part := range coverageParts(c) {
		p.heading(part.title)
		for i, l := range part.lines {
			if i == maxCoverageLines {
				p.line("  and %d more", len(part.lines)-i)
				break
			}
			p.line("  %s", p.st.paint(part.code, Line(l, p.st.room(4))))
		}
	}
}

func coverageSource(c *eval.Coverage) []string {
	if len(c.Runs) == 0 {
		return []string{"no run: nothing is known of calls"}
	}
	runs := "run " + Line(strings.Join(c.Runs, ", "), 200)
	if len(c.Runs) > 1 {
		runs = "runs" + strings.TrimPrefix(runs, "run")
	}
	list := []string{runs, plural(c.Trials.Read, "trial")}
	for _, more := range []struct {
		n    int
		what string
	}{
		{c.Trials.Errored, "errored"}, {c.Trials.Skipped, "skipped"}, {c.Trials.Other, "of other stories"}, {c.Trials.Unreadable, "unreadable"},
	} {
		if more.n > 0 {
			list = append(list, fmt.Sprintf("%d %s left out", more.n, more.what))
		}
	}
	return list
}

func coverageTarget(t eval.CoverageTarget) string {
	switch t.Source {
	case "":
		return "its tools are not known"
	case "live":
		return plural(t.Tools, "tool") + ", asked just now"
	}
	return fmt.Sprintf("%s, from %s %s", plural(t.Tools, "tool"), Line(t.Source, 10), Line(t.From, 60))
}

func coverageTally(t eval.CoverageTally) string {
	if t.Total == 0 || t.Share == nil {
		return "none"
	}
	covered := t.Covered + t.Asserted + t.Exercised
	text := fmt.Sprintf("%d of %d covered (%s)", covered, t.Total, percent(*t.Share))
	var parts []string
	for _, k := range []struct {
		n    int
		what string
	}{
		{t.Covered, "asked for and called"}, {t.Asserted, "asked for, not run yet"}, {t.Exercised, "called alone"},
		{t.Unreached, "asked for and not called"}, {t.Uncovered, "neither"},
	} {
		if k.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.what))
		}
	}
	return text + ": " + strings.Join(parts, ", ")
}

func coverageUse(u *eval.CoverageUse) string {
	text := "undefined: no call in production is of a tool that is offered"
	if u.Share != nil {
		text = percent(*u.Share) + " of calls of these tools in production are of covered ones"
	}
	text += fmt.Sprintf("; %s", plural(int(u.Events), "call"))
	if u.Unlisted > 0 {
		text += fmt.Sprintf(", %s of them of tools or actions that are not offered", percent(u.Unlisted))
	}
	if u.Broken > 0 {
		text += fmt.Sprintf(", %s could not be read", plural(int(u.Broken), "line"))
	}
	return text
}

// percent is a share, never rounded to none or all of it where it is neither.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "< 0.1 %"
	case share < 1 && share > 0.999:
		return "> 99.9 %"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*share), ".0") + " %"
}

func (p *printer) coverageList(c *eval.Coverage) {
	server := ""
	for i := range c.List {
		t := &c.List[i]
		if i == maxCoverageTools {
			p.line("")
			p.line("  and %s more", plural(len(c.List)-i, "tool"))
			return
		}
		if i == 0 || t.Server != server {
			server = t.Server
			p.heading(serverName(server))
		}
		p.covered("", t.Tool, t.Status, t.Called, t.Share, t.Stories)
		if t.Argument != "" {
			p.line("      %s", p.st.paint(dim, "by "+Line(t.Argument, 60)))
		}
		for j, a := range t.Actions {
			if j == maxCoverageActions {
				p.line("      and %s more", plural(len(t.Actions)-j, "action"))
				break
			}
			p.covered("  ", a.Action, a.Status, a.Called, a.Share, a.Stories)
		}
		for _, note := range coverageNotes(t) {
			p.line("      %s", p.st.paint(yellow, note))
		}
	}
}

func serverName(name string) string {
	if name == "" {
		return "a server without a name"
	}
	return Line(name, 80)
}

func (p *printer) covered(indent, name string, s eval.CoverageStatus, u eval.ToolUse, share *float64, stories []string) {
	mark, code := coverageMark(s)
	facts := []string{calledText(u)}
	if u.AlwaysFails {
		facts[0] = p.st.paint(red, facts[0])
	}
	if share != nil {
		facts = append(facts, percent(*share)+" of use")
	}
	if len(stories) > 0 {
		facts = append(facts, p.st.paint(dim, storyNames(stories, 60)))
	}
	p.line("  %s%s %s %s %s", indent, p.st.paint(code, mark), pad(Line(name, 40), 40-len(indent)), pad(string(s), 9), strings.Join(facts, "  "))
}

func coverageMark(s eval.CoverageStatus) (mark, code string) {
	switch s {
	case eval.Covered, eval.Asserted, eval.Exercised:
		return "✓", green
	case eval.Unreached:
		return "!", yellow
	}
	return "✗", red
}

func calledText(u eval.ToolUse) string {
	if u.Calls == 0 {
		return "no call"
	}
	text := fmt.Sprintf("%s in %s", plural(u.Calls, "call"), plural(u.Trials, "trial"))
	switch {
	case u.AlwaysFails:
		text += ", always fails"
	case u.Failed > 0:
		text += fmt.Sprintf(", %d failed", u.Failed)
	}
	if u.Unfinished > 0 {
		text += fmt.Sprintf(", %d unfinished", u.Unfinished)
	}
	return text
}

func storyNames(stories []string, width int) string {
	if len(stories) == 1 {
		return Line("story "+stories[0], width)
	}
	return Line("stories "+strings.Join(stories, ", "), width)
}

// coverageNotes are what the counts of a tool do not say.
func coverageNotes(t *eval.ToolCoverage) []string {
	var notes []string
	if t.Left > 0 {
		notes = append(notes, fmt.Sprintf("%s more are not listed", plural(t.Left, "action")))
	}
	if t.Cut {
		notes = append(notes, "its schema is too large to be looked at whole: it may have other actions")
	}
	if t.Others > 0 {
		notes = append(notes, fmt.Sprintf("%s of actions that its schema does not have", plural(t.Others, "call")))
	}
	if t.Unread > 0 {
		notes = append(notes, fmt.Sprintf("%s whose arguments could not be read", plural(t.Unread, "call")))
	}
	return notes
}

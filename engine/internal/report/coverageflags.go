package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// coveragePart is a list of what needs somebody's attention.
type coveragePart struct {
	title, code string
	lines       []string
}

// coverageParts are the lists that have something in them.
func coverageParts(c *eval.Coverage) []coveragePart {
	all := []coveragePart{
		{"tools without a story", red, withoutStory(c)},
		{"asked for, and no longer reached", yellow, lostTools(c)},
		{"always failing", red, alwaysFailing(c)},
		{"called, and not offered", yellow, unlistedTools(c)},
		{"changed since run " + Line(c.Against, 60), yellow, driftLines(c)},
		{"not looked at", yellow, c.Problems},
	}
	var parts []coveragePart
	for _, p := range all {
		if len(p.lines) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

func toolName(server, tool string) string {
	if server == "" {
		return tool
	}
	return server + "/" + tool
}

// withoutStory are tools and actions that no story asks for.
func withoutStory(c *eval.Coverage) []string {
	without := func(s eval.CoverageStatus) bool { return s == eval.Uncovered || s == eval.Exercised }
	var lines []string
	for i := range c.List {
		t := &c.List[i]
		name := toolName(t.Server, t.Tool)
		var actions []string
		for _, a := range t.Actions {
			if without(a.Status) {
				actions = append(actions, a.Action+called(a.Status))
			}
		}
		switch all := len(actions) == len(t.Actions); {
		case without(t.Status) && all && len(actions) > 0:
			lines = append(lines, fmt.Sprintf("%s%s, with each of %s", name, called(t.Status), plural(len(actions), "action")))
			continue
		case without(t.Status):
			lines = append(lines, name+called(t.Status))
		}
		if len(actions) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s", name, firstNames(actions, 12)))
		}
	}
	return lines
}

func called(s eval.CoverageStatus) string {
	if s == eval.Exercised {
		return " (trials call it)"
	}
	return ""
}

// firstNames are the first n of a list, and how many more there are.
func firstNames(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

func lostTools(c *eval.Coverage) []string {
	var lines []string
	for _, l := range c.Lost {
		what := l.Tool
		if l.Action != "" {
			what += " " + l.Action
		}
		why := fmt.Sprintf("none of its %s called it", plural(l.Trials, "trial"))
		switch l.Why {
		case eval.LostNotOffered:
			why = "the target offers no such tool"
		case eval.LostNoAction:
			why = "the tool has no such action"
		}
		lines = append(lines, fmt.Sprintf("%s asks for %s (%s): %s", l.Story, what, l.Use, why))
	}
	return lines
}

func alwaysFailing(c *eval.Coverage) []string {
	var lines []string
	for i := range c.List {
		t := &c.List[i]
		name := toolName(t.Server, t.Tool)
		if t.Called.AlwaysFails {
			lines = append(lines, fmt.Sprintf("%s: %s in %s", name, plural(t.Called.Failed, "failed call"), plural(t.Called.Trials, "trial")))
			continue
		}
		for _, a := range t.Actions {
			if a.Called.AlwaysFails {
				lines = append(lines, fmt.Sprintf("%s %s: %s in %s", name, a.Action, plural(a.Called.Failed, "failed call"), plural(a.Called.Trials, "trial")))
			}
		}
	}
	return lines
}

func unlistedTools(c *eval.Coverage) []string {
	var lines []string
	for _, u := range c.Unlisted {
		lines = append(lines, fmt.Sprintf("%s of target %s: %s", toolName(u.Server, u.Tool), u.Target, calledText(u.Called)))
	}
	return lines
}

func driftLines(c *eval.Coverage) []string {
	var lines []string
	for _, d := range c.Drift {
		add := func(what string, n eval.ToolName, more string) {
			lines = append(lines, fmt.Sprintf("%s %s (target %s)%s", what, toolName(n.Server, n.Tool), d.Target, more))
		}
		for _, n := range d.Added {
			add("added", n, "")
		}
		for _, n := range d.Removed {
			add("removed", n, "")
		}
		for i := range d.Changed {
			add("changed", d.Changed[i].ToolName, changedText(&d.Changed[i]))
		}
		for _, n := range d.Failing {
			add("listed, and fails on every call:", n, "")
		}
	}
	return lines
}

func changedText(c *eval.ToolChanged) string {
	text := ": " + strings.ReplaceAll(strings.Join(c.What, ", "), "_", " ")
	if len(c.ActionsAdded) > 0 {
		text += "; new actions " + firstNames(c.ActionsAdded, 8)
	}
	if len(c.ActionsRemoved) > 0 {
		text += "; actions gone " + firstNames(c.ActionsRemoved, 8)
	}
	return text
}

// CoverageMarkdown writes coverage as Markdown: all tools and all actions.
func CoverageMarkdown(w io.Writer, c *eval.Coverage) error {
	var b bytes.Buffer
	m := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	m("# Coverage of %s\n", markdownText(c.Suite))
	m("%s.\n", markdownText(strings.Join(coverageSource(c), "; ")))
	for _, t := range c.Targets {
		m("- target %s: %s", markdownText(t.Name), markdownText(coverageTarget(t)))
	}
	m("\n| | |\n|---|---|")
	m("| tools | %s |", coverageTally(c.Tools))
	m("| actions | %s |", coverageTally(c.Actions))
	m("| **in all** | **%s** |", coverageTally(c.Parts))
	if c.Use != nil {
		m("| by use | %s |", markdownText(coverageUse(c.Use)))
	}
	for _, part := range coverageParts(c) {
		m("\n## %s\n", markdownText(strings.ToUpper(part.title[:1])+part.title[1:]))
		for _, l := range part.lines {
			m("- %s", markdownText(l))
		}
	}
	m("\n## All tools\n")
	m("| tool | action | status | calls | use | stories |\n|---|---|---|---|---|---|")
	for i := range c.List {
		t := &c.List[i]
		name := markdownText(toolName(t.Server, t.Tool))
		coverageRow(m, name, "", t.Status, t.Called, t.Share, t.Stories)
		for _, a := range t.Actions {
			coverageRow(m, name, a.Action, a.Status, a.Called, a.Share, a.Stories)
		}
		for _, note := range coverageNotes(t) {
			m("| %s | *%s* | | | | |", name, note)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func coverageRow(m func(string, ...any), name, action string, s eval.CoverageStatus, u eval.ToolUse, share *float64, stories []string) {
	use := ""
	if share != nil {
		use = markdownText(percent(*share))
	}
	m("| %s | %s | %s | %s | %s | %s |", name, markdownText(action), s, calledText(u), use, markdownText(strings.Join(stories, ", ")))
}

package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// stateWord is the state of a finding in words.
func stateWord(s eval.FindingState) string {
	switch s {
	case eval.FindingCameBack:
		return "came back"
	case eval.FindingNotLookedAt:
		return "not looked at"
	case "":
		return "unverified"
	}
	return string(s)
}

// Findings writes for people the findings of a suite over its runs, by state.
func Findings(w io.Writer, h *eval.FindingHistory, st Style) {
	p := &printer{w: w, st: st}
	p.line("%s  %s", st.paint(bold, Line(h.Suite, 60)), historySpan(h))
	for _, part := range findingsByState(h) {
		p.line("")
		p.line("%s", st.paint(bold, fmt.Sprintf("%s (%d)", stateWord(part[0].State), len(part))))
		for _, g := range part {
			p.findingGroup(g)
		}
	}
	p.line("")
	p.line("%s", Line(historyTally(h), most))
	for _, u := range h.Unread {
		p.line("%s", st.paint(yellow, Line("not read: "+strings.TrimSpace(u.Run+" "+u.Why), most)))
	}
	if len(h.OtherSuites) > 0 {
		p.line("%s", st.paint(dim, Line("other suites, see --suite: "+strings.Join(h.OtherSuites, ", "), most)))
	}
}

func (p *printer) findingGroup(g eval.FindingGroup) {
	label := fmt.Sprintf("%s %s %s", g.ID, pad(Line(string(g.Severity), 8), 8), Line(findingAbout(g), 70))
	p.line("  %s  %s", label, p.st.paint(dim, Line(g.Text, max(40, p.st.room(6+len(label))))))
	p.line("      %s", Line(strings.Join(findingFacts(g), " · "), p.st.room(8)))
	if g.Suggestion != "" {
		p.line("      %s", Line(g.Suggestion, p.st.room(8)))
	}
	if t := triageText(g.Triage); t != "" {
		p.line("      %s", Line(t, p.st.room(8)))
	}
}

func findingAbout(g eval.FindingGroup) string {
	return strings.TrimSpace(g.Kind + " " + strings.TrimSpace(g.Tool+" "+g.Action))
}

// findingFacts are when and where a finding was seen, and how often.
func findingFacts(g eval.FindingGroup) []string {
	list := []string{findingHosts(g), "first seen " + sightingText(g.FirstSeen), "last seen " + sightingText(g.LastSeen)}
	if g.State != "" {
		list = append(list, fmt.Sprintf("in %d of %s", g.Runs, plural(g.LookedAt, "run")))
	}
	switch {
	case g.GoneSince != nil && g.GoneSince.Run == "":
		list = append(list, "said to be fixed "+findingTime(g.GoneSince.At))
	case g.GoneSince != nil:
		list = append(list, "gone since "+sightingText(*g.GoneSince))
	}
	if g.CameBack != nil {
		list = append(list, "came back "+sightingText(*g.CameBack))
	}
	if g.Unverified > 0 {
		list = append(list, fmt.Sprintf("%d unverified", g.Unverified))
	}
	if g.Wordings > 1 {
		list = append(list, plural(g.Wordings, "wording"))
	}
	return list
}

// findingHosts are the counts by host; what is unverified counts trials alone.
func findingHosts(g eval.FindingGroup) string {
	var parts []string
	for _, h := range g.Hosts {
		if g.State == "" {
			parts = append(parts, fmt.Sprintf("%s in %s", h.Host, plural(h.Trials, "trial")))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s ×%d in %s", h.Host, h.Count, plural(h.Trials, "trial")))
	}
	return strings.Join(parts, ", ")
}

func sightingText(s eval.Sighting) string { return s.Run + " (" + findingTime(s.At) + ")" }

func findingTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// triageText is what a person said; empty for nothing.
func triageText(t *eval.Triage) string {
	if t == nil {
		return ""
	}
	text := string(t.State)
	if t.By != "" {
		text += " by " + t.By
	}
	text += " " + findingTime(t.At)
	if t.Note != "" {
		text += ": " + t.Note
	}
	return text
}

func historySpan(h *eval.FindingHistory) string {
	if h.First == nil {
		return "no runs"
	}
	text := plural(h.Runs, "run")
	if h.Experiment != "" {
		text += " of experiment " + h.Experiment
	}
	if h.Runs > 1 {
		text += " from " + sightingText(*h.First) + " to"
	} else {
		text += ","
	}
	text += " " + sightingText(*h.Newest)
	if len(h.Hosts) > 0 {
		text += ", on " + strings.Join(h.Hosts, ", ") + " alone"
	}
	return Line(text, most)
}

// findingsByState are the findings of each state that has one, and last the unverified.
func findingsByState(h *eval.FindingHistory) [][]eval.FindingGroup {
	var parts [][]eval.FindingGroup
	for _, s := range eval.FindingStates() {
		var list []eval.FindingGroup
		for _, g := range h.Groups {
			if g.State == s {
				list = append(list, g)
			}
		}
		if len(list) > 0 {
			parts = append(parts, list)
		}
	}
	if len(h.Unverified) > 0 {
		parts = append(parts, h.Unverified)
	}
	return parts
}

// historyTally counts the findings by state.
func historyTally(h *eval.FindingHistory) string {
	var parts []string
	for _, list := range findingsByState(h) {
		if list[0].State != "" {
			parts = append(parts, fmt.Sprintf("%d %s", len(list), stateWord(list[0].State)))
		}
	}
	text := plural(len(h.Groups), "finding")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if n := len(h.Unverified); n > 0 {
		text += fmt.Sprintf("; %d unverified", n)
	}
	if h.Hidden > 0 {
		text += fmt.Sprintf("; %d more not asked for", h.Hidden)
	}
	return text
}

// FindingsMarkdown writes the same as Markdown.
func FindingsMarkdown(w io.Writer, h *eval.FindingHistory) {
	p := &printer{w: w}
	p.line("# Findings of %s", findingCell(h.Suite, 60))
	p.line("")
	p.line("%s. %s.", findingCell(historySpan(h), most), findingCell(historyTally(h), most))
	for _, part := range findingsByState(h) {
		p.line("")
		state := stateWord(part[0].State)
		p.line("## %s%s (%d)", strings.ToUpper(state[:1]), state[1:], len(part))
		p.line("")
		p.line("| finding | severity | what | where and when |")
		p.line("|---|---|---|---|")
		for _, g := range part {
			what := "**" + findingCell(findingAbout(g), 120) + "**<br>" + findingCell(g.Text, most)
			if g.Suggestion != "" {
				what += "<br>*" + findingCell(g.Suggestion, most) + "*"
			}
			if t := triageText(g.Triage); t != "" {
				what += "<br>" + findingCell(t, most)
			}
			var where []string
			for _, f := range findingFacts(g) {
				where = append(where, findingCell(f, 400))
			}
			p.line("| `%s` | %s | %s | %s |", g.ID, findingCell(string(g.Severity), 20), what, strings.Join(where, "<br>"))
		}
	}
	if len(h.Unread) > 0 {
		p.line("")
		p.line("## Not read")
		p.line("")
		for _, u := range h.Unread {
			p.line("- %s", findingCell(strings.TrimSpace(u.Run+" "+u.Why), most))
		}
	}
	if len(h.OtherSuites) > 0 {
		p.line("")
		p.line("Other suites: %s.", findingCell(strings.Join(h.OtherSuites, ", "), most))
	}
}

// findingCell makes untrusted text safe in a cell of a Markdown table: one line, and
// nothing in it is markup.
func findingCell(text string, width int) string {
	return strings.NewReplacer(
		"\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "!", "\\!", "#", "\\#", "~", "\\~",
		"@", "&#64;", "<", "&lt;", ">", "&gt;", "&", "&amp;", "://", "&#58;//",
	).Replace(Line(text, width))
}

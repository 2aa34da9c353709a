package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of a nightly report; its JSON has all of it.
const (
	maxNews       = 20
	maxNewsText   = 400
	maxSlackBlock = 2900 // Slack takes 3,000
)

// part is one part of a nightly report: news of one kind.
type part struct {
	Title string
	// Class colours the part: bad, warn or good.
	Class string
	Lines []string
	// More is how many lines are left out.
	More int
}

// nightlyParts are the parts that have something to tell, in the order of how much
// they matter. Their lines are text of others in part: each writer escapes them.
func nightlyParts(n *eval.Nightly) []part {
	var list []part
	add := func(title, class string, lines []string) {
		if len(lines) == 0 {
			return
		}
		p := part{Title: title, Class: class, Lines: lines}
		if len(lines) > maxNews {
			p.Lines, p.More = lines[:maxNews], len(lines)-maxNews
		}
		list = append(list, p)
	}
	add("Regressions", "bad", linesOf(n.Regressions, nightlyChange))
	add("Errored trials by cause", "warn", linesOf(n.Causes, func(c eval.CauseCount) string {
		return fmt.Sprintf("%s: %s", c.Cause, plural(c.Count, "trial"))
	}))
	add("Findings that came back", "bad", linesOf(n.CameBack, nightlyFinding))
	add("New findings", "warn", linesOf(n.New, nightlyFinding))
	add("Notable variance", "warn", linesOf(n.Variance, nightlyVariance))
	add("Tools that changed", "warn", driftNews(n.Drift))
	add("Stories that no longer reach what they ask for", "warn", linesOf(n.Lost, func(l eval.LostTool) string {
		return fmt.Sprintf("%s asks for %s: %s", l.Story, toolAction(l.Tool, l.Action), lostWhy(l))
	}))
	add("Tools no longer covered", "warn", linesOf(n.Uncovered, func(t eval.NightlyTool) string {
		return toolAction(t.Server+"/"+t.Tool, t.Action)
	}))
	add("Improvements", "good", linesOf(n.Improved, nightlyChange))
	add("Findings gone", "good", linesOf(n.Gone, nightlyFinding))
	add("Not looked at", "warn", n.Problems)
	return list
}

func linesOf[T any](list []T, f func(T) string) []string {
	var out []string
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

func toolAction(tool, action string) string {
	if action == "" {
		return tool
	}
	return tool + " " + action
}

func lostWhy(l eval.LostTool) string {
	switch l.Why {
	case eval.LostNotOffered:
		return "no tool is called that"
	case eval.LostNoAction:
		return "the tool has no such action"
	}
	return "none of its " + plural(l.Trials, "trial") + " called it"
}

func nightlyChange(c eval.NightlyChange) string {
	text := c.Name
	if c.Story != "" {
		text = c.Story + ", " + text
	}
	if c.Base != nil && c.Head != nil {
		text += fmt.Sprintf(": %s → %s", number(*c.Base), number(*c.Head))
	}
	if len(c.Interval) == 2 {
		text += fmt.Sprintf(" (difference %s to %s)", signed(c.Interval[0]), signed(c.Interval[1]))
	}
	if c.P != nil {
		text += ", p=" + pvalue(*c.P)
	}
	if c.Against == "nights" {
		text += ", against the nights before"
	}
	if c.WithinNoise {
		text += fmt.Sprintf(", no more than it differs from itself (%s)", number(*c.Noise))
	}
	if len(c.Stories) > 0 {
		text += "; most in " + strings.Join(c.Stories, ", ")
	}
	return text
}

func nightlyFinding(g eval.FindingGroup) string {
	var hosts []string
	for _, h := range g.Hosts {
		hosts = append(hosts, fmt.Sprintf("%s ×%d", h.Host, h.Count))
	}
	return fmt.Sprintf("%s %s: %s (%s)", g.Severity, findingAbout(g), g.Text, strings.Join(hosts, ", "))
}

func nightlyVariance(v eval.NightlyVariance) string {
	values := make([]string, 0, len(v.Values))
	for _, x := range v.Values {
		values = append(values, number(x))
	}
	lo, hi := v.Before[0], v.Before[0]
	for _, x := range v.Before {
		lo, hi = min(lo, x), max(hi, x)
	}
	usual := number(hi)
	if lo != hi {
		usual = number(lo) + " to " + usual
	}
	return fmt.Sprintf("%s on %s, %s: stdev %s of %s; %s on %s before (p=%s)", v.Story, arm(v.Variant, v.Host), v.Score,
		number(v.Stdev), strings.Join(values, ", "), usual, plural(len(v.Before), "night"), pvalue(v.Adjusted))
}

func driftNews(list []eval.ToolDrift) []string {
	var out []string
	for _, d := range list {
		at := ""
		if d.Target != "" && len(list) > 1 {
			at = " (target " + d.Target + ")"
		}
		name := func(t eval.ToolName) string { return t.Server + "/" + t.Tool + at }
		for _, t := range d.Removed {
			out = append(out, "removed: "+name(t))
		}
		for _, t := range d.Failing {
			out = append(out, "fails on every call: "+name(t))
		}
		for _, t := range d.Added {
			out = append(out, "added: "+name(t))
		}
		for _, t := range d.Changed {
			out = append(out, fmt.Sprintf("changed: %s (%s)", name(t.ToolName), strings.ReplaceAll(strings.Join(t.What, ", "), "_", " ")))
		}
	}
	return out
}

// nightlyHead is the report in five lines: all of it on a quiet night.
func nightlyHead(n *eval.Nightly) (title string, facts [4]string) {
	title = n.Suite + ": " + nightlyWord(n)
	t := n.Trials
	facts[0] = fmt.Sprintf("%d of %s: %d passed, %d failed, %d errored, %d skipped", t.Total, plural(n.Planned, "trial"), t.Passed, t.Failed, t.Errored, t.Skipped)
	facts[1] = nightlyAgainst(n)
	facts[2] = fmt.Sprintf("findings: %d new, %d came back, %d gone, %d known; %s without a story",
		len(n.New), len(n.CameBack), len(n.Gone), n.Known, Count(len(n.Uncovered)+n.UncoveredBefore, "tool or action", "tools and actions"))
	facts[3] = "run " + n.Run + ", " + seconds(n.Seconds)
	if c := Cost(n.Usage); c != "" {
		facts[3] += ", " + c
	}
	if n.SetBaseline {
		facts[3] += "; it is the baseline now"
	}
	return title, facts
}

// nightlyWord is the night in a word or two.
func nightlyWord(n *eval.Nightly) string {
	switch {
	case n.Verdict == eval.Regressed:
		return "regressed"
	case n.Quiet:
		return "quiet night"
	case n.Verdict == "":
		return "first night"
	case n.Verdict == eval.InsufficientData:
		return "too little data"
	case n.Verdict == eval.Improved:
		return "improved"
	}
	return "news"
}

func nightlyAgainst(n *eval.Nightly) string {
	var with []string
	if n.Baseline != "" {
		with = append(with, "baseline "+n.Baseline)
	}
	if len(n.Nights) > 0 {
		with = append(with, "the median of "+Count(len(n.Nights), "night", "nights"))
	}
	text := n.Reason
	if len(with) > 0 {
		text = "against " + strings.Join(with, " and ") + ": " + text
	}
	if n.Noise != nil {
		text += fmt.Sprintf(" (this gate says regressed of %s of unchanged nights)", fmt.Sprintf("%.1f %%", 100*n.Noise.FalseRegressed.Rate))
	}
	return text
}

// Nightly writes a nightly report for a terminal.
func Nightly(w io.Writer, n *eval.Nightly, st Style) {
	p := &printer{w: w, st: st}
	title, facts := nightlyHead(n)
	p.line("%s", p.st.paint(bold, Line(title, most)))
	for _, f := range facts {
		p.line("  %s", Line(f, most))
	}
	for _, x := range nightlyParts(n) {
		p.heading(strings.ToLower(x.Title))
		for _, l := range x.Lines {
			p.line("  %s", p.st.paint(map[string]string{"bad": red, "warn": yellow, "good": green}[x.Class], Line(l, maxNewsText)))
		}
		if x.More > 0 {
			p.line("  and %d more", x.More)
		}
	}
}

// NightlyMark is the hidden text by which a comment with the report of a suite is
// found again, to be updated in place.
func NightlyMark(suite string) string {
	return "<!-- evalengine:nightly " + strings.ReplaceAll(mdText(suite, 0), "--", "- -") + " -->"
}

// NightlyMarkdown writes a nightly report for a job's summary or a comment.
func NightlyMarkdown(w io.Writer, n *eval.Nightly) error {
	b := &strings.Builder{}
	title, facts := nightlyHead(n)
	fmt.Fprintf(b, "## %s %s\n", mdText(title, 0), NightlyMark(n.Suite))
	for _, f := range facts {
		fmt.Fprintf(b, "- %s\n", mdText(f, maxNewsText))
	}
	for _, x := range nightlyParts(n) {
		fmt.Fprintf(b, "\n### %s\n\n", x.Title)
		for _, l := range x.Lines {
			fmt.Fprintf(b, "- %s\n", mdText(l, maxNewsText))
		}
		if x.More > 0 {
			fmt.Fprintf(b, "- and %d more\n", x.More)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// NightlyHTML writes a nightly report as one file.
func NightlyHTML(w io.Writer, n *eval.Nightly) error {
	title, facts := nightlyHead(n)
	v := struct {
		*eval.Nightly
		Word, Class string
		Facts       []string
		Parts       []part
	}{Nightly: n, Word: nightlyWord(n), Facts: facts[:], Parts: nightlyParts(n)}
	switch {
	case n.Verdict == eval.Regressed:
		v.Class = "failed"
	case n.Quiet || n.Verdict == eval.Improved:
		v.Class = "passed"
	default:
		v.Class = "warn"
	}
	return writePage(w, "nightly", page{Title: title, Kicker: "Nightly report of run " + n.Run, Body: v})
}

// NightlySlack is the message of a report for an incoming webhook of Slack, or of
// what takes the same.
func NightlySlack(n *eval.Nightly) ([]byte, error) {
	type text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type block struct {
		Type string `json:"type"`
		Text text   `json:"text"`
	}
	title, facts := nightlyHead(n)
	section := func(lines []string) block {
		body := ""
		for i, l := range lines {
			l = slackText(l)
			if len(body)+len(l) > maxSlackBlock {
				body += fmt.Sprintf("and %d more", len(lines)-i)
				break
			}
			body += l + "\n"
		}
		return block{"section", text{"mrkdwn", strings.TrimSuffix(body, "\n")}}
	}
	blocks := []block{{"header", text{"plain_text", Line(title, 140)}}, section(facts[:])}
	for _, x := range nightlyParts(n) {
		lines := []string{}
		for _, l := range x.Lines {
			lines = append(lines, "• "+l)
		}
		if x.More > 0 {
			lines = append(lines, fmt.Sprintf("• and %d more", x.More))
		}
		b := section(lines)
		b.Text.Text = "*" + x.Title + "*\n" + b.Text.Text
		blocks = append(blocks, b)
	}
	return json.Marshal(map[string]any{"text": slackText(title + ": " + facts[1]), "blocks": blocks})
}

// slackText escapes what Slack gives a meaning: mentions and links begin with <, and
// marks are broken by a space of no width.
func slackText(s string) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(Line(s, maxNewsText))
	return strings.NewReplacer("*", "*\u200b", "_", "_\u200b", "~", "~\u200b", "`", "'").Replace(s)
}

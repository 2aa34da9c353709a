package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of what a comparison shows of each list; its JSON has all of them.
const (
	maxChangedStories = 5
	maxChanges        = 40
	maxUnpaired       = 20
	maxChangeText     = 160
)

// verdictWords are verdicts for people.
var verdictWords = map[eval.ComparisonVerdict]string{
	eval.Regressed: "regressed", eval.Improved: "improved", eval.NoEvidence: "no evidence", eval.InsufficientData: "insufficient data",
}

var verdictColors = map[eval.ComparisonVerdict]string{
	eval.Regressed: red, eval.Improved: green, eval.NoEvidence: dim, eval.InsufficientData: yellow,
}

// testWords are tests and intervals for people.
var testWords = map[string]string{
	"mcnemar_mid_p": "McNemar's test, mid-p", "sign_flip_exact": "exact sign-flip test", "sign_flip_drawn": "sign-flip test, drawn",
	"fisher_exact_within_stories": "Fisher's exact test within stories", "newcombe": "Newcombe", "paired_t": "paired t",
}

// Comparison writes a comparison for people.
func Comparison(w io.Writer, c *eval.Comparison, st Style) {
	p := &printer{w: w, st: st}
	p.line("base  %s", p.side(c.Base))
	p.line("head  %s", p.side(c.Head))
	p.line("%s  %s", st.paint(verdictColors[c.Verdict], verdictWords[c.Verdict]), Line(c.Reason, most))
	group := ""
	for _, d := range c.Dimensions {
		if unused(d) {
			continue
		}
		if g := groupOf(d); g != group {
			group = g
			p.line("")
			p.line("%s", st.paint(bold, g))
		}
		p.compared(c, d)
	}
	p.differs(c)
	p.unpaired(c.Unpaired)
	for _, n := range c.Notes {
		p.line("%s  %s", st.paint(yellow, "note"), Line(n, most))
	}
}

// unused is an effort that no trial of either side took, such as the tokens of a host
// without a model.
func unused(d eval.Compared) bool {
	return d.Kind == eval.QuantityEffort && !d.Gated && d.Difference != nil && *d.Base.Mean == 0 && *d.Head.Mean == 0
}

func groupOf(d eval.Compared) string {
	switch {
	case d.Gated:
		return "gates, corrected for their number"
	case d.Kind == eval.QuantityEffort:
		return "effort, for information"
	}
	return "scores, for information"
}

func (p *printer) side(s eval.ComparedSide) string {
	return p.st.paint(bold, sideName(s)) + "  " + p.tally(s.Trials) + missing(s)
}

func sideName(s eval.ComparedSide) string {
	runs := strings.Join(s.Runs, ", ")
	switch {
	case s.MedianOf > 0:
		return fmt.Sprintf("%s (median of %s)", Line(s.Name, 80), plural(s.MedianOf, "run"))
	case s.Host != "":
		return "host " + s.Host + " of " + runs
	case s.Variant != "":
		return "variant " + s.Variant + " of " + runs
	}
	return Line(strings.Join([]string{s.Suite, s.Name}, "  "), 120)
}

// missing says how many planned trials have no record.
func missing(s eval.ComparedSide) string {
	if n := s.Planned - s.Trials.Total; n > 0 && s.MedianOf == 0 {
		return fmt.Sprintf(", %d of %d without a record", n, s.Planned)
	}
	return ""
}

func (p *printer) compared(c *eval.Comparison, d eval.Compared) {
	verdict := p.st.paint(verdictColors[d.Verdict], pad(verdictWords[d.Verdict], 17))
	p.line("  %s %s %s", pad(Line(d.Name, 30), 30), verdict, figures(d))
	p.line("      %s", p.st.paint(dim, Line(d.Reason, p.st.room(6))))
	if losses := losses(d); losses != "" {
		p.line("      %s", p.st.paint(yellow, losses))
	}
	if !d.Gated && (d.Verdict == eval.NoEvidence || d.Verdict == eval.InsufficientData) {
		return
	}
	for _, l := range details(d, c.Level) {
		p.line("      %s", p.st.paint(dim, Line(l, most)))
	}
	for _, w := range d.Within {
		p.line("      %s %s", pad(partName(w), 28), p.st.paint(dim, partFigures(w)))
	}
	for i, s := range d.Changed {
		if i == maxChangedStories || s.Difference == 0 {
			break
		}
		p.line("      %s %s", pad(Line(s.Story, 28), 28), p.st.paint(verdictColors[s.Verdict], storyFigures(s)))
	}
}

// figures are both sides' means, their difference and its interval.
func figures(d eval.Compared) string {
	if d.Difference == nil {
		return "not on both sides"
	}
	text := fmt.Sprintf("%s → %s  %s", number(*d.Base.Mean), number(*d.Head.Mean), signed(*d.Difference))
	if len(d.Interval) == 2 {
		text += fmt.Sprintf(" [%s, %s]", signed(d.Interval[0]), signed(d.Interval[1]))
	}
	if d.Unit != "" {
		text += " " + Line(d.Unit, 20)
	}
	if d.P != nil {
		text += "  p=" + pvalue(*d.P)
	}
	return text + fmt.Sprintf("  %s, %d/%d trials", Count(d.Stories, "story", "stories"), d.Base.N, d.Head.N)
}

func signed(v float64) string {
	if v > 0 {
		return "+" + number(v)
	}
	return strings.Replace(number(v), "-", "−", 1)
}

func pvalue(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}

// losses are values that enter nothing.
func losses(d eval.Compared) string {
	var parts []string
	for _, s := range []struct {
		side string
		eval.ComparedValues
	}{{"base", d.Base}, {"head", d.Head}} {
		for _, k := range []struct {
			n    int
			what string
		}{{s.Errored, "errored"}, {s.Skipped, "skipped"}, {s.Refused, "refused: no number"}} {
			if k.n > 0 {
				parts = append(parts, fmt.Sprintf("%s: %d %s", s.side, k.n, k.what))
			}
		}
	}
	if len(d.OneSided) > 0 {
		parts = append(parts, "a value on one side alone: "+Line(strings.Join(d.OneSided, ", "), 200))
	}
	for _, l := range d.LeftOut {
		parts = append(parts, "left out: "+Line(l, 200))
	}
	for _, l := range d.Forced {
		parts = append(parts, "compared all the same: "+Line(l, 200))
	}
	return strings.Join(parts, "; ")
}

// details say what was tested and what could have been seen.
func details(d eval.Compared, level float64) []string {
	var out []string
	if d.Test != "" {
		out = append(out, testWords[d.Test]+": "+d.TestWhy)
	}
	var parts []string
	if d.Adjusted != nil {
		parts = append(parts, "p by Holm "+pvalue(*d.Adjusted))
	}
	if d.PairedT != nil {
		parts = append(parts, "p by paired t "+pvalue(*d.PairedT))
	}
	if d.Method != "" {
		parts = append(parts, fmt.Sprintf("%g %% interval by %s", 100*level, testWords[d.Method]))
	}
	if d.Detectable != nil {
		parts = append(parts, "a true difference of "+number(*d.Detectable)+" would be seen four times in five")
	}
	if d.Effect != nil {
		parts = append(parts, "effect size "+number(*d.Effect))
	}
	if len(parts) > 0 {
		out = append(out, strings.Join(parts, "; "))
	}
	return out
}

func partName(w eval.ComparedPart) string { return Line(arm(w.Variant, w.Host), 28) }

func partFigures(w eval.ComparedPart) string {
	text := fmt.Sprintf("%s → %s  %s", number(*w.Base), number(*w.Head), signed(*w.Difference))
	if len(w.Interval) == 2 {
		text += fmt.Sprintf(" [%s, %s]", signed(w.Interval[0]), signed(w.Interval[1]))
	}
	return text + "  " + Count(w.Stories, "story", "stories")
}

func storyFigures(s eval.ComparedStory) string {
	text := fmt.Sprintf("%s → %s  %s  %d/%d trials", number(s.Base), number(s.Head), signed(s.Difference), s.BaseN, s.HeadN)
	if s.P != nil {
		text += "  p=" + pvalue(*s.P)
	}
	if s.Verdict == eval.Regressed || s.Verdict == eval.Improved {
		text += "  " + verdictWords[s.Verdict]
	}
	return text
}

func (p *printer) differs(c *eval.Comparison) {
	p.line("")
	if len(c.Changes) == 0 {
		p.line("%s", p.st.paint(dim, "nothing else that is recorded differs between the sides"))
		return
	}
	p.line("%s", p.st.paint(bold, "what else differs"))
	for i, ch := range c.Changes {
		if i == maxChanges {
			p.line("  %s", p.st.paint(dim, fmt.Sprintf("… %d more with --json", len(c.Changes)-i)))
			return
		}
		name := strings.TrimSpace(strings.ReplaceAll(ch.What, "_", " ") + " " + ch.Name)
		base, head := sides(ch)
		p.line("  %s  %s → %s", Line(name, 60), Line(base, maxChangeText), Line(head, maxChangeText))
	}
}

func sides(ch eval.Change) (base, head string) {
	join := func(list []string) string {
		if len(list) == 0 {
			return "none"
		}
		return strings.Join(list, " | ")
	}
	return join(ch.Base), join(ch.Head)
}

func (p *printer) unpaired(list []eval.Unpaired) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.st.paint(bold, "not compared"))
	for i, u := range list {
		if i == maxUnpaired {
			p.line("  %s", p.st.paint(dim, fmt.Sprintf("… %d more with --json", len(list)-i)))
			return
		}
		p.line("  %s", unpairedText(u))
	}
}

func unpairedText(u eval.Unpaired) string {
	where := "only the " + u.Side + " has it"
	if u.Side == "neither" {
		where = "it is of neither side"
	}
	return fmt.Sprintf("%s  %s: %s, %s", Line(u.Story, 60), Line(arm(u.Variant, u.Host), 40), where, plural(u.Trials, "trial"))
}

// ComparisonMarkdown writes a comparison as Markdown.
func ComparisonMarkdown(w io.Writer, c *eval.Comparison) {
	m := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	m("## Comparison: %s\n", verdictWords[c.Verdict])
	m("%s\n", markdownText(c.Reason))
	m("- base: %s: %s%s", markdownText(sideName(c.Base)), plainTally(c.Base.Trials), missing(c.Base))
	m("- head: %s: %s%s\n", markdownText(sideName(c.Head)), plainTally(c.Head.Trials), missing(c.Head))
	m("| quantity | verdict | base | head | difference | %g %% interval | p (Holm) | detectable | stories | why |", 100*c.Level)
	m("|---|---|---|---|---|---|---|---|---|---|")
	for _, d := range c.Dimensions {
		if unused(d) {
			continue
		}
		m("%s", comparedRow(d))
	}
	comparedNotes(m, c)
}

func comparedRow(d eval.Compared) string {
	name := markdownText(d.Name)
	if d.Gated {
		name = "**" + name + "**"
	}
	cells := []string{name, verdictWords[d.Verdict], "", "", "", "", "", "", fmt.Sprint(d.Stories), markdownText(strings.Join(nonempty(d.Reason, losses(d)), "; "))}
	if d.Difference != nil {
		cells[2], cells[3], cells[4] = number(*d.Base.Mean), number(*d.Head.Mean), signed(*d.Difference)
	}
	if len(d.Interval) == 2 {
		cells[5] = fmt.Sprintf("%s to %s", signed(d.Interval[0]), signed(d.Interval[1]))
	}
	if d.P != nil {
		cells[6] = pvalue(*d.P)
	}
	if d.Adjusted != nil {
		cells[6] += " (" + pvalue(*d.Adjusted) + ")"
	}
	if d.Detectable != nil {
		cells[7] = number(*d.Detectable)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

func comparedNotes(m func(string, ...any), c *eval.Comparison) {
	if len(c.Changes) > 0 {
		m("\n### What else differs\n\n| what | base | head |\n|---|---|---|")
		for i, ch := range c.Changes {
			if i == maxChanges {
				m("| … %d more | | |", len(c.Changes)-i)
				break
			}
			base, head := sides(ch)
			m("| %s | %s | %s |", markdownText(strings.TrimSpace(strings.ReplaceAll(ch.What, "_", " ")+" "+ch.Name)), markdownText(Line(base, maxChangeText)), markdownText(Line(head, maxChangeText)))
		}
	}
	if len(c.Unpaired) > 0 {
		m("\n### Not compared\n")
		for i, u := range c.Unpaired {
			if i == maxUnpaired {
				m("- … %d more", len(c.Unpaired)-i)
				break
			}
			m("- %s", markdownText(unpairedText(u)))
		}
	}
	for _, n := range c.Notes {
		m("\n> %s", markdownText(n))
	}
}

func nonempty(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func plainTally(t eval.Tally) string { return (&printer{}).tally(t) }

// markdownEscapes are what would be markup in a table's cell.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "!", `\!`, "~", `\~`, "@", "&#64;", "://", ":&#47;&#47;",
)

// markdownText makes text of others one line of Markdown without markup, links and
// mentions.
func markdownText(text string) string { return markdownEscapes.Replace(Line(text, most)) }

// NoiseFloor writes for people what a comparison of a run with itself says.
func NoiseFloor(w io.Writer, n *eval.Noise, st Style) {
	p := &printer{w: w, st: st}
	p.line("%s  %s", st.paint(bold, n.Suite+"  "+n.Run), p.tally(n.Trials))
	repeats := plural(n.Repeats[0], "trial")
	if n.Repeats[0] != n.Repeats[1] {
		repeats = fmt.Sprintf("%d to %s", n.Repeats[0], plural(n.Repeats[1], "trial"))
	}
	p.line("%d splits of %s into two sides of %s, seed %d", n.Splits, Count(n.Stories, "story", "stories"), repeats, n.Seed)
	p.line("")
	p.line("though nothing changed between the sides, the gate said")
	p.line("  %s %s", pad("regressed", 26), alarm(n.FalseRegressed))
	p.line("  %s %s", pad("improved", 26), alarm(n.FalseImproved))
	if n.Insufficient > 0 {
		p.line("  %s %s", pad("insufficient data", 26), fmt.Sprintf("%d of %d", n.Insufficient, n.Splits))
	}
	p.line("  %s %s", pad("a gate at any drop", 26), alarm(n.AnyDrop))
	p.line("")
	p.line("%s", st.paint(bold, "differences by chance alone"))
	for _, f := range n.Floors {
		mark := ""
		if f.Gated {
			mark = "  gates"
		}
		p.line("  %s median %s  95 %% below %s  most %s %s%s", pad(Line(f.Name, 30), 30), number(f.Median), number(f.P95), number(f.Max), Line(f.Unit, 20), mark)
	}
	for _, u := range n.LeftOut {
		p.line("%s  %s  %s: %s", st.paint(yellow, "left out"), Line(u.Story, 60), Line(arm(u.Variant, u.Host), 40), plural(u.Trials, "finished trial"))
	}
}

func alarm(a eval.FalseAlarm) string {
	if len(a.Interval) != 2 {
		return fmt.Sprintf("%d times", a.Count)
	}
	return fmt.Sprintf("%s times, %.1f %% [%.1f, %.1f]", number(float64(a.Count)), 100*a.Rate, 100*a.Interval[0], 100*a.Interval[1])
}

// NoiseMarkdown writes a comparison of a run with itself as Markdown.
func NoiseMarkdown(w io.Writer, n *eval.Noise) {
	m := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	m("## A run against itself: %s\n", markdownText(n.Run))
	m("%d splits of %s, seed %d. Though nothing changed between the sides:\n", n.Splits, Count(n.Stories, "story", "stories"), n.Seed)
	m("- regressed: %s", alarm(n.FalseRegressed))
	m("- improved: %s", alarm(n.FalseImproved))
	m("- insufficient data: %d of %d", n.Insufficient, n.Splits)
	m("- a gate at any drop: %s\n", alarm(n.AnyDrop))
	m("| quantity | gates | median | 95 %% below | most | unit |\n|---|---|---|---|---|---|")
	for _, f := range n.Floors {
		gates := ""
		if f.Gated {
			gates = "yes"
		}
		m("| %s | %s | %s | %s | %s | %s |", markdownText(f.Name), gates, number(f.Median), number(f.P95), number(f.Max), markdownText(f.Unit))
	}
	for _, u := range n.LeftOut {
		m("\n> left out: %s", markdownText(fmt.Sprintf("%s %s: %s", u.Story, arm(u.Variant, u.Host), plural(u.Trials, "finished trial"))))
	}
}

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/evalengine/evalengine/engine/eval"
)

// Problem is why a trial is not passed.
type Problem struct {
	Trial  eval.Trial
	Status eval.Status
	Cause  string
	Reason string
}

// ProblemOf returns the problem of a record, not ok for one that passed.
func ProblemOf(r *eval.Record) (p Problem, ok bool) {
	return Problem{Trial: r.Trial, Status: r.Status, Cause: r.Cause, Reason: r.Reason}, r.Status != eval.StatusPassed
}

// Bounds of what a terminal summary shows.
const (
	maxProblems = 3
	maxValues   = 10
	maxFindings = 12
)

// Terminal writes a run's summary for people: per story and arm the trials and
// every dimension apart, why trials are not passed, the findings.
func Terminal(w io.Writer, s *eval.Summary, problems []Problem, st Style) {
	p := &printer{w: w, st: st}
	p.head(s)
	story := ""
	for _, a := range s.Arms {
		if a.Story != story {
			story = a.Story
			p.line("")
			p.line("%s", st.paint(bold, story))
		}
		p.arm(a, problems)
	}
	p.over(s)
	p.findings(s.Findings)
	p.foot(s)
}

type printer struct {
	w  io.Writer
	st Style
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

func (p *printer) head(s *eval.Summary) {
	parts := []string{p.st.paint(bold, s.Suite), s.Run}
	if s.Experiment != "" {
		parts = append(parts, "experiment "+s.Experiment)
	}
	parts = append(parts, Duration(s.FinishedAt.Sub(s.StartedAt)))
	if c := Cost(s.Usage); c != "" {
		parts = append(parts, c)
	}
	p.line("%s", strings.Join(parts, "  "))
}

func (p *printer) arm(a eval.Arm, problems []Problem) {
	p.line("  %s %s  %s  %s", pad(arm(a.Variant, a.Host), 26), p.tally(a.Trials), p.gates(a.Gates), p.effort(a.Effort))
	p.flaky(a)
	for _, sc := range a.Scores {
		if sc.Role == eval.RoleAssert && sc.N > 0 && *sc.Min == 1 && sc.Errored == 0 && sc.Skipped == 0 {
			continue // an assert that always held is in its gate
		}
		p.line("      %s %s", pad(sc.Name, 30), p.stat(sc))
	}
	p.problems(a, problems)
}

// tally is one mark a trial for few, and counts for many.
func (p *printer) tally(t eval.Tally) string {
	kinds := []struct {
		n  int
		st eval.Status
	}{{t.Passed, eval.StatusPassed}, {t.Failed, eval.StatusFailed}, {t.Errored, eval.StatusErrored}, {t.Skipped, eval.StatusSkipped}}
	var parts []string
	for _, k := range kinds {
		if k.n > 0 {
			_, code := p.st.status(k.st)
			parts = append(parts, p.st.paint(code, fmt.Sprintf("%d %s", k.n, k.st)))
		}
	}
	if len(parts) == 0 {
		return p.st.paint(dim, "not run")
	}
	return strings.Join(parts, ", ")
}

func (p *printer) gates(gates []eval.Stat) string {
	var parts []string
	for _, g := range gates {
		if g.N == 0 {
			parts = append(parts, g.Name+" "+p.st.paint(dim, "not measured"))
			continue
		}
		text := fmt.Sprintf("%s %.2f", g.Name, *g.Mean)
		code := green
		if *g.Mean < 1 {
			code = red
		}
		parts = append(parts, p.st.paint(code, text))
	}
	return strings.Join(parts, "  ")
}

func (p *printer) effort(effort []eval.Stat) string {
	var parts []string
	for _, e := range effort {
		if e.N == 0 || *e.Max == 0 {
			continue
		}
		switch e.Name {
		case "seconds":
			parts = append(parts, seconds(*e.Mean))
		case "calls", "turns", "tokens":
			parts = append(parts, amount(*e.Mean, e.Name))
		}
	}
	return p.st.paint(dim, strings.Join(parts, ", "))
}

// amount is a number with its noun, which names an effort in the plural.
func amount(v float64, many string) string {
	if v == 1 {
		return "1 " + strings.TrimSuffix(many, "s")
	}
	return number(v) + " " + many
}

// stat is a score's numbers: n, mean, stdev where there is one, raw values.
func (p *printer) stat(s eval.Stat) string {
	var parts []string
	if s.N == 0 {
		parts = append(parts, "not measured")
	} else {
		text := fmt.Sprintf("n=%d mean=%s", s.N, number(*s.Mean))
		if s.Stdev != nil {
			text += " stdev=" + number(*s.Stdev)
		}
		if s.StdErr != nil {
			text += " each ±" + number(*s.StdErr)
		}
		parts = append(parts, text, p.st.paint(dim, values(s)))
	}
	if s.Unit != "" {
		parts = append(parts, s.Unit)
	}
	if s.Pairs != nil {
		parts = append(parts, pairs(s.Pairs))
	}
	if s.Errored > 0 {
		parts = append(parts, p.st.paint(yellow, fmt.Sprintf("%d errored", s.Errored)))
	}
	if s.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", s.Skipped))
	}
	return strings.Join(parts, "  ")
}

// pairs is what preferences between two results come to.
func pairs(p *eval.Pairs) string {
	text := fmt.Sprintf("%s: %d won, %d lost, %d tied", plural(p.N, "pair"), p.Won, p.Lost, p.Tied)
	for _, rate := range []struct {
		name string
		v    *float64
	}{{"win rate", p.WinRate}, {"same in both orders", p.OrderConsistency}, {"first preferred", p.FirstPickRate}} {
		if rate.v == nil {
			text += ", " + rate.name + " undefined"
			continue
		}
		text += fmt.Sprintf(", %s %.2f", rate.name, *rate.v)
	}
	return text
}

func values(s eval.Stat) string {
	var parts []string
	for i, v := range s.Values {
		if i == maxValues {
			parts = append(parts, fmt.Sprintf("… %d more", len(s.Values)-i))
			break
		}
		parts = append(parts, number(v))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// group is the problems of an arm that have one reason.
type group struct {
	Problem
	repeats []string
}

func groups(a eval.Arm, problems []Problem) []group {
	var out []group
	for _, pr := range problems {
		if pr.Trial.Story != a.Story || pr.Trial.Variant != a.Variant || pr.Trial.Host != a.Host {
			continue
		}
		i := slices.IndexFunc(out, func(g group) bool { return g.Status == pr.Status && g.Cause == pr.Cause && g.Reason == pr.Reason })
		if i < 0 {
			i = len(out)
			out = append(out, group{Problem: pr})
		}
		out[i].repeats = append(out[i].repeats, fmt.Sprintf("r%d", pr.Trial.Repeat))
	}
	return out
}

func (p *printer) problems(a eval.Arm, problems []Problem) {
	for i, g := range groups(a, problems) {
		if i == maxProblems {
			p.line("      %s", p.st.paint(dim, "… more: evalengine show "+g.Trial.ID()))
			return
		}
		which := strings.Join(g.repeats[:min(len(g.repeats), 5)], " ")
		if n := len(g.repeats) - 5; n > 0 {
			which += fmt.Sprintf(" and %d more", n)
		}
		mark, code := p.st.status(g.Status)
		label := fmt.Sprintf("%s %s %s", mark, which, g.Cause)
		p.reason(p.st.paint(code, label), reason(g.Cause, g.Reason), p.st.room(8+len([]rune(label))))
	}
}

// reasonLines is how many lines of a terminal a reason may take.
const reasonLines = 4

// reason writes a reason after its label, on several lines where one is too
// short for it.
func (p *printer) reason(label, text string, room int) {
	for i, part := range wrap(Line(text, reasonLines*room), room) {
		if i == 0 {
			p.line("      %s  %s", label, part)
			continue
		}
		p.line("          %s", part)
	}
}

// wrap breaks text between words into lines of at most width columns.
func wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.SplitSeq(text, " ") {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case runewidth.StringWidth(*last)+1+runewidth.StringWidth(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

func (p *printer) findings(list []eval.FindingCount) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.st.paint(bold, "findings"))
	for i, f := range list {
		if i == maxFindings {
			p.line("  %s", p.st.paint(dim, fmt.Sprintf("… %d more in summary.json", len(list)-i)))
			return
		}
		label := fmt.Sprintf("%s %s %s", pad(string(f.Severity), 8), f.Kind, found(f))
		if about := strings.TrimSpace(f.Tool + " " + f.Action); about != "" {
			label += " " + Line(about, 50)
		}
		p.line("  %s  %s", label, p.st.paint(dim, Line(f.Text, max(20, p.st.room(6+len(label))))))
	}
}

// found is how often a finding was made; what cites nothing that exists is told
// apart.
func found(f eval.FindingCount) string {
	switch {
	case f.Unverified == 0:
		return fmt.Sprintf("×%d", f.Count)
	case f.Count == 0:
		return fmt.Sprintf("(unverified ×%d)", f.Unverified)
	}
	return fmt.Sprintf("×%d (unverified ×%d)", f.Count, f.Unverified)
}

func (p *printer) foot(s *eval.Summary) {
	p.line("")
	text := fmt.Sprintf("%d of %s: %s", s.Trials.Total, plural(s.Planned, "trial"), p.tally(s.Trials))
	if causes := causes(s.Trials.Causes); causes != "" {
		text += " (" + causes + ")"
	}
	if s.Completion != eval.RunComplete {
		text += "; the run is " + string(s.Completion)
	}
	p.line("%s", text)
	if s.Rescored > 0 {
		p.line("%s", p.st.paint(dim, plural(s.Rescored, "trial")+" with a later verdict than the record's own; evalengine show TRIAL says which"))
	}
	if s.Stopped != "" {
		p.line("%s  %s", p.st.paint(yellow, "stopped by "+stops[s.Stopped]), Line(s.StopReason, most))
	}
}

// stops are the reasons of a run's end in words.
var stops = map[eval.Stop]string{
	eval.StopBudget: "the budget", eval.StopTrials: "the number of trials", eval.StopFailFast: "--fail-fast",
	eval.StopCircuit: "faults in a row", eval.StopInterrupted: "an interrupt", eval.StopStore: "the store",
}

func causes(m map[string]int) string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, m[n])
	}
	return strings.Join(names, ", ")
}

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Suggestions writes for people what usage suggests.
func Suggestions(w io.Writer, s *eval.Suggestions, st Style) {
	p := &printer{w: w, st: st}
	period := ""
	if s.From != "" {
		period = ", " + s.From + " to " + s.To
	}
	p.line("%s in %s%s", plural(s.Events, "call"), plural(s.Sessions, "session"), period)
	for _, b := range s.Broken {
		p.line("%s", st.paint(yellow, fmt.Sprintf("%s broken: %s (first in line %d)", plural(b.Lines, "line"), b.Kind, b.FirstLine)))
	}
	p.line("%s of %d sessions or more; %d told by a longer one, %d covered, %d redundant, %d beyond the limit", plural(s.Patterns, "pattern"), s.Support, s.Absorbed, s.Covered, s.Redundant, s.Left)
	if s.Support > s.MinSessions {
		p.line("%s", st.paint(yellow, fmt.Sprintf("there are too many patterns of %d sessions: the least was raised to %d", s.MinSessions, s.Support)))
	}
	if s.RareNames > 0 {
		p.line("%s of fewer than %d sessions left out", Count(s.RareNames, "tool or action", "tools or actions"), s.MinSessions)
	}
	for _, d := range s.Drafts {
		p.line("")
		p.suggested(d)
	}
}

func (p *printer) suggested(d eval.Suggested) {
	var calls []string
	for _, c := range d.Calls {
		name := c.Tool
		if c.Action != "" {
			name += "." + c.Action
		}
		calls = append(calls, Line(name, 200))
	}
	mark := ""
	if d.HeldOut {
		mark = "  held out"
	}
	p.line("%s%s", p.st.paint(bold, d.Story), mark)
	p.line("  %s", strings.Join(calls, " -> "))
	failures := "failures unknown"
	if d.FailureRate != nil {
		failures = fmt.Sprintf("a call failed in %.1f %% of %d", 100**d.FailureRate, d.Known)
	}
	p.line("  %s (%.1f %%), %s; prompt %s", plural(d.Sessions, "session"), 100*d.Share, failures, d.Prompt)
	if d.PromptProblem != "" {
		p.line("  %s", p.st.paint(yellow, Line(d.PromptProblem, 300)))
	}
	if d.File != "" {
		p.line("  %s", Line(d.File, 300))
	}
}

package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxSteps bounds how many steps of a transcript a terminal shows.
const maxSteps = 400

// Trial writes one trial for people: what was asked, what the agent did step by
// step, what the scorers said.
func Trial(w io.Writer, r *eval.Record, steps []eval.Step, st Style) {
	p := &printer{w: w, st: st}
	mark, code := st.status(r.Status)
	p.line("%s %s  %s", st.paint(code, mark+" "+string(r.Status)), st.paint(bold, r.ID), st.paint(dim, "run "+r.Run))
	if r.Reason != "" {
		p.line("  %s: %s", r.Cause, Line(reason(r.Cause, r.Reason), max(4*st.width(), st.room(0))))
	}
	p.rescored(r)
	p.facts(r)
	p.attempts(r)
	p.transcript(steps)
	p.scores(r.Scores)
	p.trialFindings(r.Findings)
}

// rescored says that the verdict is a later one, and which was the record's own.
func (p *printer) rescored(r *eval.Record) {
	if r.Rescored == nil {
		return
	}
	first := string(r.Rescored.First.Status)
	if r.Rescored.First.Reason != "" {
		first += ", " + r.Rescored.First.Cause + ": " + reason(r.Rescored.First.Cause, r.Rescored.First.Reason)
	}
	text := fmt.Sprintf("scored again %s, last as %s at %s; the record's own verdict: %s", Count(r.Rescored.Times, "time", "times"),
		r.Rescored.ID, r.Rescored.ScoredAt.UTC().Format(time.DateTime), first)
	p.line("  %s", p.st.paint(yellow, Line(text, max(4*p.st.width(), p.st.room(0)))))
}

// TrialLine is one ended trial in one line.
func TrialLine(r *eval.Record, st Style) string {
	mark, code := st.status(r.Status)
	parts := []string{st.paint(code, mark) + " " + r.ID, seconds(r.Timings.Total)}
	if r.Calls.Total > 0 {
		parts = append(parts, plural(r.Calls.Total, "call"))
	}
	if c := Cost(r.Usage); c != "" {
		parts = append(parts, c)
	}
	if len(r.Attempts) > 1 {
		parts = append(parts, plural(len(r.Attempts), "attempt"))
	}
	if r.Reason != "" {
		parts = append(parts, Line(r.Cause+": "+reason(r.Cause, r.Reason), max(30, st.room(60))))
	}
	return strings.Join(parts, "  ")
}

func (p *printer) facts(r *eval.Record) {
	t := r.Timings
	p.line("  driver %s, agent %s of %s in all", r.Driver, seconds(t.Agent), seconds(t.Total))
	if r.Target != nil {
		p.line("  target %s (%s)", r.Target.Name, r.Target.Provisioner)
	}
	text := plural(r.Calls.Total, "call")
	for _, c := range []struct {
		n    int
		name string
	}{{r.Calls.Failed, "failed"}, {r.Calls.Unfinished, "unfinished"}, {r.Calls.Unconfirmed, "unconfirmed"}, {r.Calls.Unreported, "unreported"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.name)
		}
	}
	if n := r.Usage.InputTokens + r.Usage.OutputTokens; n > 0 {
		text += fmt.Sprintf("; %d tokens in %s; %s", n, plural(r.Usage.Turns, "turn"), Cost(r.Usage))
	}
	p.line("  %s", text)
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		p.line("  %s", p.st.paint(dim, Line(name+" "+r.Versions[name], p.st.width()-2)))
	}
}

func seconds(s float64) string { return Duration(time.Duration(s * float64(time.Second))) }

func (p *printer) attempts(r *eval.Record) {
	if len(r.Attempts) < 2 {
		return
	}
	for _, a := range r.Attempts {
		text := string(a.Outcome)
		if a.Fault != nil {
			text = a.Fault.Error()
		}
		p.line("  attempt %d: %s", a.N, Line(text, p.st.width()-14))
	}
}

func (p *printer) transcript(steps []eval.Step) {
	turn := 0
	for i, s := range steps {
		if i == maxSteps {
			p.line("  %s", p.st.paint(dim, fmt.Sprintf("… %d more steps in transcript.jsonl", len(steps)-i)))
			break
		}
		if s.Turn != turn {
			turn = s.Turn
			p.line("")
			p.line("%s", p.st.paint(bold, fmt.Sprintf("turn %d", turn)))
		}
		p.step(s)
	}
}

func (p *printer) step(s eval.Step) {
	room := p.st.width() - 30
	label, text := "", ""
	switch s.Kind {
	case eval.StepMessage:
		label, text = s.Role, s.Text
	case eval.StepReasoning:
		label, text = "thinks", s.Text
	case eval.StepToolCall:
		label, text = "→ "+tool(s), string(s.Arguments)
	case eval.StepToolResult:
		label, text = "← "+tool(s), string(s.Result)
		if s.Bytes > 0 {
			text = fmt.Sprintf("%d B  %s", s.Bytes, head(text, 400))
		}
	case eval.StepError:
		label, text = "error", s.Text
	}
	if s.Observed == eval.Unconfirmed || s.Observed == eval.Unreported {
		label += " (" + string(s.Observed) + ")"
	}
	label = Line(label, 60)
	code := dim
	if s.IsError || s.Kind == eval.StepError {
		code = red
	}
	at := fmt.Sprintf("%7.2fs", s.AtMS/1000)
	p.line("  %s %s %s  %s", p.st.paint(dim, pad(s.ID, 4)), p.st.paint(dim, at), label, p.st.paint(code, Line(text, max(20, room-len(label)+10))))
}

func tool(s eval.Step) string {
	if s.Server == "" {
		return s.Tool
	}
	return s.Server + "/" + s.Tool
}

func (p *printer) scores(scores []eval.Score) {
	if len(scores) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.st.paint(bold, "scores"))
	for _, s := range scores {
		mark, code := scoreMark(s)
		value := string(s.State)
		if s.State == eval.Scored && s.Value != nil {
			value = number(*s.Value)
			if s.Raw != nil {
				value = strings.TrimSpace(number(*s.Raw) + " " + s.Unit)
			}
		}
		name := p.st.paint(code, mark) + " " + pad(s.Name, 30)
		p.line("  %s %s %s  %s", name, pad(string(s.Dimension), 10), pad(value, 10), p.st.paint(dim, Line(s.Reason+evidence(s.Evidence), max(20, p.st.width()-60))))
	}
}

func scoreMark(s eval.Score) (mark, code string) {
	switch {
	case s.State == eval.ScoreErrored:
		return "!", yellow
	case s.State == eval.ScoreSkipped || s.Passed == nil:
		return "·", dim
	case *s.Passed:
		return "✓", green
	}
	return "✗", red
}

func evidence(list []eval.Evidence) string {
	var parts []string
	for i, e := range list {
		if i == 5 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, e.Step+e.Page+e.Pointer)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (p *printer) trialFindings(list []eval.Finding) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.st.paint(bold, "findings"))
	for _, f := range list {
		cites := evidence(f.Evidence)
		label := Line(strings.TrimSpace(f.Kind+" "+f.Tool+" "+f.Action), 60)
		if f.Unverified {
			label += " (unverified)"
		}
		p.line("  %s %s %s", pad(string(f.Severity), 8), label, p.st.paint(dim, Line(f.Text, max(20, p.st.width()-40-len(cites)))+cites))
		if f.Suggestion != "" {
			p.line("           %s", Line(f.Suggestion, p.st.width()-12))
		}
	}
}

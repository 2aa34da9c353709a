package stream

import (
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// Session is the session's ID, empty before it is known.
func (p *Parser) Session() string { return p.session }

// Recorded takes a line of a session file that the program keeps, of the sub-agent
// that the call parent started or, without one, of the agent itself. What the
// output has shown already is passed over, so that nothing counts twice. A session
// file never ends a turn: that is the closing line's to do.
func (p *Parser) Recorded(line []byte, parent string) {
	var e event
	if agentout.Decode(line, &e) != nil || e.Message.Model == synthetic || parent == "" && e.Sidechain {
		return
	}
	e.Parent, e.Error = parent, ""
	before := p.steps
	switch e.Type {
	case "assistant":
		p.recordedAnswer(&e)
	case "user":
		p.recordedResults(&e)
	}
	if p.recorded += p.steps - before; p.recorded > 0 && p.recorded == p.steps-before {
		p.notes.Add("the agent's output lacks what its session file has; steps are taken from there")
	}
}

func (p *Parser) recordedAnswer(e *event) {
	id, before := e.Message.ID, p.steps
	if id == "" {
		return
	}
	for _, b := range blocks(e.Message.Content) {
		p.block(e, b, agentproc.Line{}, e.Parent == "", true)
	}
	if p.steps == before {
		return
	}
	p.messages[id], p.answered = true, true
	if m := e.Message.Model; m != "" && !slices.Contains(p.models, m) && len(p.models) < 16 {
		p.models = append(p.models, m)
	}
}

func (p *Parser) recordedResults(e *event) {
	list := blocks(e.Message.Content)
	for _, b := range list {
		switch {
		case b.ToolUseID != "":
			var own []byte
			if len(list) == 1 {
				own = e.FileResult
			}
			p.toolResult(e, b, agentproc.Line{}, own)
		case b.Type == "text" && e.Parent != "":
			p.told(e.Parent, string(b.Text), false)
		}
	}
}

// told is what a sub-agent is told; the agent's own prompts are the suite's.
func (p *Parser) told(parent, text string, truncated bool) {
	if !p.seen.Again("told", parent, text) {
		p.step(eval.Step{Kind: eval.StepMessage, Role: "user", Text: text, Parent: parent, Truncated: truncated})
	}
}

package stream

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/rollout"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// FillSub adds what the session file of a sub-agent says of the turn: the
// program's output tells only that it was started.
func (p *Parser) FillSub(thread string, t *rollout.Turn) {
	parent := p.started[thread]
	if parent == "" {
		parent = "thread-" + thread
	}
	u := t.Usage
	u.Turns, u.Models, u.LowerBound = t.Responses, t.Models, t.Uncounted
	p.subs.Add(u)
	for _, c := range t.Calls {
		// A thread that was forked begins with a copy of the other's calls.
		if p.shown.Again("call", c.ID) {
			continue
		}
		id := p.callID(c.ID)
		p.start(c.Threads, id)
		p.subCall(c, id, parent)
	}
}

// start notes which call started threads.
func (p *Parser) start(threads []string, call string) {
	for _, t := range threads {
		if _, known := p.started[t]; !known && len(p.started) < 1000 {
			p.started[t] = call
		}
	}
}

func (p *Parser) subCall(c rollout.Call, id, parent string) {
	s := eval.Step{Kind: eval.StepToolCall, CallID: id, Parent: parent}
	s.Server, s.Tool = p.names.Split(wireName(c))
	s.Arguments, s.BadArguments = agentout.Arguments(c.Arguments)
	if c.Custom {
		s.Arguments, s.BadArguments = agentout.String(c.Arguments), false
	}
	p.step(s)
	if !c.Finished {
		return
	}
	failed := c.Failed || s.BadArguments || strings.HasPrefix(c.Output, "unsupported call") || strings.HasPrefix(c.Output, "err:")
	result := agentout.TextResult(c.Output, failed)
	p.step(eval.Step{
		Kind: eval.StepToolResult, CallID: s.CallID, Parent: parent, Result: result, IsError: failed, Bytes: int64(len(result)),
	})
}

// Below is how many answers of the model the turn's sub-agents had.
func (p *Parser) Below() int { return p.subs.Turns }

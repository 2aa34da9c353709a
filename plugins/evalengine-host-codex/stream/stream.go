// Package stream reads the JSON lines of codex exec, fills in what they lack from
// the program's session file, and says how each turn ended. It starts nothing:
// give it lines with [Parser.Line], the file's part with [Parser.Fill], then ask
// [Parser.Result].
package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/rollout"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// MaxSteps bounds the steps of one turn.
const MaxSteps = 50_000

// Parser reads the output of one conversation, turn by turn, each of a process of
// its own. It is not safe for concurrent use.
type Parser struct {
	names agentout.Names
	// total is what the thread's counts had come to before this turn.
	total    eval.Usage
	thread   string
	answered bool // the model has answered in any turn
	version  string
	n        int
	// started has the call that started each sub-agent's thread; shown is which
	// calls the session files have shown.
	started map[string]string
	shown   agentout.Seen

	turn
}

// turn is what a turn has shown so far.
type turn struct {
	emit  func(eval.Event)
	notes *agentout.Notes

	lines     int // that were events
	steps     int
	done      *event // turn.completed or turn.failed
	answer    string
	lastError string
	retries   int
	denied    string
	calls     map[string]call // open ones, by item ID
	called    int
	seen      agentout.Seen
	ids       map[string]int // how often each item or call has begun
	responses int            // an upper bound
	fresh     bool           // the next item is of another answer of the model
	file      *rollout.Turn
	subs      eval.Usage // of sub-agents
}

type call struct{ id, server, tool string }

// New returns a parser for a conversation that was given those servers.
func New(names agentout.Names) *Parser { return &Parser{names: names, started: map[string]string{}} }

// Begin begins a turn, whose events go to emit.
func (p *Parser) Begin(emit func(eval.Event)) {
	p.n++
	p.turn = turn{emit: emit, notes: agentout.NewNotes(emit), calls: map[string]call{}, ids: map[string]int{}, fresh: true}
}

// Thread is the conversation's ID, empty before there is one.
func (p *Parser) Thread() string { return p.thread }

// Responses is how many answers of the model the turn has shown at most: calls of
// one answer that run one after the other may count for several.
func (p *Parser) Responses() int { return p.responses }

// Quiet notes that the agent wrote nothing for that long. That is no fault: work
// may well go on.
func (p *Parser) Quiet(d time.Duration) {
	p.notes.Add("the agent was silent for %s", d.Round(time.Second))
}

// Line reads one line of output.
func (p *Parser) Line(l agentproc.Line) {
	agentout.ReadLine(l, p.notes, isEvent, func(text []byte) bool {
		var e event
		if agentout.Decode(text, &e) != nil || e.Type == "" {
			return false
		}
		p.take(&e, l)
		return true
	})
}

// isEvent accepts the kinds of lines that count also where they share theirs. An error
// is none: items may be of that kind too.
func isEvent(kind string) bool {
	for _, of := range []string{"thread.", "turn.", "item."} {
		if strings.HasPrefix(kind, of) {
			return true
		}
	}
	return false
}

func (p *Parser) take(e *event, l agentproc.Line) {
	p.lines++
	switch e.Type {
	case "thread.started":
		if p.thread == "" {
			p.thread = e.Thread
		}
	case "error":
		p.error(string(e.Message))
	case "item.started", "item.completed":
		p.item(e, l)
	case "turn.completed", "turn.failed":
		if p.done == nil {
			p.done = e
		}
	}
}

const reconnecting = "Reconnecting..."

func (p *Parser) error(message string) {
	if strings.HasPrefix(message, reconnecting) {
		p.retries++
		p.emit(eval.Event{Progress: "asks its model again"})
		return
	}
	p.lastError = message
}

func (p *Parser) item(e *event, l agentproc.Line) {
	i, ended := &e.Item, e.Type == "item.completed"
	if i.ID != "" && p.seen.Again(e.Type, i.ID) {
		return
	}
	s := eval.Step{Truncated: l.Truncated}
	switch i.Type {
	case "agent_message":
		p.begins()
		p.answer, p.answered = string(i.Text), true
		s.Kind, s.Role, s.Text = eval.StepMessage, "assistant", p.answer
		p.step(s)
	case "reasoning":
		p.begins()
		s.Kind, s.Text = eval.StepReasoning, string(i.Text)
		p.emit(eval.Event{Progress: "thinks"})
		p.step(s)
	case "error":
		if !strings.HasPrefix(string(i.Message), "Model metadata for ") {
			p.notes.Add("the agent program warns: %s", i.Message)
		}
	case "mcp_tool_call", "command_execution", "file_change", "web_search", "collab_tool_call":
		p.tool(i, ended, l)
	}
}

// begins notes the first item of an answer.
func (p *Parser) begins() {
	if p.fresh {
		p.responses++
		p.fresh = false
	}
}

func (p *Parser) tool(i *item, ended bool, l agentproc.Line) {
	if _, open := p.calls[i.ID]; !open {
		p.begins()
		p.answered = true
		p.call(i, l)
	}
	if !ended {
		return
	}
	s, finished := i.result()
	if !finished {
		return
	}
	id := p.calls[i.ID].id
	delete(p.calls, i.ID)
	p.fresh = len(p.calls) == 0
	if i.Tool == "spawn_agent" {
		p.start(i.Threads, id)
	}
	if i.Type == "mcp_tool_call" && strings.Contains(i.errorMessage(), "requires approval") {
		p.denied = i.Tool
	}
	s.Kind, s.CallID, s.Bytes = eval.StepToolResult, id, int64(len(s.Result))
	if l.Truncated {
		s.Truncated, s.Bytes = true, l.Size
	}
	p.step(s)
}

func (p *Parser) call(i *item, l agentproc.Line) {
	c := call{id: p.callID(i.ID), tool: i.tool()}
	if i.Type == "mcp_tool_call" {
		var known bool
		if c.server, known = p.names.Server(i.Server); !known {
			c.server = i.Server
		}
	}
	p.calls[i.ID] = c
	p.called++
	p.emit(eval.Event{Progress: "calls " + agentout.Cut(c.tool, 100)})
	p.step(eval.Step{
		Kind: eval.StepToolCall, CallID: c.id, Server: c.server, Tool: c.tool,
		Arguments: i.arguments(), Truncated: l.Truncated,
	})
}

// callID gives a call that begins an ID that is unique within the trial: item IDs
// begin anew with each turn, and one that has ended begins again where lines came
// merged or in another order.
func (p *Parser) callID(id string) string {
	for {
		p.ids[id]++
		n := p.ids[id]
		if n == 1 {
			return fmt.Sprintf("turn%d-%s", p.n, id)
		}
		if id = fmt.Sprintf("%s-%d", id, n); p.ids[id] == 0 {
			p.ids[id] = 1
			return fmt.Sprintf("turn%d-%s", p.n, id)
		}
	}
}

func (p *Parser) step(s eval.Step) {
	p.steps++
	switch {
	case p.steps <= MaxSteps:
		p.emit(eval.Event{Step: &s})
	case p.steps == MaxSteps+1:
		p.notes.Add("more than %d steps in one turn: the rest is only in the raw output", MaxSteps)
	}
}

// Fill adds what the session file says of the turn and the output does not.
func (p *Parser) Fill(t *rollout.Turn) {
	p.file = t
	if t.Version != "" {
		p.version = t.Version
	}
	p.answered = p.answered || t.Responses > 0
	for _, c := range t.Calls {
		p.shown.Again("call", c.ID)
		if !p.told(c) {
			p.untold(c)
		}
	}
}

// told reports whether the output has shown the call.
func (p *Parser) told(c rollout.Call) bool {
	switch {
	case c.Reported:
		return true
	case c.Custom && c.Name == "exec":
		// A script: what it called was told, unless it failed before.
		return !c.Finished || strings.HasPrefix(c.Output, "Script completed")
	case c.Finished:
		return false
	}
	// A call that was cut off: the output may have shown its beginning.
	server, tool := p.names.Split(wireName(c))
	for id, open := range p.calls {
		if open.server == server && (server == "" || same(open.tool, tool)) {
			delete(p.calls, id)
			return true
		}
	}
	return false
}

// same compares a tool's name with the one that the model was given for it.
func same(name, wire string) bool {
	return strings.NewReplacer("-", "_", ".", "_").Replace(name) == strings.NewReplacer("-", "_", ".", "_").Replace(wire)
}

func wireName(c rollout.Call) string {
	if strings.HasPrefix(c.Namespace, "mcp__") {
		return strings.TrimSuffix(c.Namespace, "__") + "__" + c.Name
	}
	return c.Name
}

func (p *Parser) untold(c rollout.Call) {
	p.called++
	s := eval.Step{Kind: eval.StepToolCall, CallID: p.callID(c.ID)}
	s.Server, s.Tool = p.names.Split(wireName(c))
	if c.Custom {
		s.Arguments = agentout.String(c.Arguments)
	} else {
		s.Arguments, s.BadArguments = agentout.Arguments(c.Arguments)
	}
	p.step(s)
	if !c.Finished {
		return
	}
	bad := s.BadArguments || s.Server != "" || c.Custom || strings.HasPrefix(c.Output, "unsupported call") || strings.HasPrefix(c.Output, "err:")
	result := agentout.TextResult(c.Output, bad)
	p.step(eval.Step{Kind: eval.StepToolResult, CallID: s.CallID, Result: result, IsError: bad, Bytes: int64(len(result))})
}

// usage is what the agent itself consumed in the turn, each token once. The closing
// line counts the whole thread, the session file each answer; the larger is taken,
// as a file may be missing and a failed turn has no closing line.
func (p *Parser) usage() eval.Usage {
	var u eval.Usage
	u.Turns = p.responses
	uncounted := !p.completed()
	if p.file != nil {
		u = p.file.Usage
		u.Turns, u.Models = p.file.Responses, p.file.Models
		uncounted = uncounted || p.file.Uncounted
	}
	switch {
	case !p.completed():
	case !p.done.Usage.known():
		p.notes.Add("the agent program tells counts of tokens that cannot be true; they are taken for unknown")
		uncounted = true
	default:
		d := difference(p.done.Usage.eval(), p.total)
		if d.InputTokens+d.OutputTokens > u.InputTokens+u.OutputTokens {
			d.Turns, d.Models = u.Turns, u.Models
			u = d
		}
	}
	// A turn that took no tokens was not counted.
	u.Source, u.LowerBound = "host", uncounted || u.Turns > 0 && u.InputTokens+u.OutputTokens == 0
	return u
}

// Ended reports whether the turn's closing event was read.
func (p *Parser) Ended() bool { return p.done != nil }

func (p *Parser) completed() bool { return p.done != nil && p.done.Type == "turn.completed" }

// settle carries the thread's counts over to the next turn.
func (p *Parser) settle(u eval.Usage) {
	if p.completed() && p.done.Usage.known() {
		if d := p.done.Usage.eval(); d.InputTokens+d.OutputTokens > 0 {
			p.total = d
			return
		}
	}
	p.total.InputTokens += u.InputTokens
	p.total.CacheReadTokens += u.CacheReadTokens
	p.total.CacheWriteTokens += u.CacheWriteTokens
	p.total.OutputTokens += u.OutputTokens
	p.total.ReasoningTokens += u.ReasoningTokens
}

func difference(a, b eval.Usage) eval.Usage {
	return eval.Usage{
		InputTokens:      max(a.InputTokens-b.InputTokens, 0),
		CacheReadTokens:  max(a.CacheReadTokens-b.CacheReadTokens, 0),
		CacheWriteTokens: max(a.CacheWriteTokens-b.CacheWriteTokens, 0),
		OutputTokens:     max(a.OutputTokens-b.OutputTokens, 0),
		ReasoningTokens:  max(a.ReasoningTokens-b.ReasoningTokens, 0),
	}
}

// compact is a JSON value without insignificant space; absent for null.
func compact(raw json.RawMessage) eval.JSON {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return agentout.JSON(raw)
}

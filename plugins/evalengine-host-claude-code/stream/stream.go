// Package stream reads the stream-json output of Claude Code and says how each
// turn ended. It starts nothing and reads from nothing: give it lines with
// [Parser.Line], then ask [Parser.Result].
package stream

import (
	"fmt"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// MaxSteps bounds the steps of one turn.
const MaxSteps = 50_000

// synthetic is the model of messages that the agent program wrote itself.
const synthetic = "<synthetic>"

// Parser reads the output of one agent process, turn by turn. It is not safe for
// concurrent use.
type Parser struct {
	names agentout.Names
	seen  agentout.Seen
	// base is what ModelUsage had come to when the turn began.
	base map[string]modelUsage
	// answered says that the model has answered in any turn.
	answered bool
	version  string
	session  string

	turn
}

// turn is what a turn has shown so far.
type turn struct {
	emit  func(eval.Event)
	notes *agentout.Notes

	init     *event
	result   *event
	lines    int // that were events
	steps    int
	messages map[string]bool // model responses, by ID
	main     int             // those that are not a sub-agent's
	models   []string
	retries  int
	lastText string // of the agent itself
	failure  string // the error of the last message of the agent itself
	calls    map[string]string
	open     int  // calls of the agent itself without a result
	results  bool // the last of the agent's own lines are results of its calls
	recorded int  // steps that only a session file has
}

// New returns a parser for a process that was given those servers.
func New(names agentout.Names) *Parser {
	return &Parser{names: names, base: map[string]modelUsage{}}
}

// Begin begins a turn, whose events go to emit.
func (p *Parser) Begin(emit func(eval.Event)) {
	if p.result != nil {
		for m, u := range p.result.ModelUsage {
			p.base[m] = u
		}
	}
	p.turn = turn{
		emit: emit, notes: agentout.NewNotes(emit),
		messages: map[string]bool{}, calls: map[string]string{},
	}
}

// Ended reports whether the turn's closing line was read.
func (p *Parser) Ended() bool { return p.result != nil }

// Responses is how many answers of the model the turn has shown, without those to
// sub-agents.
func (p *Parser) Responses() int { return p.main }

// Continues reports whether the model is about to be asked again: the agent's last
// lines are results of its calls, and none is missing.
func (p *Parser) Continues() bool { return p.results && p.open == 0 }

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

// isEvent accepts the kinds of lines that count also where they share theirs.
func isEvent(kind string) bool {
	return kind == "system" || kind == "assistant" || kind == "user" || kind == "result"
}

func (p *Parser) take(e *event, l agentproc.Line) {
	if e.UUID != "" && p.seen.Again("line", e.UUID) {
		return
	}
	p.lines++
	p.event(e, l)
}

func (p *Parser) event(e *event, l agentproc.Line) {
	switch e.Type {
	case "system":
		p.system(e)
	case "assistant":
		p.assistant(e, l)
	case "user":
		p.user(e, l)
	case "result":
		p.result = e
	}
}

func (p *Parser) system(e *event) {
	switch e.Subtype {
	case "init":
		p.init = e
		if e.Session != "" {
			p.session = e.Session
		}
		if e.Version != "" {
			p.version = e.Version
		}
	case "api_retry":
		p.retries++
		p.emit(eval.Event{Progress: "asks its model again" + inBrackets(string(e.Error))})
	}
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func (p *Parser) assistant(e *event, l agentproc.Line) {
	main := e.Parent == ""
	real := e.Message.Model != synthetic
	if main {
		p.failure, p.results = string(e.Error), false
	}
	if real && e.Message.ID != "" && !p.messages[e.Message.ID] {
		p.messages[e.Message.ID] = true
		p.answered = true
		if main {
			p.main++
		}
		if m := e.Message.Model; m != "" && !slices.Contains(p.models, m) && len(p.models) < 16 {
			p.models = append(p.models, m)
		}
	}
	for _, b := range blocks(e.Message.Content) {
		p.block(e, b, l, main, real)
	}
}

func (p *Parser) block(e *event, b block, l agentproc.Line, main, real bool) {
	s := eval.Step{Parent: e.Parent, Truncated: l.Truncated}
	if real {
		s.Model = e.Message.Model
	}
	switch {
	case b.Type == "text":
		if p.again(e, "text", string(b.Text)) {
			return
		}
		s.Kind, s.Role, s.Text = eval.StepMessage, "assistant", string(b.Text)
		if !real && e.Error != "" {
			s.Kind, s.Role = eval.StepError, ""
		} else if main && real {
			p.lastText = s.Text
		}
	case b.Type == "thinking" || b.Type == "redacted_thinking":
		if p.again(e, b.Type, string(b.Thinking)) {
			return
		}
		s.Kind, s.Text = eval.StepReasoning, string(b.Thinking)
		p.emit(eval.Event{Progress: "thinks"})
	case b.ID != "" && b.Name != "": // tool_use, server_tool_use
		if p.seen.Again("call", b.ID) {
			return
		}
		p.call(&s, b)
	case b.ToolUseID != "": // the result of a tool that the provider ran
		p.toolResult(e, b, l, nil)
		return
	default:
		return
	}
	p.step(s)
}

// again finds a block that comes a second time under another line ID.
func (p *Parser) again(e *event, kind, text string) bool {
	return e.Message.ID != "" && p.seen.Again(kind, e.Message.ID, text)
}

func (p *Parser) call(s *eval.Step, b block) {
	s.Kind, s.CallID = eval.StepToolCall, b.ID
	s.Server, s.Tool = p.names.Split(b.Name)
	s.Arguments = agentout.JSON(b.Input)
	var un struct {
		Unparsed *struct {
			Raw agentout.Text `json:"raw"`
		} `json:"__unparsedToolInput"`
	}
	if agentout.Decode(b.Input, &un) == nil && un.Unparsed != nil {
		s.Arguments, s.BadArguments = agentout.String(string(un.Unparsed.Raw)), true
	}
	if len(p.calls) < MaxSteps {
		p.calls[b.ID] = s.Tool
	}
	if s.Parent == "" {
		p.open++
	}
	p.emit(eval.Event{Progress: "calls " + agentout.Cut(s.Tool, 100)})
}

func (p *Parser) user(e *event, l agentproc.Line) {
	list := blocks(e.Message.Content)
	results := 0
	for _, b := range list {
		if b.ToolUseID != "" {
			results++
		}
	}
	if e.Parent == "" && results > 0 {
		p.results = true
	}
	for _, b := range list {
		switch {
		case b.ToolUseID != "":
			var own []byte
			if results == 1 {
				own = e.ToolResult
			}
			p.toolResult(e, b, l, own)
		case b.Type == "text" && e.Parent != "":
			p.told(e.Parent, string(b.Text), l.Truncated)
		}
	}
}

func (p *Parser) toolResult(e *event, b block, l agentproc.Line, own []byte) {
	if p.seen.Again("result", b.ToolUseID) {
		return
	}
	if e.Parent == "" && p.open > 0 {
		p.open--
	}
	result := toolResult(b, own)
	s := eval.Step{
		Kind: eval.StepToolResult, CallID: b.ToolUseID, Parent: e.Parent,
		Result: result, IsError: b.IsError, Bytes: int64(len(result)),
	}
	if l.Truncated {
		s.Truncated, s.Bytes = true, l.Size
	}
	if n := replaced(b); n != "" {
		p.notes.Add("the host replaced a result of %s (%s): the agent did not see it whole", p.calls[b.ToolUseID], n)
	}
	p.step(s)
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

// Missing lists the configured servers that the agent program does not have, with
// what it says of them; nil before the session has begun.
func (p *Parser) Missing() []string {
	if p.init == nil {
		return nil
	}
	var missing []string
	for _, server := range p.names.Servers() {
		status := "not known to the agent"
		for _, have := range p.init.Servers {
			if have.Name == p.names.Wire(server) {
				status = have.Status
			}
		}
		if status != "connected" {
			missing = append(missing, fmt.Sprintf("%s: %s", server, agentout.Cut(status, 100)))
		}
	}
	return missing
}

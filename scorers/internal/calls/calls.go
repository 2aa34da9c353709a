// Package calls selects tool calls of a trial and looks into them: which calls a
// pattern means, which actions a call of a multi-action tool holds, what its
// arguments and its result say. It judges nothing. Start at [New].
package calls

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// Log is the calls of a trial with what is known of the tools.
type Log struct {
	Calls []eval.Call
	Tools []eval.Tool
	// message is, for each call, which assistant message it belongs to.
	message []int
	steps   map[string]*eval.Step
}

// New returns the log of a trial. It wants PartTranscript and PartTools.
func New(in *scorer.Input) *Log {
	l := &Log{Calls: in.Calls(), Tools: in.Tools, steps: map[string]*eval.Step{}}
	for i := range in.Steps {
		l.steps[in.Steps[i].ID] = &in.Steps[i]
	}
	l.message = messages(in.Steps, l.Calls)
	return l
}

// messages numbers the assistant messages that the calls belong to. Calls of one
// agent or sub-agent that follow each other in one turn before any of its results
// were made at once: none can depend on another.
func messages(steps []eval.Step, calls []eval.Call) []int {
	type state struct {
		turn, number int
		results      bool
	}
	open := map[string]*state{}
	numbers := make([]int, 0, len(calls))
	next := 0
	for i := range steps {
		s := &steps[i]
		at := open[s.Parent]
		switch s.Kind {
		case eval.StepToolResult:
			if at != nil {
				at.results = true
			}
		case eval.StepToolCall:
			if at == nil || at.results || at.turn != s.Turn {
				next++
				at = &state{turn: s.Turn, number: next}
				open[s.Parent] = at
			}
			numbers = append(numbers, at.number)
		}
	}
	return numbers
}

// Name returns a tool's full identity: "server/tool", and "/tool" for a tool of
// the host's own. A tool pattern takes it as it is.
func Name(server, tool string) string { return server + "/" + tool }

// Filter says which calls count.
type Filter struct {
	// Pattern is a tool pattern, see [eval.MatchTool].
	Pattern string
	// Action is a pattern of the actions of a multi-action tool; empty counts
	// calls, else every action that matches counts.
	Action string
	// Status is a [eval.CallStatus], or empty for all.
	Status eval.CallStatus
	// Turn is the turn to look at, 0 for all.
	Turn int
	// Main leaves out the calls of sub-agents.
	Main bool
	// Unconfirmed counts calls too that the gateway never saw.
	Unconfirmed bool
}

// Hit is one call that counts, or one action of it.
type Hit struct {
	*eval.Call
	// Index is the call's place among the trial's calls.
	Index int
	// Message numbers the assistant message that the call belongs to.
	Message int
	// Action is set where the filter has one.
	Action Action
}

// Name returns the full identity of the call's tool.
func (h Hit) Name() string { return Name(h.Server, h.Tool) }

// Find returns the calls, or actions, that f means, in the order of the calls.
func (l *Log) Find(f Filter) []Hit {
	var hits []Hit
	for i := range l.Calls {
		c := &l.Calls[i]
		if !f.covers(c) {
			continue
		}
		h := Hit{Call: c, Index: i, Message: l.message[i]}
		if f.Action == "" {
			hits = append(hits, h)
			continue
		}
		for _, a := range Actions(c) {
			if eval.MatchTool(f.Action, "", a.Name) {
				h.Action = a
				hits = append(hits, h)
			}
		}
	}
	return hits
}

func (f *Filter) covers(c *eval.Call) bool {
	switch {
	case f.Status != "" && c.Status != f.Status,
		f.Turn != 0 && c.Turn != f.Turn,
		f.Main && c.Parent != "",
		!f.Unconfirmed && c.Observed == eval.Unconfirmed:
		return false
	}
	return eval.MatchTool(f.Pattern, c.Server, c.Tool)
}

// ArgumentsCut reports whether the record holds only a part of a call's
// arguments.
func (l *Log) ArgumentsCut(c *eval.Call) bool {
	s := l.steps[c.Step]
	return s != nil && s.Truncated
}

// ResultCut reports whether the record holds only a part of a call's result.
func (l *Log) ResultCut(c *eval.Call) bool {
	s := l.steps[c.ResultStep]
	return s != nil && s.Truncated
}

// Evidence points at the first calls of hits.
func Evidence(hits []Hit) []eval.Evidence {
	const limit = 20
	var list []eval.Evidence
	for _, h := range hits {
		if len(list) == limit {
			break
		}
		e := scorer.StepEvidence(h.Step)
		if len(list) == 0 || list[len(list)-1] != e {
			list = append(list, e)
		}
	}
	return list
}

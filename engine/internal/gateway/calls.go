package gateway

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// Call is one tool call as observed.
type Call struct {
	Server, Tool string
	// Session tells the agent's MCP sessions with one server apart.
	Session string
	// Arguments are as sent; absent where the agent sent none.
	Arguments eval.JSON
	// Result is the tool result, or {"error":{...}} for a JSON-RPC error.
	Result  eval.JSON
	IsError bool
	// Bytes is the size of the result as observed, also where it is cut.
	Bytes int64
	// ArgumentsTruncated says that Arguments are cut, Truncated that Result is.
	ArgumentsTruncated, Truncated bool
	// At is since the origin, Duration from the request's arrival until the
	// answer went back to the agent, both by the monotonic clock.
	At, Duration time.Duration
	// Finished says that an answer came. A call that is not finished is neither
	// ok nor an error.
	Finished bool
	// Cancelled says that the agent took the call back.
	Cancelled bool
	// Rounds is how many requests the call took: more than one where the server
	// asked for input and the agent sent the call again with it.
	Rounds int
	// Injected is what a tool change did to the call: "fault", "hidden" or
	// "latency"; "limit" where the trial's bytes were used up; "died" or "too_large" where the gateway had to answer in the
	// server's place.
	Injected string
	// left is when, since the origin, nobody waited any more for the answer; 0
	// before.
	left time.Duration
	// HiddenError is why a result that claims success reads like a failure;
	// empty where it does not.
	HiddenError string
}

// keptPastBudget is what a call keeps after the trial's budget is used up, until
// keptAtAll more is used up too.
const (
	keptPastBudget = 4 << 10
	keptAtAll      = 16 << 20
)

// calls keeps a trial's tool calls within a budget of bytes.
type calls struct {
	each int64

	mu   sync.Mutex
	left int64
	all  []Call
	open map[int]bool // calls that wait for the agent's input
	// most is how many bytes of results the agent may have, 0 for all; total is how
	// many it had, and refused says that it asked for more.
	most, total int64
	refused     bool
}

// spent reports whether the agent has had the results that it may have.
func (c *calls) spent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most > 0 && c.total >= c.most
}

func (c *calls) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = true
}

// over reports whether a call was refused because of it.
func (c *calls) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func (c *calls) list() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

// begin records a call's arrival and returns its place.
func (c *calls) begin(call Call, m *wire.Message, e *wire.Envelope) int {
	args, cut := c.keep(m, e.Arguments)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Continued {
		if i := c.waiting(call.Server, call.Tool); i >= 0 {
			delete(c.open, i)
			c.all[i].Rounds++
			return i
		}
	}
	call.Arguments, call.ArgumentsTruncated, call.Rounds = args, cut, 1
	c.all = append(c.all, call)
	return len(c.all) - 1
}

func (c *calls) waiting(server, tool string) int {
	for i := len(c.all) - 1; i >= 0; i-- {
		if c.open[i] && c.all[i].Server == server && c.all[i].Tool == tool {
			return i
		}
	}
	return -1
}

// finish records a call's answer.
func (c *calls) finish(i int, now time.Duration, m *wire.Message, e *wire.Envelope) {
	result, cut := c.result(m, e)
	hidden := ""
	if !cut && !e.IsError && e.Result.Present() {
		hidden = hiddenError(result)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call := &c.all[i]
	if e.ResultType == "input_required" {
		if c.open == nil {
			c.open = map[int]bool{}
		}
		c.open[i] = true
		return
	}
	call.Result, call.HiddenError = result, hidden
	call.Truncated = cut
	call.IsError = e.IsError || e.Error.Present()
	call.Bytes = size(e)
	c.total += call.Bytes
	call.Duration, call.Finished = now-call.At, true
}

func (c *calls) change(i int, f func(*Call)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.all[i])
}

func size(e *wire.Envelope) int64 {
	if e.Error.Present() {
		return e.Error.End - e.Error.Start + int64(len(`{"error":}`))
	}
	return e.Result.End - e.Result.Start
}

func (c *calls) result(m *wire.Message, e *wire.Envelope) (eval.JSON, bool) {
	if !e.Error.Present() {
		return c.keep(m, e.Result)
	}
	kept, cut := c.keep(m, e.Error)
	return slices.Concat(eval.JSON(`{"error":`), kept, eval.JSON(`}`)), cut
}

// keep is a part of the message within the budget, valid JSON also where it is
// cut.
func (c *calls) keep(m *wire.Message, at wire.Range) (eval.JSON, bool) {
	if !at.Present() {
		return nil, false
	}
	c.mu.Lock()
	limit := c.each
	if c.left <= 0 {
		limit = min(limit, keptPastBudget)
	}
	if c.left <= -keptAtAll {
		limit = 0
	}
	c.left -= min(limit, at.End-at.Start)
	c.mu.Unlock()
	part := m.Slice(at, limit)
	cut := int64(len(part)) < at.End-at.Start
	if cut {
		part = wire.Cut(part)
	}
	// The scanner lets pass what only a string's own bytes make invalid.
	if !json.Valid(part) {
		text, _ := json.Marshal(string(bytes.ToValidUTF8(part, []byte("\uFFFD"))))
		return text, true
	}
	return part, cut
}

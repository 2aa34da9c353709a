package model

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// A request is what a request of any protocol asks.
type request struct {
	model     string
	session   string // what the host calls its session, if it says
	stream    bool
	wantUsage bool // chat completions: a last chunk with the usage
	tools     []tool
	talk      conversation
}

// A reply is one response of the model, before a protocol gives it a form.
type reply struct {
	id        responseID
	created   time.Time
	model     string
	reasoning string
	text      string
	calls     []replyCall
	stop      string
	usage     Usage
	wantUsage bool
}

type replyCall struct {
	name toolName
	args string
}

// Reasons for which a reply stops.
const (
	stopEnd       = "end"
	stopCalls     = "calls"
	stopMaxTokens = "max_tokens"
	stopRefusal   = "refusal"
)

// An answer is what the script says to one request.
type answer struct {
	turn, step int // from 0
	fault      *fault
	reply      reply
	delay      time.Duration
	problem    string // why the script could not be followed; the reply says it too
}

// brokenText is what a fault breaks when its step says nothing.
const brokenText = "Let me look at that for you. One moment, please."

// answer computes the answer of a scenario. The hits are the one thing that it
// reads beside the script and the request.
func (sc *scenario) answer(req *request, token string, h *hits) answer {
	a := answer{}
	a.turn, a.step = req.talk.place()
	late := a.step > 0
	if sc.fault.strikes(req, late, h, hitKey{sc.name, token, "scenario", ""}) {
		a.fault = sc.fault
	}
	st, err := sc.find(a.turn, a.step)
	if err != nil {
		if a.fault == nil {
			a.problem = err.Error()
		}
		st = step{usage: defaultUsage}
	}
	if a.fault == nil && st.fault.strikes(req, late, h, hitKey{sc.name, token, fmt.Sprintf("%d.%d", a.turn, a.step), ""}) {
		a.fault = st.fault
	}
	a.delay = st.delay
	a.reply, err = st.reply(req)
	if err != nil && a.problem == "" {
		a.problem = fmt.Sprintf("turn %d, step %d: %v", a.turn+1, a.step+1, err)
	}
	switch {
	case a.problem != "":
		a.reply.calls, a.reply.stop, a.reply.reasoning = nil, stopEnd, ""
		a.reply.text = fmt.Sprintf("scripted-model: scenario %q: %s", sc.name, a.problem)
	case a.fault != nil && a.reply.text == "" && len(a.reply.calls) == 0:
		a.reply.text = brokenText
	}
	return a
}

// find is the step at a place, from 0.
func (sc *scenario) find(turn, at int) (step, error) {
	if len(sc.turns) == 0 {
		return step{}, errors.New("the scenario has no turns")
	}
	last := len(sc.turns) - 1
	if turn > last && !sc.turns[last].repeat {
		return step{}, fmt.Errorf("the script has no turn %d: it ends after turn %d", turn+1, last+1)
	}
	steps := sc.turns[min(turn, last)].steps
	end := len(steps) - 1
	if at > end && !steps[end].repeat {
		return step{}, fmt.Errorf("turn %d has no step %d: it ends after step %d", turn+1, at+1, end+1)
	}
	return steps[min(at, end)], nil
}

// reply evaluates a step against what was said and what is offered.
func (s step) reply(req *request) (reply, error) {
	r := reply{model: req.model, usage: s.usage, wantUsage: req.wantUsage, stop: stopEnd}
	var err error
	if r.reasoning, err = evalText(s.reasoning, &req.talk); err != nil {
		return r, fmt.Errorf("reasoning: %w", err)
	}
	if r.text, err = evalText(s.text, &req.talk); err != nil {
		return r, fmt.Errorf("text: %w", err)
	}
	for i, k := range s.calls {
		made, err := k.make(req)
		if err != nil {
			return r, fmt.Errorf("call %d: %w", i+1, err)
		}
		r.calls = append(r.calls, made)
		r.stop = stopCalls
	}
	if s.stop != "" {
		r.stop = s.stop
	}
	return r, nil
}

func evalText(v value, c *conversation) (string, error) {
	if v == nil {
		return "", nil
	}
	got, err := v.eval(c)
	if err != nil {
		return "", err
	}
	return asText(got), nil
}

func (k call) make(req *request) (replyCall, error) {
	name, schema := toolName{name: k.tool}, []byte(nil)
	t, err := offered(req.tools, k)
	switch {
	case err == nil && !(k.asIs && t.name != k.tool):
		name, schema = t.toolName, t.schema
	case !k.asIs:
		return replyCall{}, err
	}
	if k.raw != nil {
		return replyCall{name, *k.raw}, nil
	}
	args := map[string]any{}
	if k.arguments != nil {
		got, err := k.arguments.eval(&req.talk)
		if err != nil {
			return replyCall{}, fmt.Errorf("arguments: %w", err)
		}
		obj, ok := got.(map[string]any)
		if !ok {
			return replyCall{}, fmt.Errorf("arguments: want an object, found %s", compact(got))
		}
		args = maps.Clone(obj)
	}
	if k.fill {
		fill(schema, args)
	}
	return replyCall{name, string(compact(args))}, nil
}

// maxHits bounds how many counters are kept: tokens come from outside.
const maxHits = 1 << 16

// hits counts requests for faults that strike only the first so many.
type hits struct {
	mu sync.Mutex
	n  map[hitKey]int
}

type hitKey struct {
	scenario, token, place, session string
}

// take counts a request and reports whether it is among the first n. When
// there are too many counters, all begin anew.
func (h *hits) take(k hitKey, n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n == nil || len(h.n) >= maxHits {
		h.n = map[hitKey]int{}
	}
	if h.n[k] >= n {
		return false
	}
	h.n[k]++
	return true
}

// strikes reports whether the fault hits a request.
func (f *fault) strikes(req *request, late bool, h *hits, k hitKey) bool {
	if f == nil || f.late && !late || f.streamingOnly && !req.stream {
		return false
	}
	if f.perSession {
		k.session = req.session
	}
	return f.first == 0 || h.take(k, f.first)
}

package suggest

import (
	"encoding/json"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/usage"
)

// maxTrials bounds how many trials are held that differ in what they called.
const maxTrials = 20_000

// Covers are the stories and trials that there are.
type Covers struct {
	stories []asked
	trials  trials
}

// asked is what a story asserts of calls.
type asked struct {
	orders [][]string
	called []eval.SuggestedCall // patterns of the suite language
}

// made is a call of a trial.
type made struct{ server, tool, action string }

// AddSuite adds a suite's stories: tools/called, count, arguments and order say what
// one asks for. Parameters that are known in a trial alone are passed over.
func (c *Covers) AddSuite(s *eval.Suite) {
	for i := range s.Stories {
		var a asked
		for _, u := range s.Stories[i].Uses {
			a.add(u)
		}
		c.stories = append(c.stories, a)
	}
}

func (a *asked) add(u eval.ScorerUse) {
	module, scorer, _ := strings.Cut(u.Scorer, "/")
	if module != "tools" || u.Params == nil {
		return
	}
	raw, err := u.Params.Value(eval.Vars{})
	if err != nil {
		return
	}
	var p struct {
		Tool, Action     string
		Tools            []string
		Min, Max, Equals *float64
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	switch scorer {
	case "order":
		a.orders = append(a.orders, p.Tools)
	case "called", "count":
		if isZero(p.Max) || isZero(p.Equals) || isZero(p.Min) && p.Equals == nil || scorer == "count" && p.Min == nil && p.Equals == nil {
			return // never to be called, or not to be
		}
		a.called = append(a.called, eval.SuggestedCall{Tool: p.Tool, Action: p.Action})
	case "arguments", "result":
		a.called = append(a.called, eval.SuggestedCall{Tool: p.Tool, Action: p.Action})
	}
}

func isZero(v *float64) bool { return v != nil && *v == 0 }

// AddCalls adds what a trial called. It is an error where there are too many trials
// that differ.
func (c *Covers) AddCalls(list []eval.Call) error {
	var out []made
	add := func(m made) {
		if len(out) == 0 || out[len(out)-1] != m {
			out = append(out, m)
		}
	}
	for _, call := range list {
		names := actions(call.Arguments)
		if len(names) == 0 {
			add(made{call.Server, call.Tool, ""})
		}
		for _, a := range names {
			add(made{call.Server, call.Tool, a})
		}
	}
	return c.trials.add(out)
}

// actions are those in the arguments of a multi-action tool: its action, or the
// entries of its actions.
func actions(arguments eval.JSON) []string {
	var a struct {
		Action  string            `json:"action"`
		Actions []json.RawMessage `json:"actions"`
	}
	if json.Unmarshal(arguments, &a) != nil {
		return nil
	}
	if a.Action != "" {
		return []string{a.Action}
	}
	var out []string
	for _, raw := range a.Actions {
		var entry struct{ Action, Type, Kind string }
		var members map[string]json.RawMessage
		switch {
		case json.Unmarshal(raw, &entry) == nil && entry.Action+entry.Type+entry.Kind != "":
			out = append(out, firstOf(entry.Action, entry.Type, entry.Kind))
		case json.Unmarshal(raw, &members) == nil && len(members) == 1:
			for name := range members {
				out = append(out, name)
			}
		}
	}
	return out
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// Have reports whether a story asks for all the calls, or a trial made them.
func (c *Covers) Have(calls []usage.Name, gap int) bool {
	for i := range c.stories {
		if c.stories[i].have(calls) {
			return true
		}
	}
	return c.trials.have(calls, gap)
}

func (a *asked) have(calls []usage.Name) bool {
	all, actions := true, true
	for _, c := range calls {
		ok := a.asks(c)
		all = all && ok
		actions = actions && (ok || c.Action == "")
	}
	if all || !actions {
		return all
	}
	tools := order(calls)
	for _, o := range a.orders {
		n := 0
		for _, pattern := range o {
			if n < len(tools) && covers(pattern, tools[n]) {
				n++
			}
		}
		if n == len(tools) {
			return true
		}
	}
	return false
}

func (a *asked) asks(c usage.Name) bool {
	for _, k := range a.called {
		if covers(k.Tool, c.Tool) && (c.Action == "" || k.Action != "" && eval.Glob(k.Action, c.Action)) {
			return true
		}
	}
	return false
}

// covers compares a pattern of the suite language with a name of usage, which may be
// server/tool.
func covers(pattern, name string) bool {
	server, tool, ok := strings.Cut(name, "/")
	if !ok {
		server, tool = "", name
	}
	if eval.MatchTool(pattern, server, tool) {
		return true
	}
	// The suite may name the server where usage does not.
	_, bare, ok := strings.Cut(pattern, "/")
	return ok && server == "" && eval.Glob(bare, tool)
}

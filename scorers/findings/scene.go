package main

import (
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// scene is a trial as the detectors see it, for one use.
type scene struct {
	*shared
	p scorer.Params
	// hits are the calls of the target's tools that the use looks at.
	hits []calls.Hit
}

// shared is what all uses of one trial have in common, made when it is first
// asked for. A module is single-threaded.
type shared struct {
	in            *scorer.Input
	log           *calls.Log
	before, after *snapshot
}

var current *shared

func sceneOf(in *scorer.Input, p scorer.Params) *scene {
	if current == nil || current.in != in {
		current = &shared{in: in, log: calls.New(in)}
	}
	s := &scene{shared: current, p: p}
	for _, h := range s.log.Find(calls.Filter{Pattern: p.String("tool"), Unconfirmed: true}) {
		if h.Server != "" {
			s.hits = append(s.hits, h)
		}
	}
	return s
}

func (s *shared) hasStates() bool {
	return s.in.BeforeValue().Exists() && s.in.StateValue().Exists()
}

func (s *shared) states() (before, after *snapshot) {
	if s.before == nil {
		s.before, s.after = snapshotOf(tree.Of(s.in.BeforeValue())), snapshotOf(tree.Of(s.in.StateValue()))
	}
	return s.before, s.after
}

// subject is what a finding is about: a tool, or one action of it.
type subject struct{ tool, action string }

func (s subject) String() string {
	if s.action == "" {
		return s.tool
	}
	return s.tool + " " + s.action
}

// subjectOf is the call's tool, with the action where the call has but one.
func subjectOf(h calls.Hit) subject {
	s := subject{tool: h.Name()}
	if list := calls.Actions(h.Call); len(list) == 1 {
		s.action = list[0].Name
	}
	return s
}

const (
	maxEvidence = 10
	shown       = 160
	// maxFindings bounds what one rule finds in one trial.
	maxFindings = 50
)

// finding writes a finding on a subject; the evidence is cut.
func (s subject) finding(kind string, severity eval.Severity, said, suggestion string, evidence ...eval.Evidence) eval.Finding {
	return eval.Finding{
		Kind: kind, Tool: s.tool, Action: s.action, Severity: severity,
		Text: said, Suggestion: suggestion, Evidence: evidence[:min(len(evidence), maxEvidence)],
	}
}

func steps(hits []calls.Hit) []eval.Evidence {
	list := calls.Evidence(hits)
	return list[:min(len(list), maxEvidence)]
}

func detail(s string) string {
	if s == "" {
		return ""
	}
	return ": " + tree.Cut(s, shown)
}

func of(n, all int) string {
	if n == all {
		return text.Count(n, "call")
	}
	return text.Int(n) + " of " + text.Count(all, "call")
}

// groups gathers calls by subject, in the order of the first.
type groups struct {
	order []subject
	hits  map[subject][]calls.Hit
}

func (g *groups) add(s subject, h calls.Hit) {
	if g.hits == nil {
		g.hits = map[subject][]calls.Hit{}
	}
	if g.hits[s] == nil {
		g.order = append(g.order, s)
	}
	g.hits[s] = append(g.hits[s], h)
}

// key is the same for the same arguments, however they are written.
func key(h calls.Hit) string {
	v, err := tree.Parse(h.Arguments)
	if err != nil || h.BadArguments {
		return "raw " + string(h.Arguments)
	}
	return strconv.FormatUint(tree.Hash(v), 16)
}

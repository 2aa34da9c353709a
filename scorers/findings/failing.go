package main

import (
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// failure says why a call failed. A result that the host kept from the agent is no
// failure, whatever the notice in its place looks like.
func failure(h calls.Hit) (said string, failed, hidden bool) {
	said, truncated, hides := calls.Trouble(h.Call)
	switch {
	case truncated:
		return "", false, false
	case hides:
		return said, true, true
	case h.Status != eval.CallError:
		return "", false, false
	}
	return calls.ResultText(h.Call), true, false
}

// tried is what became of a tool or action.
type tried struct {
	calls int
	// failed has marked failures, hidden those that a success hides.
	failed, hidden []calls.Hit
	worked         []calls.Hit
	said           string
}

func failingTools(s *scene) ([]eval.Finding, error) {
	var order []subject
	all := map[subject]*tried{}
	for _, h := range s.hits {
		said, failed, hidden := failure(h)
		for _, sub := range blamed(h, said, failed) {
			t := all[sub]
			if t == nil {
				t = &tried{}
				all[sub] = t
				order = append(order, sub)
			}
			t.add(h, said, failed, hidden)
		}
	}
	var list []eval.Finding
	for _, sub := range order {
		if f, ok := all[sub].finding(sub, s.lacks(all[sub])); ok && len(list) < maxFindings {
			list = append(list, f)
		}
	}
	return list, nil
}

func (t *tried) add(h calls.Hit, said string, failed, hidden bool) {
	t.calls++
	switch {
	case hidden:
		t.hidden = append(t.hidden, h)
	case failed:
		t.failed = append(t.failed, h)
	case h.Status == eval.CallOK:
		t.worked = append(t.worked, h)
	}
	if failed && t.said == "" {
		t.said = said
	}
}

// blamed is what a call speaks of: its tool; of a call that lists actions each of
// them, and of one that failed the one that the error names first.
func blamed(h calls.Hit, said string, failed bool) []subject {
	actions := calls.Actions(h.Call)
	if len(actions) == 0 {
		return []subject{{tool: h.Name()}}
	}
	if failed {
		return []subject{{h.Name(), failedAction(actions, said)}}
	}
	var list []subject
	for _, a := range actions {
		if sub := (subject{h.Name(), a.Name}); !slices.Contains(list, sub) {
			list = append(list, sub)
		}
	}
	return list
}

// failedAction is the only action, or the one that the error names first; empty
// where it names none.
func failedAction(actions []calls.Action, said string) string {
	if len(actions) == 1 {
		return actions[0].Name
	}
	name, first := "", len(said)
	for _, a := range actions {
		at := strings.Index(said, a.Name)
		if at >= 0 && (at < first || at == first && len(a.Name) > len(name)) {
			name, first = a.Name, at
		}
	}
	return name
}

// lacks returns the capability that the tool requires and the host does not have.
func (s *scene) lacks(t *tried) string {
	failed := append(slices.Clone(t.failed), t.hidden...)
	if len(failed) == 0 {
		return ""
	}
	tool := s.log.Tool(failed[0].Call)
	if tool == nil {
		return ""
	}
	for _, c := range tool.Requires {
		if !slices.Contains(s.in.HostCapabilities, c) {
			return c
		}
	}
	return ""
}

const (
	sayBetter = "Say in the error what is wrong with the call and what would be right, or take such calls."
	hideTool  = "Do not offer the tool where it cannot work, or say in its description what it needs."
)

// finding is the one thing to say of a subject; not ok where it never failed.
func (t *tried) finding(sub subject, lacks string) (f eval.Finding, ok bool) {
	failed := slices.Concat(t.failed, t.hidden)
	slices.SortFunc(failed, func(a, b calls.Hit) int { return a.Index - b.Index })
	which := sub.String() + ", " + of(len(failed), t.calls)
	evidence := steps(failed)
	switch {
	case len(failed) == 0:
		return f, false
	case lacks != "" && len(t.worked) == 0:
		return sub.finding("missing_capability", eval.SeverityMajor,
			"The tool needs "+lacks+", which the host does not have ("+which+")"+detail(t.said), hideTool, evidence...), true
	case len(t.worked) == 0 && len(failed) > 1:
		return sub.finding("tool_error", eval.SeverityMajor, "Every call failed ("+which+")"+detail(t.said), sayBetter, evidence...), true
	case len(t.failed) == 0: // said by hidden_errors
		return f, false
	}
	which = sub.String() + ", " + of(len(t.failed), t.calls)
	evidence = steps(t.failed)
	severity, then := eval.SeverityMajor, ""
	last := t.failed[len(t.failed)-1].Index
	if i := slices.IndexFunc(t.worked, func(h calls.Hit) bool { return h.Index > last }); i >= 0 {
		severity, then = eval.SeverityMinor, ", and a later one worked"
		evidence = append(evidence, scorer.StepEvidence(t.worked[i].Step))
	}
	ways := map[string]bool{}
	for _, h := range t.failed {
		ways[key(h)] = true
	}
	if len(ways) > 1 && then != "" {
		if len(ways) > 2 {
			severity = eval.SeverityMajor
		}
		return sub.finding("confusing_tool", severity,
			"The agent failed in "+text.Int(len(ways))+" ways before one worked ("+which+")"+detail(t.said),
			"Say in the description and the schema what the tool takes, with an example. "+sayBetter, evidence...), true
	}
	return sub.finding("tool_error", severity, "A call failed"+then+" ("+which+")"+detail(t.said), sayBetter, evidence...), true
}

func hiddenErrors(s *scene) ([]eval.Finding, error) {
	var g groups
	said := map[subject]string{}
	for _, h := range s.hits {
		why, _, hidden := failure(h)
		if !hidden {
			continue
		}
		sub := subjectOf(h)
		if said[sub] == "" {
			said[sub] = why
		}
		g.add(sub, h)
	}
	var list []eval.Finding
	for _, sub := range g.order {
		hits := g.hits[sub]
		list = append(list, sub.finding("misleading_success", eval.SeverityMajor,
			"A result reports a failure, but is not marked as an error ("+sub.String()+", "+text.Count(len(hits), "call")+")"+detail(said[sub]),
			"Set isError on results that report a failure.", steps(hits)...))
	}
	return list[:min(len(list), maxFindings)], nil
}

package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/jsonpath"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// changes returns the first places that differ between the two states, without
// what the parameter ignore leaves out.
func (s *scene) changes(limit int) ([]tree.Change, error) {
	before, after := s.states()
	skipBefore, err := s.ignored(before.root)
	if err != nil {
		return nil, err
	}
	skipAfter, err := s.ignored(after.root)
	if err != nil {
		return nil, err
	}
	return tree.Compare(before.root, after.root, skipBefore, skipAfter).Changes(before.root, after.root, limit), nil
}

func (s *scene) ignored(root tree.Value) (func(tree.Value) bool, error) {
	queries := s.p.Strings("ignore")
	if len(queries) == 0 {
		return nil, nil
	}
	set := make([]bool, root.Size())
	for _, query := range queries {
		values, err := selected(root, query)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			set[v.Order()] = true
		}
	}
	return func(v tree.Value) bool { return set[v.Order()] }, nil
}

func selected(root tree.Value, query string) ([]tree.Value, error) {
	q, err := jsonpath.Parse(query)
	if err != nil {
		return nil, err
	}
	return q.Select(root)
}

func unchangedState(s *scene) ([]eval.Finding, error) {
	changed, err := s.changes(1)
	if err != nil || len(changed) > 0 {
		return nil, err
	}
	_, after := s.states()
	var g groups
	missing := map[subject]string{}
	undone, done := 0, 0
	for _, h := range s.hits {
		e := s.effectOf(h)
		if _, failed, _ := failure(h); failed || h.Status != eval.CallOK || e < writes {
			continue
		}
		if e == undoes {
			undone++
		} else {
			done++
		}
		said, ok := s.unheard(h, e, after)
		if !ok {
			continue
		}
		sub := subjectOf(h)
		if g.hits[sub] == nil {
			missing[sub] = said
		}
		g.add(sub, h)
	}
	if undone > 0 && done > 0 { // made and taken away again
		return nil, nil
	}
	var list []eval.Finding
	for _, sub := range g.order {
		hits := g.hits[sub]
		list = append(list, sub.finding("misleading_success", eval.SeverityMajor,
			"A call said that it had worked, but the state is what it was before ("+sub.String()+", "+text.Count(len(hits), "call")+"): "+missing[sub],
			"Answer with an error where nothing was changed.", answered(hits)...))
	}
	return list[:min(len(list), maxFindings)], nil
}

// unheard says what a call asked for that the state does not have, or to delete
// that it still has. A call that asked for what was there already changes nothing,
// and rightly.
func (s *scene) unheard(h calls.Hit, e effect, after *snapshot) (said string, ok bool) {
	const shortest = 3
	if e == undoes {
		found := ""
		eachText(s.log.ArgumentsOf(h.Call).Value, "", 0, func(key string, v tree.Value) bool {
			if t := v.Text(); deletes(calls.Actions(h.Call), h.Tool) && isID(key) && len(t) >= shortest && after.texts[t] {
				found = t
			}
			return found == ""
		})
		return quoted(found) + " is still there", found != ""
	}
	for _, w := range s.wishes(h) {
		if len(w.text) >= shortest && !after.mentions(w.text) {
			return quoted(w.text) + " is nowhere in it", true
		}
	}
	return "", false
}

// deletes reports whether a call does one thing, and that deletes: what else undoes,
// such as a reset or an archive, may leave the thing itself in its place.
func deletes(actions []calls.Action, tool string) bool {
	name := tool
	if len(actions) > 1 {
		return false
	}
	if len(actions) == 1 {
		name = actions[0].Name
	}
	for _, w := range words(name) {
		if w == "delete" || w == "remove" || w == "destroy" {
			return true
		}
	}
	return false
}

func quoted(t string) string { return `"` + tree.Cut(t, 60) + `"` }

// answered points at calls and at their results.
func answered(hits []calls.Hit) []eval.Evidence {
	var list []eval.Evidence
	for _, h := range hits {
		list = append(list, scorer.StepEvidence(h.Step))
		if h.ResultStep != "" {
			list = append(list, scorer.StepEvidence(h.ResultStep))
		}
	}
	return list
}

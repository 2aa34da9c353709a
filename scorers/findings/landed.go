package main

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func landedAfterError(s *scene) ([]eval.Finding, error) {
	failed := s.failedWrites()
	if len(failed) == 0 {
		return nil, nil
	}
	changed, err := s.changes(1)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	before, after := s.states()
	var list []eval.Finding
	for _, h := range failed[:min(len(failed), maxFindings)] {
		if w, at, ok := s.landed(h, before, after); ok {
			list = append(list, landed(h, quoted(w.text)+" is in the state, and no other call asked for it", at.Pointer(after.root)))
		}
	}
	if len(list) == 0 && len(failed) == 1 && s.alone(failed[0]) {
		at, root := changed[0].After, after.root
		if !at.Exists() {
			at, root = changed[0].Before, before.root
		}
		list = append(list, landed(failed[0], "the state changed, and no other call can have changed it", at.Pointer(root)))
	}
	return list, nil
}

func landed(h calls.Hit, why, pointer string) eval.Finding {
	how := "failed"
	if h.Status == eval.CallUnfinished {
		how = "got no answer"
	}
	evidence := append(answered([]calls.Hit{h}), scorer.PointerEvidence(pointer))
	sub := subjectOf(h)
	return sub.finding("landed_after_error", eval.SeverityMajor, "A call "+how+", but its change was made ("+sub.String()+"): "+why,
		"Undo what was done when a call fails, or say in the error what was done; make a second try safe.", evidence...)
}

// failedWrites are the calls that change things and failed, or got no answer.
func (s *scene) failedWrites() []calls.Hit {
	var list []calls.Hit
	for _, h := range s.hits {
		_, failed, hidden := failure(h)
		if (failed && !hidden || h.Status == eval.CallUnfinished) && s.effectOf(h) >= writes {
			list = append(list, h)
		}
	}
	return list
}

// landed finds a text that only this call asked for and that is new in the state.
func (s *scene) landed(h calls.Hit, before, after *snapshot) (wish, tree.Value, bool) {
	const shortest = 4
	told := ""
	if len(calls.Actions(h.Call)) > 1 { // what was done before the action that failed
		told = calls.ResultText(h.Call)
	}
	for _, w := range s.wishes(h) {
		if len(w.text) < shortest || before.texts[w.text] || !after.under[w] || strings.Contains(told, w.text) || s.askedElsewhere(h, w.text) {
			continue
		}
		for _, v := range after.byKey[w.key] {
			if v.Text() == w.text {
				return w, v, true
			}
		}
	}
	return wish{}, tree.Value{}, false
}

// askedElsewhere reports whether a call that worked, or one of the host's own
// tools, has a text in its arguments.
func (s *scene) askedElsewhere(h calls.Hit, t string) bool {
	escaped := strings.Trim(jsonv.Quote(t), `"`)
	for i := range s.log.Calls {
		c := &s.log.Calls[i]
		if i == h.Index || c.Server != "" && c.Status != eval.CallOK {
			continue
		}
		if args := string(c.Arguments); strings.Contains(args, t) || strings.Contains(args, escaped) {
			return true
		}
	}
	return false
}

// alone reports whether no other call can have changed the state: all others read,
// or failed too and are of the target's. A list of actions may fail in the middle.
func (s *scene) alone(h calls.Hit) bool {
	if len(calls.Actions(h.Call)) > 1 {
		return false
	}
	for i := range s.log.Calls {
		c := calls.Hit{Call: &s.log.Calls[i], Index: i}
		if i != h.Index && (c.Server == "" || s.effectOf(c) != reads) {
			return false
		}
	}
	return true
}

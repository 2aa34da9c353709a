// Command findings is the scorer module that looks for things to mend in the
// target's tools: calls that fail, answers that are too large, replies that say one
// thing while the state says another. Its rules are fixed and ask no model. It is
// built for WebAssembly and does nothing as a program.
package main

import (
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// detector is one rule: a scorer of its own, and a part of findings/all.
type detector struct {
	name, doc string
	attrs     []eval.Attribute
	needs     []eval.Part
	// states says that the rule compares the state before and after the run.
	states bool
	find   func(s *scene) ([]eval.Finding, error)
}

const worth = " The value is the share of the calls of the target's tools that no finding cites, the raw value the number of findings."

func detectors() []detector {
	tools := []eval.Part{eval.PartTranscript, eval.PartTools}
	states := []eval.Part{eval.PartTranscript, eval.PartTools, eval.PartState}
	return []detector{
		{name: "failing_tools", needs: tools, find: failingTools,
			doc: "Tools, and actions of multi-action tools, that fail: tool_error (major where every call failed or no later one worked, else minor), confusing_tool (the agent failed with two or more different sets of arguments before one worked: minor, major from three on), missing_capability (major: the tool requires a capability that the host lacks, and failed)."},
		{name: "hidden_errors", needs: tools, find: hiddenErrors,
			doc: "Results that report a failure and are not marked as one: misleading_success (major)."},
		{name: "large_results", needs: tools, find: largeResults, attrs: []eval.Attribute{largeParam},
			doc: "Results that are larger than large_kib, or that the host kept from the agent: oversized_result (minor; major where the host kept one from the agent)."},
		{name: "slow_calls", needs: tools, find: slowCalls, attrs: []eval.Attribute{slowParam},
			doc: "Calls that took longer than slow_seconds: slow (minor)."},
		{name: "repeated_calls", needs: tools, find: repeatedCalls, attrs: []eval.Attribute{repeatsParam},
			doc: "The same call with the same result, made repeats times or more: repeated_call (minor). A call whose result changes, as when the agent waits for something, is none."},
		{name: "unchanged_state", needs: states, states: true, find: unchangedState, attrs: stateParams(),
			doc: "Calls that change things and said that they had, while the state as a whole is what it was before: misleading_success (major). Only calls that asked for something which is nowhere in the state, or to delete what is still there; none where the trial also deleted or undid something."},
		{name: "silent_changes", needs: states, states: true, find: silentChanges, attrs: writeParams(),
			doc: "Names that the tool altered without a word: the state has hero-2 where hero was asked for, and nobody asked for hero-2: silent_change (major where the reply does not show the new name or the agent went on with the old one, else minor; minor and info where only case, spaces or punctuation differ)."},
		{name: "landed_after_error", needs: states, states: true, find: landedAfterError, attrs: stateParams(),
			doc: "Calls that failed or never answered and changed the state all the same: landed_after_error (major). Where other calls may have made the change, only if what the failed one asked for is new in the state and no other call asked for it."},
		{name: "draft_as_published", needs: append(states, eval.PartAnswer), states: true, find: draftAsPublished, attrs: append(draftParams(), writeParams()...),
			doc: "The answer, or a tool's reply, says that something is published while the state has only a draft of it: misleading_success of the tool that published (major), or other where no tool did."},
	}
}

var toolParam = eval.Attribute{Name: "tool", Type: "string", Default: eval.JSON(`"*"`),
	Doc: "Looks only at these tools, as tools/called has them."}

func init() {
	scorer.Module("findings", "1.0.0", "Things to mend in the target's tools, found by fixed rules. They inform and never fail a trial.")
	everything := detectors()
	all := detector{name: "all", find: func(s *scene) ([]eval.Finding, error) { return findAll(everything, s) },
		doc: "All of the rules below, each with its parameters."}
	for _, d := range everything {
		all.needs, all.attrs = union(all.needs, d.needs), unionAttrs(all.attrs, d.attrs)
	}
	all.register()
	for _, d := range everything {
		d.register()
	}
}

func (d detector) register() {
	scorer.Register(scorer.Spec{
		Name: d.name, Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Doc: d.doc + worth,
		Needs: d.needs, Unit: "findings", LowerIsBetter: true,
		Params: eval.Schema{Attributes: append([]eval.Attribute{toolParam}, d.attrs...)},
	}, d.score)
}

func (d detector) score(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	s := sceneOf(in, p)
	if d.states && !s.hasStates() {
		return scorer.Skip("the trial has no state before and after the run"), nil
	}
	list, err := d.find(s)
	if err != nil {
		return scorer.Result{}, err
	}
	if len(s.hits) == 0 && len(list) == 0 {
		return scorer.Skip("the agent called none of these tools"), nil
	}
	for i := range list {
		list[i].Source = "findings/" + d.name
	}
	return scorer.Measure(float64(len(list)), "", clean(s.hits, list), summary(s, list)).WithFindings(list...), nil
}

// findAll runs every rule that can be run on the trial.
func findAll(list []detector, s *scene) ([]eval.Finding, error) {
	var found []eval.Finding
	for _, d := range list {
		if d.states && !s.hasStates() {
			continue
		}
		more, err := d.find(s)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// clean is the share of calls that no finding cites.
func clean(hits []calls.Hit, list []eval.Finding) float64 {
	if len(hits) == 0 {
		return 0
	}
	cited := map[string]bool{}
	for _, f := range list {
		for _, e := range f.Evidence {
			cited[e.Step] = true
		}
	}
	n := 0
	for _, h := range hits {
		if !cited[h.Step] {
			n++
		}
	}
	return float64(n) / float64(len(hits))
}

// summary says how many findings there are of each kind.
func summary(s *scene, list []eval.Finding) string {
	said := "nothing found"
	if len(list) > 0 {
		var order []string
		n := map[string]int{}
		for _, f := range list {
			if n[f.Kind] == 0 {
				order = append(order, f.Kind)
			}
			n[f.Kind]++
		}
		for i, k := range order {
			order[i] = text.Int(n[k]) + " " + k
		}
		said = strings.Join(order, ", ")
	}
	said += " in " + text.Count(len(s.hits), "call")
	if !s.hasStates() {
		said += "; without the state, which nobody looked up"
	}
	return said
}

func union(a, b []eval.Part) []eval.Part {
	for _, p := range b {
		known := false
		for _, q := range a {
			known = known || p == q
		}
		if !known {
			a = append(a, p)
		}
	}
	return a
}

func unionAttrs(a, b []eval.Attribute) []eval.Attribute {
	for _, p := range b {
		known := false
		for _, q := range a {
			known = known || p.Name == q.Name
		}
		if !known {
			a = append(a, p)
		}
	}
	return a
}

func main() {}

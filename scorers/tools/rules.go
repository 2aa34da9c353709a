package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/bounds"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func registerRules() {
	register("not_called", eval.RoleAssert, eval.DimensionConstraint,
		"Passes if none of the tools was called, not even in a call that only the host reports.",
		notCalled,
		eval.Attribute{Name: "tool", Type: "string", Doc: "A tool as tools/called has it."},
		eval.Attribute{Name: "tools", Type: "list(string)", Doc: "More of them."},
		actionParam, statusParam, turnParam, scopeParam)
	register("no_errors", eval.RoleAssert, eval.DimensionConstraint,
		"Passes if at most allow calls ended in an error. A result that the host replaced because it was too large is no error; one that speaks of an error without being marked as one counts only with hidden.",
		noErrors,
		eval.Attribute{Name: "tool", Type: "string", Default: eval.JSON(`"*"`), Doc: "Looks only at these tools."},
		number("allow", "0", "How many errors may happen."),
		eval.Attribute{Name: "hidden", Type: "bool", Default: eval.JSON(`false`),
			Doc: "Counts results too that report an error in their text alone."},
		turnParam, scopeParam)
	register("no_destructive", eval.RoleAssert, eval.DimensionConstraint,
		"Passes if no destructive tool was called: one that the target block or the server's destructiveHint marks so. A call with a list of actions counts only for actions that match.",
		noDestructive,
		eval.Attribute{Name: "allow", Type: "list(string)", Doc: "Tools, as tools/called has them, that may be called all the same."},
		eval.Attribute{Name: "actions", Type: "list(string)",
			Default: eval.JSON(`["*delete*","*remove*","*destroy*","*purge*"]`),
			Doc:     "Which actions of a destructive tool are destructive (* and ? are wildcards)."},
		scopeParam)
	register("only_available", eval.RoleAssert, eval.DimensionConstraint,
		"Passes if no tool was called that requires a capability which the host lacks. Each such tool is a finding too (unavailable_tool, major).",
		onlyAvailable, scopeParam)
}

func notCalled(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	patterns := p.Strings("tools")
	if tool := p.String("tool"); tool != "" {
		patterns = append([]string{tool}, patterns...)
	}
	if len(patterns) == 0 {
		return scorer.Result{}, errors.New("give tool or tools")
	}
	l := calls.New(in)
	var hits []calls.Hit
	for _, pattern := range patterns {
		f := actionFilter(p, pattern)
		f.Unconfirmed = true
		hits = append(hits, l.Find(f)...)
	}
	if len(hits) == 0 {
		return scorer.Pass("no call of " + strings.Join(patterns, ", ")), nil
	}
	slices.SortStableFunc(hits, func(a, b calls.Hit) int { return a.Index - b.Index })
	return scorer.Fail(named(hits), calls.Evidence(hits)...), nil
}

// named says what was called: "cms/a and cms/b were called (3 calls)".
func named(hits []calls.Hit) string {
	const limit = 5
	var names []string
	for _, h := range hits {
		name := h.Name()
		if h.Action.Name != "" {
			name += " (" + h.Action.Name + ")"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	verb := " was "
	if len(names) > 1 {
		verb = " were "
	}
	if more := len(names) - limit; more > 0 {
		names = append(names[:limit], text.Count(more, "more tool"))
	}
	return strings.Join(names, ", ") + verb + text.Called(len(hits))
}

func noErrors(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	l := calls.New(in)
	allow, hidden := p.Int("allow"), p.Bool("hidden")
	if allow < 0 {
		return scorer.Result{}, errors.New("allow must not be negative")
	}
	f := calls.Filter{Pattern: p.String("tool"), Turn: p.Int("turn"), Main: p.String("scope") == "main"}
	var failed []calls.Hit
	for _, h := range l.Find(f) {
		_, truncated, hides := calls.Trouble(h.Call)
		if h.Status == eval.CallError && !truncated || hidden && hides {
			failed = append(failed, h)
		}
	}
	if len(failed) <= allow {
		return scorer.Pass(text.Count(len(failed), "failed call"), calls.Evidence(failed)...), nil
	}
	reason := text.Count(len(failed), "failed call") + ", want " + bounds.Range{Min: 0, Max: allow}.String() + "; the first: " +
		failed[0].Name() + ": " + cut(calls.ResultText(failed[0].Call))
	return scorer.Fail(reason, calls.Evidence(failed)...), nil
}

func noDestructive(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	l := calls.New(in)
	allow, actions := p.Strings("allow"), p.Strings("actions")
	var hits []calls.Hit
	for _, h := range l.Find(calls.Filter{Pattern: "*", Main: p.String("scope") == "main", Unconfirmed: true}) {
		t := l.Tool(h.Call)
		if t == nil || !t.Destructive || matchesAny(allow, h.Server, h.Tool) {
			continue
		}
		if list := calls.Actions(h.Call); len(list) > 0 {
			for _, a := range list {
				if matchesAny(actions, "", a.Name) {
					h.Action = a
					hits = append(hits, h)
				}
			}
			continue
		}
		hits = append(hits, h)
	}
	if len(hits) == 0 {
		return scorer.Pass("no destructive call"), nil
	}
	return scorer.Fail("destructive: "+named(hits), calls.Evidence(hits)...), nil
}

func matchesAny(patterns []string, server, tool string) bool {
	for _, p := range patterns {
		if eval.MatchTool(p, server, tool) {
			return true
		}
	}
	return false
}

func onlyAvailable(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	l := calls.New(in)
	var hits []calls.Hit
	var findings []eval.Finding
	for _, h := range l.Find(calls.Filter{Pattern: "*", Main: p.String("scope") == "main", Unconfirmed: true}) {
		t := l.Tool(h.Call)
		if t == nil {
			continue
		}
		missing := lacking(t.Requires, in.HostCapabilities)
		if len(missing) == 0 {
			continue
		}
		hits = append(hits, h)
		findings = addUnavailable(findings, h, missing)
	}
	if len(hits) == 0 {
		return scorer.Pass("every tool that was called is available on this host"), nil
	}
	reason := named(hits) + ", but the host lacks what they require"
	return scorer.Fail(reason, calls.Evidence(hits)...).WithFindings(findings...), nil
}

func lacking(required, offered []string) []string {
	var missing []string
	for _, r := range required {
		if !slices.Contains(offered, r) {
			missing = append(missing, r)
		}
	}
	return missing
}

// addUnavailable adds a finding for a tool's first call, and later calls to it as
// evidence.
func addUnavailable(list []eval.Finding, h calls.Hit, missing []string) []eval.Finding {
	for i := range list {
		if list[i].Tool == h.Name() {
			list[i].Evidence = append(list[i].Evidence, scorer.StepEvidence(h.Step))
			return list
		}
	}
	what := strings.Join(missing, ", ")
	return append(list, eval.Finding{
		Kind: "unavailable_tool", Tool: h.Name(), Severity: eval.SeverityMajor,
		Text:       "The agent called " + h.Name() + ", which needs " + what + " and cannot work on this host.",
		Suggestion: "Say in the tool's description that it needs " + what + ", and which tool to use without it.",
		Evidence:   []eval.Evidence{scorer.StepEvidence(h.Step)},
		Source:     "tools/only_available",
	})
}

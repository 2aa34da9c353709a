package main

import (
	"errors"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/match"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func registerArguments() {
	register("arguments", eval.RoleAssert, eval.DimensionOutcome,
		"Passes if the arguments of the tool's calls match. No call does not pass. Arguments that are not JSON never match; a JSON string of JSON is decoded once, and the reason says so; null is an empty object where the tool requires nothing. With action, the arguments are the action's own. Errored if the record holds only a part of arguments that decide.",
		arguments, slices.Concat([]eval.Attribute{toolParam}, match.Params(), []eval.Attribute{
			whichParam, actionParam, statusParam, turnParam, scopeParam,
		})...)
}

func arguments(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	m, err := match.New(p)
	if err != nil {
		return scorer.Result{}, err
	}
	return matchCalls(in, p, actionFilter(p, p.String("tool")), func(l *calls.Log, h calls.Hit) look {
		if h.Action.Name != "" {
			return look{wrong: m.Wrong(h.Action.Arguments)}
		}
		a := l.ArgumentsOf(h.Call)
		switch {
		case l.ArgumentsCut(h.Call):
			return look{unknown: "the record holds only a part of the arguments of " + h.Step}
		case a.Problem != "":
			return look{wrong: a.Problem}
		}
		found := look{wrong: m.Wrong(a.Value)}
		if a.DoublyEncoded {
			found.note = "the arguments are a JSON string of JSON, decoded once"
		}
		return found
	})
}

// look is what a look at one call found.
type look struct {
	// wrong says what does not match, "" for nothing.
	wrong string
	// unknown is set where nobody can say whether it matches; skip where that is
	// nobody's fault.
	unknown string
	skip    bool
	note    string
}

// matchCalls looks at each call that the parameters mean and folds what it finds.
func matchCalls(in *scorer.Input, p scorer.Params, f calls.Filter, inspect func(*calls.Log, calls.Hit) look) (scorer.Result, error) {
	l := calls.New(in)
	if err := l.Resolve(f.Pattern); err != nil {
		return scorer.Result{}, err
	}
	hits := l.Find(f)
	if len(hits) == 0 {
		return scorer.Fail(describe(f) + " was never called" + unseen(l, f)), nil
	}
	looks := make([]look, len(hits))
	for i, h := range hits {
		looks[i] = inspect(l, h)
	}
	return fold(hits, looks, p.String("which"))
}

// fold decides with the unknown calls taken for a match and for none: where that
// makes a difference there is no verdict.
func fold(hits []calls.Hit, looks []look, which string) (scorer.Result, error) {
	worst, at := verdict(looks, which, false)
	best, _ := verdict(looks, which, true)
	if worst != best {
		for _, k := range looks {
			switch {
			case k.unknown == "":
			case k.skip:
				return scorer.Skip(k.unknown), nil
			default:
				return scorer.Result{}, errors.New(k.unknown)
			}
		}
	}
	evidence := scorer.StepEvidence(hits[at].Step)
	if worst {
		reason := "matched by " + hits[at].Step
		if which == "all" {
			return scorer.Pass(withNote(text.Count(len(hits), "call")+" matched", looks[at].note), calls.Evidence(hits)...), nil
		}
		return scorer.Pass(withNote(reason, looks[at].note), evidence), nil
	}
	reason := hits[at].Step + ": " + looks[at].wrong
	if which == "any" && len(hits) > 1 {
		reason = "none of " + text.Count(len(hits), "call") + " matches; " + reason
	}
	return scorer.Fail(withNote(reason, looks[at].note), evidence), nil
}

func withNote(reason, note string) string {
	if note == "" {
		return reason
	}
	return reason + " (" + note + ")"
}

// verdict says whether the calls match as which has it, and which call decided.
func verdict(looks []look, which string, unknown bool) (ok bool, at int) {
	last := len(looks) - 1
	switch which {
	case "first":
		return looks[0].matches(unknown), 0
	case "last":
		return looks[last].matches(unknown), last
	}
	for i, k := range looks {
		if k.matches(unknown) == (which == "any") {
			return which == "any", i
		}
	}
	return which == "all", last
}

func (k look) matches(unknown bool) bool {
	if k.unknown != "" {
		return unknown
	}
	return k.wrong == ""
}

package main

import (
	"errors"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func registerOrder() {
	register("order", eval.RoleAssert, eval.DimensionOutcome,
		"Passes if the tools were called in this order: with other calls between them (subsequence), or with no other call at all (exact). Calls that one assistant message makes at once have no order among themselves and match in any.",
		order,
		eval.Attribute{Name: "tools", Type: "list(string)", Required: true, Doc: "The tools in order, each as tools/called has it."},
		eval.Attribute{Name: "mode", Type: "string", Default: eval.JSON(`"subsequence"`),
			Enum: []string{"subsequence", "exact"}, Doc: "Whether other calls may lie between and around them."},
		statusParam, turnParam, scopeParam)
}

func order(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	const limit = 200
	patterns := p.Strings("tools")
	if len(patterns) == 0 || len(patterns) > limit {
		return scorer.Result{}, errors.New("tools must name 1 to 200 tools")
	}
	l := calls.New(in)
	for _, pattern := range patterns {
		if err := l.Resolve(pattern); err != nil {
			return scorer.Result{}, err
		}
	}
	hits := l.Find(filter(p, "*"))
	if p.String("mode") == "exact" {
		return exactOrder(patterns, hits), nil
	}
	matched := subsequence(patterns, hits)
	if len(matched) == len(patterns) {
		return scorer.Pass("the tools were called in this order", calls.Evidence(matched)...), nil
	}
	return scorer.Fail(patterns[len(matched)]+" was not called"+after(patterns, len(matched)), calls.Evidence(matched)...), nil
}

func after(patterns []string, i int) string {
	if i == 0 {
		return ""
	}
	return " after " + strings.Join(patterns[:i], ", ")
}

// subsequence returns the calls that match the first patterns, as many as can be
// matched in order. Taking as many as possible of each message is best: it leaves
// the least for those that follow.
func subsequence(patterns []string, hits []calls.Hit) []calls.Hit {
	var matched []calls.Hit
	for len(hits) > 0 && len(matched) < len(patterns) {
		n := messageLen(hits)
		a := assignment{hits: hits[:n]}
		for len(matched)+len(a.taken) < len(patterns) && a.add(patterns[len(matched)+len(a.taken)]) {
		}
		for _, i := range a.taken {
			matched = append(matched, hits[i])
		}
		hits = hits[n:]
	}
	return matched
}

func exactOrder(patterns []string, hits []calls.Hit) scorer.Result {
	left := patterns
	for rest := hits; len(rest) > 0; {
		n := messageLen(rest)
		a := assignment{hits: rest[:n]}
		for i := 0; i < n && i < len(left) && a.add(left[i]); i++ {
		}
		done := len(a.taken)
		if done < n {
			return wrongCall(patterns, left[done:], rest[:n], a.taken)
		}
		left, rest = left[done:], rest[n:]
	}
	if len(left) > 0 {
		return scorer.Fail(left[0]+" was not called"+after(patterns, len(patterns)-len(left)), calls.Evidence(hits)...)
	}
	return scorer.Pass("the tools were called in exactly this order", calls.Evidence(hits)...)
}

// wrongCall says which call of a message is not what was to come.
func wrongCall(patterns, left []string, message []calls.Hit, taken []int) scorer.Result {
	used := map[int]bool{}
	for _, i := range taken {
		used[i] = true
	}
	wrong := 0
	for used[wrong] {
		wrong++
	}
	reason := message[wrong].Name() + " was called" + after(patterns, len(patterns)-len(left))
	if len(left) > 0 {
		reason += ", want " + left[0]
	} else {
		reason += ", want no more calls (" + text.Int(len(patterns)) + " were expected)"
	}
	return scorer.Fail(reason, scorer.StepEvidence(message[wrong].Step))
}

// messageLen returns how many of the first hits one message made.
func messageLen(hits []calls.Hit) int {
	n := 1
	for n < len(hits) && hits[n].Message == hits[0].Message {
		n++
	}
	return n
}

// assignment gives each of some patterns a call of its own.
type assignment struct {
	hits []calls.Hit
	// patterns are those added, taken the call of each, owner the pattern of each
	// call and one more, 0 for none.
	patterns []string
	taken    []int
	owner    []int
}

// add finds a call for one more pattern, moving the others where that helps
// (Kuhn's algorithm), and reports whether there is one.
func (a *assignment) add(pattern string) bool {
	if a.owner == nil {
		a.owner = make([]int, len(a.hits))
	}
	a.patterns = append(a.patterns, pattern)
	a.taken = append(a.taken, -1)
	if a.place(len(a.patterns)-1, make([]bool, len(a.hits))) {
		return true
	}
	a.patterns = a.patterns[:len(a.patterns)-1]
	a.taken = a.taken[:len(a.taken)-1]
	return false
}

func (a *assignment) place(p int, seen []bool) bool {
	for i, h := range a.hits {
		if seen[i] || !eval.MatchTool(a.patterns[p], h.Server, h.Tool) {
			continue
		}
		seen[i] = true
		if a.owner[i] == 0 || a.place(a.owner[i]-1, seen) {
			a.taken[p], a.owner[i] = i, p+1
			return true
		}
	}
	return false
}

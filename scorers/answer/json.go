package main

import (
	"errors"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/match"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func jsonMatches(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	m, err := match.New(p)
	if err != nil {
		return scorer.Result{}, err
	}
	v, problem, err := extract(in.Answer)
	switch {
	case err != nil:
		return scorer.Result{}, err
	case problem != "":
		return scorer.Fail(problem), nil
	}
	if wrong := m.Wrong(v); wrong != "" {
		return scorer.Fail("the answer's JSON: " + wrong), nil
	}
	return scorer.Pass("the answer's JSON matches"), nil
}

// extract finds the JSON of an answer. The problem is the agent's, the error
// nobody's.
func extract(answer string) (v tree.Value, problem string, err error) {
	answer = strings.TrimPrefix(answer, "\ufeff")
	if strings.TrimSpace(answer) == "" {
		return v, noAnswer, nil
	}
	if v, err := tree.Parse([]byte(answer)); err == nil {
		return v, "", nil
	}
	found := candidates(answer)
	switch {
	case len(found) == 0:
		return v, "the answer is not JSON and has no fenced block of it", nil
	case len(found) > 1:
		return v, "", errors.New("the answer has " + text.Count(len(found), "fenced block") + " of JSON: which one is meant?")
	}
	v, err = tree.Parse([]byte(found[0]))
	if err != nil {
		return v, "the fenced block of the answer is not JSON: " + tree.Cut(found[0], shown), nil
	}
	return v, "", nil
}

// candidates returns the insides of the fenced blocks that may be meant: those
// labelled json, be they JSON or not, and those without a label that hold an
// object or a list.
func candidates(answer string) []string {
	var list []string
	for {
		i := strings.Index(answer, fence)
		if i < 0 {
			return list
		}
		answer = answer[i:]
		n := len(answer) - len(strings.TrimLeft(answer, "`"))
		label, body, rest := block(answer[n:], answer[:n])
		answer = rest
		if strings.EqualFold(label, "json") || label == "" && isContainer(body) {
			list = append(list, body)
		}
	}
}

const fence = "```"

// block splits what follows an opening fence into the block's label, its inside
// and what lies behind it. A text within the JSON may hold the fence too: so the
// block ends where it is JSON, or at the first fence where it never is.
func block(s, marks string) (label, body, rest string) {
	const attempts = 20
	label, start := labelOf(s)
	end, after := len(s), len(s)
	for at, tries := start, 0; tries < attempts; tries++ {
		i := strings.Index(s[at:], marks)
		if i < 0 {
			break
		}
		at += i + len(marks)
		if tries == 0 {
			end, after = at-len(marks), at
		}
		if isContainer(s[start : at-len(marks)]) {
			end, after = at-len(marks), at
			break
		}
	}
	return label, s[start:end], strings.TrimLeft(s[after:], "`")
}

// labelOf returns the word behind an opening fence and where the block's inside
// begins.
func labelOf(s string) (label string, start int) {
	for start < len(s) && isLetter(s[start]) {
		start++
	}
	return s[:start], start
}

func isLetter(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '#' || c == '_'
}

func isContainer(s string) bool {
	v, err := jsonv.Parse([]byte(s))
	k := v.Kind()
	return err == nil && (k == jsonv.Object || k == jsonv.Array)
}

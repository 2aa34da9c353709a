package main

import (
	"errors"
	"regexp"
	"strings"
	"unicode"

	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

const noAnswer = "the agent gave no answer"

func contains(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	texts, err := textsOf(p)
	if err != nil {
		return scorer.Result{}, err
	}
	n := normaliserOf(p)
	answer := n.apply(in.Answer)
	var there, missing []string
	for _, t := range texts {
		if strings.Contains(answer, n.apply(t)) {
			there = append(there, t)
		} else {
			missing = append(missing, t)
		}
	}
	switch {
	case len(missing) == 0 || p.String("mode") == "any" && len(there) > 0:
		return scorer.Pass("the answer contains " + quoted(there)), nil
	case answer == "":
		return scorer.Fail(noAnswer), nil
	}
	return scorer.Fail("the answer does not contain " + quoted(missing)), nil
}

func notContains(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	texts, err := textsOf(p)
	if err != nil {
		return scorer.Result{}, err
	}
	n := normaliserOf(p)
	answer := n.apply(in.Answer)
	var there []string
	for _, t := range texts {
		if strings.Contains(answer, n.apply(t)) {
			there = append(there, t)
		}
	}
	if len(there) > 0 {
		return scorer.Fail("the answer contains " + quoted(there)), nil
	}
	return scorer.Pass("the answer does not contain " + quoted(texts)), nil
}

func equals(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	n := normaliserOf(p)
	answer, want := strings.TrimSpace(n.apply(in.Answer)), strings.TrimSpace(n.apply(p.String("value")))
	switch answer {
	case want:
		return scorer.Pass("the answer is " + quoted([]string{p.String("value")})), nil
	case "":
		return scorer.Fail(noAnswer), nil
	}
	return scorer.Fail("the answer is " + quoted([]string{in.Answer}) + ", want " + quoted([]string{p.String("value")})), nil
}

func matches(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	pattern, flags := p.String("pattern"), p.String("flags")
	if strings.Trim(flags, "ims") != "" {
		return scorer.Result{}, errors.New("flags are any of i, m and s")
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return scorer.Result{}, errors.New("pattern: " + err.Error())
	}
	if at := re.FindStringIndex(in.Answer); at != nil {
		return scorer.Pass("the answer has " + quoted([]string{in.Answer[at[0]:at[1]]})), nil
	}
	if in.Answer == "" {
		return scorer.Fail(noAnswer), nil
	}
	return scorer.Fail("nothing in the answer matches " + tree.Cut(pattern, shown)), nil
}

func textsOf(p scorer.Params) ([]string, error) {
	texts := p.Strings("values")
	if p.Has("value") {
		texts = append([]string{p.String("value")}, texts...)
	}
	if len(texts) == 0 {
		return nil, errors.New("give value or values")
	}
	for _, t := range texts {
		if t == "" {
			return nil, errors.New("an empty text is in every answer")
		}
	}
	return texts, nil
}

const shown = 120

// quoted lists texts for a reason.
func quoted(texts []string) string {
	const limit = 5
	var list []string
	for i, t := range texts {
		if i == limit {
			list = append(list, "…")
			break
		}
		list = append(list, `"`+tree.Cut(strings.TrimSpace(t), shown)+`"`)
	}
	return strings.Join(list, ", ")
}

// normaliser makes texts alike that the suite holds to be the same.
type normaliser struct{ ignoreCase, collapse bool }

func normaliserOf(p scorer.Params) normaliser {
	return normaliser{ignoreCase: p.Bool("ignore_case"), collapse: p.Bool("collapse_space")}
}

func (n normaliser) apply(s string) string {
	if n.collapse {
		s = strings.Join(strings.Fields(s), " ")
	}
	if n.ignoreCase {
		s = strings.Map(fold, s)
	}
	return s
}

// fold returns the smallest of the characters that differ from r in case alone.
func fold(r rune) rune {
	if r < unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	if 'A' <= least && least <= 'Z' { // the Kelvin sign is a K
		least += 'a' - 'A'
	}
	return least
}

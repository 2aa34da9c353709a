package main

import (
	"errors"
	"math"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func ceiling(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	name := p.String("score")
	s := find(in.Scores, name)
	if s == nil {
		return scorer.Result{}, errors.New("the story has no score " + name + " that is made before this one")
	}
	if s.State != eval.Scored || s.Value == nil {
		return scorer.Skip(name + " has no value: it was " + string(s.State)), nil
	}
	graded := grade(in.GoldGrades, name)
	if len(graded) == 0 {
		return scorer.Skip("no grades of the gold by " + name + because(in.GoldStale)), nil
	}
	floored := grade(in.FloorGrades, name)
	score, gold, floor := ofTrial(s), meanOf(graded), meanOf(floored)
	ratio, se, ok := relate(score, gold, floor)
	var r scorer.Result
	if ok {
		r = related(name, ratio, se, score, gold, floor)
	} else {
		r = scorer.Skip("the gold's " + shown(gold) + " cannot be told from the floor's " + shown(floor) + ": nothing can be related to them")
	}
	if score.above(gold) {
		r = r.WithFindings(eval.Finding{
			Kind: "gold_below_trials", Severity: eval.SeverityMajor,
			Text:       name + " gives the trial more than the story's gold, which is to be the best there is",
			Suggestion: "Make a better gold, or ask the judge for what the gold does better.",
		})
	}
	return r, nil
}

// ofTrial is the trial's own score; its error is known where the judge was asked
// more than once.
func ofTrial(s *eval.Score) mean {
	m := meanOf(s.Samples)
	if m.n == 0 {
		m.n = 1
	}
	m.value = *s.Value
	return m
}

func related(name string, ratio, se float64, score, gold, floor mean) scorer.Result {
	reason := name + " " + shown(score) + " is " + text.Number(ratio)
	unknown := notKnown(score, gold, floor)
	if gold.known || score.known || floor.known {
		reason += " ± " + text.Number(se)
	}
	reason += " of the way from "
	if floor.n > 0 {
		reason += "the floor's " + shown(floor)
	} else {
		reason += "0"
	}
	reason += " to the gold's " + shown(gold)
	switch {
	case ratio > 1:
		reason += "; the value is cut to 1"
	case ratio < 0:
		reason += "; the value is cut to 0"
	}
	if unknown != "" {
		reason += "; the error leaves out that of " + unknown + ", graded once"
	}
	r := scorer.Measure(ratio, "", math.Max(0, math.Min(1, ratio)), reason)
	if gold.known || score.known || floor.known {
		r = r.WithStdErr(se)
	}
	return r
}

// notKnown names what was graded only once.
func notKnown(score, gold, floor mean) string {
	var list []string
	for _, part := range []struct {
		name string
		m    mean
	}{{"the trial", score}, {"the gold", gold}, {"the floor", floor}} {
		if part.m.n == 1 {
			list = append(list, part.name)
		}
	}
	return strings.Join(list, " and ")
}

func shown(m mean) string {
	if m.known {
		return text.Number(m.value) + " ± " + text.Number(m.se)
	}
	return text.Number(m.value)
}

func because(stale string) string {
	if stale == "" {
		return ""
	}
	return ": " + stale
}

func find(scores []eval.Score, name string) *eval.Score {
	for i := range scores {
		if scores[i].Name == name {
			return &scores[i]
		}
	}
	return nil
}

func grade(list []eval.Grade, name string) []float64 {
	for i := range list {
		if list[i].Score == name {
			return list[i].Values
		}
	}
	return nil
}

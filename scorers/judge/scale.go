package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/scorers/scorer"
)

// aspect is one thing that is graded.
type aspect struct {
	name, question string
	// anchors describe the grades from 0 to 4.
	anchors [5]string
}

// scale is what the grades mean.
type scale struct {
	lowest, highest int
	// anchors are the suite's own, the same for every aspect; nil for each aspect's.
	anchors []string
	weights []float64
}

const maxGrades = 11

func scaleOf(p scorer.Params, aspects []aspect) (scale, error) {
	s := scale{highest: 4}
	if p.Has("anchors") {
		s.anchors, s.lowest = p.Strings("anchors"), p.Int("lowest")
		s.highest = s.lowest + len(s.anchors) - 1
		if n := len(s.anchors); n < 2 || n > maxGrades {
			return s, errors.New("anchors must describe 2 to " + strconv.Itoa(maxGrades) + " grades, not " + strconv.Itoa(n))
		}
	}
	if p.Float("lowest") != float64(p.Int("lowest")) {
		return s, errors.New("lowest must be a whole number")
	}
	return s, s.weigh(p, aspects)
}

// weigh reads how much each aspect counts.
func (s *scale) weigh(p scorer.Params, aspects []aspect) error {
	given, sum := p.JSON("weights"), 0.0
	for _, a := range aspects {
		w := 1.0
		if v := given.Get(a.name); !v.IsNull() {
			w, _ = v.Float()
		}
		if w < 0 {
			return errors.New("the weight of " + a.name + " must not be negative")
		}
		s.weights, sum = append(s.weights, w), sum+w
	}
	for name := range given.Members() {
		if !hasAspect(aspects, name) {
			return errors.New("weights names " + strconv.Quote(name) + ", which is no aspect")
		}
	}
	if sum == 0 {
		return errors.New("weights leaves no aspect that counts")
	}
	return nil
}

func hasAspect(aspects []aspect, name string) bool {
	for _, a := range aspects {
		if a.name == name {
			return true
		}
	}
	return false
}

// points is the weighted mean of grades, on the scale.
func (s *scale) points(grades []float64) float64 {
	sum, weights := 0.0, 0.0
	for i, g := range grades {
		sum, weights = sum+g*s.weights[i], weights+s.weights[i]
	}
	return sum / weights
}

// value is what points are worth in 0..1.
func (s *scale) value(points float64) float64 {
	return min(max((points-float64(s.lowest))/float64(s.highest-s.lowest), 0), 1)
}

// describe writes the aspects with the meaning of each grade, for the judge.
func (s *scale) describe(aspects []aspect) string {
	var sb strings.Builder
	for _, a := range aspects {
		sb.WriteString("\n" + a.name + ": " + a.question + "\n")
		if s.anchors == nil {
			s.levels(&sb, a.anchors[:])
		}
	}
	if s.anchors != nil {
		sb.WriteString("\nThe grades of every aspect:\n")
		s.levels(&sb, s.anchors)
	}
	return sb.String()
}

func (s *scale) levels(sb *strings.Builder, anchors []string) {
	for i, anchor := range anchors {
		sb.WriteString("  " + strconv.Itoa(s.lowest+i) + ": " + strings.TrimSpace(anchor) + "\n")
	}
}

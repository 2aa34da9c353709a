package main

import (
	"math"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/scorers/internal/text"
)

// stdev is the sample standard deviation.
func stdev(list []float64) float64 {
	m, sum := mean(list), 0.0
	for _, x := range list {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(list)-1))
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

func joinNumbers(list []float64) string {
	var each []string
	for _, x := range list {
		each = append(each, text.Number(x))
	}
	return strings.Join(each, " ")
}

// median is the middle one, or the mean of the two in the middle.
func median(list []float64) float64 {
	s := slices.Clone(list)
	slices.Sort(s)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

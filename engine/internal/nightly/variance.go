// Package nightly decides what of a night is news: pure functions over what the
// comparison, the findings and the coverage say, and over the nights before.
package nightly

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// What a variance must be held against: fewer nights say nothing of what is usual.
const (
	MinNights = 5
	// level of the test, after the correction for how many were made.
	level = 0.05
	// exact is up to how many choices all are looked at; beyond it draws are drawn.
	exact = 20_000
	draws = 20_000
)

// Series is one score of one arm: its values tonight and on the nights before, the
// oldest first.
type Series struct {
	Arm     eval.Trial
	Score   string
	Tonight []float64
	Before  [][]float64
}

// Variance returns the series whose values differ more from each other tonight than
// is usual for them, the surest first.
//
// Each value is taken as its distance from its own night's median. If the spread is
// as ever, tonight's distances are a random choice among those of all nights: P is
// how often such a choice is as large in sum (a permutation test on the statistic of
// Brown and Forsythe, 1974). P is corrected for the number of series that could be
// tested (Benjamini and Hochberg, 1995, at 5 %). A series also must have a larger
// standard deviation than on each of the nights before, of which there must be at
// least [MinNights] with two values.
//
// Draws, where there are too many choices to look at all, have the given seed.
func Variance(list []Series, seed uint64) []eval.NightlyVariance {
	var tested []eval.NightlyVariance
	for _, s := range list {
		if v, ok := test(s, seed); ok {
			tested = append(tested, v)
		}
	}
	slices.SortStableFunc(tested, func(a, b eval.NightlyVariance) int { return cmp.Compare(a.P, b.P) })
	p := make([]float64, len(tested))
	for i, v := range tested {
		p[i] = v.P
	}
	adjusted := stats.BenjaminiHochberg(p)
	news := []eval.NightlyVariance{}
	for i, v := range tested {
		v.Adjusted = adjusted[i]
		if v.Adjusted <= level && v.Stdev > slices.Max(v.Before) {
			news = append(news, v)
		}
	}
	return news
}

// test is one series' test; ok is false for one that says nothing: too few nights, or
// no spread tonight.
func test(s Series, seed uint64) (v eval.NightlyVariance, ok bool) {
	sd, ok := stats.Stdev(s.Tonight)
	if !ok || !(sd > 0) {
		return v, false
	}
	v = eval.NightlyVariance{
		Story: s.Arm.Story, Variant: s.Arm.Variant, Host: s.Arm.Host, Score: s.Score,
		Stdev: sd, Values: s.Tonight,
	}
	all := distances(s.Tonight)
	n := len(all)
	for _, night := range s.Before {
		if before, ok := stats.Stdev(night); ok {
			v.Before = append(v.Before, before)
			all = append(all, distances(night)...)
		}
	}
	if len(v.Before) < MinNights {
		return v, false
	}
	v.P = permuted(all, n, seed)
	return v, true
}

// distances are how far values lie from their median, as large as they would be of
// many values: of n that hold the median one is always 0.
func distances(x []float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	half := len(sorted) / 2
	median := sorted[half]
	if len(sorted)%2 == 0 {
		median = (sorted[half-1] + sorted[half]) / 2
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(v-median) * math.Sqrt(float64(len(x))/float64(len(x)-1))
	}
	return out
}

// permuted is how often n of all, chosen at random, are as large in sum as the first
// n are. Rounding does not tell two sums apart.
func permuted(all []float64, n int, seed uint64) float64 {
	sum := 0.0
	for _, v := range all[:n] {
		sum += v
	}
	least := sum * (1 - 1e-9)
	if choices(len(all), n) <= exact {
		large, count := 0, 0
		choose(all, n, 0, func(s float64) {
			count++
			if s >= least {
				large++
			}
		})
		return float64(large) / float64(count)
	}
	rng, large := rand.New(rand.NewPCG(seed, 0)), 1
	order := slices.Clone(all)
	for range draws {
		s := 0.0
		for i := range n {
			j := i + rng.IntN(len(order)-i)
			order[i], order[j] = order[j], order[i]
			s += order[i]
		}
		if s >= least {
			large++
		}
	}
	return float64(large) / (draws + 1)
}

// choices is how many ways there are to choose k of n, or more than [exact].
func choices(n, k int) int {
	c := 1
	for i := range k {
		if c = c * (n - i) / (i + 1); c > exact {
			return exact + 1
		}
	}
	return c
}

// choose calls f with the sum of each choice of k.
func choose(x []float64, k int, sum float64, f func(float64)) {
	if k == 0 {
		f(sum)
		return
	}
	for i := 0; i+k <= len(x); i++ {
		choose(x[i+1:], k-1, sum+x[i], f)
	}
}

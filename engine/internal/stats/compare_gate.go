package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Holm returns the p-values adjusted for all of them being looked at, in the order
// given (Holm, 1979).
func Holm(p []float64) []float64 {
	out, worst := make([]float64, len(p)), 0.0
	for rank, i := range ascending(p) {
		worst = math.Max(worst, math.Min(1, float64(len(p)-rank)*p[i]))
		out[i] = worst
	}
	return out
}

// BenjaminiHochberg returns the p-values adjusted for the share of false ones among
// those that are found (Benjamini and Hochberg, 1995), in the order given.
func BenjaminiHochberg(p []float64) []float64 {
	out, best := make([]float64, len(p)), 1.0
	for rank, i := range slices.Backward(ascending(p)) {
		best = math.Min(best, float64(len(p))*p[i]/float64(rank+1))
		out[i] = best
	}
	return out
}

// Bonferroni returns the p-values times how many they are.
func Bonferroni(p []float64) []float64 {
	out := make([]float64, len(p))
	for i, v := range p {
		out[i] = math.Min(1, float64(len(p))*v)
	}
	return out
}

// ascending are the places of p, those of the smallest first.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

// Power is what a paired comparison of two sides has to see.
type Power struct {
	// Level is that of the test (0.95), Target the power (0.8).
	Level, Target float64
	// Between is the variance over stories of their true differences, Within that of
	// repeats on each side, Repeats how many repeats each side has.
	Between          float64
	WithinA, WithinB float64
	RepeatsA         int
	RepeatsB         int
}

func (p Power) variance() float64 {
	return p.Between + p.WithinA/float64(p.RepeatsA) + p.WithinB/float64(p.RepeatsB)
}

func (p Power) z() float64 {
	return distuv.UnitNormal.Quantile(0.5+p.Level/2) + distuv.UnitNormal.Quantile(p.Target)
}

func (p Power) valid() bool {
	return p.RepeatsA > 0 && p.RepeatsB > 0 && p.Level > 0 && p.Level < 1 && p.Target > 0 && p.Target < 1 && p.variance() > 0
}

// Stories is how many stories it takes to see a difference (Miller, 2024); not ok
// where that is not defined.
func (p Power) Stories(difference float64) (n float64, ok bool) {
	if !p.valid() || difference == 0 || !allFinite([]float64{difference}) {
		return 0, false
	}
	return p.z() * p.z() * p.variance() / (difference * difference), true
}

// Detectable is the smallest difference that so many stories show.
func (p Power) Detectable(stories int) (difference float64, ok bool) {
	if !p.valid() || stories < 1 {
		return 0, false
	}
	return p.z() * math.Sqrt(p.variance()/float64(stories)), true
}

// DetectableBy is the smallest mean difference that a paired test sees with the given
// power, from the standard error of the mean and its degrees of freedom; not ok for
// differences that do not vary.
func DetectableBy(se, df, level, power float64) (difference float64, ok bool) {
	if !(se > 0) || !(df > 0) {
		return 0, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
	return (t.Quantile(0.5+level/2) + t.Quantile(power)) * se, true
}

// Gate decides from k1 of n before and k2 of n after whether it fires.
type Gate func(k1, k2, n int) bool

// AnyDrop fires at every fall of the rate.
func AnyDrop(k1, k2, _ int) bool { return k2 < k1 }

// DropOf fires at a fall of the rate by at least d.
func DropOf(d float64) Gate {
	return func(k1, k2, n int) bool { return float64(k1-k2)/float64(n) >= d-rounding }
}

// NewcombeBelow fires where the interval of the difference lies below 0.
func NewcombeBelow(level float64) Gate {
	return func(k1, k2, n int) bool {
		f := float64(n)
		_, hi, ok := Newcombe(float64(k2)/f, f, float64(k1)/f, f, level)
		return ok && hi < 0
	}
}

// Fires is how probable it is that a gate fires on n trials a side, of the true rates
// p1 before and p2 after: its false alarms where they are equal, its power where they
// are not.
func Fires(g Gate, n int, p1, p2 float64) float64 {
	a, b := distuv.Binomial{N: float64(n), P: p1}, distuv.Binomial{N: float64(n), P: p2}
	sum := 0.0
	for k1 := range n + 1 {
		for k2 := range n + 1 {
			if g(k1, k2, n) {
				sum += a.Prob(float64(k1)) * b.Prob(float64(k2))
			}
		}
	}
	return sum
}

// CohenDz is the mean of differences in their standard deviations; not ok where they
// do not vary.
func CohenDz(d []float64) (dz float64, ok bool) {
	if len(d) < 2 || !allFinite(d) || unvarying(d) {
		return 0, false
	}
	mean, _ := Mean(d)
	sd, _ := Stdev(d)
	return mean / sd, true
}

// CohenD is the difference of means, a less b, in the root of the mean of both
// variances; not ok where neither varies.
func CohenD(a, b []float64) (d float64, ok bool) {
	if len(a) < 2 || len(b) < 2 || !allFinite(a) || !allFinite(b) || unvarying(a) && unvarying(b) {
		return 0, false
	}
	ma, _ := Mean(a)
	mb, _ := Mean(b)
	sa, _ := Stdev(a)
	sb, _ := Stdev(b)
	return (ma - mb) / math.Sqrt((sa*sa+sb*sb)/2), true
}

// HedgesCorrection makes an effect size of few values less biased: what it is to be
// multiplied by (Hedges, 1981, by its usual approximation).
func HedgesCorrection(df float64) float64 { return 1 - 3/(4*df-1) }

// CliffsDelta is how much more often a value of a is above one of b than below
// (Cliff, 1993); not ok where one is empty.
func CliffsDelta(a, b []float64) (delta float64, ok bool) {
	if len(a) == 0 || len(b) == 0 || !allFinite(a) || !allFinite(b) {
		return 0, false
	}
	sum := 0
	for _, x := range a {
		for _, y := range b {
			sum += cmp.Compare(x, y)
		}
	}
	return float64(sum) / float64(len(a)*len(b)), true
}

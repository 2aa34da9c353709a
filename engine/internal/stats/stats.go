// Package stats computes what a summary shows of repeated trials: means and
// spreads with their intervals. Its functions are pure; they know nothing of
// trials. Anything that is not defined for a sample is reported as absent (ok
// false), never as 0.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Mean returns the arithmetic mean of x; not ok for an empty x.
func Mean(x []float64) (mean float64, ok bool) {
	if len(x) == 0 {
		return 0, false
	}
	return stat.Mean(x, nil), true
}

// Stdev returns the sample standard deviation (n-1 below) of x; not ok for fewer
// than two values.
func Stdev(x []float64) (sd float64, ok bool) {
	if len(x) < 2 {
		return 0, false
	}
	return stat.StdDev(x, nil), true
}

// Range returns the smallest and largest of x; not ok for an empty x.
func Range(x []float64) (lo, hi float64, ok bool) {
	if len(x) == 0 {
		return 0, 0, false
	}
	lo, hi = x[0], x[0]
	for _, v := range x[1:] {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	return lo, hi, true
}

// TInterval returns the two-sided interval of the mean of x at the given level
// (0.95), from Student's t with n-1 degrees of freedom; not ok for fewer than
// two values.
func TInterval(x []float64, level float64) (lo, hi float64, ok bool) {
	sd, ok := Stdev(x)
	if !ok {
		return 0, 0, false
	}
	n := float64(len(x))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.5 + level/2)
	mean, half := stat.Mean(x, nil), t*sd/math.Sqrt(n)
	return mean - half, mean + half, true
}

// Wilson returns the score interval of a rate of k in n at the given level
// (Wilson, 1927, without continuity correction); not ok for n = 0.
func Wilson(k, n int, level float64) (lo, hi float64, ok bool) {
	if n <= 0 || k < 0 || k > n {
		return 0, 0, false
	}
	z := distuv.UnitNormal.Quantile(0.5 + level/2)
	p, nf := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*nf)) / (1 + z*z/nf)
	half := z / (1 + z*z/nf) * math.Sqrt(p*(1-p)/nf+z*z/(4*nf*nf))
	return math.Max(0, centre-half), math.Min(1, centre+half), true
}

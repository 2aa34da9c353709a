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

// PopulationStdev returns the standard deviation of x taken as all there is (n
// below); not ok for an empty x.
func PopulationStdev(x []float64) (sd float64, ok bool) {
	if len(x) == 0 {
		return 0, false
	}
	return stat.PopStdDev(x, nil), true
}

// StdErr returns the standard error of the mean of x, whose values must be
// independent of each other; not ok for fewer than two.
func StdErr(x []float64) (se float64, ok bool) {
	sd, ok := Stdev(x)
	if !ok {
		return 0, false
	}
	return sd / math.Sqrt(float64(len(x))), true
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
	t, _ := StudentT(level, float64(len(x)-1))
	mean, half := stat.Mean(x, nil), t*sd/math.Sqrt(float64(len(x)))
	return mean - half, mean + half, true
}

// StudentT returns the factor of a two-sided t interval at the given level with df
// degrees of freedom; not ok for none.
func StudentT(level, df float64) (t float64, ok bool) {
	if !(df > 0) {
		return 0, false
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(0.5 + level/2), true
}

// ZInterval is [TInterval] with the normal distribution in place of Student's t: it
// is too narrow for few values, and is here to be compared with.
func ZInterval(x []float64, level float64) (lo, hi float64, ok bool) {
	se, ok := StdErr(x)
	if !ok {
		return 0, 0, false
	}
	mean, half := stat.Mean(x, nil), distuv.UnitNormal.Quantile(0.5+level/2)*se
	return mean - half, mean + half, true
}

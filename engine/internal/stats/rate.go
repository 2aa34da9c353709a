package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Wilson returns the score interval of a rate of k in n at the given level
// (Wilson, 1927, without continuity correction); not ok for n = 0.
func Wilson(k, n int, level float64) (lo, hi float64, ok bool) {
	if !counts(k, n) {
		return 0, 0, false
	}
	z := distuv.UnitNormal.Quantile(0.5 + level/2)
	p, nf := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*nf)) / (1 + z*z/nf)
	half := z / (1 + z*z/nf) * math.Sqrt(p*(1-p)/nf+z*z/(4*nf*nf))
	return math.Max(0, centre-half), math.Min(1, centre+half), true
}

// Wald returns the textbook interval of a rate of k in n, p ± z √(p(1-p)/n). It has no
// width at 0 and 1 and passes them elsewhere: no summary shows it. Not ok for n = 0.
func Wald(k, n int, level float64) (lo, hi float64, ok bool) {
	if !counts(k, n) {
		return 0, 0, false
	}
	p := float64(k) / float64(n)
	half := distuv.UnitNormal.Quantile(0.5+level/2) * math.Sqrt(p*(1-p)/float64(n))
	return p - half, p + half, true
}

// ClopperPearson returns the exact interval of a rate of k in n (Clopper and Pearson,
// 1934), which holds the rate at least as often as level says; not ok for n = 0.
func ClopperPearson(k, n int, level float64) (lo, hi float64, ok bool) {
	if !counts(k, n) {
		return 0, 0, false
	}
	lo, hi = 0, 1
	a := (1 - level) / 2
	if k > 0 {
		lo = beta(float64(k), float64(n-k+1), a)
	}
	if k < n {
		hi = beta(float64(k+1), float64(n-k), 1-a)
	}
	return lo, hi, true
}

// Jeffreys returns the credible interval of a rate of k in n with Jeffreys' prior,
// with 0 and 1 as bounds where all failed and all passed (Brown, Cai and DasGupta,
// 2001); not ok for n = 0.
func Jeffreys(k, n int, level float64) (lo, hi float64, ok bool) {
	lo, hi, ok = Credible(k, n, 0.5, 0.5, level)
	if !ok {
		return 0, 0, false
	}
	if k == 0 {
		lo = 0
	}
	if k == n {
		hi = 1
	}
	return lo, hi, true
}

// Credible returns the equal-tailed credible interval of a rate of k in n with the
// prior Beta(a, b), 1 and 1 for the uniform one; not ok for n = 0.
func Credible(k, n int, a, b, level float64) (lo, hi float64, ok bool) {
	if !counts(k, n) {
		return 0, 0, false
	}
	a, b = a+float64(k), b+float64(n-k)
	return beta(a, b, (1-level)/2), beta(a, b, (1+level)/2), true
}

// beta is the quantile p of Beta(a, b).
func beta(a, b, p float64) float64 { return distuv.Beta{Alpha: a, Beta: b}.Quantile(p) }

func counts(k, n int) bool { return n > 0 && k >= 0 && k <= n }

// PosteriorMean returns the mean of a rate of k in n with the prior Beta(a, b); not ok
// for n = 0.
func PosteriorMean(k, n int, a, b float64) (mean float64, ok bool) {
	if !counts(k, n) {
		return 0, false
	}
	return (float64(k) + a) / (float64(n) + a + b), true
}

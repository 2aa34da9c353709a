package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Paired is the comparison of paired values by their differences, a less b.
type Paired struct {
	N    int
	Mean float64
	// SD is that of the differences, SE the standard error of their mean. Both are 0
	// where all differences are equal: T and P are not defined then.
	SD, SE float64
	// DF are the degrees of freedom of T.
	DF float64
	// T is Student's, P its two-sided p-value; TOK says that they are defined.
	T, P float64
	TOK  bool
	// Lo and Hi are the interval of the mean.
	Lo, Hi float64
}

// PairedT compares paired values by Student's t on their differences; not ok for
// fewer than two pairs, lists of different lengths, or a value that is not finite.
func PairedT(a, b []float64, level float64) (p Paired, ok bool) {
	if len(a) != len(b) {
		return Paired{}, false
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return DifferencesT(d, level)
}

// DifferencesT is [PairedT] over differences.
func DifferencesT(d []float64, level float64) (p Paired, ok bool) {
	if len(d) < 2 || !allFinite(d) {
		return Paired{}, false
	}
	p = Paired{N: len(d), Mean: stat.Mean(d, nil), DF: float64(len(d) - 1)}
	p.SD = stat.StdDev(d, nil)
	if unvarying(d) {
		p.Mean, p.SD = d[0], 0
	}
	p.SE = p.SD / math.Sqrt(float64(p.N))
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: p.DF}
	half := student.Quantile(0.5+level/2) * p.SE
	p.Lo, p.Hi = p.Mean-half, p.Mean+half
	if p.SE > 0 {
		p.T = p.Mean / p.SE
		p.P, p.TOK = 2*student.CDF(-math.Abs(p.T)), true
	}
	return p, true
}

// rounding is how far apart values may be by rounding alone, in the values' own size.
const rounding = 1e-12

// unvarying reports whether all of x are equal but for rounding.
func unvarying(x []float64) bool {
	lo, hi, _ := Range(x)
	return hi-lo <= rounding*math.Max(1, math.Max(math.Abs(lo), math.Abs(hi)))
}

// allFinite reports whether no value is NaN or infinite.
func allFinite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Welch is the comparison of two samples that are not paired.
type Welch struct {
	// Difference is the mean of a less that of b, SE its standard error.
	Difference, SE float64
	// T has DF degrees of freedom by Welch and Satterthwaite; P is two-sided.
	T, DF, P float64
}

// WelchT compares two samples without pairing (Welch, 1947); not ok where one has
// fewer than two values, where neither varies, or for a value that is not finite.
func WelchT(a, b []float64) (w Welch, ok bool) {
	if len(a) < 2 || len(b) < 2 || !allFinite(a) || !allFinite(b) || unvarying(a) && unvarying(b) {
		return Welch{}, false
	}
	va, vb := stat.Variance(a, nil)/float64(len(a)), stat.Variance(b, nil)/float64(len(b))
	w.Difference, w.SE = stat.Mean(a, nil)-stat.Mean(b, nil), math.Sqrt(va+vb)
	w.T = w.Difference / w.SE
	w.DF = (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	w.P = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: w.DF}.CDF(-math.Abs(w.T))
	return w, true
}

// Correlation is Pearson's of paired values; not ok where one side does not vary,
// for fewer than two pairs and lists of different lengths.
func Correlation(a, b []float64) (r float64, ok bool) {
	if len(a) < 2 || len(a) != len(b) || !allFinite(a) || !allFinite(b) || unvarying(a) || unvarying(b) {
		return 0, false
	}
	return stat.Correlation(a, b, nil), true
}

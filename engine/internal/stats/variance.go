package stats

import "math"

// Variance is the split of the variance of grouped values into what lies between
// groups and within them: the random effects of a one-way analysis of variance, also
// for groups of different sizes (Searle, Casella and McCulloch, 1992, chapter 3).
// What the groups do not tell is absent (nil).
type Variance struct {
	Groups int
	N      int
	// Grand is the mean of all values; MSB and MSW are the mean squares between groups
	// and within. MSW needs a group of two values, MSB two groups.
	Grand    *float64
	MSB, MSW *float64
	// Between is (MSB-MSW)/n0, with n0 the size of a group, or what stands for it where
	// sizes differ. It is 0 where that is below, and Clamped says so.
	Between *float64
	Clamped bool
	// ICC is the share of Between in Between and MSW; absent where both are 0.
	ICC *float64
	// DesignEffect is 1 + (ñ-1) ICC, with ñ the mean size of the group of a value
	// (Kish, 1965), and Effective is N over it.
	DesignEffect *float64
	Effective    *float64
	// StdErr is the standard error of the mean of the groups' means where groups are a
	// sample of others, FixedStdErr where they are all there are.
	StdErr      *float64
	FixedStdErr *float64
}

// VarianceOf splits the variance of the groups' values. Empty groups do not count.
func VarianceOf(groups [][]float64) Variance {
	var v Variance
	var sum, squares, inverse float64
	var means []float64
	for _, x := range groups {
		m, ok := Mean(x)
		if !ok {
			continue
		}
		n := float64(len(x))
		v.Groups, v.N = v.Groups+1, v.N+len(x)
		sum, squares, inverse = sum+n*m, squares+n*n, inverse+1/n
		means = append(means, m)
	}
	if v.N == 0 {
		return v
	}
	n, g := float64(v.N), float64(v.Groups)
	v.Grand = new(sum / n)
	if se, ok := StdErr(means); ok {
		v.StdErr = &se
	}
	between, within := sumsOfSquares(groups, *v.Grand)
	if v.N > v.Groups {
		v.MSW = new(within / (n - g))
		v.FixedStdErr = new(math.Sqrt(*v.MSW*inverse) / g)
	}
	if v.Groups < 2 {
		return v
	}
	v.MSB = new(between / (g - 1))
	if v.MSW == nil {
		return v
	}
	v.split((n-squares/n)/(g-1), squares/n)
	return v
}

// split is of the mean squares; size is n0 and own is ñ of [Variance].
func (v *Variance) split(size, own float64) {
	b := (*v.MSB - *v.MSW) / size
	if b < 0 {
		b, v.Clamped = 0, true
	}
	v.Between = &b
	if b+*v.MSW == 0 {
		return
	}
	v.ICC = new(b / (b + *v.MSW))
	v.DesignEffect = new(1 + (own-1)**v.ICC)
	v.Effective = new(float64(v.N) / *v.DesignEffect)
}

// sumsOfSquares are those between the groups and within. Values that are all equal
// have none, whatever a sum of them rounds to.
func sumsOfSquares(groups [][]float64, grand float64) (between, within float64) {
	first, same := math.NaN(), true
	for _, x := range groups {
		m, ok := Mean(x)
		if !ok {
			continue
		}
		if lo, hi, _ := Range(x); lo == hi {
			m = lo
		}
		if math.IsNaN(first) {
			first = m
		}
		between += float64(len(x)) * (m - grand) * (m - grand)
		for _, v := range x {
			within += (v - m) * (v - m)
			same = same && v == first
		}
	}
	if same {
		return 0, 0
	}
	return between, within
}

// medianShare is the variance of the median of 1 to 10 normal values as a share of
// that of one of them: exact figures of order statistics (Sarhan and Greenberg, 1962).
var medianShare = [...]float64{1, 0.5, 0.448671, 0.298205, 0.286834, 0.214755, 0.210447, 0.168200, 0.166101, 0.138353}

// MedianShare returns the variance of the median of n independent normal values as a
// share of that of one of them, for more than ten by its approximation
// π/(2n+π-2); not ok for n < 1.
func MedianShare(n int) (share float64, ok bool) {
	switch {
	case n < 1:
		return 0, false
	case n <= len(medianShare):
		return medianShare[n-1], true
	}
	return math.Pi / (2*float64(n) + math.Pi - 2), true
}

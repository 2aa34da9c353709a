package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Newcombe returns the interval of the difference p1-p2 of two independent rates,
// from the Wilson interval of each (Newcombe, 1998, method 10). Sizes need not be
// whole: trials that depend on each other count for fewer. Not ok where a rate is
// not in 0..1 or a size is not above 0.
func Newcombe(p1, n1, p2, n2, level float64) (lo, hi float64, ok bool) {
	l1, u1, ok1 := wilsonRate(p1, n1, level)
	l2, u2, ok2 := wilsonRate(p2, n2, level)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	d := p1 - p2
	return d - math.Hypot(p1-l1, u2-p2), d + math.Hypot(u1-p1, p2-l2), true
}

// wilsonRate is [Wilson] for a rate of a size that need not be whole.
func wilsonRate(p, n, level float64) (lo, hi float64, ok bool) {
	if !(n > 0) || math.IsInf(n, 0) || !(p >= 0 && p <= 1) {
		return 0, 0, false
	}
	z := distuv.UnitNormal.Quantile(0.5 + level/2)
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return math.Max(0, centre-half), math.Min(1, centre+half), true
}

// Discordant is McNemar's test on pairs that differ: lost were better on the first
// side, won on the second. Without one all p-values are 1.
type Discordant struct {
	Exact, MidP float64
	// ChiSquared has the continuity correction.
	ChiSquared float64
	// Lowest is the smallest MidP that so many pairs, if all of them differed, can
	// give, Given the smallest with as many that differ as do.
	Lowest, Given float64
}

// McNemar tests whether pairs differ to one side more than to the other: exact, and
// with mid-p (Fagerland, Lydersen and Laake, 2013), which keeps close to its level
// where the exact test stays far below. Not ok for negative counts, or pairs fewer
// than those that differ.
func McNemar(lost, won, pairs int) (m Discordant, ok bool) {
	if lost < 0 || won < 0 || lost+won > pairs {
		return Discordant{}, false
	}
	m = Discordant{Exact: 1, MidP: 1, Lowest: math.Ldexp(1, -pairs), Given: math.Ldexp(1, -lost-won)}
	n := lost + won
	if n == 0 {
		return m, true
	}
	few := distuv.Binomial{N: float64(n), P: 0.5}
	tail := binomialTail(few, min(lost, won))
	m.Exact = math.Min(1, 2*tail)
	m.MidP = math.Min(1, 2*tail-few.Prob(float64(min(lost, won))))
	gap := math.Max(0, math.Abs(float64(lost-won))-1)
	m.ChiSquared = gap * gap / float64(n)
	return m, true
}

// binomialTail is the probability of at most k.
func binomialTail(b distuv.Binomial, k int) float64 {
	sum := 0.0
	for i := range k + 1 {
		sum += b.Prob(float64(i))
	}
	return math.Min(1, sum)
}

// SignTest is the one-sided exact p-value of at least won wins against lost losses;
// ties are left out. Not ok without a win or a loss.
func SignTest(won, lost int) (p float64, ok bool) {
	if won < 0 || lost < 0 || won+lost == 0 {
		return 0, false
	}
	return binomialTail(distuv.Binomial{N: float64(won + lost), P: 0.5}, lost), true
}

// Table is Fisher's exact test of two rates.
type Table struct {
	// P is two-sided: all tables with the same margins that are no likelier.
	P float64
	// Lowest is the smallest P that any table of these sizes can give, Given the
	// smallest that one of these margins can.
	Lowest, Given float64
}

// Counts are k1 of n1 on the first side and k2 of n2 on the second.
type Counts struct{ K1, N1, K2, N2 int }

func (c Counts) valid() bool {
	return c.N1 > 0 && c.N2 > 0 && c.K1 >= 0 && c.K2 >= 0 && c.K1 <= c.N1 && c.K2 <= c.N2
}

// FisherExact tests whether k1 of n1 and k2 of n2 are of one rate; not ok for counts
// that no such table has.
func FisherExact(k1, n1, k2, n2 int) (t Table, ok bool) {
	return FisherStrata([]Counts{{k1, n1, k2, n2}})
}

// FisherStrata is Fisher's exact test over tables whose rates may differ, each held at
// its own margins (Gart, 1970); not ok without a table.
func FisherStrata(tables []Counts) (t Table, ok bool) {
	if len(tables) == 0 {
		return Table{}, false
	}
	// all has the probabilities of each sum of the first side's counts.
	all, least, observed := []float64{1}, 0, 0
	lowest, even := 0.0, true
	for _, c := range tables {
		if !c.valid() {
			return Table{}, false
		}
		k := c.K1 + c.K2
		from := max(0, k-c.N2)
		own := make([]float64, min(k, c.N1)-from+1)
		for i := range own {
			own[i] = math.Exp(logTable(from+i, c.N1, k-from-i, c.N2))
		}
		all, least, observed = convolve(all, own), least+from, observed+c.K1
		lowest -= logChoose(c.N1+c.N2, c.N1)
		even = even && c.N1 == c.N2
	}
	t.P, t.Given = noLikelier(all, all[observed-least]), noLikelier(all, slices.Min(all))
	t.Lowest = math.Exp(lowest)
	if even {
		t.Lowest *= 2
	}
	t.Lowest = math.Min(1, t.Lowest)
	return t, true
}

// noLikelier is the probability of all that is at most as probable as p.
func noLikelier(all []float64, p float64) float64 {
	sum, limit := 0.0, p*(1+1e-7)
	for _, v := range all {
		if v <= limit {
			sum += v
		}
	}
	return math.Min(1, sum)
}

// convolve is the distribution of the sum of two independent counts.
func convolve(a, b []float64) []float64 {
	out := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			out[i+j] += x * y
		}
	}
	return out
}

// logTable is the logarithm of a table's hypergeometric probability.
func logTable(k1, n1, k2, n2 int) float64 {
	return logChoose(n1, k1) + logChoose(n2, k2) - logChoose(n1+n2, k1+k2)
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// ProbabilityAbove is how probable it is that the rate behind k2 of n2 is above the
// one behind k1 of n1, from uniform priors; not ok for counts that are no rate.
func ProbabilityAbove(k1, n1, k2, n2 int) (p float64, ok bool) {
	if n1 < 0 || n2 < 0 || k1 < 0 || k2 < 0 || k1 > n1 || k2 > n2 {
		return 0, false
	}
	a1, b1 := float64(k1+1), float64(n1-k1+1)
	b2 := float64(n2 - k2 + 1)
	for i := range k2 + 1 {
		x := float64(i)
		p += math.Exp(mathext.Lbeta(a1+x, b1+b2) - math.Log(b2+x) - mathext.Lbeta(1+x, b2) - mathext.Lbeta(a1, b1))
	}
	return math.Min(1, p), true
}

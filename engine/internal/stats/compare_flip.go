package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// MaxExactFlip is up to how many differences [SignFlip] counts all sign patterns.
const MaxExactFlip = 24

// SignFlips is a sign-flip permutation test.
type SignFlips struct {
	// P is two-sided: the share of the patterns of signs whose sum is at least as far
	// from 0 as the one observed.
	P float64
	// Patterns is how many were counted, Extreme how many of them are that far.
	Patterns, Extreme int
	// Exact says that these are all there are.
	Exact bool
	// Lowest is the smallest P that so many differences can give, Given the smallest
	// with as many that are not 0.
	Lowest, Given float64
}

// SignFlip tests whether differences are symmetric around 0 (Fisher's randomization
// test of paired values): exactly up to [MaxExactFlip], beyond it by draws patterns
// from seed, with the observed one counted among them (Phipson and Smyth, 2010). Not
// ok without a difference, or for one that is not finite.
func SignFlip(d []float64, draws int, seed uint64) (f SignFlips, ok bool) {
	if len(d) == 0 || !allFinite(d) {
		return SignFlips{}, false
	}
	sum, size := 0.0, 0.0
	moving := make([]float64, 0, len(d))
	for _, v := range d {
		sum += v
		size += math.Abs(v)
		if v != 0 {
			moving = append(moving, v)
		}
	}
	limit := math.Abs(sum) - rounding*math.Max(1, size)
	if len(d) <= MaxExactFlip {
		f = exactFlip(moving, limit)
		f.Patterns <<= len(d) - len(moving)
		f.Extreme <<= len(d) - len(moving)
		f.P, f.Exact = float64(f.Extreme)/float64(f.Patterns), true
		f.Lowest, f.Given = math.Min(1, math.Ldexp(2, -len(d))), math.Min(1, math.Ldexp(2, -len(moving)))
		return f, true
	}
	f = drawnFlip(moving, limit, draws, seed)
	least := 1 / float64(f.Patterns)
	f.Lowest, f.Given = math.Max(math.Ldexp(2, -len(d)), least), math.Min(1, math.Max(math.Ldexp(2, -len(moving)), least))
	return f, true
}

// exactFlip counts all patterns in two halves: for each sum of the one, the sums of
// the other that carry it past the limit.
func exactFlip(d []float64, limit float64) SignFlips {
	f := SignFlips{Patterns: 1 << len(d)}
	if limit <= 0 {
		f.Extreme = f.Patterns
		return f
	}
	left, right := flipSums(d[:len(d)/2]), flipSums(d[len(d)/2:])
	slices.Sort(right)
	for _, s := range left {
		above, _ := slices.BinarySearch(right, limit-s)
		f.Extreme += len(right) - above
		below, _ := slices.BinarySearchFunc(right, -limit-s, func(v, t float64) int {
			if v <= t {
				return -1
			}
			return 1
		})
		f.Extreme += below
	}
	return f
}

// flipSums are the sums of d under every pattern of signs.
func flipSums(d []float64) []float64 {
	sums := []float64{0}
	for _, v := range d {
		next := make([]float64, 0, 2*len(sums))
		for _, s := range sums {
			next = append(next, s+v, s-v)
		}
		sums = next
	}
	return sums
}

func drawnFlip(d []float64, limit float64, draws int, seed uint64) SignFlips {
	r := rand.New(rand.NewPCG(seed, uint64(len(d))))
	f := SignFlips{Patterns: draws + 1, Extreme: 1}
	for range draws {
		sum, bits := 0.0, uint64(0)
		for i, v := range d {
			if i%64 == 0 {
				bits = r.Uint64()
			}
			if bits&1 == 0 {
				v = -v
			}
			bits >>= 1
			sum += v
		}
		if math.Abs(sum) >= limit {
			f.Extreme++
		}
	}
	f.P = float64(f.Extreme) / float64(f.Patterns)
	return f
}

// Bootstrapped is the distribution of the mean of a sample drawn again from itself.
type Bootstrapped struct {
	Resamples int
	Mean      float64
	// SE is the standard deviation of the means, Lo and Hi their percentiles.
	SE, Lo, Hi float64
	// NotAbove is the share of means that are at most 0.
	NotAbove float64
}

// maxBootstrap bounds how many resamples [Bootstrap] counts.
const maxBootstrap = 1 << 20

// Bootstrap counts every resample of x, of which there are n^n; not ok for an empty
// x, for more resamples than can be counted (n above 7), or for a value that is not
// finite.
func Bootstrap(x []float64, level float64) (b Bootstrapped, ok bool) {
	n := len(x)
	count := math.Pow(float64(n), float64(n))
	if n == 0 || count > maxBootstrap || !allFinite(x) {
		return Bootstrapped{}, false
	}
	means := make([]float64, 0, int(count))
	var walk func(depth int, sum float64)
	walk = func(depth int, sum float64) {
		if depth == n {
			means = append(means, sum/float64(n))
			return
		}
		for _, v := range x {
			walk(depth+1, sum+v)
		}
	}
	walk(0, 0)
	slices.Sort(means)
	b.Resamples = len(means)
	b.Mean, _ = Mean(x)
	squares := 0.0
	for _, m := range means {
		squares += (m - b.Mean) * (m - b.Mean)
		if m <= rounding {
			b.NotAbove++
		}
	}
	b.SE = math.Sqrt(squares / float64(len(means)))
	b.NotAbove /= float64(len(means))
	b.Lo, b.Hi = SortedQuantile(means, (1-level)/2), SortedQuantile(means, (1+level)/2)
	return b, true
}

// SortedQuantile is that of sorted values at q in 0..1, between two of them by linear
// interpolation (Hyndman and Fan's type 7); NaN for no values.
func SortedQuantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := min(max(int(math.Floor(at)), 0), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}

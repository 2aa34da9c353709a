package stats

import (
	"maps"
	"math"
	"slices"
)

// Metric says how far apart two labels are.
type Metric int

// Metrics. For [Kappa] Nominal is the unweighted kappa, Linear and Quadratic weigh
// a disagreement by its distance or the square of it; [Alpha] takes Nominal,
// Ordinal and Quadratic, which is its interval metric.
const (
	Nominal Metric = iota + 1
	Linear
	Quadratic
	Ordinal
)

// Agreement returns the share of pairs that are equal, and the share that would be
// by chance; not ok without pairs, or for lists of different lengths.
func Agreement(a, b []float64) (share, expected float64, ok bool) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, 0, false
	}
	n := float64(len(a))
	of, with := map[float64]float64{}, map[float64]float64{}
	for i := range a {
		if a[i] == b[i] {
			share += 1 / n
		}
		of[a[i]]++
		with[b[i]]++
	}
	for _, v := range slices.Sorted(maps.Keys(of)) {
		expected += of[v] * with[v] / (n * n)
	}
	return share, expected, true
}

// Kappa returns Cohen's kappa of two raters: 1 less the disagreement over the one
// that chance gives. Distances are those between the labels themselves. Not ok
// without pairs, or where chance alone leaves no disagreement.
func Kappa(a, b []float64, m Metric) (kappa float64, ok bool) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, false
	}
	var seen, chance float64
	n := float64(len(a))
	for i := range a {
		seen += distance(a[i], b[i], m) / n
		for j := range b {
			chance += distance(a[i], b[j], m) / (n * n)
		}
	}
	if chance == 0 {
		return 0, false
	}
	return 1 - seen/chance, true
}

func distance(a, b float64, m Metric) float64 {
	switch {
	case a == b:
		return 0
	case m == Linear:
		return math.Abs(a - b)
	case m == Quadratic:
		return (a - b) * (a - b)
	}
	return 1
}

// Alpha returns Krippendorff's alpha of units, each with the labels that it was
// given by whichever labellers: 1 less the disagreement within units over that among
// all labels. A unit with one label says nothing. Not ok where no unit has two
// labels, or all labels are the same.
func Alpha(units [][]float64, m Metric) (alpha float64, ok bool) {
	count := map[float64]float64{}
	total := 0.0
	for _, u := range units {
		if len(u) < 2 {
			continue
		}
		for _, v := range u {
			count[v]++
			total++
		}
	}
	values := slices.Sorted(maps.Keys(count))
	apart := func(a, b float64) float64 {
		if m == Ordinal {
			return ranksApart(values, count, a, b)
		}
		return distance(a, b, m)
	}
	var within, among float64
	for _, u := range units {
		if len(u) < 2 {
			continue
		}
		for i := range u {
			for j := range u {
				within += apart(u[i], u[j]) / float64(len(u)-1)
			}
		}
	}
	for _, a := range values {
		for _, b := range values {
			among += count[a] * count[b] * apart(a, b)
		}
	}
	if among == 0 {
		return 0, false
	}
	return 1 - (total-1)*within/among, true
}

// ranksApart is the square of how many labels lie between two, half of those of the
// two themselves included.
func ranksApart(values []float64, count map[float64]float64, a, b float64) float64 {
	lo, hi := min(a, b), max(a, b)
	sum := -(count[lo] + count[hi]) / 2
	for _, v := range values {
		if v >= lo && v <= hi {
			sum += count[v]
		}
	}
	if a == b {
		return 0
	}
	return sum * sum
}

// Rates are how a judge's passes and failures are those of people.
type Rates struct {
	TP, TN, FP, FN int
}

// RatesOf counts a judge's verdicts by those of people.
func RatesOf(human, judge []bool) (r Rates) {
	for i := range min(len(human), len(judge)) {
		switch {
		case human[i] && judge[i]:
			r.TP++
		case !human[i] && !judge[i]:
			r.TN++
		case judge[i]:
			r.FP++
		default:
			r.FN++
		}
	}
	return r
}

// TPR is the share of what people pass that the judge passes; not ok where they
// pass nothing.
func (r Rates) TPR() (float64, bool) { return share(r.TP, r.TP+r.FN) }

// TNR is the share of what people fail that the judge fails; not ok where they fail
// nothing.
func (r Rates) TNR() (float64, bool) { return share(r.TN, r.TN+r.FP) }

func share(k, n int) (float64, bool) {
	if n == 0 {
		return 0, false
	}
	return float64(k) / float64(n), true
}

// Corrected is the rate of passes that a judge's observed rate stands for (Rogan
// and Gladen, 1978), cut to 0..1; not ok where either share is unknown, or the judge
// tells passes from failures no better than chance.
func (r Rates) Corrected(observed float64) (float64, bool) {
	tpr, ok := r.TPR()
	tnr, ok2 := r.TNR()
	if !ok || !ok2 || tpr+tnr <= 1 {
		return 0, false
	}
	return max(0, min(1, (observed+tnr-1)/(tpr+tnr-1))), true
}

// Bias returns the mean of a less b, and of their distance; not ok without pairs.
func Bias(a, b []float64) (bias, distance float64, ok bool) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, 0, false
	}
	for i := range a {
		bias += (a[i] - b[i]) / float64(len(a))
		distance += math.Abs(a[i]-b[i]) / float64(len(a))
	}
	return bias, distance, true
}

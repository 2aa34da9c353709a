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
	t, ok := tabulate(a, b)
	if !ok {
		return 0, false
	}
	seen, chance := t.disagreement(m)
	if chance == 0 {
		return 0, false
	}
	return 1 - seen/chance, true
}

// KappaStdErr returns the standard error of [Kappa] for large samples (Fleiss, Cohen
// and Everitt, 1969), for weights as well. Not ok where kappa is not, and where the
// pairs that were seen let nothing vary, as raters do who never differ: that is not
// an error of 0.
func KappaStdErr(a, b []float64, m Metric) (se float64, ok bool) {
	t, ok := tabulate(a, b)
	if !ok {
		return 0, false
	}
	seen, chance := t.disagreement(m)
	if chance == 0 {
		return 0, false
	}
	rows, columns := make([]float64, len(t.values)), make([]float64, len(t.values))
	for i, v := range t.values {
		for j, w := range t.values {
			rows[i] += t.columns[j] * distance(v, w, m)
			columns[i] += t.rows[j] * distance(v, w, m)
		}
	}
	// The variance of kappa is that of what each pair adds to it.
	var mean, square float64
	for i := range t.values {
		for j := range t.values {
			share := t.share[[2]int{i, j}]
			if share == 0 {
				continue
			}
			x := distance(t.values[i], t.values[j], m) - (rows[i]+columns[j])*seen/chance
			mean += share * x
			square += share * x * x
		}
	}
	variance := (square - mean*mean) / (t.n * chance * chance)
	if variance < 1e-15 {
		return 0, false
	}
	return math.Sqrt(variance), true
}

// table counts the pairs of two raters' labels, as shares.
type table struct {
	n             float64
	values        []float64
	rows, columns []float64
	share         map[[2]int]float64
}

// tabulate is not ok without pairs, or for lists of different lengths.
func tabulate(a, b []float64) (*table, bool) {
	if len(a) == 0 || len(a) != len(b) {
		return nil, false
	}
	t := &table{n: float64(len(a)), share: map[[2]int]float64{}}
	t.values = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
	at := make(map[float64]int, len(t.values))
	for i, v := range t.values {
		at[v] = i
	}
	t.rows, t.columns = make([]float64, len(t.values)), make([]float64, len(t.values))
	for i := range a {
		t.rows[at[a[i]]]++
		t.columns[at[b[i]]]++
		t.share[[2]int{at[a[i]], at[b[i]]}]++
	}
	for i := range t.values {
		t.rows[i] /= t.n
		t.columns[i] /= t.n
	}
	for pair := range t.share {
		t.share[pair] /= t.n
	}
	return t, true
}

// disagreement is what was seen, and what chance gives.
func (t *table) disagreement(m Metric) (seen, chance float64) {
	for i, v := range t.values {
		for j, w := range t.values {
			d := distance(v, w, m)
			seen += t.share[[2]int{i, j}] * d
			chance += t.rows[i] * t.columns[j] * d
		}
	}
	return seen, chance
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

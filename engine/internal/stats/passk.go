package stats

import "math"

// PassAt returns pass@k, the chance that at least one of k trials passes, from c
// passes in n: the share of all choices of k of the n trials that hold a pass (Chen and
// others, 2021). It is unbiased, which 1-(1-c/n)^k is not. Not ok for n < k.
func PassAt(n, c, k int) (p float64, ok bool) {
	miss, ok := choices(n, n-c, k)
	if !ok {
		return 0, false
	}
	return 1 - miss, true
}

// PassHat returns pass^k, the chance that all of k trials pass, from c passes in n:
// the share of all choices of k of the n trials that hold passes alone (Yao and
// others, τ-bench, 2024). Not ok for n < k.
func PassHat(n, c, k int) (p float64, ok bool) {
	return choices(n, c, k)
}

// choices is the share of the choices of k of n that lie within c of them:
// C(c, k) / C(n, k).
func choices(n, c, k int) (share float64, ok bool) {
	if k < 1 || n < k || c < 0 || c > n {
		return 0, false
	}
	if c < k {
		return 0, true
	}
	share = 1
	for i := range k {
		share *= float64(c-i) / float64(n-i)
	}
	return share, true
}

// FlipRate returns the share of neighbouring verdicts that differ; not ok for fewer
// than two.
func FlipRate(verdicts []bool) (rate float64, ok bool) {
	if len(verdicts) < 2 {
		return 0, false
	}
	return float64(Flips(verdicts)) / float64(len(verdicts)-1), true
}

// Flips counts the neighbouring verdicts that differ.
func Flips(verdicts []bool) int {
	n := 0
	for i := 1; i < len(verdicts); i++ {
		if verdicts[i] != verdicts[i-1] {
			n++
		}
	}
	return n
}

// BothSeen returns the chance that n trials with the pass rate p show both a pass and a
// failure; not ok for n < 1 or a p outside of 0..1.
func BothSeen(p float64, n int) (chance float64, ok bool) {
	if n < 1 || !(p >= 0 && p <= 1) {
		return 0, false
	}
	return 1 - math.Pow(p, float64(n)) - math.Pow(1-p, float64(n)), true
}

// TrialsToFail returns how many trials with the pass rate p it takes to see a failure
// with the given chance, each within 0..1 without the bounds; not ok for others.
func TrialsToFail(p, chance float64) (n int, ok bool) {
	if !(p > 0 && p < 1 && chance > 0 && chance < 1) {
		return 0, false
	}
	return int(math.Ceil(math.Log1p(-chance) / math.Log(p))), true
}

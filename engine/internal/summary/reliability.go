package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// unsteady is the pass rate that a steady arm is held against: one trial in five
// fails.
const unsteady = 0.8

type verdict struct {
	repeat int
	passed bool
}

// ordered are the verdicts in the order of repeats.
func (a *arm) ordered() (verdicts []bool, passed int) {
	slices.SortStableFunc(a.verdicts, func(x, y verdict) int { return cmp.Compare(x.repeat, y.repeat) })
	for _, v := range a.verdicts {
		verdicts = append(verdicts, v.passed)
		if v.passed {
			passed++
		}
	}
	return verdicts, passed
}

// k is the one of pass@k: what was asked for, or the number of repeats that most arms
// of the plan have, the smaller of two that are as common.
func (f *Fold) k(run *eval.Run) int {
	if k := cmp.Or(max(f.K, 0), max(run.PassK, 0)); k > 0 {
		return k
	}
	repeats := map[eval.Trial]int{}
	for _, t := range run.Trials {
		repeats[t.Arm()]++
	}
	arms := map[int]int{}
	for _, n := range repeats {
		arms[n]++
	}
	k := 0
	for _, n := range slices.Sorted(maps.Keys(arms)) {
		if arms[n] > arms[k] {
			k = n
		}
	}
	return k
}

func (a *arm) passK(k int) eval.PassK {
	_, passed := a.ordered()
	p := eval.PassK{K: k, N: len(a.verdicts), Passed: passed}
	if v, ok := stats.PassAt(p.N, p.Passed, k); ok {
		p.PassAt = &v
	}
	if v, ok := stats.PassHat(p.N, p.Passed, k); ok {
		p.PassHat = &v
	}
	return p
}

// flaky says how steady the verdicts are; nil where there are none.
func (a *arm) flaky() *eval.Flaky {
	verdicts, passed := a.ordered()
	if len(verdicts) == 0 {
		return nil
	}
	f := &eval.Flaky{N: len(verdicts), Passed: passed, Changes: stats.Flips(verdicts)}
	f.Flaky = f.Changes > 0
	if rate, ok := stats.FlipRate(verdicts); ok {
		f.FlipRate = &rate
	}
	f.Evidence = fmt.Sprintf("%d of %d passed; %s", f.Passed, f.N, steadiness(f))
	if left := a.tally.Total - f.N; left > 0 {
		f.Evidence += fmt.Sprintf("; %d without a verdict left out", left)
	}
	return f
}

// steadiness says what the changes of verdict rest on. That there is none says little
// of few trials.
func steadiness(f *eval.Flaky) string {
	switch {
	case f.N == 1:
		return "one trial cannot show a change"
	case f.Changes == 1:
		return fmt.Sprintf("verdict changed 1 time in %d", f.N-1)
	case f.Changes > 1:
		return fmt.Sprintf("verdict changed %d times in %d", f.Changes, f.N-1)
	}
	both, _ := stats.BothSeen(unsteady, f.N)
	return fmt.Sprintf("no change, as %.2g %% of %d trials with a pass rate of %v would show", 100*(1-both), f.N, unsteady)
}

// reliability is over the stories of one variant x host.
func reliability(arms []eval.Arm, k int) eval.Reliability {
	r := eval.Reliability{Variant: arms[0].Variant, Host: arms[0].Host, K: k}
	var at, hat []float64
	for _, a := range arms {
		if a.Flaky != nil && a.Flaky.Flaky {
			r.Flaky++
		}
		p := a.PassAt[0]
		if p.PassAt == nil || p.PassHat == nil {
			r.Left++
			continue
		}
		r.Stories++
		at, hat = append(at, *p.PassAt), append(hat, *p.PassHat)
	}
	if m, ok := stats.Mean(at); ok {
		r.PassAt = &m
	}
	if m, ok := stats.Mean(hat); ok {
		r.PassHat = &m
	}
	return r
}

package summary

import (
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// side is one variant x host.
type side struct{ variant, host string }

// kind is what makes quantities of different stories the same: values in other units,
// or of another scorer, are never folded into one number.
type kind struct {
	gate               bool
	name, scorer, unit string
	role               eval.Role
	dimension          eval.Dimension
	lower              bool
}

// across is one quantity over the stories of a side.
type across struct {
	stat    eval.Stat
	gate    bool
	values  [][]float64
	made    [][]making
	medians bool
	errored int
	skipped int
	// verdicts are a judge's preferences.
	verdicts [][2]stats.Preference
}

// over fills in what is said of each variant x host over its stories.
func (f *Fold) over(s *eval.Summary, k int) {
	var sides []side
	arms := map[side][]eval.Arm{}
	for _, a := range s.Arms {
		at := side{a.Variant, a.Host}
		if arms[at] == nil {
			sides = append(sides, at)
		}
		arms[at] = append(arms[at], a)
	}
	for _, at := range sides {
		for _, q := range f.across(arms[at]) {
			s.Dimensions = append(s.Dimensions, q.overall(at))
			if v, ok := q.variance(at); ok {
				s.Variance = append(s.Variance, v)
			}
		}
		if k > 0 {
			s.Reliability = append(s.Reliability, reliability(arms[at], k))
		}
	}
}

// across lists the quantities of a side, gates first.
func (f *Fold) across(arms []eval.Arm) []*across {
	var list []*across
	byKind := map[kind]*across{}
	for _, gate := range []bool{true, false} {
		for i := range arms {
			kept := f.arms[eval.Trial{Story: arms[i].Story, Variant: arms[i].Variant, Host: arms[i].Host}]
			finished, series := arms[i].Scores, &kept.scores
			if gate {
				finished, series = arms[i].Gates, &kept.gates
			}
			for _, st := range finished {
				key := kind{gate, st.Name, st.Scorer, st.Unit, st.Role, st.Dimension, st.LowerIsBetter}
				x := byKind[key]
				if x == nil {
					x = &across{stat: st, gate: gate}
					byKind[key] = x
					list = append(list, x)
				}
				x.add(st, series.byName[st.Name])
			}
		}
	}
	return list
}

func (x *across) add(st eval.Stat, q *quantity) {
	x.errored += st.Errored
	x.skipped += st.Skipped
	if len(st.Values) == 0 {
		return
	}
	x.values = append(x.values, st.Values)
	x.made = append(x.made, q.made())
	x.medians = x.medians || q.medians
	x.verdicts = append(x.verdicts, q.verdicts...)
}

func (x *across) overall(at side) eval.Overall {
	o := eval.Overall{
		Variant: at.variant, Host: at.host, Name: x.stat.Name, Scorer: x.stat.Scorer, Role: x.stat.Role, Dimension: x.stat.Dimension,
		Unit: x.stat.Unit, LowerIsBetter: x.stat.LowerIsBetter, Gate: x.gate,
		Stories: len(x.values), Errored: x.errored, Skipped: x.skipped,
	}
	var means []float64
	for _, values := range x.values {
		o.N += len(values)
		m, _ := stats.Mean(values)
		means = append(means, m)
	}
	if m, ok := stats.Mean(means); ok {
		o.Mean = &m
	}
	if sd, ok := stats.Stdev(means); ok {
		o.Stdev = &sd
	}
	if lo, hi, ok := stats.Range(means); ok {
		o.Min, o.Max = &lo, &hi
	}
	if se, ok := stats.StdErr(means); ok {
		o.StdErr = &se
	}
	o.Interval, o.IntervalMethod = x.interval(means)
	o.Pairs = pairsOf(x.verdicts)
	return o
}

// interval is of the mean of stories' means. A rate that is 0 or 1 in every story
// varies no more than its stories let it, which is not that it does not vary.
func (x *across) interval(means []float64) ([]float64, eval.IntervalMethod) {
	lo, hi, ok := stats.TInterval(means, level)
	if !ok {
		return nil, ""
	}
	if x.rate() && lo == hi && (lo == 0 || lo == 1) {
		lo, hi, _ = stats.Wilson(int(lo)*len(means), len(means), level)
		return []float64{lo, hi}, eval.IntervalWilson
	}
	return []float64{lo, hi}, eval.IntervalT
}

// rate reports whether the quantity is the share of trials that held.
func (x *across) rate() bool {
	return x.gate || x.stat.Role == eval.RoleAssert && !slices.ContainsFunc(x.values, func(v []float64) bool { return !binary(v) })
}

// variance splits the variance of the quantity; not ok where no trial has a value.
func (x *across) variance(at side) (eval.VarianceSplit, bool) {
	v := stats.VarianceOf(x.values)
	out := eval.VarianceSplit{
		Variant: at.variant, Host: at.host, Name: x.stat.Name, Scorer: x.stat.Scorer, Role: x.stat.Role, Dimension: x.stat.Dimension,
		Unit: x.stat.Unit, Gate: x.gate, Stories: v.Groups, N: v.N,
		Story: v.Between, Within: v.MSW, ICC: v.ICC, DesignEffect: v.DesignEffect, EffectiveN: v.Effective,
		StdErr: v.StdErr, FixedStdErr: v.FixedStdErr,
	}
	if v.N == 0 {
		return out, false
	}
	if v.Clamped {
		out.Clamped = append(out.Clamped, "story")
	}
	switch {
	case v.Groups < 2 && v.MSW == nil:
		out.Reasons = append(out.Reasons, "one trial of one story has no variance")
	case v.Groups < 2:
		out.Reasons = append(out.Reasons, "one story cannot show what stories differ by")
	case v.MSW == nil:
		out.Reasons = append(out.Reasons, "no story has two trials, so that nothing tells its trials' variance from the stories'")
	case v.ICC == nil:
		out.Reasons = append(out.Reasons, "all values are equal, so that no part has a share")
	}
	x.judge(&out)
	return out, true
}

// judge takes the judge's part out of what lies within stories.
func (x *across) judge(out *eval.VarianceSplit) {
	answer, n, ok := x.answers()
	switch {
	case !ok && x.stat.Role == eval.RoleJudge:
		out.Reasons = append(out.Reasons, "no trial has several answers of the judge: repeat holds what the judge's answers differ by")
		out.Repeat = out.Within
		return
	case !ok:
		out.Repeat = out.Within
		return
	}
	judge := answer * x.share()
	out.JudgeAnswer, out.Judge, out.Samples = &answer, &judge, n
	if out.Within == nil {
		return
	}
	repeat := *out.Within - judge
	if repeat < 0 {
		repeat = 0
		out.Clamped = append(out.Clamped, "repeat")
	}
	out.Repeat = &repeat
}

// answers is the variance of the judge's answers about one trial, over all trials that
// have several, and how many answers that is of.
func (x *across) answers() (variance float64, n int, ok bool) {
	free := 0
	for _, story := range x.made {
		for _, m := range story {
			if m.answers < 2 {
				continue
			}
			variance += m.squares
			n, free = n+m.answers, free+m.answers-1
		}
	}
	if free == 0 {
		return 0, 0, false
	}
	return variance / float64(free), n, true
}

// share is how much of a single answer's variance is left in a value that is made of
// several, on average. Trials weigh as they do in the mean square within stories; where
// no story has two trials, all the same.
func (x *across) share() float64 {
	var sum, weights float64
	for _, even := range []bool{false, true} {
		for i, story := range x.made {
			w := 1 - 1/float64(len(x.values[i]))
			if even {
				w = 1
			}
			for _, m := range story {
				sum += w * x.left(m.answers)
				weights += w
			}
		}
		if weights > 0 {
			break
		}
	}
	return sum / weights
}

// left is the variance of a mean, or a median, of n answers as a share of that of one.
func (x *across) left(n int) float64 {
	if x.medians {
		s, _ := stats.MedianShare(n)
		return s
	}
	return 1 / float64(n)
}

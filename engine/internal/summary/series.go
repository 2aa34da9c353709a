package summary

import (
	"cmp"
	"math"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// series are named quantities.
type series struct {
	byName map[string]*quantity
	list   []*quantity
}

// quantity is one named quantity over the trials of an arm.
type quantity struct {
	// stat is its name and what it is, and counts what has no value.
	stat eval.Stat
	// place is where the quantity stands in a record, the last of all places.
	place  int
	points []point
	// makings are of values that are made of others, or have an error of their own.
	makings []making
	// medians: a value is not the mean of the answers it is made of.
	medians bool
	// verdicts are a judge's preferences.
	verdicts [][2]stats.Preference
}

// point is the value of one trial.
type point struct {
	repeat int
	value  float64
}

// making is what is known of how one trial's value was made.
type making struct {
	repeat int
	// answers is how many answers of a judge the value is made of, and squares the sum
	// of their squared distances from their mean.
	answers int
	squares float64
	// err is the value's own standard error; negative for none.
	err float64
}

func (s *series) quantity(name string, place int, init func(*eval.Stat)) *quantity {
	if q, ok := s.byName[name]; ok {
		q.place = max(q.place, place)
		return q
	}
	if s.byName == nil {
		s.byName = map[string]*quantity{}
	}
	q := &quantity{place: place, stat: eval.Stat{Name: name}}
	init(&q.stat)
	s.byName[name] = q
	s.list = append(s.list, q)
	return q
}

// sorted are the quantities in the order of a record that has all of them.
func (s *series) sorted() []*quantity {
	slices.SortFunc(s.list, func(a, b *quantity) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.stat.Name, b.stat.Name))
	})
	return s.list
}

// add takes in a score of a trial, and returns the state that it counts with: what is
// no number is an error of its scorer.
func (q *quantity) add(repeat int, s *eval.Score) eval.ScoreState {
	if s.State == eval.ScoreSkipped {
		q.stat.Skipped++
		return eval.ScoreSkipped
	}
	if s.State != eval.Scored || s.Value == nil || !usable(*s.Value) || s.Raw != nil && !usable(*s.Raw) {
		q.stat.Errored++
		return eval.ScoreErrored
	}
	v, raw := *s.Value, s.Role == eval.RoleMeasure && s.Raw != nil
	if raw {
		v = *s.Raw
	}
	q.push(repeat, v)
	q.verdicts = append(q.verdicts, verdictsOf(s)...)
	m := making{repeat: repeat, answers: 1, err: -1}
	if s.StdErr != nil && usable(*s.StdErr) && *s.StdErr >= 0 {
		m.err = *s.StdErr
	}
	if !raw {
		q.answers(&m, v, s.Samples)
	}
	if s.Role == eval.RoleJudge || m.answers > 1 || m.err >= 0 {
		q.makings = append(q.makings, m)
	}
	return eval.Scored
}

// answers takes in the answers that a value is made of.
func (q *quantity) answers(m *making, value float64, samples []float64) {
	mean, ok := stats.Mean(samples)
	if !ok || slices.ContainsFunc(samples, func(v float64) bool { return !usable(v) }) {
		return
	}
	m.answers = len(samples)
	for _, v := range samples {
		m.squares += (v - mean) * (v - mean)
	}
	if len(samples) > 2 && math.Abs(mean-value) > 1e-9 {
		q.medians = true
	}
}

func (q *quantity) push(repeat int, v float64) {
	q.points = append(q.points, point{repeat, v})
}

// values are those of all trials in the order of repeats, whatever order trials ended
// in.
func (q *quantity) values() []float64 {
	slices.SortStableFunc(q.points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.value, b.value))
	})
	out := make([]float64, len(q.points))
	for i, p := range q.points {
		out[i] = p.value
	}
	return out
}

// made are the makings in the order of repeats.
func (q *quantity) made() []making {
	slices.SortStableFunc(q.makings, func(a, b making) int { return cmp.Compare(a.repeat, b.repeat) })
	return q.makings
}

// ownError is the root of the mean square of the values' own standard errors; nil
// unless each value has one.
func (q *quantity) ownError() *float64 {
	if len(q.makings) == 0 || len(q.makings) != len(q.points) {
		return nil
	}
	sum := 0.0
	for _, m := range q.made() {
		if m.err < 0 {
			return nil
		}
		sum += m.err * m.err
	}
	return new(math.Sqrt(sum / float64(len(q.makings))))
}

// finish computes what the values give; rates have Wilson intervals, means t
// intervals. A trial without a verdict has none of the quantities.
func (s *series) finish(rate bool, trials eval.Tally) []eval.Stat {
	out := make([]eval.Stat, 0, len(s.list))
	for _, q := range s.sorted() {
		st := q.stat
		st.Errored += trials.Errored
		st.Skipped += trials.Skipped
		st.Values, st.Repeats = q.values(), make([]int, len(q.points))
		for i, p := range q.points {
			st.Repeats[i] = p.repeat
		}
		st.StdErr, st.Pairs = q.ownError(), pairsOf(q.verdicts)
		describe(&st, rate || st.Role == eval.RoleAssert && binary(st.Values))
		out = append(out, st)
	}
	return out
}

func describe(st *eval.Stat, rate bool) {
	st.N = len(st.Values)
	if m, ok := stats.Mean(st.Values); ok {
		st.Mean = &m
	}
	if sd, ok := stats.Stdev(st.Values); ok {
		st.Stdev = &sd
	}
	if lo, hi, ok := stats.Range(st.Values); ok {
		st.Min, st.Max = &lo, &hi
	}
	if lo, hi, ok := interval(st.Values, rate); ok {
		st.Interval = []float64{lo, hi}
	}
	if se, ok := stats.StdErr(st.Values); ok && !rate {
		st.MeanStdErr = &se
	}
}

func interval(values []float64, rate bool) (lo, hi float64, ok bool) {
	if !rate {
		return stats.TInterval(values, level)
	}
	k := 0
	for _, v := range values {
		if v == 1 {
			k++
		}
	}
	return stats.Wilson(k, len(values), level)
}

func binary(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != 0 && v != 1 })
}

// Package summary folds trial records into the summary of a run: each story x
// variant x host apart, each score apart, errored and skipped counted apart and
// never as zeros. It keeps no record, so that its memory grows with the number
// of arms and values, not with the size of what trials leave. What it says does not
// depend on the order in which trials end.
package summary

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// level of the intervals in a summary.
const level = 0.95

// Fold takes in records one by one. The zero Fold is empty. It is not safe for
// concurrent use.
type Fold struct {
	// K is the k of pass@k and pass^k; 0 stands for what the run says.
	K int

	arms     map[eval.Trial]*arm
	order    []eval.Trial
	findings map[findingKey]*found
	tally    eval.Tally
	spent    spending
	rescored int
}

type arm struct {
	// index is the arm's place among all.
	index    int
	tally    eval.Tally
	spent    spending
	gates    series
	scores   series
	effort   series
	verdicts []verdict
	// transcripts find repeats that were not run.
	transcripts transcripts
}

// Expect makes room for a trial of the plan, so that arms come in the plan's
// order and one without any record is still shown.
func (f *Fold) Expect(t eval.Trial) { f.arm(t) }

func (f *Fold) arm(t eval.Trial) *arm {
	key := t.Arm()
	if a, ok := f.arms[key]; ok {
		return a
	}
	if f.arms == nil {
		f.arms = map[eval.Trial]*arm{}
	}
	a := &arm{index: len(f.order)}
	f.arms[key] = a
	f.order = append(f.order, key)
	return a
}

// Add takes in one record.
func (f *Fold) Add(r *eval.Record) {
	a := f.arm(r.Trial)
	count(&f.tally, r)
	count(&a.tally, r)
	for _, at := range r.Attempts {
		f.spent.add(at.Usage)
		a.spent.add(at.Usage)
	}
	f.addFindings(a.index, r)
	if r.Rescored != nil {
		f.rescored++
	}
	if r.Status != eval.StatusPassed && r.Status != eval.StatusFailed {
		// An errored trial is no evidence: its scores, if any, enter nothing, but
		// are known.
		a.know(r)
		return
	}
	a.transcripts.add(r, at{a.index, r.Repeat, 0, r.ID})
	a.verdicts = append(a.verdicts, verdict{r.Repeat, r.Status == eval.StatusPassed})
	a.add(r)
}

func count(t *eval.Tally, r *eval.Record) {
	t.Total++
	switch r.Status {
	case eval.StatusPassed:
		t.Passed++
	case eval.StatusFailed:
		t.Failed++
	case eval.StatusErrored:
		t.Errored++
	case eval.StatusSkipped:
		t.Skipped++
	}
	if r.Cause != "" {
		if t.Causes == nil {
			t.Causes = map[string]int{}
		}
		t.Causes[r.Cause]++
	}
}

func copied(t eval.Tally) eval.Tally {
	t.Causes = maps.Clone(t.Causes)
	return t
}

func (a *arm) score(place int, s *eval.Score) *quantity {
	return a.scores.quantity(s.Name, place, func(st *eval.Stat) {
		st.Scorer, st.Role, st.Dimension, st.Unit, st.LowerIsBetter = s.Scorer, s.Role, s.Dimension, s.Unit, s.LowerIsBetter
	})
}

func (a *arm) gate(place int, d eval.Dimension) *quantity {
	return a.gates.quantity(string(d), place, func(st *eval.Stat) { st.Role, st.Dimension = eval.RoleAssert, d })
}

// know takes in what a trial would have been measured by.
func (a *arm) know(r *eval.Record) {
	var dimensions []eval.Dimension
	for i := range r.Scores {
		s := &r.Scores[i]
		a.score(i, s)
		if s.Role == eval.RoleAssert && !slices.Contains(dimensions, s.Dimension) {
			dimensions = append(dimensions, s.Dimension)
		}
	}
	for i, d := range dimensions {
		a.gate(i, d)
	}
}

// gate is the state of a dimension's asserts in one trial.
type gate struct {
	d                       eval.Dimension
	broke, errored, skipped bool
}

func (a *arm) add(r *eval.Record) {
	var gates []gate
	for i := range r.Scores {
		s := &r.Scores[i]
		q := a.score(i, s)
		state := q.add(r.Repeat, s)
		if s.Role != eval.RoleAssert {
			continue
		}
		j := slices.IndexFunc(gates, func(g gate) bool { return g.d == s.Dimension })
		if j < 0 {
			j = len(gates)
			gates = append(gates, gate{d: s.Dimension})
		}
		g := &gates[j]
		g.errored = g.errored || state == eval.ScoreErrored
		g.skipped = g.skipped || state == eval.ScoreSkipped
		g.broke = g.broke || state == eval.Scored && (s.Passed == nil || !*s.Passed)
	}
	for i, g := range gates {
		q := a.gate(i, g.d)
		switch {
		case g.broke:
			q.push(r.Repeat, 0)
		case g.errored:
			q.stat.Errored++
		case g.skipped:
			q.stat.Skipped++
		default:
			q.push(r.Repeat, 1)
		}
	}
	a.addEffort(r)
}

func (a *arm) addEffort(r *eval.Record) {
	effort := func(place int, name, unit string, v float64) {
		q := a.effort.quantity(name, place, func(st *eval.Stat) {
			st.Dimension, st.Unit, st.LowerIsBetter = eval.DimensionPath, unit, true
		})
		if !usable(v) {
			q.stat.Errored++
			return
		}
		q.push(r.Repeat, v)
	}
	effort(0, "seconds", "s", r.Timings.Agent)
	effort(1, "calls", "calls", float64(r.Calls.Total))
	effort(2, "failed_calls", "calls", float64(r.Calls.Failed))
	effort(3, "turns", "turns", float64(r.Usage.Turns))
	effort(4, "tokens", "tokens", float64(r.Usage.InputTokens+r.Usage.OutputTokens))
}

// most bounds what is taken for a number: squares of larger ones have no sum.
const most = 1e150

// usable reports whether v is a number that can be reckoned with.
func usable(v float64) bool { return math.Abs(v) <= most }

// Summary returns the fold so far of the run. The run is complete when every
// planned trial is recorded and none is errored or skipped.
func (f *Fold) Summary(run *eval.Run, finished time.Time, interrupted bool) *eval.Summary {
	s := &eval.Summary{
		Run: run.ID, Suite: run.Suite, Experiment: run.Experiment,
		StartedAt: run.StartedAt, FinishedAt: finished,
		Planned: len(run.Trials), Trials: copied(f.tally), Usage: f.spent.usage(), Rescored: f.rescored,
		Arms: []eval.Arm{}, Completion: eval.RunComplete, Findings: f.counted(),
	}
	if f.tally.Passed+f.tally.Failed < len(run.Trials) {
		s.Completion = eval.RunIncomplete
	}
	if interrupted {
		s.Completion = eval.RunInterrupted
	}
	k := f.k(run)
	for _, key := range f.order {
		a := f.arms[key]
		out := eval.Arm{
			Story: key.Story, Variant: key.Variant, Host: key.Host,
			Trials: copied(a.tally), Usage: a.spent.usage(),
			Gates: a.gates.finish(true, a.tally), Scores: a.scores.finish(false, a.tally), Effort: a.effort.finish(false, eval.Tally{}),
			Flaky: a.flaky(),
		}
		if k > 0 {
			out.PassAt = []eval.PassK{a.passK(k)}
		}
		s.Arms = append(s.Arms, out)
	}
	f.over(s, k)
	return s
}

// Package summary folds trial records into the summary of a run: each story x
// variant x host apart, each score apart, errored and skipped counted apart and
// never as zeros. It keeps no record, so that its memory grows with the number
// of arms and values, not with the size of what trials leave.
package summary

import (
	"cmp"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// level of the intervals in a summary.
const level = 0.95

// maxTrials bounds how many trials a finding's count names.
const maxTrials = 20

// Fold takes in records one by one. The zero Fold is empty. It is not safe for
// concurrent use.
type Fold struct {
	arms     map[eval.Trial]*arm
	order    []eval.Trial
	findings map[findingKey]*eval.FindingCount
	found    []findingKey
	tally    eval.Tally
	usage    eval.Usage
	rescored int
}

type findingKey struct{ kind, tool, action, gist string }

type arm struct {
	tally  eval.Tally
	usage  eval.Usage
	gates  series
	scores series
	effort series
}

// series are named quantities in the order of first use.
type series struct {
	byName map[string]*eval.Stat
	list   []*eval.Stat
}

func (s *series) stat(name string, init func(*eval.Stat)) *eval.Stat {
	if st, ok := s.byName[name]; ok {
		return st
	}
	if s.byName == nil {
		s.byName = map[string]*eval.Stat{}
	}
	st := &eval.Stat{Name: name, Values: []float64{}, Repeats: []int{}}
	init(st)
	s.byName[name] = st
	s.list = append(s.list, st)
	return st
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
	a := &arm{}
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
		addUsage(&f.usage, at.Usage)
		addUsage(&a.usage, at.Usage)
	}
	f.addFindings(r)
	if r.Rescored != nil {
		f.rescored++
	}
	if r.Status != eval.StatusPassed && r.Status != eval.StatusFailed {
		// An errored trial is no evidence: its scores, if any, enter nothing, but
		// are counted where they are known.
		for _, s := range r.Scores {
			a.score(s).Errored++
		}
		return
	}
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

func (a *arm) score(s eval.Score) *eval.Stat {
	return a.scores.stat(s.Name, func(st *eval.Stat) {
		st.Role, st.Dimension, st.Unit, st.LowerIsBetter = s.Role, s.Dimension, s.Unit, s.LowerIsBetter
	})
}

func (a *arm) add(r *eval.Record) {
	type gate struct{ held, errored, skipped bool }
	gates := map[eval.Dimension]*gate{}
	var order []eval.Dimension
	for _, s := range r.Scores {
		st := a.score(s)
		switch {
		case s.State == eval.Scored && s.Value != nil:
			v := *s.Value
			if s.Role == eval.RoleMeasure && s.Raw != nil {
				v = *s.Raw
			}
			push(st, r.Repeat, v)
		case s.State == eval.ScoreSkipped:
			st.Skipped++
		default:
			st.Errored++
		}
		if s.Role != eval.RoleAssert {
			continue
		}
		g := gates[s.Dimension]
		if g == nil {
			g = &gate{held: true}
			gates[s.Dimension] = g
			order = append(order, s.Dimension)
		}
		g.errored = g.errored || s.State == eval.ScoreErrored
		g.skipped = g.skipped || s.State == eval.ScoreSkipped
		if s.State == eval.Scored && (s.Passed == nil || !*s.Passed) {
			g.held = false
		}
	}
	for _, d := range order {
		st := a.gates.stat(string(d), func(st *eval.Stat) { st.Role, st.Dimension = eval.RoleAssert, d })
		switch g := gates[d]; {
		case !g.held:
			push(st, r.Repeat, 0)
		case g.errored:
			st.Errored++
		case g.skipped:
			st.Skipped++
		default:
			push(st, r.Repeat, 1)
		}
	}
	a.addEffort(r)
}

func (a *arm) addEffort(r *eval.Record) {
	effort := func(name, unit string, v float64) {
		push(a.effort.stat(name, func(st *eval.Stat) {
			st.Dimension, st.Unit, st.LowerIsBetter = eval.DimensionPath, unit, true
		}), r.Repeat, v)
	}
	effort("seconds", "s", r.Timings.Agent)
	effort("calls", "calls", float64(r.Calls.Total))
	effort("failed_calls", "calls", float64(r.Calls.Failed))
	effort("turns", "turns", float64(r.Usage.Turns))
	effort("tokens", "tokens", float64(r.Usage.InputTokens+r.Usage.OutputTokens))
}

// push keeps values in the order of repeats, whatever order trials end in.
func push(st *eval.Stat, repeat int, v float64) {
	i, _ := slices.BinarySearch(st.Repeats, repeat)
	st.Repeats = slices.Insert(st.Repeats, i, repeat)
	st.Values = slices.Insert(st.Values, i, v)
}

func addUsage(sum *eval.Usage, u eval.Usage) {
	sum.Add(u)
	if u.CostUSD != nil {
		total := *u.CostUSD
		if sum.CostUSD != nil {
			total += *sum.CostUSD
		}
		sum.CostUSD = &total
	}
	// Tokens without a price make the sum a lower bound.
	if u.CostUSD == nil && u.InputTokens+u.OutputTokens > 0 {
		sum.LowerBound = true
	}
}

// addFindings counts findings by fingerprint. One that cites what does not exist is
// kept and does not count.
func (f *Fold) addFindings(r *eval.Record) {
	for _, fd := range r.Findings {
		c := f.finding(fd)
		if fd.Unverified {
			c.Unverified++
		} else {
			c.Count++
			if c.Count == 1 || rank(fd.Severity) < rank(c.Severity) {
				c.Severity = fd.Severity
			}
		}
		if len(c.Trials) < maxTrials && !slices.Contains(c.Trials, r.ID) {
			c.Trials = append(c.Trials, r.ID)
		}
	}
}

func (f *Fold) finding(fd eval.Finding) *eval.FindingCount {
	key := findingKey{fd.Kind, fd.Tool, fd.Action, fd.Fingerprint}
	if fd.Fingerprint == "" {
		key.gist = fd.Text
	}
	c := f.findings[key]
	if c == nil {
		if f.findings == nil {
			f.findings = map[findingKey]*eval.FindingCount{}
		}
		c = &eval.FindingCount{
			Kind: fd.Kind, Tool: fd.Tool, Action: fd.Action, Severity: fd.Severity,
			Text: fd.Text, Suggestion: fd.Suggestion, Fingerprint: fd.Fingerprint,
		}
		f.findings[key] = c
		f.found = append(f.found, key)
	}
	return c
}

// Summary returns the fold so far of the run. The run is complete when every
// planned trial is recorded and none is errored or skipped.
func (f *Fold) Summary(run *eval.Run, finished time.Time, interrupted bool) *eval.Summary {
	s := &eval.Summary{
		Run: run.ID, Suite: run.Suite, Experiment: run.Experiment,
		StartedAt: run.StartedAt, FinishedAt: finished,
		Planned: len(run.Trials), Trials: f.tally, Usage: f.usage, Rescored: f.rescored,
		Arms: []eval.Arm{}, Completion: eval.RunComplete,
	}
	if f.tally.Passed+f.tally.Failed < len(run.Trials) {
		s.Completion = eval.RunIncomplete
	}
	if interrupted {
		s.Completion = eval.RunInterrupted
	}
	for _, key := range f.order {
		a := f.arms[key]
		s.Arms = append(s.Arms, eval.Arm{
			Story: key.Story, Variant: key.Variant, Host: key.Host,
			Trials: a.tally, Usage: a.usage,
			Gates: a.gates.finish(true), Scores: a.scores.finish(false), Effort: a.effort.finish(false),
		})
	}
	for _, key := range f.found {
		s.Findings = append(s.Findings, *f.findings[key])
	}
	slices.SortStableFunc(s.Findings, func(a, b eval.FindingCount) int {
		return cmp.Or(cmp.Compare(min(b.Count, 1), min(a.Count, 1)), cmp.Compare(rank(a.Severity), rank(b.Severity)), cmp.Compare(b.Count, a.Count))
	})
	return s
}

func rank(s eval.Severity) int {
	return slices.Index([]eval.Severity{eval.SeverityCritical, eval.SeverityMajor, eval.SeverityMinor, eval.SeverityInfo}, s)
}

// finish computes what the values give; rates have Wilson intervals, means t
// intervals.
func (s *series) finish(rate bool) []eval.Stat {
	out := make([]eval.Stat, 0, len(s.list))
	for _, st := range s.list {
		out = append(out, finish(*st, rate || st.Role == eval.RoleAssert && binary(st.Values)))
	}
	return out
}

func finish(st eval.Stat, rate bool) eval.Stat {
	st.Values, st.Repeats = slices.Clone(st.Values), slices.Clone(st.Repeats)
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
	return st
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

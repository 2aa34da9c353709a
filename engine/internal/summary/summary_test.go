package summary

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalengine/evalengine/engine/eval"
)

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func record(repeat int, status eval.Status, scores ...eval.Score) *eval.Record {
	t := eval.Trial{Story: "a", Host: "h", Repeat: repeat}
	return &eval.Record{ID: t.ID(), Trial: t, Status: status, Scores: scores, Attempts: []eval.Attempt{{}}}
}

func assert(d eval.Dimension, passed *bool) eval.Score {
	v := 0.0
	if *passed {
		v = 1
	}
	return eval.Score{Name: "x/" + string(d), Role: eval.RoleAssert, Dimension: d, State: eval.Scored, Value: &v, Passed: passed}
}

func quality(v float64) eval.Score {
	return eval.Score{Name: "judge/visual", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.Scored, Value: &v}
}

func fold(t *testing.T, records ...*eval.Record) *eval.Summary {
	t.Helper()
	var f Fold
	run := &eval.Run{ID: "r"}
	for _, r := range records {
		run.Trials = append(run.Trials, r.Trial)
		f.Add(r)
	}
	return f.Summary(run, time.Time{}, false)
}

// The case that this engine was made for: every assert holds, and the quality
// of the same trials is far apart.
func TestFoldKeepsQualityApart(t *testing.T) {
	s := fold(t,
		record(2, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.80)),
		record(1, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.40)),
		record(3, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.85)),
	)
	a := s.Arms[0]
	if g := a.Gates[0]; *g.Mean != 1 || *g.Stdev != 0 || g.N != 3 || math.Abs(g.Interval[0]-0.4385) > 1e-4 || g.Interval[1] != 1 {
		t.Errorf("gate = %+v", g)
	}
	q := a.Scores[1]
	if d := cmp.Diff(q.Values, []float64{0.40, 0.80, 0.85}); d != "" {
		t.Errorf("values: %s", d)
	}
	if math.Abs(*q.Mean-0.6833333333) > 1e-9 || math.Abs(*q.Stdev-0.2466441431) > 1e-9 || *q.Min != 0.40 || *q.Max != 0.85 {
		t.Errorf("quality = mean %v stdev %v", *q.Mean, *q.Stdev)
	}
	if s.Completion != eval.RunComplete {
		t.Errorf("completion = %v", s.Completion)
	}
}

func TestFoldErroredIsNoZero(t *testing.T) {
	bad := record(3, eval.StatusErrored)
	bad.Cause = eval.CauseRateLimit
	s := fold(t, record(1, eval.StatusPassed, assert(eval.DimensionOutcome, yes())), record(2, eval.StatusFailed, assert(eval.DimensionOutcome, no())), bad)
	a := s.Arms[0]
	want := eval.Tally{Total: 3, Passed: 1, Failed: 1, Errored: 1, Causes: map[string]int{"rate_limit": 1}}
	if d := cmp.Diff(a.Trials, want); d != "" {
		t.Errorf("tally: %s", d)
	}
	if g := a.Gates[0]; g.N != 2 || *g.Mean != 0.5 {
		t.Errorf("gate = %+v", g)
	}
	if s.Completion != eval.RunIncomplete {
		t.Errorf("completion = %v; want incomplete", s.Completion)
	}
}

func TestFoldDimensionsApart(t *testing.T) {
	s := fold(t, record(1, eval.StatusFailed, assert(eval.DimensionOutcome, yes()), assert(eval.DimensionConstraint, no())))
	got := s.Arms[0].Gates
	want := []eval.Stat{
		{Name: "outcome", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, N: 1, Values: []float64{1}, Repeats: []int{1}},
		{Name: "constraint", Role: eval.RoleAssert, Dimension: eval.DimensionConstraint, N: 1, Values: []float64{0}, Repeats: []int{1}},
	}
	if d := cmp.Diff(got, want, cmpopts.IgnoreFields(eval.Stat{}, "Mean", "Min", "Max", "Interval")); d != "" {
		t.Errorf("gates: %s", d)
	}
	if got[0].Stdev != nil {
		t.Errorf("stdev of one value = %v; want none", *got[0].Stdev)
	}
}

func TestFoldScoreStates(t *testing.T) {
	skipped := eval.Score{Name: "judge/visual", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.ScoreSkipped}
	errored := skipped
	errored.State = eval.ScoreErrored
	s := fold(t, record(1, eval.StatusPassed, quality(0.5)), record(2, eval.StatusPassed, skipped), record(3, eval.StatusPassed, errored))
	q := s.Arms[0].Scores[0]
	if q.N != 1 || q.Skipped != 1 || q.Errored != 1 || *q.Mean != 0.5 || q.Stdev != nil {
		t.Errorf("quality = %+v", q)
	}
}

func TestFoldUsageOfAllAttempts(t *testing.T) {
	cost := 0.25
	r := record(1, eval.StatusPassed)
	r.Attempts = []eval.Attempt{{Usage: eval.Usage{InputTokens: 10, CostUSD: &cost}}, {Usage: eval.Usage{InputTokens: 5, OutputTokens: 1}}}
	s := fold(t, r)
	if s.Usage.InputTokens != 15 || s.Usage.OutputTokens != 1 || *s.Usage.CostUSD != 0.25 || !s.Usage.LowerBound {
		t.Errorf("usage = %+v", s.Usage)
	}
}

func TestFoldFindings(t *testing.T) {
	a, b := record(1, eval.StatusPassed), record(2, eval.StatusPassed)
	minor := eval.Finding{Kind: "verbose", Tool: "t", Severity: eval.SeverityMinor, Text: "long"}
	a.Findings = []eval.Finding{minor, {Kind: "down", Severity: eval.SeverityMajor, Text: "died"}}
	b.Findings = []eval.Finding{minor}
	got := fold(t, a, b).Findings
	want := []eval.FindingCount{
		{Kind: "down", Severity: eval.SeverityMajor, Text: "died", Count: 1, Trials: []string{"a.base.h.r1"}},
		{Kind: "verbose", Tool: "t", Severity: eval.SeverityMinor, Text: "long", Count: 2, Trials: []string{"a.base.h.r1", "a.base.h.r2"}},
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("findings: %s", d)
	}
}

// Findings of one fingerprint are one, with the most urgent severity; those that
// cite nothing are kept, told apart, and come last.
func TestFoldFindingsByFingerprint(t *testing.T) {
	a, b := record(1, eval.StatusPassed), record(2, eval.StatusPassed)
	f := eval.Finding{Kind: "slow", Tool: "s/t", Action: "a", Severity: eval.SeverityMinor, Text: "31 s", Suggestion: "Be quick.", Fingerprint: "f1"}
	g := f
	g.Text, g.Severity = "45 s", eval.SeverityMajor
	made := eval.Finding{Kind: "other", Severity: eval.SeverityCritical, Text: "x", Fingerprint: "f2", Unverified: true}
	a.Findings, b.Findings = []eval.Finding{made, f}, []eval.Finding{g, made}
	got := fold(t, a, b).Findings
	want := []eval.FindingCount{
		{Kind: "slow", Tool: "s/t", Action: "a", Severity: eval.SeverityMajor, Text: "31 s", Suggestion: "Be quick.", Count: 2, Trials: []string{"a.base.h.r1", "a.base.h.r2"}, Fingerprint: "f1"},
		{Kind: "other", Severity: eval.SeverityCritical, Text: "x", Unverified: 2, Trials: []string{"a.base.h.r1", "a.base.h.r2"}, Fingerprint: "f2"},
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("findings: %s", d)
	}
}

package summary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// of is a record of a story.
func of(story string, r *eval.Record) *eval.Record {
	r.Story = story
	r.ID = r.Trial.ID()
	return r
}

func sampled(v float64, samples ...float64) eval.Score {
	q := quality(v)
	q.Samples = samples
	return q
}

func near(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-9 }

// number shows a number that may be absent.
func number(v *float64) string {
	if v == nil {
		return "absent"
	}
	return fmt.Sprint(*v)
}

// The case that this engine was made for, as a table of all that is said of it.
func TestSeedCase(t *testing.T) {
	s := fold(t,
		record(1, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.40)),
		record(2, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.80)),
		record(3, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.85)),
	)
	a := s.Arms[0]
	for _, tt := range []struct {
		name                  string
		stat                  eval.Stat
		mean, stdev, min, max float64
		low, high             float64
	}{
		{"gate", a.Gates[0], 1, 0, 1, 1, 0.4385029682449545, 1},
		{"assert", a.Scores[0], 1, 0, 1, 1, 0.4385029682449545, 1},
		{"quality", a.Scores[1], 0.6833333333333333, 0.2466441431158124, 0.40, 0.85, 0.07063531603699935, 1.2960313506296677},
	} {
		st := tt.stat
		if st.N != 3 || !near(st.Mean, tt.mean) || !near(st.Stdev, tt.stdev) || !near(st.Min, tt.min) || !near(st.Max, tt.max) {
			t.Errorf("%s: n %d, mean %s, stdev %s, min %s, max %s", tt.name, st.N, number(st.Mean), number(st.Stdev), number(st.Min), number(st.Max))
		}
		if len(st.Interval) != 2 || math.Abs(st.Interval[0]-tt.low) > 1e-9 || math.Abs(st.Interval[1]-tt.high) > 1e-9 {
			t.Errorf("%s: interval %v; want [%v %v]", tt.name, st.Interval, tt.low, tt.high)
		}
	}
	if a.Gates[0].MeanStdErr != nil || !near(a.Scores[1].MeanStdErr, 0.2466441431158124/math.Sqrt(3)) {
		t.Errorf("errors of means = %s, %s; want none for a rate", number(a.Gates[0].MeanStdErr), number(a.Scores[1].MeanStdErr))
	}
	if p := a.PassAt[0]; p.K != 3 || !near(p.PassAt, 1) || !near(p.PassHat, 1) {
		t.Errorf("pass = %+v; want 1 and 1 for k = 3", p)
	}
	if a.Flaky.Flaky || a.Flaky.Evidence != "3 of 3 passed; no change, as 52 % of 3 trials with a pass rate of 0.8 would show" {
		t.Errorf("flaky = %+v", *a.Flaky)
	}
	// Over stories there is one: its mean, and nothing that takes two.
	if len(s.Dimensions) != 3 {
		t.Fatalf("%d dimensions; want the gate, the assert and the quality, each apart", len(s.Dimensions))
	}
	for i, want := range []float64{1, 1, 0.6833333333333333} {
		if o := s.Dimensions[i]; o.Stories != 1 || o.N != 3 || !near(o.Mean, want) || o.Stdev != nil || o.StdErr != nil || o.Interval != nil {
			t.Errorf("over stories: %+v", o)
		}
	}
	v := s.Variance[2]
	if !near(v.Within, 0.06083333333333333) || !near(v.Repeat, 0.06083333333333333) || v.Story != nil || v.Judge != nil || v.ICC != nil || len(v.Reasons) != 2 {
		t.Errorf("variance = %+v", v)
	}
}

func TestOverStories(t *testing.T) {
	// Three stories, unbalanced: means 0.9, 0.4 and 0.8; an errored trial is left out.
	s := fold(t,
		of("a", record(1, eval.StatusPassed, quality(0.8))), of("a", record(2, eval.StatusPassed, quality(1.0))),
		of("b", record(1, eval.StatusFailed, quality(0.4))), of("b", record(2, eval.StatusErrored, quality(0.0))),
		of("c", record(1, eval.StatusPassed, quality(0.7))), of("c", record(2, eval.StatusPassed, quality(0.9))),
	)
	if len(s.Dimensions) != 1 {
		t.Fatalf("dimensions = %+v; want one", s.Dimensions)
	}
	o := s.Dimensions[0]
	if o.Stories != 3 || o.N != 5 || o.Errored != 1 || !near(o.Mean, 0.7) || !near(o.Stdev, math.Sqrt(0.07)) || !near(o.Min, 0.4) || !near(o.Max, 0.9) {
		t.Errorf("over = %+v; mean %s, stdev %s", o, number(o.Mean), number(o.Stdev))
	}
	se := math.Sqrt(0.07 / 3)
	if !near(o.StdErr, se) || o.IntervalMethod != eval.IntervalT || math.Abs(o.Interval[1]-(0.7+4.302652729749456*se)) > 1e-9 {
		t.Errorf("error %s, interval %v", number(o.StdErr), o.Interval)
	}
	// MSW = (0.02+0.02)/2; MSB of the grand mean 0.76; n0 = (5 - 9/5)/2.
	msb := (2*math.Pow(0.9-0.76, 2) + math.Pow(0.4-0.76, 2) + 2*math.Pow(0.8-0.76, 2)) / 2
	v := s.Variance[0]
	if !near(v.Within, 0.02) || !near(v.Story, (msb-0.02)/1.6) || v.Judge != nil {
		t.Errorf("variance: within %s, story %s", number(v.Within), number(v.Story))
	}
	r := s.Reliability[0]
	if r.K != 2 || r.Stories != 2 || r.Left != 1 || !near(r.PassHat, 1) {
		t.Errorf("reliability = %+v", r)
	}
}

func TestJudgePart(t *testing.T) {
	// Answers about one trial differ by a variance of 0.02 (0.4 and 0.6, and so on), so
	// that a mean of two has 0.01 of it; trials of a story differ by 0.02 and 0.08.
	s := fold(t,
		of("a", record(1, eval.StatusPassed, sampled(0.5, 0.4, 0.6))), of("a", record(2, eval.StatusPassed, sampled(0.7, 0.6, 0.8))),
		of("b", record(1, eval.StatusPassed, sampled(0.1, 0.0, 0.2))), of("b", record(2, eval.StatusPassed, sampled(0.5, 0.4, 0.6))),
	)
	v := s.Variance[0]
	if !near(v.Within, 0.05) || !near(v.JudgeAnswer, 0.02) || !near(v.Judge, 0.01) || !near(v.Repeat, 0.04) || v.Samples != 8 {
		t.Errorf("within %s, answer %s, judge %s, repeat %s, samples %d", number(v.Within), number(v.JudgeAnswer), number(v.Judge), number(v.Repeat), v.Samples)
	}
	// Trials alike, answers apart: no part is below 0, and that it was is said.
	s = fold(t,
		of("a", record(1, eval.StatusPassed, sampled(0.5, 0.3, 0.7))), of("a", record(2, eval.StatusPassed, sampled(0.5, 0.3, 0.7))),
		of("b", record(1, eval.StatusPassed, sampled(0.9, 0.8, 1.0))), of("b", record(2, eval.StatusPassed, sampled(0.9, 0.8, 1.0))),
	)
	v = s.Variance[0]
	if !near(v.Repeat, 0) || !slices.Equal(v.Clamped, []string{"repeat"}) || !near(v.Judge, 0.025) {
		t.Errorf("repeat %s, judge %s, clamped %v", number(v.Repeat), number(v.Judge), v.Clamped)
	}
	// A value that is the median of three answers has more of their variance than a mean.
	s = fold(t, record(1, eval.StatusPassed, sampled(0.5, 0.4, 0.5, 0.9)), record(2, eval.StatusPassed, sampled(0.7, 0.6, 0.7, 1.0)))
	v = s.Variance[0]
	answer := (0.14 + (0.36 + 0.49 + 1.0 - 2.3*2.3/3)) / 4
	if !near(v.JudgeAnswer, answer) || v.Judge == nil || math.Abs(*v.Judge-answer*0.448671) > 1e-9 {
		t.Errorf("answer %s, judge %s; want %v and 0.4487 of it", number(v.JudgeAnswer), number(v.Judge), answer)
	}
}

// Stories that all pass are few, not certain.
func TestRateOfStoriesThatAllPass(t *testing.T) {
	for _, tt := range []struct {
		gate   *bool
		lo, hi float64
	}{{yes(), 0.3423802275066531, 1}, {no(), 0, 0.6576197724933469}} {
		s := fold(t, of("a", record(1, eval.StatusPassed, assert(eval.DimensionOutcome, tt.gate))), of("b", record(1, eval.StatusPassed, assert(eval.DimensionOutcome, tt.gate))))
		for _, o := range s.Dimensions {
			if o.IntervalMethod != eval.IntervalWilson || math.Abs(o.Interval[0]-tt.lo) > 1e-9 || math.Abs(o.Interval[1]-tt.hi) > 1e-9 {
				t.Errorf("%v: %v by %q; want [%v %v]", *tt.gate, o.Interval, o.IntervalMethod, tt.lo, tt.hi)
			}
		}
	}
}

// Scores of one name that are not the same are not one number.
func TestOverStoriesKeepsScorersApart(t *testing.T) {
	a, b := quality(0.2), quality(0.8)
	a.Scorer, b.Scorer = "judge/transcript", "judge/visual"
	s := fold(t, of("a", record(1, eval.StatusPassed, a)), of("b", record(1, eval.StatusPassed, b)))
	if len(s.Dimensions) != 2 || s.Dimensions[0].Stories != 1 || s.Dimensions[1].Scorer != "judge/visual" {
		t.Errorf("dimensions = %+v; want one for each scorer", s.Dimensions)
	}
}

func TestFlaky(t *testing.T) {
	for _, tt := range []struct {
		verdicts string
		flaky    bool
		flip     float64 // below 0: absent
		evidence string
	}{
		{"PPFPF", true, 0.75, "3 of 5 passed; verdict changed 3 times in 4"},
		{"PPPFP", true, 0.5, "4 of 5 passed; verdict changed 2 times in 4"},
		{"PPPPF", true, 0.25, "4 of 5 passed; verdict changed 1 time in 4"},
		{"PPPPP", false, 0, "5 of 5 passed; no change, as 33 % of 5 trials with a pass rate of 0.8 would show"},
		{"FFFFF", false, 0, "0 of 5 passed; no change, as 33 % of 5 trials with a pass rate of 0.8 would show"},
		{"P", false, -1, "1 of 1 passed; one trial cannot show a change"},
		{"PEF", true, 1, "1 of 2 passed; verdict changed 1 time in 1; 1 without a verdict left out"},
	} {
		var list []*eval.Record
		for i, v := range tt.verdicts {
			list = append(list, record(i+1, map[rune]eval.Status{'P': eval.StatusPassed, 'F': eval.StatusFailed, 'E': eval.StatusErrored}[v]))
		}
		slices.Reverse(list) // the order of ending is not that of repeats
		f := fold(t, list...).Arms[0].Flaky
		if f.Flaky != tt.flaky || f.Evidence != tt.evidence || (f.FlipRate == nil) != (tt.flip < 0) || f.FlipRate != nil && *f.FlipRate != tt.flip {
			t.Errorf("%s: %+v, rate %s; want %v, %v, %q", tt.verdicts, *f, number(f.FlipRate), tt.flaky, tt.flip, tt.evidence)
		}
	}
}

func TestPassK(t *testing.T) {
	records := func() (list []*eval.Record) {
		for i, st := range []eval.Status{eval.StatusPassed, eval.StatusFailed, eval.StatusPassed, eval.StatusFailed, eval.StatusPassed} {
			list = append(list, record(i+1, st))
		}
		return list
	}
	for _, tt := range []struct {
		asked, said, k int
		at, hat        float64 // below 0: undefined
	}{
		{0, 0, 5, 1, 0},
		{2, 0, 2, 0.9, 0.3},
		{0, 3, 3, 1, 0.1},
		{1, 3, 1, 0.6, 0.6},
		{6, 0, 6, -1, -1},
	} {
		f := Fold{K: tt.asked}
		run := &eval.Run{PassK: tt.said}
		for _, r := range records() {
			run.Trials = append(run.Trials, r.Trial)
			f.Add(r)
		}
		s := f.Summary(run, time.Time{}, false)
		p := s.Arms[0].PassAt[0]
		if p.K != tt.k || p.N != 5 || p.Passed != 3 {
			t.Errorf("asked %d, run %d: %+v", tt.asked, tt.said, p)
		}
		for i, got := range []*float64{p.PassAt, p.PassHat, s.Reliability[0].PassAt, s.Reliability[0].PassHat} {
			want := []float64{tt.at, tt.hat}[i%2]
			if want < 0 && got != nil || want >= 0 && !near(got, want) {
				t.Errorf("k = %d: %d is %s; want %v", tt.k, i, number(got), want)
			}
		}
	}
}

// k is the repeats that most arms have.
func TestCommonRepeats(t *testing.T) {
	run := &eval.Run{}
	for story, n := range map[string]int{"a": 5, "b": 5, "c": 1} {
		for i := range n {
			run.Trials = append(run.Trials, eval.Trial{Story: story, Host: "h", Repeat: i + 1})
		}
	}
	if k := new(Fold).k(run); k != 5 {
		t.Errorf("k = %d; want 5", k)
	}
	if k := new(Fold).k(&eval.Run{}); k != 0 {
		t.Errorf("k of no plan = %d; want 0", k)
	}
}

// What is no number counts as errored and enters nothing.
func TestNoNumber(t *testing.T) {
	huge := 1e200
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), huge} {
		raw := eval.Score{Name: "m", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, State: eval.Scored, Value: new(0.5), Raw: &v}
		gate := assert(eval.DimensionOutcome, yes())
		gate.Value = &v
		bad := record(2, eval.StatusPassed, gate, quality(v), raw)
		bad.Timings.Agent = v
		bad.Attempts[0].Usage = eval.Usage{CostUSD: &v}
		s := fold(t, record(1, eval.StatusPassed, assert(eval.DimensionOutcome, yes()), quality(0.5)), bad)
		a := s.Arms[0]
		for _, st := range append(slices.Clone(a.Scores), a.Gates[0]) {
			if st.Errored != 1 || st.N > 1 || st.N == 1 && *st.Mean != 0.5 && *st.Mean != 1 {
				t.Errorf("%v: %s = %+v; want it errored", v, st.Name, st)
			}
		}
		if e := a.Effort[0]; e.N != 1 || e.Errored != 1 {
			t.Errorf("%v: seconds = %+v", v, e)
		}
		if s.Usage.CostUSD != nil || !s.Usage.LowerBound {
			t.Errorf("%v: usage = %+v", v, s.Usage)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
	// Nor do samples and errors that are none.
	odd := sampled(0.5, 0.4, math.NaN(), 0.6)
	odd.StdErr = new(math.Inf(1))
	s := fold(t, record(1, eval.StatusPassed, odd), record(2, eval.StatusPassed, quality(0.7)))
	if v := s.Variance[0]; v.Judge != nil || s.Arms[0].Scores[0].StdErr != nil {
		t.Errorf("judge part %s, error %s; want none", number(v.Judge), number(s.Arms[0].Scores[0].StdErr))
	}
}

func TestBadInput(t *testing.T) {
	var f Fold
	s := f.Summary(&eval.Run{}, time.Time{}, false)
	if len(s.Arms)+len(s.Dimensions)+len(s.Variance)+len(s.Reliability) != 0 || s.Completion != eval.RunComplete {
		t.Errorf("of nothing: %+v", s)
	}
	f.Expect(eval.Trial{Story: "a", Host: "h", Repeat: 1})
	s = f.Summary(&eval.Run{Trials: []eval.Trial{{Story: "a", Host: "h", Repeat: 1}}}, time.Time{}, false)
	if a := s.Arms[0]; a.Flaky != nil || a.PassAt[0].PassAt != nil || s.Reliability[0].Left != 1 || s.Reliability[0].PassHat != nil || s.Completion != eval.RunIncomplete {
		t.Errorf("of no trial: %+v, %+v", a, s.Reliability)
	}

	s = fold(t, record(1, eval.StatusErrored, quality(0.9)), record(2, eval.StatusErrored, assert(eval.DimensionOutcome, no())), record(3, eval.StatusSkipped))
	a := s.Arms[0]
	for _, st := range append(slices.Clone(a.Scores), a.Gates...) {
		if st.N != 0 || st.Errored != 2 || st.Skipped != 1 || st.Mean != nil || st.Interval != nil || st.Min != nil {
			t.Errorf("all errored: %+v", st)
		}
	}
	if len(a.Scores) != 2 || len(a.Gates) != 1 || len(s.Variance) != 0 || len(s.Dimensions) != 3 || s.Dimensions[0].Mean != nil || s.Dimensions[0].Errored != 2 {
		t.Errorf("all errored: %+v, %+v", s.Dimensions, s.Variance)
	}

	s = fold(t, of("a", record(1, eval.StatusPassed, quality(0.4))), of("b", record(1, eval.StatusPassed, quality(0.6))))
	v := s.Variance[0]
	if v.Within != nil || v.Repeat != nil || v.Story != nil || v.ICC != nil || v.StdErr == nil || len(v.Reasons) == 0 {
		t.Errorf("one repeat: %+v", v)
	}

	s = fold(t, of("a", record(1, eval.StatusPassed, quality(0.1))), of("a", record(2, eval.StatusPassed, quality(0.1))), of("b", record(1, eval.StatusPassed, quality(0.1))))
	v = s.Variance[0]
	if !near(v.Within, 0) || !near(v.Story, 0) || v.ICC != nil || v.EffectiveN != nil || v.Reasons[0] != "all values are equal, so that no part has a share" {
		t.Errorf("all equal: %+v", v)
	}
	if o := s.Dimensions[0]; *o.StdErr != 0 || o.Interval[0] != 0.1 {
		t.Errorf("all equal: %+v", o)
	}
}

// The summary is the same to the last bit in whatever order trials end.
func TestOrderOfTrials(t *testing.T) {
	var records []*eval.Record
	run := &eval.Run{ID: "r"}
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, story := range []string{"a", "b", "c"} {
		for repeat := range 8 {
			status := []eval.Status{eval.StatusPassed, eval.StatusFailed, eval.StatusErrored}[rnd.IntN(3)]
			x, y, z := rnd.Float64(), rnd.Float64(), rnd.Float64()
			q := sampled((x+y+z)/3, x, y, z)
			q.StdErr = new(rnd.Float64())
			r := of(story, record(repeat+1, status, assert(eval.DimensionOutcome, yes()), q))
			if repeat == 2 {
				r.Scores = slices.Insert(r.Scores, 0, assert(eval.DimensionConstraint, yes()))
			}
			r.Attempts = []eval.Attempt{{Usage: eval.Usage{InputTokens: 1, CostUSD: new(rnd.Float64()), Models: []string{fmt.Sprint(repeat % 3)}}}}
			r.Findings = []eval.Finding{
				{Kind: "k", Fingerprint: "f", Text: r.ID, Severity: []eval.Severity{eval.SeverityMinor, eval.SeverityMajor}[repeat%2], Unverified: repeat == 1},
				{Kind: fmt.Sprint(repeat % 4), Text: "x", Severity: eval.SeverityMinor},
			}
			run.Trials = append(run.Trials, r.Trial)
			records = append(records, r)
		}
	}
	var first []byte
	for range 20 {
		var f Fold
		for _, tr := range run.Trials {
			f.Expect(tr)
		}
		for _, r := range records {
			f.Add(r)
		}
		b, err := json.MarshalIndent(f.Summary(run, time.Time{}, false), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Fatalf("another order, another summary: %s", cmp.Diff(string(first), string(b)))
		}
		rnd.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
}

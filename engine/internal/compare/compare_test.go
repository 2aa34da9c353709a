package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// trial is a record of one trial: its assert, its quality, its raw measure.
func trial(story string, repeat int, passed bool, quality, calls float64) *eval.Record {
	value := 0.0
	status := eval.StatusFailed
	if passed {
		value, status = 1, eval.StatusPassed
	}
	return &eval.Record{
		Trial: eval.Trial{Story: story, Host: "one", Repeat: repeat}, Status: status, Driver: "scripted",
		Versions: map[string]string{"engine": "v1", "scorer/path": "v1+aaaa", "scorer/judge": "v1+bbbb"},
		Scores: []eval.Score{
			{Name: "check/done", Scorer: "check", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, State: eval.Scored, Value: &value, Passed: &passed},
			{Name: "judge/transcript", Scorer: "judge/transcript", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.Scored, Value: &quality},
			{Name: "path/steps", Scorer: "path/steps", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, State: eval.Scored, Value: new(0.5), Raw: &calls, Unit: "steps", LowerIsBetter: true},
		},
	}
}

// side has one list a story: for each trial whether it passed; quality and steps are
// what of gives.
func side(name string, passed map[string][]bool, of func(story string, repeat int) (quality, steps float64)) *Side {
	s := NewSide(name)
	s.AddRun(&eval.Run{ID: name, Suite: "s"}, 0)
	for i := range 40 {
		story := fmt.Sprintf("s%02d", i)
		for r, ok := range passed[story] {
			quality, steps := of(story, r)
			s.Add(trial(story, r+1, ok, quality, steps))
		}
	}
	return s
}

func flat(string, int) (float64, float64) { return 0.5, 4 }

// all is n stories of k trials that all pass or all fail.
func all(n, k int, passed bool) map[string][]bool {
	m := map[string][]bool{}
	for i := range n {
		for range k {
			m[fmt.Sprintf("s%02d", i)] = append(m[fmt.Sprintf("s%02d", i)], passed)
		}
	}
	return m
}

func mustCompare(t *testing.T, base, head *Side, o Options) *eval.Comparison {
	t.Helper()
	c, err := Compare(base, head, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dimension(t *testing.T, c *eval.Comparison, kind eval.QuantityKind, name string) eval.Compared {
	t.Helper()
	for _, d := range c.Dimensions {
		if d.Kind == kind && d.Name == name {
			return d
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return eval.Compared{}
}

func TestSameTwice(t *testing.T) {
	c := mustCompare(t, side("a", all(6, 3, true), flat), side("b", all(6, 3, true), flat), Options{})
	if c.Verdict != eval.NoEvidence || c.Reason != "no evidence of a change: outcome" {
		t.Errorf("got %s, %s", c.Verdict, c.Reason)
	}
	for _, d := range c.Dimensions {
		if d.Verdict != eval.NoEvidence || *d.Difference != 0 || *d.P != 1 || d.Detectable != nil || d.Effect != nil {
			t.Errorf("%s: %+v", d.Name, d)
		}
	}
	if len(c.Changes) != 0 || len(c.Unpaired) != 0 {
		t.Errorf("changes %v, unpaired %v", c.Changes, c.Unpaired)
	}
}

// TestStoryIsTheUnit has 12 wins in 4 stories: as 12 they would be a proof, as 4 they
// are too few; and 6 stories of a single trial each are enough.
func TestStoryIsTheUnit(t *testing.T) {
	c := mustCompare(t, side("a", all(4, 3, false), flat), side("b", all(4, 3, true), flat), Options{})
	d := dimension(t, c, eval.QuantityGate, "outcome")
	if d.Verdict != eval.InsufficientData || c.Verdict != eval.InsufficientData || d.Stories != 4 || *d.Difference != 1 || *d.P != 0.0625 {
		t.Errorf("4 stories: %s, p = %v: %s", d.Verdict, *d.P, d.Reason)
	}
	c = mustCompare(t, side("a", all(6, 1, false), flat), side("b", all(6, 1, true), flat), Options{})
	d = dimension(t, c, eval.QuantityGate, "outcome")
	if d.Verdict != eval.Improved || math.Abs(*d.P-1.0/64) > 1e-9 || d.Test != "mcnemar_mid_p" {
		t.Errorf("6 stories: %s, p = %v", d.Verdict, *d.P)
	}
	for _, s := range d.Changed {
		if s.P != nil {
			t.Errorf("one trial a side is tested within story %s", s.Story)
		}
	}
}

// TestRates has the interval of Newcombe by itself: repeats that never differ are
// worth one trial each.
func TestRateInterval(t *testing.T) {
	base, head := all(10, 3, true), all(10, 3, true)
	for _, s := range []string{"s00", "s01"} {
		head[s] = []bool{false, false, false}
	}
	d := dimension(t, mustCompare(t, side("a", base, flat), side("b", head, flat), Options{}), eval.QuantityGate, "outcome")
	// 10 of 10 against 8 of 10.
	if d.Method != "newcombe" || math.Abs(d.Interval[0]+0.5098375284633582) > 1e-9 || math.Abs(d.Interval[1]-0.11235310261222181) > 1e-9 {
		t.Errorf("%s %v", d.Method, d.Interval)
	}
	if d.Verdict != eval.NoEvidence || *d.P != 0.25 {
		t.Errorf("%s, p = %v: %s", d.Verdict, *d.P, d.Reason)
	}
}

// TestOneStoryBroke has a single story of many that fails now: over all stories that
// may be chance, within the story it is not.
func TestOneStoryBroke(t *testing.T) {
	base, head := all(8, 6, true), all(8, 6, true)
	head["s03"] = []bool{false, false, false, false, false, false}
	c := mustCompare(t, side("a", base, flat), side("b", head, flat), Options{})
	d := dimension(t, c, eval.QuantityGate, "outcome")
	if c.Verdict != eval.Regressed || d.Verdict != eval.Regressed || !strings.HasPrefix(d.Reason, "s03 from 1 to 0 (p = 0.0022 within the story)") {
		t.Errorf("%s: %s", d.Verdict, d.Reason)
	}
	if d.Changed[0].Story != "s03" || d.Changed[0].Verdict != eval.Regressed || d.Changed[1].Verdict != eval.NoEvidence {
		t.Errorf("stories %+v", d.Changed[:2])
	}
}

func TestFewStories(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, head map[string][]bool
		want       eval.ComparisonVerdict
		reason     string
	}{
		{"one story, one repeat", all(1, 1, true), all(1, 1, false), eval.InsufficientData, "1 story: the test over stories needs at least 5 to reach its level, and a test within a story more repeats"},
		{"one story, three repeats", all(1, 3, true), all(1, 3, false), eval.InsufficientData, "1 story: the test over stories needs at least 5"},
		{"one story, five repeats", all(1, 5, true), all(1, 5, false), eval.Regressed, "s00 from 1 to 0 (p = 0.0079 within the story)"},
		{"one story, nothing changed", all(1, 5, true), all(1, 5, true), eval.NoEvidence, "within 1 story, none of them changed beyond chance"},
		{"none", nil, nil, eval.InsufficientData, ""},
		{"nothing shared", map[string][]bool{"s00": {true}}, map[string][]bool{"s01": {true}}, eval.InsufficientData, "no story has it on both sides"},
	} {
		c := mustCompare(t, side("a", tt.base, flat), side("b", tt.head, flat), Options{})
		if c.Verdict != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, c.Verdict, tt.want)
		}
		if tt.reason == "" {
			continue
		}
		if d := dimension(t, c, eval.QuantityGate, "outcome"); !strings.HasPrefix(d.Reason, tt.reason) {
			t.Errorf("%s: %s; want %s", tt.name, d.Reason, tt.reason)
		}
	}
}

// TestValues has vector 05 as the means of stories: eight stories of one trial each.
func TestValues(t *testing.T) {
	a := []float64{0.9, 0.6, 0.8, 0.4, 0.7, 1.0, 0.5, 0.3}
	b := []float64{0.8, 0.5, 0.8, 0.2, 0.6, 0.9, 0.5, 0.1}
	by := func(x []float64) func(string, int) (float64, float64) {
		return func(story string, _ int) (float64, float64) {
			var i int
			fmt.Sscanf(story, "s%d", &i)
			return x[i], 10 * x[i]
		}
	}
	c := mustCompare(t, side("a", all(8, 1, true), by(a)), side("b", all(8, 1, true), by(b)), Options{Gates: []string{"judge/*", "path/*"}})
	q := dimension(t, c, eval.QuantityScore, "judge/transcript")
	near := func(name string, got *float64, want float64) {
		t.Helper()
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s = %v; want %v", name, got, want)
		}
	}
	near("difference", q.Difference, -0.1)
	near("p", q.P, 0.03125)
	near("paired t", q.PairedT, 0.0072469898202878955)
	near("lo", &q.Interval[0], -0.1631972414136924)
	near("hi", &q.Interval[1], -0.036802758586307535)
	near("effect", q.Effect, -1.3228756555322951)
	// Six of eight stories differ: of two quantities that gate neither can reach the
	// level then.
	if q.Verdict != eval.NoEvidence || !q.Gated || q.Adjusted != nil {
		t.Errorf("%s: %s", q.Verdict, q.Reason)
	}
	// Fewer steps are better: alone it is an improvement.
	c = mustCompare(t, side("a", all(8, 1, true), by(a)), side("b", all(8, 1, true), by(b)), Options{Level: 0.9})
	s := dimension(t, c, eval.QuantityScore, "path/steps")
	near("steps", s.Difference, -1)
	if s.Verdict != eval.Improved || s.Unit != "steps" || s.Gated {
		t.Errorf("%s: %s", s.Verdict, s.Reason)
	}
	if q := dimension(t, c, eval.QuantityScore, "judge/transcript"); q.Verdict != eval.Regressed {
		t.Errorf("%s: %s", q.Verdict, q.Reason)
	}
}

// TestHolm has two quantities that gate, of one p-value each: it counts twice.
func TestHolm(t *testing.T) {
	less := func(string, int) (float64, float64) { return 0.25, 5 }
	c := mustCompare(t, side("a", all(8, 1, true), flat), side("b", all(8, 1, true), less), Options{Gates: []string{"judge/*", "path/*"}})
	for _, name := range []string{"judge/transcript", "path/steps"} {
		d := dimension(t, c, eval.QuantityScore, name)
		if *d.P != 2.0/256 || *d.Adjusted != 4.0/256 || d.Verdict != eval.Regressed {
			t.Errorf("%s: p = %v, adjusted %v, %s", name, *d.P, *d.Adjusted, d.Verdict)
		}
	}
	if c.Verdict != eval.Regressed || c.Reason != "regressed: judge/transcript, path/steps" {
		t.Errorf("%s: %s", c.Verdict, c.Reason)
	}
}

func TestConstantDifference(t *testing.T) {
	less := func(string, int) (float64, float64) { return 0.25, 4 }
	d := dimension(t, mustCompare(t, side("a", all(8, 2, true), flat), side("b", all(8, 2, true), less), Options{}), eval.QuantityScore, "judge/transcript")
	if d.Verdict != eval.Regressed || *d.Difference != -0.25 || d.Interval != nil || d.PairedT != nil || d.Detectable != nil {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(d.Reason, "every story differs by the same") {
		t.Error(d.Reason)
	}
}

// TestBadValues counts what is no evidence, and refuses what is no number.
func TestBadValues(t *testing.T) {
	base, head := side("a", all(6, 1, true), flat), side("b", all(6, 1, true), flat)
	head.Add(trial("s00", 2, true, math.NaN(), math.Inf(1)))
	head.Add(trial("s00", 3, true, 1e308, -1e200))
	broken := trial("s01", 2, false, 0, 0)
	broken.Status, broken.Cause = eval.StatusErrored, "host"
	head.Add(broken)
	skipped := trial("s02", 2, true, 0.5, 4)
	skipped.Scores[1].State, skipped.Scores[1].Value = eval.ScoreSkipped, nil
	skipped.Scores[0].State, skipped.Scores[0].Passed = eval.ScoreErrored, nil
	head.Add(skipped)
	c := mustCompare(t, base, head, Options{})
	q := dimension(t, c, eval.QuantityScore, "judge/transcript")
	if q.Head.Refused != 2 || q.Head.Skipped != 1 || q.Head.N != 6 || *q.Difference != 0 {
		t.Errorf("%+v", q.Head)
	}
	if g := dimension(t, c, eval.QuantityGate, "outcome"); g.Head.Errored != 1 || g.Head.N != 8 {
		t.Errorf("%+v", g.Head)
	}
	if c.Head.Trials.Errored != 1 || c.Head.Trials.Causes["host"] != 1 || c.Verdict != eval.NoEvidence {
		t.Errorf("%+v %s", c.Head.Trials, c.Verdict)
	}
}

func TestAllErrored(t *testing.T) {
	head := NewSide("b")
	for i := range 6 {
		r := trial(fmt.Sprintf("s%02d", i), 1, false, 0, 0)
		r.Status, r.Scores = eval.StatusErrored, nil
		head.Add(r)
	}
	c := mustCompare(t, side("a", all(6, 1, true), flat), head, Options{})
	d := dimension(t, c, eval.QuantityGate, "outcome")
	if c.Verdict != eval.InsufficientData || d.Difference != nil || len(d.OneSided) != 6 || c.Head.Trials.Errored != 6 {
		t.Errorf("%s: %+v", c.Verdict, d)
	}
}

func TestUnpaired(t *testing.T) {
	base, head := side("a", all(6, 1, true), flat), side("b", all(5, 1, true), flat)
	other := trial("s01", 1, true, 0.5, 4)
	other.Host = "two"
	head.Add(other)
	c := mustCompare(t, base, head, Options{})
	want := []eval.Unpaired{{Story: "s05", Host: "one", Side: "base", Whole: true, Trials: 1}, {Story: "s01", Host: "two", Side: "head", Trials: 1}}
	if len(c.Unpaired) != 2 || c.Unpaired[0] != want[0] || c.Unpaired[1] != want[1] {
		t.Errorf("%+v", c.Unpaired)
	}
}

// TestHostsWithin pairs each host with itself.
func TestHostsWithin(t *testing.T) {
	two := func(passed bool) *Side {
		s := side("a", all(6, 2, true), flat)
		for i := range 6 {
			r := trial(fmt.Sprintf("s%02d", i), 1, passed, 0.5, 4)
			r.Host = "two"
			s.Add(r)
		}
		return s
	}
	d := dimension(t, mustCompare(t, two(true), two(false), Options{}), eval.QuantityGate, "outcome")
	if *d.Difference != -0.5 || len(d.Within) != 2 || *d.Within[0].Difference != 0 || *d.Within[1].Difference != -1 || d.Within[1].Host != "two" {
		t.Errorf("%+v", d.Within)
	}
}

func TestOtherHost(t *testing.T) {
	base, head := side("a", all(6, 1, true), flat), NewSide("b")
	for i := range 6 {
		r := trial(fmt.Sprintf("s%02d", i), 1, true, 0.5, 4)
		r.Host = "two"
		head.Add(r)
	}
	c := mustCompare(t, base, head, Options{})
	if len(c.Unpaired) != 0 || dimension(t, c, eval.QuantityGate, "outcome").Stories != 6 {
		t.Errorf("%+v", c.Unpaired)
	}
	if c.Changes[0].What != "host" || c.Changes[0].Base[0] != "one" || c.Changes[0].Head[0] != "two" {
		t.Errorf("%+v", c.Changes)
	}
}

func TestChanges(t *testing.T) {
	make := func(prompt, tools, scorer, model string) *Side {
		s := NewSide("x")
		for i := range 6 {
			r := trial(fmt.Sprintf("s%02d", i), 1, true, 0.5, 4)
			r.Versions["scorer/judge"], r.ToolsDigest = scorer, tools
			r.Target = &eval.Placed{Name: "site", ID: fmt.Sprintf("site-%d%s", i, prompt), Values: eval.JSON(fmt.Sprintf(`{"url":"http://127.0.0.1:%d%s"}`, 1000+i, tools))}
			r.Prompts = []string{fmt.Sprintf("On http://127.0.0.1:%d%s %s", 1000+i, tools, prompt)}
			r.Scores[1].Judge = &eval.JudgeUse{Usage: eval.Usage{Models: []string{model}}}
			s.Add(r)
		}
		return s
	}
	base := make("do it", "aaaa", "v1+1", "opus")
	if c := mustCompare(t, base, make("do it", "aaaa", "v1+1", "opus"), Options{}); len(c.Changes) != 0 {
		t.Errorf("%+v", c.Changes)
	}
	c := mustCompare(t, base, make("do it well", "bbbb", "v2+2", "haiku"), Options{})
	var got []string
	for _, ch := range c.Changes {
		got = append(got, ch.What+" "+ch.Name+": "+strings.Join(ch.Base, ",")+" -> "+strings.Join(ch.Head, ","))
	}
	want := "tools site: aaaa -> bbbb\n" +
		"prompt s00: On ${target.url} do it -> On ${target.url} do it well"
	if text := strings.Join(got, "\n"); !strings.HasPrefix(text, want) || !strings.Contains(text, "judge_model judge/transcript: opus -> haiku") || !strings.Contains(text, "scorer judge: v1+1 -> v2+2") {
		t.Error(text)
	}
	// The judge is another, so its values are not of one scale; the check is the same.
	q := dimension(t, c, eval.QuantityScore, "judge/transcript")
	if q.Verdict != eval.InsufficientData || q.NotComparable != "scorer module judge changed from v1+1 to v2+2" || q.Adjusted != nil {
		t.Errorf("%+v", q)
	}
	if g := dimension(t, c, eval.QuantityGate, "outcome"); g.NotComparable != "" || g.Verdict != eval.NoEvidence {
		t.Errorf("%+v", g)
	}
}

// TestOtherAsserts leaves a story out of a gate that is made of other asserts now.
func TestOtherAsserts(t *testing.T) {
	base, head := side("a", all(6, 1, true), flat), side("b", all(5, 1, true), flat)
	r := trial("s05", 1, false, 0.5, 4)
	r.Scores[0].Name = "check/other"
	head.Add(r)
	d := dimension(t, mustCompare(t, base, head, Options{}), eval.QuantityGate, "outcome")
	if d.Stories != 5 || *d.Difference != 0 || len(d.LeftOut) != 1 || d.LeftOut[0] != "story s05: its outcome asserts are not the same; gone: check/done; new: check/other" {
		t.Errorf("%+v", d)
	}
}

func TestParameters(t *testing.T) {
	base, head := side("a", all(6, 1, true), flat), side("b", all(6, 1, true), flat)
	base.SetParameters("s00", "judge/transcript", "one")
	head.SetParameters("s00", "judge/transcript", "two")
	c := mustCompare(t, base, head, Options{})
	d := dimension(t, c, eval.QuantityScore, "judge/transcript")
	if d.Stories != 5 || len(d.LeftOut) != 1 || len(c.Changes) != 1 || c.Changes[0].What != "parameters" {
		t.Errorf("%+v %+v", d, c.Changes)
	}
}

// TestMedian has one odd night among three.
func TestMedian(t *testing.T) {
	q := func(v float64) *Side {
		return side(fmt.Sprint(v), all(6, 2, v > 0.2), func(string, int) (float64, float64) { return v, 4 })
	}
	m := Median("last 3", []*Side{q(0.8), q(0.1), q(0.7)})
	c := mustCompare(t, m, q(0.7), Options{})
	d := dimension(t, c, eval.QuantityScore, "judge/transcript")
	if math.Abs(*d.Base.Mean-0.7) > 1e-12 || d.Base.N != 36 || d.Verdict != eval.NoEvidence {
		t.Errorf("%+v %s", d.Base, d.Verdict)
	}
	if g := dimension(t, c, eval.QuantityGate, "outcome"); *g.Base.Mean != 1 || g.Changed[0].BaseN != 6 || c.Base.MedianOf != 3 || len(c.Base.Runs) != 3 {
		t.Errorf("%+v", g)
	}
}

func TestManyStoriesAreDrawn(t *testing.T) {
	half := func(story string, _ int) (float64, float64) {
		if story < "s20" {
			return 0.4, 4
		}
		return 0.5, 4
	}
	one := dimension(t, mustCompare(t, side("a", all(30, 1, true), flat), side("b", all(30, 1, true), half), Options{Seed: 7}), eval.QuantityScore, "judge/transcript")
	two := dimension(t, mustCompare(t, side("a", all(30, 1, true), flat), side("b", all(30, 1, true), half), Options{Seed: 7}), eval.QuantityScore, "judge/transcript")
	if one.Test != "sign_flip_drawn" || one.Verdict != eval.Regressed || *one.P != *two.P || !strings.Contains(one.TestWhy, "seed 7") {
		t.Errorf("%+v", one)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{Level: 1}, {Level: 0.2}, {Level: math.NaN()}, {By: "story"}} {
		if _, err := Compare(NewSide("a"), NewSide("b"), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestNoise has stories that pass now and then: a gate at any drop cries wolf, this
// one does not.
func TestNoise(t *testing.T) {
	var s Sample
	for i := range 8 {
		for r := range 10 {
			s.Add(trial(fmt.Sprintf("s%02d", i), r, (r*7+i)%5 != 0, float64((r*3+i)%4)/4, 4))
		}
	}
	n, err := s.Noise(context.Background(), 200, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Stories != 8 || n.Repeats != [2]int{5, 5} || n.FalseRegressed.Rate > 0.1 || n.AnyDrop.Rate < 0.3 || n.Insufficient != 0 {
		t.Errorf("%+v", n)
	}
	f := n.Floors[0]
	if f.Name != "outcome" || !f.Gated || f.P95 <= 0 || f.P95 > 0.5 || f.Max < f.P95 || f.Median > f.P95 || len(f.Stories) != 8 || f.Splits != 200 {
		t.Errorf("%+v", f)
	}
	again, _ := s.Noise(context.Background(), 200, Options{})
	if again.FalseRegressed.Count != n.FalseRegressed.Count || again.Floors[0].P95 != f.P95 {
		t.Error("one seed gives two answers")
	}
}

func TestNoiseNeedsRepeats(t *testing.T) {
	var s Sample
	if _, err := s.Noise(context.Background(), 10, Options{}); !errors.Is(err, ErrFewRepeats) {
		t.Errorf("no trial: %v", err)
	}
	for r := range 3 {
		s.Add(trial("s00", r, true, 0.5, 4))
	}
	if _, err := s.Noise(context.Background(), 10, Options{}); !errors.Is(err, ErrFewRepeats) {
		t.Errorf("three trials: %v", err)
	}
	for r := range 4 {
		s.Add(trial("s01", r, true, 0.5, 4))
	}
	n, err := s.Noise(context.Background(), 10, Options{})
	if err != nil || len(n.LeftOut) != 1 || n.LeftOut[0].Story != "s00" {
		t.Errorf("%+v, %v", n, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := s.Noise(ctx, 10, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// TestSideIsFlat wants a side to keep nothing of single trials.
func TestSideIsFlat(t *testing.T) {
	s := NewSide("a")
	r := trial("s00", 1, true, 0.5, 4)
	for range 100 {
		s.Add(r)
	}
	before := testing.AllocsPerRun(1, func() {})
	per := testing.AllocsPerRun(1000, func() { s.addTrial(r.Trial, r.Status, "", nil) })
	if per > before {
		t.Errorf("%v allocations for each trial", per)
	}
	if len(s.arms) != 1 || len(s.arms[armKey{"s00", "", "one"}].cells) != 9 {
		t.Errorf("%d arms", len(s.arms))
	}
}

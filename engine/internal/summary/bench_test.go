package summary

import (
	"fmt"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// BenchmarkFold folds a run of 10,000 trials with 20 scores each: 100 stories on two
// hosts, 50 repeats.
func BenchmarkFold(b *testing.B) {
	run := &eval.Run{ID: "r"}
	for story := range 100 {
		for host := range 2 {
			for repeat := range 50 {
				run.Trials = append(run.Trials, eval.Trial{Story: fmt.Sprintf("s%d", story), Host: fmt.Sprintf("h%d", host), Repeat: repeat + 1})
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var f Fold
		for i, t := range run.Trials {
			f.Add(benchRecord(i, t))
		}
		if s := f.Summary(run, time.Time{}, false); s.Trials.Total != 10000 || len(s.Dimensions) != 2*21 {
			b.Fatalf("%d trials, %d dimensions", s.Trials.Total, len(s.Dimensions))
		}
	}
}

func benchRecord(i int, t eval.Trial) *eval.Record {
	r := &eval.Record{ID: t.ID(), Trial: t, Status: eval.StatusPassed, Attempts: []eval.Attempt{{}}}
	for n := range 20 {
		v := float64((i*7+n*13)%11) / 10
		s := eval.Score{Name: fmt.Sprintf("score/%d", n), Scorer: "x/y", Role: eval.RoleMeasure, Dimension: eval.DimensionPath, State: eval.Scored, Value: &v}
		switch {
		case n < 5:
			s.Role, s.Dimension, s.Passed = eval.RoleAssert, eval.DimensionOutcome, new(v > 0)
		case n < 8:
			s.Role, s.Dimension, s.Samples = eval.RoleJudge, eval.DimensionQuality, []float64{v, v / 2, v}
		}
		r.Scores = append(r.Scores, s)
	}
	return r
}

package summary

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// TestPairs folds preferences over trials of two stories. By trial, the trial shown
// first and then the other: 1 1 the trial wins, 0 0 it loses, 1 0 follows the
// position, 0.5 0.5 is a tie, 1 0.5 is none in the end.
func TestPairs(t *testing.T) {
	var f Fold
	add := func(story string, repeat int, unit string, samples ...float64) {
		value := 0.0
		for _, v := range samples {
			value += v / float64(len(samples))
		}
		f.Add(&eval.Record{
			Trial: eval.Trial{Story: story, Host: "h", Repeat: repeat}, Status: eval.StatusPassed,
			Scores: []eval.Score{{Name: "judge/pairwise", Role: eval.RoleJudge, Unit: unit, State: eval.Scored, Value: &value, Samples: samples}},
		})
	}
	add("a", 1, eval.UnitPreference, 1, 1)
	add("a", 2, eval.UnitPreference, 0, 0, 1, 0)
	add("a", 3, eval.UnitPreference, 0.5, 0.5)
	add("b", 1, eval.UnitPreference, 1, 0.5)
	add("c", 1, "points", 1, 1)
	add("d", 1, eval.UnitPreference, 0.25, 1)
	s := f.Summary(&eval.Run{}, time.Time{}, false)
	// Of six answers of a that prefer one, four in its four pairs pick the first: the
	// trial once, the other once, and both of 1 0.
	want := []*eval.Pairs{
		{N: 4, Won: 1, Lost: 1, Tied: 2, WinRate: new(0.5), OrderConsistency: new(0.75), FirstPickRate: new(4.0 / 6)},
		{N: 1, Tied: 1, WinRate: new(0.5), OrderConsistency: new(0.0), FirstPickRate: new(1.0)},
		nil, nil,
	}
	for i, a := range s.Arms {
		if d := cmp.Diff(want[i], a.Scores[0].Pairs); d != "" {
			t.Errorf("%s: -want +got\n%s", a.Story, d)
		}
	}
	all := &eval.Pairs{N: 5, Won: 1, Lost: 1, Tied: 3, WinRate: new(0.5), OrderConsistency: new(0.6), FirstPickRate: new(5.0 / 7)}
	for _, o := range s.Dimensions {
		want := all
		if o.Unit != eval.UnitPreference {
			want = nil
		}
		if d := cmp.Diff(want, o.Pairs); d != "" {
			t.Errorf("over stories, %s: -want +got\n%s", o.Unit, d)
		}
	}
}

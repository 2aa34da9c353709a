package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/docstest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

func TestDocs(t *testing.T) { docstest.Check(t, scorertest.Manifest(t)) }

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }

func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Ceiling struct {
			Score      float64    `json:"score"`
			ScoreSE    float64    `json:"score_se"`
			Gold       float64    `json:"gold"`
			GoldSE     float64    `json:"gold_se"`
			Floor      float64    `json:"floor"`
			Normalised float64    `json:"normalised"`
			SE         float64    `json:"se_delta_method"`
			Interval   [2]float64 `json:"ci95"`
			NoFloor    float64    `json:"pct_of_gold_no_floor"`
			Gain       struct {
				Pre, Post, Value float64
			} `json:"normalised_gain_hake"`
		} `json:"gold_ceiling_normalisation"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	c := v.Ceiling
	score, gold, floor := mean{value: c.Score, se: c.ScoreSE}, mean{value: c.Gold, se: c.GoldSE}, mean{value: c.Floor}
	ratio, se, ok := relate(score, gold, floor)
	if !ok || !near(ratio, c.Normalised) || !near(se, c.SE) {
		t.Errorf("relate = %v, %v, %v; want %v, %v", ratio, se, ok, c.Normalised, c.SE)
	}
	if !near(ratio-apart*se, c.Interval[0]) || !near(ratio+apart*se, c.Interval[1]) {
		t.Errorf("interval = [%v %v]; want %v", ratio-apart*se, ratio+apart*se, c.Interval)
	}
	if ratio, _, _ := relate(score, gold, mean{}); !near(ratio, c.NoFloor) {
		t.Errorf("without a floor %v; want %v", ratio, c.NoFloor)
	}
	if gain, _, _ := relate(mean{value: c.Gain.Post}, mean{value: 1}, mean{value: c.Gain.Pre}); !near(gain, c.Gain.Value) {
		t.Errorf("gain = %v; want %v", gain, c.Gain.Value)
	}
}

// TestFloorError holds the part of the floor's error against a difference
// quotient: the vectors have a floor without one.
func TestFloorError(t *testing.T) {
	score, gold, floor := mean{value: 0.4}, mean{value: 0.9}, mean{value: 0.2, se: 0.03}
	_, se, _ := relate(score, gold, floor)
	const h = 1e-6
	up, _, _ := relate(score, gold, mean{value: 0.2 + h})
	down, _, _ := relate(score, gold, mean{value: 0.2 - h})
	if want := math.Abs(up-down) / (2 * h) * 0.03; math.Abs(se-want) > 1e-7 {
		t.Errorf("se = %v; want %v", se, want)
	}
}

// trial has a score of judge/a with these samples, of which the last is the value
// where there is only one.
func trial(value float64, samples, gold, floor []float64) eval.ScoreInput {
	in := eval.ScoreInput{Scores: []eval.Score{
		{Name: "judge/a", Scorer: "judge/a", Role: eval.RoleJudge, State: eval.Scored, Value: &value, Samples: samples},
		{Name: "judge/b", Scorer: "judge/b", Role: eval.RoleJudge, State: eval.ScoreErrored},
	}}
	if gold != nil {
		in.GoldGrades = []eval.Grade{{Score: "judge/other", Values: []float64{1}}, {Score: "judge/a", Values: gold}}
	}
	if floor != nil {
		in.FloorGrades = []eval.Grade{{Score: "judge/a", Values: floor}}
	}
	return in
}

func TestCeiling(t *testing.T) {
	two := []float64{0.8, 0.8}
	for _, tt := range []struct {
		name       string
		in         eval.ScoreInput
		score      string
		state      eval.ScoreState
		value, raw float64
		se         float64 // below 0 is none
		finding    bool
		reason     string
	}{
		{"between", trial(0.5, nil, two, []float64{0.2, 0.2}), "judge/a", eval.Scored, 0.5, 0.5, 0, false,
			"judge/a 0.5 is 0.5 ± 0 of the way from the floor's 0.2 ± 0 to the gold's 0.8 ± 0; the error leaves out that of the trial, graded once"},
		{"samples", trial(0.5, []float64{0.4, 0.6}, two, nil), "judge/a", eval.Scored, 0.625, 0.625, 0.125, false,
			"judge/a 0.5 ± 0.1 is 0.625 ± 0.125 of the way from 0 to the gold's 0.8 ± 0"},
		{"graded once", trial(0.5, nil, []float64{0.8}, nil), "judge/a", eval.Scored, 0.625, 0.625, -1, false,
			"judge/a 0.5 is 0.625 of the way from 0 to the gold's 0.8; the error leaves out that of the trial and the gold, graded once"},
		{"above", trial(1, nil, two, nil), "judge/a", eval.Scored, 1, 1.25, 0, true,
			"judge/a 1 is 1.25 ± 0 of the way from 0 to the gold's 0.8 ± 0; the value is cut to 1; the error leaves out that of the trial, graded once"},
		{"above within the error", trial(0.9, nil, []float64{0.7, 0.9}, nil), "judge/a", eval.Scored, 1, 1.125, 0.140625, false, "cut to 1"},
		{"below the floor", trial(0.1, nil, two, []float64{0.2, 0.2}), "judge/a", eval.Scored, 0, -1.0 / 6, 0, false, "cut to 0"},
		{"overlap", trial(0.5, nil, []float64{0.4, 0.8}, []float64{0.3, 0.7}), "judge/a", eval.ScoreSkipped, 0, 0, -1, false,
			"the gold's 0.6 ± 0.2 cannot be told from the floor's 0.5 ± 0.2: nothing can be related to them"},
		{"gold of nothing", trial(0.5, nil, []float64{0, 0}, nil), "judge/a", eval.ScoreSkipped, 0, 0, -1, true, "cannot be told from the floor's"},
		{"not graded", trial(0.5, nil, nil, nil), "judge/a", eval.ScoreSkipped, 0, 0, -1, false, "no grades of the gold by judge/a"},
		{"judge broke", trial(0.5, nil, two, nil), "judge/b", eval.ScoreSkipped, 0, 0, -1, false, "judge/b has no value: it was errored"},
		{"no such score", trial(0.5, nil, two, nil), "judge/c", eval.ScoreErrored, 0, 0, -1, false, "the story has no score judge/c that is made before this one"},
	} {
		out := scorertest.One(t, tt.in, "ceiling", `{"score":"`+tt.score+`"}`)
		if out.State != tt.state || !strings.Contains(out.Reason, tt.reason) || len(out.Findings) > 0 != tt.finding {
			t.Errorf("%s: %s %q, findings %v; want %s %q", tt.name, out.State, out.Reason, out.Findings, tt.state, tt.reason)
			continue
		}
		if out.State != eval.Scored {
			continue
		}
		if !near(out.Value, tt.value) || !near(*out.Raw, tt.raw) {
			t.Errorf("%s: value %v raw %v; want %v, %v", tt.name, out.Value, *out.Raw, tt.value, tt.raw)
		}
		if (out.StdErr == nil) != (tt.se < 0) || out.StdErr != nil && !near(*out.StdErr, tt.se) {
			t.Errorf("%s: standard error %v; want %v", tt.name, out.StdErr, tt.se)
		}
	}
}

func TestStaleIsSaid(t *testing.T) {
	in := trial(0.5, nil, nil, nil)
	in.GoldStale = "the story's text changed since"
	out := scorertest.One(t, in, "ceiling", `{"score":"judge/a"}`)
	if want := "no grades of the gold by judge/a: the story's text changed since"; out.State != eval.ScoreSkipped || out.Reason != want {
		t.Errorf("got %s %q; want %q", out.State, out.Reason, want)
	}
}

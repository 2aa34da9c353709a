package nightly

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func repeat(n int, x ...float64) [][]float64 {
	var out [][]float64
	for range n {
		out = append(out, x)
	}
	return out
}

func TestVariance(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tonight []float64
		before  [][]float64
		p       float64 // 0 is no news
	}{
		// Of 816 choices of 3 of 18 distances only this one has both that are not 0, with
		// each of the 16 others: 16 of 816.
		{"never differed before", []float64{0.4, 0.8, 0.85}, repeat(5, 0.8, 0.8, 0.8), 16.0 / 816},
		{"as ever", []float64{0.7, 0.8, 0.9}, repeat(6, 0.7, 0.8, 0.9), 0},
		{"too few nights", []float64{0, 0.5, 1}, repeat(4, 0.5, 0.5, 0.5), 0},
		{"nights of one trial", []float64{0, 0.5, 1}, repeat(9, 0.5), 0},
		{"one trial tonight", []float64{0.5}, repeat(9, 0.5, 0.5), 0},
		{"all equal", []float64{0.5, 0.5, 0.5}, repeat(9, 0.1, 0.9, 0.2), 0},
		{"wider than on any night", []float64{0, 0.5, 1}, repeat(8, 0.5, 0.55, 0.6), 25.0 / 2925},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Variance([]Series{{Arm: eval.Trial{Story: "s", Host: "h"}, Score: "q", Tonight: tt.tonight, Before: tt.before}}, 1)
			switch {
			case tt.p == 0 && len(got) > 0:
				t.Errorf("news: %+v; want none", got)
			case tt.p > 0 && (len(got) != 1 || math.Abs(got[0].P-tt.p) > 1e-9):
				t.Errorf("got %+v; want p = %v", got, tt.p)
			}
		})
	}
}

// With many trials the choices are drawn, the same for the same seed.
func TestVarianceDrawn(t *testing.T) {
	s := []Series{{Tonight: []float64{0, 1, 0, 1, 0, 1, 0, 1}, Before: repeat(10, 0.5, 0.51, 0.5, 0.49, 0.5, 0.52, 0.5, 0.48)}}
	a, b := Variance(s, 7), Variance(s, 7)
	if len(a) != 1 || a[0].P != b[0].P || a[0].P != 1.0/(draws+1) {
		t.Errorf("got %+v and %+v; want no draw as large", a, b)
	}
}

// Of 400 nights on which ten scores differ as they always do, few tell of any.
func TestVarianceCriesWolfSeldom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := func() []float64 {
		x := make([]float64, 3)
		for i := range x {
			x[i] = 0.7 + 0.1*rng.NormFloat64()
		}
		return x
	}
	alarms := 0
	for range 400 {
		var list []Series
		for range 10 {
			s := Series{Tonight: values()}
			for range 10 {
				s.Before = append(s.Before, values())
			}
			list = append(list, s)
		}
		if len(Variance(list, 1)) > 0 {
			alarms++
		}
	}
	if alarms > 20 {
		t.Errorf("%d of 400 nights tell of a variance that is as ever; want at most 5 %%", alarms)
	}
	t.Logf("%d of 400", alarms)
}

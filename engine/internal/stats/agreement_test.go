package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

func TestAgreementVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/agreement.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Binary struct {
			Human, Judge        []float64
			TP, TN, FP, FN      int
			Agreement, Expected float64
			Kappa               float64 `json:"cohen_kappa"`
			TPR, TNR            float64
			Corrected           float64 `json:"rogan_gladen_for_observed_pass_rate_0_70"`
		} `json:"judge_vs_human_binary"`
		Weighted struct {
			Human, Judge      []float64
			Linear, Quadratic float64
			Distance          float64 `json:"mean_abs_error"`
			Bias              float64 `json:"bias_judge_minus_human"`
		} `json:"weighted_kappa"`
		Alpha struct {
			Units    [][]float64
			Nominal  float64
			Interval struct {
				Units [][]float64
				Alpha float64
			} `json:"interval_1to5"`
		} `json:"krippendorff_alpha"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	is := func(name string, got float64, ok bool, want float64) {
		t.Helper()
		if !ok || !near(got, want) {
			t.Errorf("%s = %v, %v; want %v", name, got, ok, want)
		}
	}
	x := v.Binary
	share, expected, ok := Agreement(x.Human, x.Judge)
	is("agreement", share, ok, x.Agreement)
	is("expected", expected, ok, x.Expected)
	k, ok := Kappa(x.Human, x.Judge, Nominal)
	is("kappa", k, ok, x.Kappa)
	r := RatesOf(passes(x.Human), passes(x.Judge))
	if want := (Rates{x.TP, x.TN, x.FP, x.FN}); r != want {
		t.Errorf("rates %v; want %v", r, want)
	}
	tpr, ok := r.TPR()
	is("tpr", tpr, ok, x.TPR)
	tnr, ok := r.TNR()
	is("tnr", tnr, ok, x.TNR)
	c, ok := r.Corrected(0.7)
	is("corrected", c, ok, x.Corrected)

	k, ok = Kappa(v.Weighted.Human, v.Weighted.Judge, Linear)
	is("linear", k, ok, v.Weighted.Linear)
	k, ok = Kappa(v.Weighted.Human, v.Weighted.Judge, Quadratic)
	is("quadratic", k, ok, v.Weighted.Quadratic)
	bias, distance, ok := Bias(v.Weighted.Judge, v.Weighted.Human)
	is("bias", bias, ok, v.Weighted.Bias)
	is("distance", distance, ok, v.Weighted.Distance)

	a, ok := Alpha(v.Alpha.Units, Nominal)
	is("nominal alpha", a, ok, v.Alpha.Nominal)
	a, ok = Alpha(v.Alpha.Interval.Units, Quadratic)
	is("interval alpha", a, ok, v.Alpha.Interval.Alpha)
}

func passes(x []float64) []bool {
	var list []bool
	for _, v := range x {
		list = append(list, v == 1)
	}
	return list
}

// TestAlphaPublished has the example of Krippendorff's "Computing Krippendorff's
// Alpha-Reliability" (2011): four observers, twelve units, with gaps.
func TestAlphaPublished(t *testing.T) {
	units := [][]float64{
		{1, 1, 1}, {2, 2, 3, 2}, {3, 3, 3, 3}, {3, 3, 3, 3}, {2, 2, 2, 2}, {1, 2, 3, 4},
		{4, 4, 4, 4}, {1, 1, 2, 1}, {2, 2, 2, 2}, {5, 5, 5}, {1, 1}, {3},
	}
	for _, tt := range []struct {
		metric Metric
		want   float64
	}{{Nominal, 0.743}, {Ordinal, 0.815}, {Quadratic, 0.849}} {
		if got, ok := Alpha(units, tt.metric); !ok || math.Abs(got-tt.want) > 0.0005 {
			t.Errorf("Alpha(%d) = %v, %v; want %v", tt.metric, got, ok, tt.want)
		}
	}
}

func TestAgreementAbsent(t *testing.T) {
	if _, _, ok := Agreement(nil, nil); ok {
		t.Error("agreement of nothing is defined")
	}
	if _, ok := Kappa([]float64{1, 1}, []float64{1, 1}, Nominal); ok {
		t.Error("kappa without disagreement by chance is defined")
	}
	if _, ok := Kappa([]float64{1}, []float64{1, 2}, Linear); ok {
		t.Error("kappa of lists of different lengths is defined")
	}
	if _, ok := Alpha([][]float64{{1}, {2}}, Nominal); ok {
		t.Error("alpha without a unit of two labels is defined")
	}
	if _, ok := Alpha([][]float64{{1, 1}, {1, 1}}, Ordinal); ok {
		t.Error("alpha of equal labels is defined")
	}
	if _, ok := (Rates{TP: 3, FN: 1}).Corrected(0.5); ok {
		t.Error("a rate is corrected without failures of people")
	}
	if _, ok := (Rates{TP: 1, FN: 1, TN: 1, FP: 1}).Corrected(0.5); ok {
		t.Error("a rate is corrected by a judge no better than chance")
	}
	if got, ok := (Rates{TP: 9, FN: 1, TN: 9, FP: 1}).Corrected(0.01); !ok || got != 0 {
		t.Errorf("corrected = %v, %v; want 0", got, ok)
	}
}

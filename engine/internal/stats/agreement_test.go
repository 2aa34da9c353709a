package stats

import (
	"math"
	"testing"
)

func TestAgreementVectors(t *testing.T) {
	var x struct {
		Human, Judge        []float64
		TP, TN, FP, FN      int
		Agreement, Expected float64
		Kappa               float64 `json:"cohen_kappa"`
		TPR, TNR            float64
		Corrected           float64 `json:"rogan_gladen_for_observed_pass_rate_0_70"`
	}
	vector(t, "17_judge_vs_human_binary", &x)
	share, expected, ok := Agreement(x.Human, x.Judge)
	is(t, "agreement", share, ok, x.Agreement)
	is(t, "expected", expected, ok, x.Expected)
	k, ok := Kappa(x.Human, x.Judge, Nominal)
	is(t, "kappa", k, ok, x.Kappa)
	r := RatesOf(passes(x.Human), passes(x.Judge))
	if want := (Rates{x.TP, x.TN, x.FP, x.FN}); r != want {
		t.Errorf("rates %v; want %v", r, want)
	}
	tpr, ok := r.TPR()
	is(t, "tpr", tpr, ok, x.TPR)
	tnr, ok := r.TNR()
	is(t, "tnr", tnr, ok, x.TNR)
	c, ok := r.Corrected(0.7)
	is(t, "corrected", c, ok, x.Corrected)

	var w struct {
		Human, Judge      []float64
		Linear, Quadratic float64
		Distance          float64 `json:"mean_abs_error"`
		Bias              float64 `json:"bias_judge_minus_human"`
	}
	vector(t, "18_weighted_kappa_1_to_5", &w)
	k, ok = Kappa(w.Human, w.Judge, Linear)
	is(t, "linear", k, ok, w.Linear)
	k, ok = Kappa(w.Human, w.Judge, Quadratic)
	is(t, "quadratic", k, ok, w.Quadratic)
	bias, distance, ok := Bias(w.Judge, w.Human)
	is(t, "bias", bias, ok, w.Bias)
	is(t, "distance", distance, ok, w.Distance)

	var units struct {
		Units    [][]float64
		Nominal  float64
		Interval struct {
			Units [][]float64
			Alpha float64
		} `json:"interval_1to5"`
	}
	vector(t, "19_krippendorff_alpha", &units)
	a, ok := Alpha(units.Units, Nominal)
	is(t, "nominal alpha", a, ok, units.Nominal)
	a, ok = Alpha(units.Interval.Units, Quadratic)
	is(t, "interval alpha", a, ok, units.Interval.Alpha)
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

// raters lists the pairs of a table: a row for each label of one, a column for each of
// the other.
func raters(counts [][]int) (a, b []float64) {
	for i, row := range counts {
		for j, n := range row {
			for range n {
				a, b = append(a, float64(i)), append(b, float64(j))
			}
		}
	}
	return a, b
}

func TestKappaStdErr(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts [][]int
		m      Metric
		kappa  float64
		se     float64
	}{
		// Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, 3rd
		// edition, table 18.1: kappa 0.68, standard error 0.087.
		{"Fleiss", [][]int{{75, 1, 4}, {5, 4, 1}, {0, 0, 10}}, Nominal, 0.6765, 0.0877},
		{"two levels", [][]int{{4, 1}, {2, 5}}, Nominal, 0.5, 0.2465},
		{"linear", [][]int{{75, 1, 4}, {5, 4, 1}, {0, 0, 10}}, Linear, 0.7222, 0.0843},
		{"quadratic", [][]int{{75, 1, 4}, {5, 4, 1}, {0, 0, 10}}, Quadratic, 0.7553, 0.0867},
	} {
		a, b := raters(tt.counts)
		kappa, _ := Kappa(a, b, tt.m)
		se, ok := KappaStdErr(a, b, tt.m)
		if !ok || math.Abs(kappa-tt.kappa) > 5e-5 || math.Abs(se-tt.se) > 5e-5 {
			t.Errorf("%s: %.4f ± %.4f, %v; want %.4f ± %.4f", tt.name, kappa, se, ok, tt.kappa, tt.se)
		}
	}
	for name, counts := range map[string][][]int{"none": nil, "one label": {{5}}, "never differ": {{3, 0}, {0, 4}}} {
		a, b := raters(counts)
		if se, ok := KappaStdErr(a, b, Nominal); ok {
			t.Errorf("%s: error %v; want none", name, se)
		}
	}
}

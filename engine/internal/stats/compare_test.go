package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// comparisonVectors is what this file tests of the worked values in testdata.
type comparisonVectors struct {
	Paired struct {
		A, B     []float64
		Diffs    []float64
		MeanDiff float64   `json:"mean_diff"`
		SE       float64   `json:"se_paired"`
		T        float64   `json:"t"`
		DF       float64   `json:"df"`
		P        float64   `json:"p_two_sided"`
		CI       []float64 `json:"ci95"`
		Corr     float64
		Unpaired float64 `json:"se_unpaired"`
		TWelch   float64 `json:"t_welch"`
		DFWelch  float64 `json:"df_welch"`
		PWelch   float64 `json:"p_welch"`
	} `json:"05_paired_difference"`
	Newcombe map[string]struct{ Delta, Lower, Upper float64 } `json:"07_newcombe_difference_compare_minus_base"`
	Bayes    map[string]float64                               `json:"08_bayes_P_B_gt_A_uniform_priors"`
	McNemar  map[string]struct {
		Discordant []int
		Exact      float64 `json:"exact_p"`
		Mid        float64 `json:"mid_p"`
		Chi        float64 `json:"chi2_cc"`
	} `json:"10_mcnemar"`
	Sign     map[string]float64 `json:"11_sign_test_one_sided"`
	Multiple struct {
		P    []float64 `json:"p_sorted"`
		Holm []float64 `json:"holm_adjusted"`
		BH   []float64 `json:"bh_adjusted"`
		Bonf []float64 `json:"bonferroni"`
	} `json:"12_multiplicity"`
	Power     map[string]any                `json:"13_power_miller_form"`
	Gate      map[string]map[string]float64 `json:"14_gate_false_alarm_no_true_change"`
	Bootstrap struct {
		Diffs     []float64
		Resamples int
		Mean      float64
		SE        float64 `json:"bootstrap_se_population"`
		Lo        float64 `json:"pct_2_5"`
		Hi        float64 `json:"pct_97_5"`
		Below     float64 `json:"prob_mean_le_0"`
	} `json:"22_exact_bootstrap_enumerated_n3"`
	Flip struct {
		Permutations int
		Extreme      int     `json:"count_as_extreme"`
		P            float64 `json:"p_two_sided"`
	} `json:"23_sign_flip_permutation_on_05"`
	Effect struct {
		Dz     float64 `json:"cohen_dz"`
		D      float64 `json:"cohen_d_pooled"`
		Hedges float64 `json:"hedges_g_correction_df7"`
		Cliff  float64 `json:"cliffs_delta"`
	} `json:"25_effect_size_on_05"`
}

func comparisonWorked(t *testing.T) *comparisonVectors {
	t.Helper()
	b, err := os.ReadFile("testdata/stat_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	v := &comparisonVectors{}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
	return v
}

func wantNear(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !near(got, want) {
		t.Errorf("%s = %v; want %v", name, got, want)
	}
}

func TestPairedT(t *testing.T) {
	v := comparisonWorked(t).Paired
	p, ok := PairedT(v.A, v.B, 0.95)
	if !ok || !p.TOK || p.N != 8 {
		t.Fatalf("got %+v, %v", p, ok)
	}
	wantNear(t, "mean", p.Mean, v.MeanDiff)
	wantNear(t, "se", p.SE, v.SE)
	wantNear(t, "t", p.T, v.T)
	wantNear(t, "df", p.DF, v.DF)
	wantNear(t, "p", p.P, v.P)
	wantNear(t, "lo", p.Lo, v.CI[0])
	wantNear(t, "hi", p.Hi, v.CI[1])
	r, _ := Correlation(v.A, v.B)
	wantNear(t, "correlation", r, v.Corr)
	w, _ := WelchT(v.A, v.B)
	wantNear(t, "se unpaired", w.SE, v.Unpaired)
	wantNear(t, "t unpaired", w.T, v.TWelch)
	wantNear(t, "df unpaired", w.DF, v.DFWelch)
	wantNear(t, "p unpaired", w.P, v.PWelch)
}

func TestSignFlip(t *testing.T) {
	all := comparisonWorked(t)
	f, ok := SignFlip(all.Paired.Diffs, 0, 0)
	if !ok || !f.Exact || f.Patterns != all.Flip.Permutations || f.Extreme != all.Flip.Extreme {
		t.Fatalf("got %+v, %v", f, ok)
	}
	wantNear(t, "p", f.P, all.Flip.P)
	wantNear(t, "lowest", f.Lowest, 2.0/256)
}

// TestSignFlipDrawn holds the drawn test against the exact one, and the same seed
// against itself.
func TestSignFlipDrawn(t *testing.T) {
	d := make([]float64, 20)
	for i := range d {
		d[i] = float64(i%7) - 2.4
	}
	exact, _ := SignFlip(d, 0, 0)
	moving := append([]float64(nil), d...)
	sum := 0.0
	for _, v := range d {
		sum += v
	}
	drawn := drawnFlip(moving, math.Abs(sum)-1e-9, 50000, 7)
	if math.Abs(exact.P-drawn.P) > 0.01 {
		t.Errorf("exact %v, drawn %v", exact.P, drawn.P)
	}
	long := append(d, d...)
	a, _ := SignFlip(long, 2000, 3)
	b, _ := SignFlip(long, 2000, 3)
	if a != b || a.Exact || a.Patterns != 2001 {
		t.Errorf("got %+v and %+v of one seed", a, b)
	}
}

func TestNewcombe(t *testing.T) {
	for name, v := range comparisonWorked(t).Newcombe {
		var k1, n1, k2, n2 float64
		if _, err := fmt.Sscanf(name, "base %f/%f vs compare %f/%f", &k1, &n1, &k2, &n2); err != nil {
			t.Fatal(name, err)
		}
		lo, hi, ok := Newcombe(k2/n2, n2, k1/n1, n1, 0.95)
		if !ok {
			t.Errorf("%s: not defined", name)
		}
		wantNear(t, name+" lower", lo, v.Lower)
		wantNear(t, name+" upper", hi, v.Upper)
	}
}

func TestProbabilityAbove(t *testing.T) {
	for name, v := range comparisonWorked(t).Bayes {
		var k1, n1, k2, n2 int
		if _, err := fmt.Sscanf(name, "A %d/%d, B %d/%d", &k1, &n1, &k2, &n2); err != nil {
			t.Fatal(name, err)
		}
		p, _ := ProbabilityAbove(k1, n1, k2, n2)
		wantNear(t, name, p, v)
	}
}

func TestMcNemarAndSign(t *testing.T) {
	all := comparisonWorked(t)
	for name, v := range all.McNemar {
		m, ok := McNemar(v.Discordant[0], v.Discordant[1], 10)
		if !ok {
			t.Errorf("%s: not defined", name)
		}
		wantNear(t, name+" exact", m.Exact, v.Exact)
		wantNear(t, name+" mid-p", m.MidP, v.Mid)
		wantNear(t, name+" chi", m.ChiSquared, v.Chi)
	}
	for name, v := range all.Sign {
		var won, lost int
		if _, err := fmt.Sscanf(name, "w%d_l%d", &won, &lost); err != nil {
			t.Fatal(name, err)
		}
		p, _ := SignTest(won, lost)
		wantNear(t, name, p, v)
	}
	if m, ok := McNemar(0, 0, 4); !ok || m.MidP != 1 || m.Lowest != 1.0/16 || m.Given != 1 {
		t.Errorf("no pair that differs: %+v, %v", m, ok)
	}
}

func TestAdjusted(t *testing.T) {
	v := comparisonWorked(t).Multiple
	shuffled, back := []int{3, 0, 4, 1, 2}, make([]float64, 5)
	for i, at := range shuffled {
		back[i] = v.P[at]
	}
	holm, bh, bonf := Holm(back), BenjaminiHochberg(back), Bonferroni(back)
	for i, at := range shuffled {
		wantNear(t, "holm", holm[i], v.Holm[at])
		wantNear(t, "bh", bh[i], v.BH[at])
		wantNear(t, "bonferroni", bonf[i], v.Bonf[at])
	}
	if len(Holm(nil)) != 0 {
		t.Error("Holm(nil) has values")
	}
}

func TestPower(t *testing.T) {
	v, tested := comparisonWorked(t).Power, 0
	for name, value := range v {
		var d, w, s float64
		var k int
		if _, err := fmt.Sscanf(name, "delta=%f,w2=%f,s2=%f,K=%d", &d, &w, &s, &k); err != nil {
			continue
		}
		tested++
		n, _ := Power{Level: 0.95, Target: 0.8, Between: w, WithinA: s, WithinB: s, RepeatsA: k, RepeatsB: k}.Stories(d)
		wantNear(t, name, n, value.(float64))
	}
	p := Power{Level: 0.95, Target: 0.8, Between: 0.02, WithinA: 0.1, WithinB: 0.1, RepeatsA: 5, RepeatsB: 5}
	for n, name := range map[int]string{20: "mde_n20_K5", 40: "mde_n40_K5"} {
		d, _ := p.Detectable(n)
		wantNear(t, name, d, v[name].(float64))
	}
	if tested != 4 {
		t.Errorf("tested %d; want 4", tested)
	}
}

func TestFires(t *testing.T) {
	gates := map[string]Gate{"any_drop": AnyDrop, "drop_ge_10pts": DropOf(0.1), "newcombe_upper_lt_0": NewcombeBelow(0.95)}
	tested := 0
	for name, values := range comparisonWorked(t).Gate {
		for gate, v := range values {
			var n int
			var p1, p2 float64
			g, rates := gates[gate], strings.NewReplacer("->", " ")
			if name == "newcombe_power" {
				g = gates["newcombe_upper_lt_0"]
				if _, err := fmt.Sscanf(rates.Replace(gate), "n=%d %f %f", &n, &p1, &p2); err != nil {
					t.Fatal(err)
				}
			} else if _, err := fmt.Sscanf(name, "n=%d,p=%f", &n, &p1); err != nil {
				t.Fatal(err)
			} else {
				p2 = p1
			}
			tested++
			wantNear(t, name+" "+gate, Fires(g, n, p1, p2), v)
		}
	}
	if tested != 16 {
		t.Errorf("tested %d; want 16", tested)
	}
}

func TestBootstrap(t *testing.T) {
	v := comparisonWorked(t).Bootstrap
	b, ok := Bootstrap(v.Diffs, 0.95)
	if !ok || b.Resamples != v.Resamples {
		t.Fatalf("got %+v, %v", b, ok)
	}
	wantNear(t, "mean", b.Mean, v.Mean)
	wantNear(t, "se", b.SE, v.SE)
	wantNear(t, "lo", b.Lo, v.Lo)
	wantNear(t, "hi", b.Hi, v.Hi)
	wantNear(t, "not above 0", b.NotAbove, v.Below)
}

func TestEffectSizes(t *testing.T) {
	all := comparisonWorked(t)
	dz, _ := CohenDz(all.Paired.Diffs)
	d, _ := CohenD(all.Paired.A, all.Paired.B)
	cliff, _ := CliffsDelta(all.Paired.A, all.Paired.B)
	wantNear(t, "dz", dz, all.Effect.Dz)
	wantNear(t, "d", d, all.Effect.D)
	wantNear(t, "hedges", HedgesCorrection(7), all.Effect.Hedges)
	wantNear(t, "cliff", cliff, all.Effect.Cliff)
}

func TestFisherExact(t *testing.T) {
	for _, tt := range []struct {
		k1, n1, k2, n2 int
		p, lowest      float64
		given          float64
	}{
		{3, 3, 0, 3, 0.1, 0.1, 0.1},
		{5, 5, 0, 5, 2.0 / 252, 2.0 / 252, 2.0 / 252},
		{3, 4, 1, 4, 0.4857142857142857, 2.0 / 70, 2.0 / 70}, // the lady tasting tea
		{5, 5, 5, 5, 1, 2.0 / 252, 1},
		{1, 1, 0, 2, 1.0 / 3, 1.0 / 3, 1.0 / 3},
	} {
		f, ok := FisherExact(tt.k1, tt.n1, tt.k2, tt.n2)
		if !ok || !near(f.P, tt.p) || !near(f.Lowest, tt.lowest) || !near(f.Given, tt.given) {
			t.Errorf("FisherExact(%d/%d, %d/%d) = %+v, %v; want %v, %v", tt.k1, tt.n1, tt.k2, tt.n2, f, ok, tt.p, tt.lowest)
		}
	}
}

// TestFisherStrata has two tables of 2 and 2: either alone can say one third at most.
func TestFisherStrata(t *testing.T) {
	all := Counts{K1: 2, N1: 2, K2: 0, N2: 2}
	f, ok := FisherStrata([]Counts{all, all})
	if !ok || !near(f.P, 2.0/36) || !near(f.Lowest, 2.0/36) {
		t.Errorf("got %+v, %v; want 1/18", f, ok)
	}
	f, _ = FisherStrata([]Counts{all, {K1: 0, N1: 2, K2: 2, N2: 2}})
	if !near(f.P, 1) {
		t.Errorf("tables that say the opposite: %+v; want 1", f)
	}
	if _, ok := FisherStrata(nil); ok {
		t.Error("no table is tested")
	}
}

// TestComparisonsOfNothing has what no comparison is defined for, and what divides by
// zero where nobody looks.
func TestComparisonsOfNothing(t *testing.T) {
	nan := math.NaN()
	if _, ok := DifferencesT([]float64{1}, 0.95); ok {
		t.Error("one difference has an interval")
	}
	if _, ok := DifferencesT([]float64{1, nan}, 0.95); ok {
		t.Error("NaN has an interval")
	}
	if p, ok := DifferencesT([]float64{0.1, 0.1, 0.1}, 0.95); !ok || p.TOK || p.SE != 0 || p.Lo != 0.1 || p.Hi != 0.1 {
		t.Errorf("equal differences: %+v, %v", p, ok)
	}
	if f, ok := SignFlip([]float64{0, 0, 0}, 10, 1); !ok || f.P != 1 {
		t.Errorf("no difference: %+v, %v", f, ok)
	}
	if _, ok := SignFlip([]float64{nan}, 10, 1); ok {
		t.Error("NaN is tested")
	}
	if _, ok := SignFlip(nil, 10, 1); ok {
		t.Error("nothing is tested")
	}
	if _, _, ok := Newcombe(0.5, 0, 0.5, 3, 0.95); ok {
		t.Error("a rate of no trials has an interval")
	}
	if _, ok := FisherExact(0, 0, 1, 2); ok {
		t.Error("a table without a row is tested")
	}
	if _, ok := McNemar(3, 3, 5); ok {
		t.Error("more pairs differ than there are")
	}
	if _, ok := SignTest(0, 0); ok {
		t.Error("ties alone are tested")
	}
	if _, ok := CohenDz([]float64{0.2, 0.2}); ok {
		t.Error("equal differences have an effect size")
	}
	if _, ok := WelchT([]float64{1, 1}, []float64{2, 2}); ok {
		t.Error("values that do not vary are tested")
	}
	if _, ok := DetectableBy(0, 4, 0.95, 0.8); ok {
		t.Error("differences that do not vary have a detectable one")
	}
	if _, ok := Bootstrap(make([]float64, 8), 0.95); ok {
		t.Error("sixteen million resamples are counted")
	}
	if !math.IsNaN(SortedQuantile(nil, 0.5)) {
		t.Error("nothing has a median")
	}
}

// FuzzComparisons wants p-values in 0..1 for whatever comes.
func FuzzComparisons(f *testing.F) {
	f.Add(0.1, -0.3, 0.2, 1e300, 3, 5)
	f.Add(0.0, 0.0, math.Inf(1), math.NaN(), 0, 0)
	f.Fuzz(func(t *testing.T, a, b, c, d float64, k, n int) {
		x := []float64{a, b, c, d}
		if p, ok := DifferencesT(x, 0.95); ok && p.TOK && !(p.P >= 0 && p.P <= 1) {
			t.Errorf("DifferencesT(%v) = %+v", x, p)
		}
		if s, ok := SignFlip(x, 50, 1); ok && !(s.P >= 0 && s.P <= 1) {
			t.Errorf("SignFlip(%v) = %+v", x, s)
		}
		n, k = n%200, k%200
		if r, ok := FisherExact(k, n, n-k, n); ok && !(r.P >= 0 && r.P <= 1) {
			t.Errorf("FisherExact(%d, %d) = %+v", k, n, r)
		}
		if m, ok := McNemar(k, n, k+n); ok && !(m.MidP >= 0 && m.MidP <= 1) {
			t.Errorf("McNemar(%d, %d) = %+v", k, n, m)
		}
	})
}

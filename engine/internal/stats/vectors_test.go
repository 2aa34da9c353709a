package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vector decodes one part of the worked inputs and outputs.
func vector(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/stat_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if all[name] == nil {
		t.Fatalf("no vector %q", name)
	}
	if err := json.Unmarshal(all[name], into); err != nil {
		t.Fatal(err)
	}
}

// is holds a number against a vector's, to 1e-9.
func is(t *testing.T, name string, got float64, ok bool, want float64) {
	t.Helper()
	if !ok || !near(got, want) {
		t.Errorf("%s = %.17g, %v; want %.17g", name, got, ok, want)
	}
}

func isInterval(t *testing.T, name string, lo, hi float64, ok bool, want []float64) {
	t.Helper()
	is(t, name+" low", lo, ok, want[0])
	is(t, name+" high", hi, ok, want[1])
}

func isPtr(t *testing.T, name string, got *float64, want float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is absent; want %v", name, want)
		return
	}
	is(t, name, *got, true, want)
}

func TestVectorMeans(t *testing.T) {
	var v struct {
		Inputs []float64
		Mean   float64
		SD     float64   `json:"sd_sample"`
		PopSD  float64   `json:"sd_population"`
		SE     float64   `json:"se"`
		T      float64   `json:"t975_df4"`
		CIT    []float64 `json:"ci95_t"`
		CIZ    []float64 `json:"ci95_z"`
	}
	vector(t, "01_mean_sd_se_tci", &v)
	got, ok := Mean(v.Inputs)
	is(t, "mean", got, ok, v.Mean)
	got, ok = Stdev(v.Inputs)
	is(t, "stdev", got, ok, v.SD)
	got, ok = PopulationStdev(v.Inputs)
	is(t, "population stdev", got, ok, v.PopSD)
	got, ok = StdErr(v.Inputs)
	is(t, "standard error", got, ok, v.SE)
	got, ok = StudentT(0.95, 4)
	is(t, "t", got, ok, v.T)
	lo, hi, ok := TInterval(v.Inputs, 0.95)
	isInterval(t, "t interval", lo, hi, ok, v.CIT)
	lo, hi, ok = ZInterval(v.Inputs, 0.95)
	isInterval(t, "z interval", lo, hi, ok, v.CIZ)
}

func TestVectorStudentT(t *testing.T) {
	var v map[string]float64
	vector(t, "02_t_critical_975", &v)
	for name, want := range v {
		df, err := strconv.Atoi(strings.TrimPrefix(name, "df"))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := StudentT(0.95, float64(df))
		is(t, name, got, ok, want)
	}
}

func TestVectorClustered(t *testing.T) {
	type clustered struct {
		Inputs        map[string][]float64
		Mean          float64
		Naive         float64   `json:"se_naive_n_minus_1"`
		NaiveUnequal  float64   `json:"se_naive"`
		Miller        float64   `json:"se_miller_eq"`
		CR0           float64   `json:"se_CR0"`
		CR1           float64   `json:"se_CR1_inspect_ai"`
		MeansErr      float64   `json:"se_of_cluster_means_equal_sizes"`
		Ratio         float64   `json:"ratio_CR1_to_naive"`
		T             float64   `json:"t975_df_clusters_minus_1"`
		Interval      []float64 `json:"ci95"`
		groups, means []float64
	}
	groups := func(c clustered) (all [][]float64, means []float64) {
		for _, name := range []string{"A", "B", "C", "D"} {
			if x := c.Inputs[name]; x != nil {
				m, _ := Mean(x)
				all, means = append(all, x), append(means, m)
			}
		}
		return all, means
	}
	var v clustered
	vector(t, "03_clustered_se", &v)
	g, means := groups(v)
	c, ok := ClusteredErr(g)
	is(t, "mean", c.Mean, ok, v.Mean)
	is(t, "naive", c.Naive, ok, v.Naive)
	is(t, "Miller", c.Miller, ok, v.Miller)
	is(t, "CR0", c.CR0, ok, v.CR0)
	is(t, "CR1", c.CR1, ok, v.CR1)
	is(t, "ratio", c.CR1/c.Naive, ok, v.Ratio)
	se, ok := StdErr(means)
	is(t, "error of means", se, ok, v.MeansErr)
	factor, ok := StudentT(0.95, 3)
	is(t, "t", factor, ok, v.T)
	lo, hi, ok := TInterval(means, 0.95)
	isInterval(t, "interval", lo, hi, ok, v.Interval)

	var u clustered
	vector(t, "03b_clustered_se_unequal", &u)
	g, _ = groups(u)
	c, ok = ClusteredErr(g)
	is(t, "unequal: mean", c.Mean, ok, u.Mean)
	is(t, "unequal: naive", c.Naive, ok, u.NaiveUnequal)
	is(t, "unequal: CR0", c.CR0, ok, u.CR0)
	is(t, "unequal: CR1", c.CR1, ok, u.CR1)
}

func TestVectorVariance(t *testing.T) {
	var v struct {
		Inputs    [][]float64
		Grand     float64 `json:"grand_mean"`
		MSB, MSW  float64
		Within    float64 `json:"var_within_repeat"`
		Between   float64 `json:"var_between_story"`
		ICC       float64 `json:"icc1"`
		Effect    float64 `json:"design_effect"`
		N         int     `json:"n_total"`
		Effective float64 `json:"n_effective"`
		StdErr    float64 `json:"se_mean_from_story_means"`
		Fixed     float64 `json:"se_mean_fixed_story_set"`
	}
	vector(t, "04_variance_components", &v)
	got := VarianceOf(v.Inputs)
	if got.N != v.N || got.Groups != 4 || got.Clamped {
		t.Errorf("N = %d, Groups = %d, Clamped = %v; want %d, 4, false", got.N, got.Groups, got.Clamped, v.N)
	}
	isPtr(t, "grand mean", got.Grand, v.Grand)
	isPtr(t, "MSB", got.MSB, v.MSB)
	isPtr(t, "MSW", got.MSW, v.MSW)
	isPtr(t, "within", got.MSW, v.Within)
	isPtr(t, "between", got.Between, v.Between)
	isPtr(t, "ICC", got.ICC, v.ICC)
	isPtr(t, "design effect", got.DesignEffect, v.Effect)
	isPtr(t, "effective n", got.Effective, v.Effective)
	isPtr(t, "standard error", got.StdErr, v.StdErr)
	isPtr(t, "standard error, fixed", got.FixedStdErr, v.Fixed)
}

func TestVectorRates(t *testing.T) {
	var v map[string]struct {
		Wald, Wilson, Jeffreys []float64
		Uniform                []float64 `json:"beta_uniform"`
		Exact                  []float64 `json:"clopper_pearson"`
		Posterior              float64   `json:"posterior_mean_uniform"`
	}
	vector(t, "06_binomial_intervals", &v)
	for name, want := range v {
		var k, n int
		if _, err := fmt.Sscanf(name, "%d/%d", &k, &n); err != nil {
			t.Fatal(err)
		}
		lo, hi, ok := Wald(k, n, 0.95)
		isInterval(t, name+" Wald", lo, hi, ok, want.Wald)
		lo, hi, ok = Wilson(k, n, 0.95)
		isInterval(t, name+" Wilson", lo, hi, ok, want.Wilson)
		lo, hi, ok = Jeffreys(k, n, 0.95)
		isInterval(t, name+" Jeffreys", lo, hi, ok, want.Jeffreys)
		lo, hi, ok = Credible(k, n, 1, 1, 0.95)
		isInterval(t, name+" uniform", lo, hi, ok, want.Uniform)
		lo, hi, ok = ClopperPearson(k, n, 0.95)
		isInterval(t, name+" exact", lo, hi, ok, want.Exact)
		mean, ok := PosteriorMean(k, n, 1, 1)
		is(t, name+" posterior mean", mean, ok, want.Posterior)
	}
}

func TestVectorPassK(t *testing.T) {
	type passK struct {
		At     map[string]float64 `json:"pass_at"`
		Hat    map[string]float64 `json:"pass_hat"`
		Inputs map[string][2]int
		Value  float64
		PassAt float64 `json:"pass_at_3"`
	}
	var v map[string]passK
	vector(t, "09_pass_at_k_and_pass_hat_k", &v)
	for _, tt := range []struct {
		n, c int
		want passK
	}{{5, 3, v["n=5,c=3"]}, {4, 4, v["n=4,c=4"]}, {8, 6, v["n=8,c=6"]}} {
		if len(tt.want.At) != tt.n {
			t.Fatalf("%d values of k; want %d", len(tt.want.At), tt.n)
		}
		for k := 1; k <= tt.n; k++ {
			name := fmt.Sprintf("n=%d c=%d k=%d", tt.n, tt.c, k)
			got, ok := PassAt(tt.n, tt.c, k)
			is(t, name+" pass@k", got, ok, tt.want.At[strconv.Itoa(k)])
			got, ok = PassHat(tt.n, tt.c, k)
			is(t, name+" pass^k", got, ok, tt.want.Hat[strconv.Itoa(k)])
		}
		if _, ok := PassAt(tt.n, tt.c, tt.n+1); ok {
			t.Errorf("pass@%d of %d trials is defined", tt.n+1, tt.n)
		}
		if _, ok := PassHat(tt.n, tt.c, tt.n+1); ok {
			t.Errorf("pass^%d of %d trials is defined", tt.n+1, tt.n)
		}
	}
	suite := v["suite_pass_hat_3"]
	var at, hat []float64
	for _, in := range suite.Inputs {
		a, _ := PassAt(in[0], in[1], 3)
		h, _ := PassHat(in[0], in[1], 3)
		at, hat = append(at, a), append(hat, h)
	}
	got, ok := Mean(hat)
	is(t, "pass^3 of a suite", got, ok, suite.Value)
	got, ok = Mean(at)
	is(t, "pass@3 of a suite", got, ok, suite.PassAt)
}

func TestVectorFlakiness(t *testing.T) {
	var raw map[string]json.RawMessage
	vector(t, "24_flakiness", &raw)
	seen := 0
	for name, b := range raw {
		if strings.Trim(name, "PF") != "" {
			continue
		}
		seen++
		var want struct {
			Rate     float64 `json:"pass_rate"`
			Flip     float64 `json:"flip_rate"`
			Flaky    bool
			Variance float64 `json:"bernoulli_var_unbiased"`
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		var verdicts []bool
		var values []float64
		for _, c := range name {
			verdicts = append(verdicts, c == 'P')
			values = append(values, map[rune]float64{'P': 1}[c])
		}
		rate, ok := Mean(values)
		is(t, name+" rate", rate, ok, want.Rate)
		flip, ok := FlipRate(verdicts)
		is(t, name+" flip rate", flip, ok, want.Flip)
		if got := Flips(verdicts) > 0; got != want.Flaky {
			t.Errorf("%s flaky = %v; want %v", name, got, want.Flaky)
		}
		sd, ok := Stdev(values)
		is(t, name+" variance", sd*sd, ok, want.Variance)
	}
	if seen != 4 {
		t.Errorf("%d sequences; want 4", seen)
	}
	var both, needed map[string]float64
	for name, into := range map[string]*map[string]float64{"p_see_both_outcomes_in_5_runs": &both, "runs_needed_to_see_one_failure_95pct": &needed} {
		if err := json.Unmarshal(raw[name], into); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range both {
		p, _ := strconv.ParseFloat(name, 64)
		got, ok := BothSeen(p, 5)
		is(t, "both seen at "+name, got, ok, want)
	}
	for name, want := range needed {
		p, _ := strconv.ParseFloat(name, 64)
		got, ok := TrialsToFail(p, 0.95)
		is(t, "trials at "+name, float64(got), ok, want)
	}
}

func TestVarianceUnbalanced(t *testing.T) {
	// By hand: means 2 and 5, n 2 and 1 and 3, n0 = (6 - 14/6)/2 = 11/6; MSW = (2+2)/3.
	got := VarianceOf([][]float64{{1, 3}, {5}, {7, 8, 9}, nil})
	if got.Groups != 3 || got.N != 6 {
		t.Errorf("groups %d, n %d; want 3, 6", got.Groups, got.N)
	}
	msb := (2*math.Pow(2-5.5, 2) + math.Pow(5-5.5, 2) + 3*math.Pow(8-5.5, 2)) / 2
	isPtr(t, "MSB", got.MSB, msb)
	isPtr(t, "MSW", got.MSW, 4.0/3)
	between := (msb - 4.0/3) / (11.0 / 6)
	isPtr(t, "between", got.Between, between)
	isPtr(t, "ICC", got.ICC, between/(between+4.0/3))
	isPtr(t, "design effect", got.DesignEffect, 1+(14.0/6-1)**got.ICC)
	isPtr(t, "fixed error", got.FixedStdErr, math.Sqrt(4.0/3*(0.5+1+1.0/3))/3)
	isPtr(t, "error", got.StdErr, math.Sqrt(3.0))
}

func TestVarianceAbsent(t *testing.T) {
	for _, tt := range []struct {
		name                                     string
		groups                                   [][]float64
		msb, msw, between, icc, effective, error bool
	}{
		{"nothing", nil, false, false, false, false, false, false},
		{"empty groups", [][]float64{{}, nil}, false, false, false, false, false, false},
		{"one value", [][]float64{{1}}, false, false, false, false, false, false},
		{"one group", [][]float64{{1, 2}}, false, true, false, false, false, false},
		{"one value each", [][]float64{{1}, {2}}, true, false, false, false, false, true},
		{"all equal", [][]float64{{0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}}, true, true, true, false, false, true},
		{"whole", [][]float64{{1, 2}, {2, 4}}, true, true, true, true, true, true},
	} {
		v := VarianceOf(tt.groups)
		got := []bool{v.MSB != nil, v.MSW != nil, v.Between != nil, v.ICC != nil, v.Effective != nil, v.StdErr != nil}
		want := []bool{tt.msb, tt.msw, tt.between, tt.icc, tt.effective, tt.error}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: defined %v; want %v", tt.name, got, want)
		}
	}
	if v := VarianceOf([][]float64{{1, 3}, {3, 1}}); !v.Clamped || *v.Between != 0 || *v.ICC != 0 || *v.DesignEffect != 1 || *v.Effective != 4 {
		t.Errorf("means alike: %+v; want a part below 0 given as 0, and said", v)
	}
}

func TestUndefined(t *testing.T) {
	for name, ok := range map[string]bool{
		"error of one":          second(StdErr([]float64{1})),
		"population of none":    second(PopulationStdev(nil)),
		"z of one":              third(ZInterval([]float64{1}, 0.95)),
		"t of no freedom":       second(StudentT(0.95, 0)),
		"Wald of none":          third(Wald(0, 0, 0.95)),
		"exact of none":         third(ClopperPearson(0, 0, 0.95)),
		"Jeffreys of none":      third(Jeffreys(0, 0, 0.95)),
		"credible of none":      third(Credible(0, 0, 1, 1, 0.95)),
		"more passes than n":    third(Wilson(3, 2, 0.95)),
		"posterior of none":     second(PosteriorMean(0, 0, 1, 1)),
		"pass@0":                second(PassAt(3, 1, 0)),
		"pass^k of no trials":   second(PassHat(0, 0, 1)),
		"flips of one":          second(FlipRate([]bool{true})),
		"both in none":          second(BothSeen(0.5, 0)),
		"both at NaN":           second(BothSeen(math.NaN(), 2)),
		"median of none":        second(MedianShare(0)),
		"one cluster":           secondOf(ClusteredErr([][]float64{{1, 2}, nil})),
		"a failure that cannot": secondInt(TrialsToFail(1, 0.95)),
	} {
		if ok {
			t.Errorf("%s is defined", name)
		}
	}
}

func second(_ float64, ok bool) bool     { return ok }
func third(_, _ float64, ok bool) bool   { return ok }
func secondOf(_ Clustered, ok bool) bool { return ok }
func secondInt(_ int, ok bool) bool      { return ok }

func TestMedianShare(t *testing.T) {
	last := 2.0
	for n := 1; n <= 40; n++ {
		got, ok := MedianShare(n)
		if !ok || got >= last || got < 1/float64(n)-1e-9 {
			t.Errorf("MedianShare(%d) = %v, %v; want less than %v and no less than a mean's", n, got, ok, last)
		}
		if n != 11 { // where the table ends, for an even and an odd number
			last = got
		}
	}
}

func TestVectorPairwise(t *testing.T) {
	var v struct {
		Verdicts    [][2]string
		Resolved    []string
		A           int     `json:"A_wins"`
		B           int     `json:"B_wins"`
		Ties        int     `json:"ties"`
		WinRate     float64 `json:"B_win_rate_ties_half"`
		Consistency float64 `json:"order_consistency"`
		First       float64 `json:"first_position_pick_rate"`
	}
	vector(t, "20_pairwise_swap", &v)
	names := map[string]Preference{"tie": Tie, "A": PreferA, "B": PreferB}
	var verdicts [][2]Preference
	for _, pair := range v.Verdicts {
		verdicts = append(verdicts, [2]Preference{names[pair[0]], names[pair[1]]})
	}
	p := ResolvePairs(verdicts)
	for i, want := range v.Resolved {
		if p.Resolved[i] != names[want] {
			t.Errorf("pair %d = %v; want %s", i, p.Resolved[i], want)
		}
	}
	if p.A != v.A || p.B != v.B || p.Ties != v.Ties {
		t.Errorf("A, B, ties = %d, %d, %d; want %d, %d, %d", p.A, p.B, p.Ties, v.A, v.B, v.Ties)
	}
	got, ok := p.WinRateB()
	is(t, "win rate", got, ok, v.WinRate)
	got, ok = p.Consistency()
	is(t, "consistency", got, ok, v.Consistency)
	got, ok = p.FirstRate()
	is(t, "first rate", got, ok, v.First)
	none := ResolvePairs(nil)
	if second(none.WinRateB()) || second(none.Consistency()) || second(none.FirstRate()) {
		t.Error("rates of no pairs are defined")
	}
}

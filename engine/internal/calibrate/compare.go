package calibrate

import (
	"cmp"
	"math"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// Enough is how many labelled trials make figures worth something: below it a
// kappa's interval is about as wide as the scale of what kappas mean.
const Enough = 30

// maxUnused bounds how many labels are named that nothing is made of.
const maxUnused = 5

// level is that of intervals, and width how many standard errors it takes to each
// side.
const level, width = 0.95, 1.959963984540054

// Calibration is how judges agree with people.
type Calibration struct {
	Run string `json:"run"`
	// Levels are those of the labels' scale; Pass is the lowest that is a pass.
	Levels int     `json:"levels"`
	Pass   int     `json:"pass"`
	Scores []Score `json:"scores"`
	// Unused counts labels of trials that the run does not have, and of scores
	// without a value; UnusedFirst names the first of them.
	Unused      int      `json:"unused"`
	UnusedFirst []string `json:"unused_first,omitempty"`
}

// Score is one score over all stories, and story by story.
type Score struct {
	Score   string  `json:"score"`
	All     Figures `json:"all"`
	Stories []Story `json:"stories"`
}

// Story is a story's figures.
type Story struct {
	Story string `json:"story"`
	Figures
}

// Figures compare a judge with people. What is not defined is absent. The value of
// people is the median of their labels, the lower of two; the judge's is its value
// on their scale, rounded to a level but for Bias and Distance.
type Figures struct {
	// Trials have both labels and a value; TooFew says that they are fewer than
	// [Enough].
	Trials    int  `json:"trials"`
	Labellers int  `json:"labellers"`
	TooFew    bool `json:"too_few,omitempty"`
	// Intervals are of 95 %: Wilson's for the agreement; for kappas 1.96 standard errors
	// to each side, cut to -1..1, and absent where no error can be told.
	AgreementInterval []float64 `json:"agreement_interval,omitempty"`
	KappaInterval     []float64 `json:"kappa_interval,omitempty"`
	LinearInterval    []float64 `json:"kappa_linear_interval,omitempty"`
	QuadraticInterval []float64 `json:"kappa_quadratic_interval,omitempty"`
	// Agreement is the share of equal levels, Expected what chance gives.
	Agreement *float64 `json:"agreement,omitempty"`
	Expected  *float64 `json:"expected,omitempty"`
	Kappa     *float64 `json:"kappa,omitempty"`
	Linear    *float64 `json:"kappa_linear,omitempty"`
	Quadratic *float64 `json:"kappa_quadratic,omitempty"`
	// Alphas are among the people alone.
	AlphaNominal  *float64 `json:"alpha_nominal,omitempty"`
	AlphaOrdinal  *float64 `json:"alpha_ordinal,omitempty"`
	AlphaInterval *float64 `json:"alpha_interval,omitempty"`
	// Bias is judge less people, in levels; Distance the mean of how far apart they
	// are.
	Bias     *float64 `json:"bias,omitempty"`
	Distance *float64 `json:"distance,omitempty"`
	// Confusion counts trials: a row for each level of people, a column for each of
	// the judge.
	Confusion [][]int `json:"confusion"`
	// TPR and TNR are the shares of passes and failures of people that are the
	// judge's too. Observed is the judge's rate of passes over all its trials,
	// labelled or not, Corrected what it stands for.
	TPR       *float64 `json:"tpr,omitempty"`
	TNR       *float64 `json:"tnr,omitempty"`
	Observed  *float64 `json:"observed_pass_rate,omitempty"`
	Corrected *float64 `json:"corrected_pass_rate,omitempty"`
}

// Judged is a judge's value of one trial, in 0..1.
type Judged struct {
	Trial, Story, Score string
	Value               float64
}

// JudgedOf are the values of a record's scores, of which labels name some.
func JudgedOf(rec *eval.Record) []Judged {
	var list []Judged
	for _, s := range rec.Scores {
		if s.State == eval.Scored && s.Value != nil {
			list = append(list, Judged{Trial: rec.ID, Story: rec.Story, Score: s.Name, Value: *s.Value})
		}
	}
	return list
}

// Pass is the lowest level of the upper half of a scale.
func Pass(levels int) int { return (levels + 1) / 2 }

// Compare holds judges against labels on a scale of levels, of which those from
// pass on are passes.
func Compare(judged []Judged, labels []Label, levels, pass int) *Calibration {
	type key struct{ trial, score string }
	of := map[key][]Label{}
	for _, l := range labels {
		k := key{l.Trial, l.Score}
		of[k] = append(of[k], l)
	}
	c := &Calibration{Levels: levels, Pass: pass, Unused: len(labels), Scores: []Score{}}
	byScore := map[string][]pair{}
	known := map[key]bool{}
	for _, j := range judged {
		known[key{j.Trial, j.Score}] = true
		p := pair{Judged: j, labels: of[key{j.Trial, j.Score}]}
		c.Unused -= len(p.labels)
		byScore[j.Score] = append(byScore[j.Score], p)
	}
	for _, l := range labels {
		if len(c.UnusedFirst) < maxUnused && !known[key{l.Trial, l.Score}] {
			c.UnusedFirst = append(c.UnusedFirst, l.Score+" of "+l.Trial)
		}
	}
	for name, pairs := range byScore {
		if !slices.ContainsFunc(pairs, func(p pair) bool { return len(p.labels) > 0 }) {
			continue
		}
		s := Score{Score: name, All: c.figures(pairs), Stories: []Story{}}
		for story, some := range byStory(pairs) {
			s.Stories = append(s.Stories, Story{Story: story, Figures: c.figures(some)})
		}
		slices.SortFunc(s.Stories, func(a, b Story) int { return cmp.Compare(a.Story, b.Story) })
		c.Scores = append(c.Scores, s)
	}
	slices.SortFunc(c.Scores, func(a, b Score) int { return cmp.Compare(a.Score, b.Score) })
	return c
}

// pair is a judge's value with the labels of the same score and trial, if any.
type pair struct {
	Judged
	labels []Label
}

func byStory(pairs []pair) map[string][]pair {
	of := map[string][]pair{}
	for _, p := range pairs {
		of[p.Story] = append(of[p.Story], p)
	}
	for story, list := range of {
		if !slices.ContainsFunc(list, func(p pair) bool { return len(p.labels) > 0 }) {
			delete(of, story)
		}
	}
	return of
}

func (c *Calibration) figures(pairs []pair) Figures {
	pairs = slices.SortedFunc(slices.Values(pairs), func(a, b pair) int { return cmp.Compare(a.Trial, b.Trial) })
	top := float64(c.Levels - 1)
	f := Figures{Confusion: make([][]int, c.Levels)}
	for i := range f.Confusion {
		f.Confusion[i] = make([]int, c.Levels)
	}
	var human, judge, exact []float64
	var units [][]float64
	var passH, passJ []bool
	people := map[string]bool{}
	observed := 0
	for _, p := range pairs {
		level := math.Round(p.Value * top)
		if int(level) >= c.Pass {
			observed++
		}
		if len(p.labels) == 0 {
			continue
		}
		var unit []float64
		for _, l := range p.labels {
			people[l.Labeller] = true
			unit = append(unit, float64(l.Value))
		}
		slices.Sort(unit)
		h := unit[(len(unit)-1)/2]
		units = append(units, unit)
		human, judge, exact = append(human, h), append(judge, level), append(exact, p.Value*top)
		passH, passJ = append(passH, int(h) >= c.Pass), append(passJ, int(level) >= c.Pass)
		f.Confusion[int(h)][int(level)]++
	}
	f.Trials, f.Labellers, f.TooFew = len(human), len(people), len(human) < Enough
	f.agree(human, judge, exact, units)
	f.rates(stats.RatesOf(passH, passJ), observed, len(pairs))
	return f
}

func (f *Figures) agree(human, judge, exact []float64, units [][]float64) {
	if share, expected, ok := stats.Agreement(human, judge); ok {
		f.Agreement, f.Expected = &share, &expected
	}
	equal := 0
	for i := range human {
		if human[i] == judge[i] {
			equal++
		}
	}
	if lo, hi, ok := stats.Wilson(equal, len(human), level); ok {
		f.AgreementInterval = []float64{lo, hi}
	}
	if bias, distance, ok := stats.Bias(exact, human); ok {
		f.Bias, f.Distance = &bias, &distance
	}
	f.Kappa, f.KappaInterval = kappa(human, judge, stats.Nominal)
	f.Linear, f.LinearInterval = kappa(human, judge, stats.Linear)
	f.Quadratic, f.QuadraticInterval = kappa(human, judge, stats.Quadratic)
	f.AlphaNominal = known(stats.Alpha(units, stats.Nominal))
	f.AlphaOrdinal = known(stats.Alpha(units, stats.Ordinal))
	f.AlphaInterval = known(stats.Alpha(units, stats.Quadratic))
}

// kappa is Cohen's with its interval.
func kappa(human, judge []float64, m stats.Metric) (k *float64, interval []float64) {
	v, ok := stats.Kappa(human, judge, m)
	if !ok {
		return nil, nil
	}
	if se, ok := stats.KappaStdErr(human, judge, m); ok {
		interval = []float64{max(-1, v-width*se), min(1, v+width*se)}
	}
	return &v, interval
}

func (f *Figures) rates(r stats.Rates, passed, n int) {
	f.TPR, f.TNR = known(r.TPR()), known(r.TNR())
	if n == 0 {
		return
	}
	observed := float64(passed) / float64(n)
	f.Observed, f.Corrected = &observed, known(r.Corrected(observed))
}

func known(v float64, ok bool) *float64 {
	if !ok {
		return nil
	}
	return &v
}

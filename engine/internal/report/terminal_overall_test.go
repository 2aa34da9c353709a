package report

import (
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

// folded is the summary of records of the stories' trials, r1 onwards.
func folded(t *testing.T, scores map[string][]eval.Score, status map[string]string) *eval.Summary {
	t.Helper()
	var f summary.Fold
	run := &eval.Run{ID: "r", Suite: "x"}
	for _, story := range []string{"a", "b"} {
		for i, c := range status[story] {
			tr := eval.Trial{Story: story, Host: "h", Repeat: i + 1}
			r := &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed}
			passed := c == 'P'
			if !passed {
				r.Status = eval.StatusFailed
			}
			r.Scores = []eval.Score{{Name: "check/x", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, State: eval.Scored, Value: new(map[bool]float64{true: 1}[passed]), Passed: &passed}}
			if i < len(scores[story]) {
				r.Scores = append(r.Scores, scores[story][i])
			}
			run.Trials = append(run.Trials, tr)
			f.Add(r)
		}
	}
	return f.Summary(run, time.Time{}, false)
}

func judged(v float64, samples ...float64) eval.Score {
	return eval.Score{Name: "judge/visual", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.Scored, Value: &v, Samples: samples}
}

func shown(s *eval.Summary) string {
	var b strings.Builder
	Terminal(&b, s, nil, Style{})
	return b.String()
}

// Three held asserts and a quality of 0.40, 0.80 and 0.85 are two facts.
func TestTerminalSeedCase(t *testing.T) {
	got := shown(folded(t, map[string][]eval.Score{"a": {judged(0.40), judged(0.80), judged(0.85)}}, map[string]string{"a": "PPP"}))
	for _, want := range []string{
		"  h                          3 passed  outcome 1.00",
		"      judge/visual                   n=3 mean=0.68 stdev=0.25  [0.40 0.80 0.85]\n",
		"reliability\n  h                          pass@3 1.00  pass^3 1.00  1 story\n",
		"variance\n  h\n      judge/visual                   story not known  repeat 0.0608  judge not known\n",
		"          one story cannot show what stories differ by\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "flaky") || strings.Contains(got, "over stories") {
		t.Errorf("one steady story is called flaky, or shown over stories:\n%s", got)
	}
}

func TestTerminalOverStories(t *testing.T) {
	got := shown(folded(t, map[string][]eval.Score{
		"a": {judged(0.5, 0.4, 0.6), judged(0.7, 0.6, 0.8)},
		"b": {judged(0.1, 0.0, 0.2), judged(0.5, 0.4, 0.6)},
	}, map[string]string{"a": "PPFPF", "b": "PP"}))
	for _, want := range []string{
		"      flaky  3 of 5 passed; verdict changed 3 times in 4  pass@2 0.90  pass^2 0.30\n",
		"  h                          pass@2 0.95  pass^2 0.65  2 stories  1 flaky\n",
		"over stories, each weighing the same\n  h\n",
		"      outcome                        mean=0.80 ±0.20 95% [-1.74 3.34]  2 stories, 7 trials\n",
		"      judge/visual                   mean=0.45 ±0.15 95% [-1.46 2.36]  2 stories, 4 trials\n",
		"      judge/visual                   story 0.02  repeat 0.04  judge 0.01  icc=0.29  4 trials worth 3.11\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// What has no value is said to have none.
func TestTerminalUndefined(t *testing.T) {
	s := folded(t, nil, map[string]string{"a": "PF"})
	s.Arms[0].PassAt = []eval.PassK{{K: 3, N: 2, Passed: 1}}
	s.Reliability = []eval.Reliability{{Host: "h", K: 3, Left: 1, Flaky: 1}}
	got := shown(s)
	for _, want := range []string{
		"flaky  1 of 2 passed; verdict changed 1 time in 1  pass@3 and pass^3 undefined for 2 trials\n",
		"pass@3 and pass^3 undefined for fewer than 3 trials with a verdict  1 flaky\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

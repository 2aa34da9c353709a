package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// document folds records as the command does.
func document(t testing.TB, plan []eval.Trial, records ...*eval.Record) *Document {
	t.Helper()
	info := &eval.Run{ID: "20261130T120000Z-3f09ab", Suite: "site", StartedAt: start, Trials: plan, Timeout: time.Minute}
	d := NewDocument(info)
	var fold summary.Fold
	for _, p := range plan {
		fold.Expect(p)
	}
	for _, r := range records {
		fold.Add(r)
		d.Add(r)
	}
	d.Summary = fold.Summary(info, start.Add(time.Minute), false)
	d.Summary.Schema = 1
	return d
}

func write(t testing.TB, f Format, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, d); err != nil {
		t.Fatalf("%s: %v", f, err)
	}
	return b.String()
}

// seed is three trials whose asserts all hold and whose design quality differs, with
// one trial errored and one skipped beside them.
func seed(t testing.TB) *Document {
	t.Helper()
	var plan []eval.Trial
	var records []*eval.Record
	for i := range 5 {
		tr := eval.Trial{Story: "landing", Host: "claude", Repeat: i + 1}
		plan = append(plan, tr)
		r := &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed, Timings: eval.Timings{StartedAt: start, FinishedAt: start.Add(time.Second), Total: 1.5}}
		switch i {
		case 3:
			r.Status, r.Cause, r.Reason = eval.StatusErrored, "rate_limit", "rate_limit: 429 four times"
		case 4:
			r.Status, r.Cause, r.Reason = eval.StatusSkipped, "auth", "auth: the key is wrong"
		default:
			r.Scores = []eval.Score{
				{Name: "check/live", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, State: eval.Scored, Value: new(1.0), Passed: new(true)},
				{Name: "judge/visual", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.Scored, Value: new([]float64{0.40, 0.80, 0.85}[i])},
			}
		}
		records = append(records, r)
	}
	return document(t, plan, records...)
}

func TestSeedReadsRightlyEverywhere(t *testing.T) {
	d := seed(t)
	for f, want := range map[Format][]string{
		FormatText: {
			"3 passed, 1 errored, 1 skipped  outcome 1.00",
			"judge/visual                   n=3 mean=0.68 stdev=0.25  [0.40 0.80 0.85]",
		},
		FormatMarkdown: {
			"| landing |  | claude | 3 passed, 1 errored, 1 skipped | 1 | 0.68 ± 0.25 |",
			"| judge/visual | judge, quality |  | 3 | 0.68 | 0.25 | 0.40 | 0.85 | 0.07 to 1.30 | 1 errored, 1 skipped | 0.40 0.80 0.85 |",
			"| check/live | assert, outcome |  | 3 | 1 | 0 | 1 | 1 | 0.44 to 1 | 1 errored, 1 skipped | 1 1 1 |",
			"Errored by cause: rate\\_limit ×1",
			"| errored | landing | claude | r4 | rate\\_limit | 429 four times |",
			"The run is incomplete: 3 of 5 planned trials have a verdict.",
		},
		FormatHTML: {
			`<th scope="row">judge/visual</th><td>judge, quality</td><td>3</td><td>0.68</td><td>0.25</td><td>0.40</td><td>0.85</td><td>0.07 to 1.30</td>`,
			`0.40 0.80 0.85</td></tr>`,
			`aria-label="outcome, trial by trial: held, held, held, errored, skipped or not run"`,
			`<b class="warn">1</b><span>errored, no evidence of the agent</span>`,
			`3 of 3`,
		},
		FormatJUnit: {
			`<testsuites name="site" time="7.500" tests="1" failures="0" errors="1">`,
			`<property name="score:judge/visual.values" value="0.4 0.8 0.85"></property>`,
			`<property name="score:judge/visual.mean" value="0.68`,
			`<property name="score:judge/visual.stdev" value="0.24664414311581`,
			`<property name="trials.errored" value="1"></property>`,
			`<error type="rate_limit" message="3 passed, 1 errored, 1 skipped">r4 rate_limit: 429 four times`,
			`judge/visual: n=3 mean=0.68 stdev=0.25  [0.40 0.80 0.85]`,
		},
	} {
		got := write(t, f, d)
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s has no\n%s\nin\n%s", f, w, got)
			}
		}
	}
}

func TestSeedInFullPrecision(t *testing.T) {
	d := seed(t)
	rows, err := csv.NewReader(strings.NewReader(write(t, FormatCSV, d))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	found := 0
	for _, row := range rows[1:] {
		for name, want := range map[string]map[string]string{
			"judge/visual": {"kind": "score", "role": "judge", "n": "3", "stdev": "0.24664414311581234", "min": "0.4", "max": "0.85", "values": "0.4 0.8 0.85", "repeats": "1 2 3", "errored": "1", "skipped": "1"},
			"check/live":   {"kind": "score", "role": "assert", "n": "3", "mean": "1", "stdev": "0", "values": "1 1 1"},
			"outcome":      {"kind": "gate", "n": "3", "mean": "1", "trials_passed": "3", "trials_errored": "1", "trials_skipped": "1", "trials_not_run": "0"},
		} {
			if row[column["name"]] != name {
				continue
			}
			found++
			for c, w := range want {
				if got := row[column[c]]; got != w {
					t.Errorf("%s: %s = %q; want %q", name, c, got, w)
				}
			}
		}
	}
	if found != 3 {
		t.Errorf("found %d of the 3 rows", found)
	}
	var s eval.Summary
	if err := json.Unmarshal([]byte(write(t, FormatJSON, d)), &s); err != nil {
		t.Fatal(err)
	}
	st := named(s.Arms[0].Scores, "judge/visual")
	if got := fmt.Sprintf("%d %.4f %.4f %v", st.N, *st.Mean, *st.Stdev, st.Values); got != "3 0.6833 0.2466 [0.4 0.8 0.85]" {
		t.Errorf("JSON: %s", got)
	}
}

func TestOneTrialHasNoStdev(t *testing.T) {
	tr := eval.Trial{Story: "s", Host: "h", Repeat: 1}
	r := &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed, Scores: []eval.Score{
		{Name: "judge/x", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.Scored, Value: new(0.5)},
		{Name: "judge/y", Role: eval.RoleJudge, Dimension: eval.DimensionQuality, State: eval.ScoreSkipped},
	}}
	d := document(t, []eval.Trial{tr}, r)
	for f, want := range map[Format]string{
		FormatText:     "judge/x                        n=1 mean=0.50  [0.50]",
		FormatMarkdown: "| judge/x | judge, quality |  | 1 | 0.50 | – | 0.50 | 0.50 | – |  | 0.50 |",
		FormatHTML:     `<td>0.50</td><td>–</td><td>0.50</td>`,
		FormatCSV:      ",score,judge/x,judge,quality,,false,1,0.5,,0.5,0.5,,,",
		FormatJUnit:    `<property name="score:judge/x.mean" value="0.5"></property>` + "\n" + `      <property name="score:judge/x.values" value="0.5"></property>`,
	} {
		if got := write(t, f, d); !strings.Contains(got, want) {
			t.Errorf("%s has no\n%s\nin\n%s", f, want, got)
		}
	}
	if got := write(t, FormatMarkdown, d); !strings.Contains(got, "| judge/y | judge, quality |  | 0 | – | – | – | – | – | 1 skipped |  |") {
		t.Errorf("what was skipped is not shown apart:\n%s", got)
	}
}

// Nothing at all, and nothing but errors, are reports too.
func TestNothingMeasured(t *testing.T) {
	tr := eval.Trial{Story: "s", Host: "h", Repeat: 1}
	for name, d := range map[string]*Document{
		"no trial": document(t, nil),
		"not run":  document(t, []eval.Trial{tr}),
		"errored":  document(t, []eval.Trial{tr}, &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusErrored, Cause: "host", Reason: "host: broke"}),
	} {
		for _, f := range Formats() {
			got := write(t, f, d)
			if strings.Contains(got, "NaN") || strings.Contains(got, "%!") {
				t.Errorf("%s as %s:\n%s", name, f, got)
			}
		}
		if word, _ := d.verdict(); word != "incomplete" {
			t.Errorf("%s: verdict %q", name, word)
		}
	}
	d := document(t, []eval.Trial{tr})
	if got := write(t, FormatJUnit, d); !strings.Contains(got, `<skipped type="skipped" message="not run">`) {
		t.Errorf("a case without trials:\n%s", got)
	}
	if got := write(t, FormatCSV, d); !strings.Contains(got, ",s,,h,trials,verdict,") || !strings.Contains(got, ",0,0,0,0,1,") {
		t.Errorf("an arm without numbers has no row:\n%s", got)
	}
}

func TestDamageIsSaid(t *testing.T) {
	d := seed(t)
	for i := range maxDamage + 3 {
		d.AddDamage(fmt.Sprintf("trials/x%d/trial.json: it is missing", i))
	}
	for _, f := range []Format{FormatText, FormatMarkdown, FormatHTML} {
		got := write(t, f, d)
		if !strings.Contains(got, "trials/x0/trial.json") || !strings.Contains(got, "and 3 more") {
			t.Errorf("%s does not name what is missing", f)
		}
	}
}

func TestLargeMarkdownSaysWhatIsLeftOut(t *testing.T) {
	var plan []eval.Trial
	var records []*eval.Record
	for i := range 400 {
		tr := eval.Trial{Story: fmt.Sprintf("story-%d", i), Host: "h", Repeat: 1}
		r := &eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed}
		for j := range 20 {
			r.Scores = append(r.Scores, eval.Score{Name: fmt.Sprintf("judge/%s%d", strings.Repeat("x", 60), j), Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, State: eval.Scored, Value: new(0.5)})
		}
		plan, records = append(plan, tr), append(records, r)
	}
	got := write(t, FormatMarkdown, document(t, plan, records...))
	if len(got) > 1<<20 {
		t.Errorf("the report has %d bytes", len(got))
	}
	if !strings.Contains(got, "are left out for size; the other formats have them.") {
		t.Error("it does not say what is left out")
	}
}

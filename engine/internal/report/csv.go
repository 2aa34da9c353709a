package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/engine/eval"
)

// csvColumns are those of [CSV], one row for each quantity of an arm.
var csvColumns = []string{
	"run", "suite", "experiment", "story", "variant", "host",
	"kind", "name", "role", "dimension", "unit", "lower_is_better",
	"n", "mean", "stdev", "min", "max", "interval_low", "interval_high", "mean_std_err", "std_err", "errored", "skipped", "values", "repeats",
	"trials_passed", "trials_failed", "trials_errored", "trials_skipped", "trials_not_run",
	"k", "pass_at_k", "pass_hat_k", "flip_rate", "flaky",
}

// CSV writes the summary's numbers as RFC 4180 has it, in long form and in full
// precision: a row for each gate, score and effort of each arm. What is not defined
// is empty. An arm of which nothing was measured has one row of the kind "trials".
func CSV(w io.Writer, d *Document) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	if err := out.Write(csvColumns); err != nil {
		return err
	}
	for i := range d.Summary.Arms {
		for _, row := range d.csvRows(&d.Summary.Arms[i]) {
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (d *Document) csvRows(a *eval.Arm) [][]string {
	s := d.Summary
	before := []string{csvText(s.Run), csvText(s.Suite), csvText(s.Experiment), csvText(a.Story), csvText(a.Variant), csvText(a.Host)}
	after := append([]string{
		strconv.Itoa(a.Trials.Passed), strconv.Itoa(a.Trials.Failed), strconv.Itoa(a.Trials.Errored), strconv.Itoa(a.Trials.Skipped), strconv.Itoa(d.of(a).notRun(a)),
	}, csvReliability(a)...)
	var rows [][]string
	row := func(middle []string) { rows = append(rows, slices.Concat(before, middle, after)) }
	for _, q := range quantities(a) {
		row(csvStat(q))
	}
	if len(rows) == 0 {
		none := make([]string, len(csvColumns)-len(before)-len(after))
		none[0], none[1] = "trials", "verdict"
		row(none)
	}
	return rows
}

func csvStat(q quantity) []string {
	lo, hi := "", ""
	if len(q.Interval) == 2 {
		lo, hi = precise(q.Interval[0]), precise(q.Interval[1])
	}
	repeats := make([]string, len(q.Repeats))
	for i, r := range q.Repeats {
		repeats[i] = strconv.Itoa(r)
	}
	return []string{
		q.Kind, csvText(q.Name), csvText(string(q.Role)), csvText(string(q.Dimension)), csvText(q.Unit), strconv.FormatBool(q.LowerIsBetter),
		strconv.Itoa(q.N), exact(q.Mean), exact(q.Stdev), exact(q.Min), exact(q.Max), lo, hi, exact(q.MeanStdErr), exact(q.StdErr),
		strconv.Itoa(q.Errored), strconv.Itoa(q.Skipped), raw(q.Stat, 0, precise), strings.Join(repeats, " "),
	}
}

// csvReliability are k, pass@k, pass^k, the flip rate and the flaky mark.
func csvReliability(a *eval.Arm) []string {
	out := make([]string, 5)
	if len(a.PassAt) > 0 {
		p := a.PassAt[0]
		out[0], out[1], out[2] = strconv.Itoa(p.K), exact(p.PassAt), exact(p.PassHat)
	}
	if a.Flaky != nil {
		out[3], out[4] = exact(a.Flaky.FlipRate), strconv.FormatBool(a.Flaky.Flaky)
	}
	return out
}

// csvText is untrusted text as a cell: one line, and no formula for the spreadsheet
// that opens it.
func csvText(text string) string {
	text = Line(text, mdCell)
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + text
	}
	return text
}

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/internal/calibrate"
)

// maxConfusion is the largest scale whose confusion table fits a terminal.
const maxConfusion = 11

// Calibration writes for people how judges agree with people.
func Calibration(w io.Writer, c *calibrate.Calibration, st Style) {
	p := &printer{w: w, st: st}
	p.line("%s  labels 0 to %d, a pass from %d", c.Run, c.Levels-1, c.Pass)
	if len(c.Scores) == 0 {
		p.line("no label is of a score of this run that has a value")
	}
	for _, s := range c.Scores {
		p.line("")
		p.line("%s", st.paint(bold, s.Score))
		p.figures("all stories", s.All)
		p.confusion(s.All.Confusion)
		if len(s.Stories) > 1 {
			for _, story := range s.Stories {
				p.figures(story.Story, story.Figures)
			}
		}
	}
	if c.Unused > 0 {
		p.line("")
		p.line("%s", st.paint(yellow, plural(c.Unused, "label")+" of trials that the run does not have, or of scores without a value: "+Line(strings.Join(c.UnusedFirst, ", "), 200)))
	}
}

func (p *printer) figures(name string, f calibrate.Figures) {
	p.line("  %s %s, %s", pad(name, 26), plural(f.Trials, "labelled trial"), plural(f.Labellers, "labeller"))
	if f.TooFew {
		p.line("      %s", p.st.paint(yellow, fmt.Sprintf("too few labels: below %d trials these figures may be chance", calibrate.Enough)))
	}
	p.line("      agreement %s%s (by chance %s)", figure(f.Agreement), within(f.AgreementInterval), figure(f.Expected))
	p.line("      kappa %s%s, linear %s%s, quadratic %s%s", figure(f.Kappa), within(f.KappaInterval), figure(f.Linear), within(f.LinearInterval),
		figure(f.Quadratic), within(f.QuadraticInterval))
	p.line("      bias %s levels, apart %s levels", figure(f.Bias), figure(f.Distance))
	p.line("      passes found %s, failures found %s; pass rate %s, corrected %s", figure(f.TPR), figure(f.TNR), figure(f.Observed), figure(f.Corrected))
	if f.Labellers > 1 {
		p.line("      among labellers: alpha nominal %s, ordinal %s, interval %s", figure(f.AlphaNominal), figure(f.AlphaOrdinal), figure(f.AlphaInterval))
	}
}

// within is an interval of 95 %, where there is one.
func within(v []float64) string {
	if len(v) != 2 {
		return ""
	}
	return fmt.Sprintf(" [%.3f %.3f]", v[0], v[1])
}

// figure is a number, or that it is not defined for what there is.
func figure(v *float64) string {
	if v == nil {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", *v)
}

// confusion is a row for each level of people, a column for each of the judge.
func (p *printer) confusion(table [][]int) {
	if len(table) > maxConfusion {
		return
	}
	var head strings.Builder
	for level := range table {
		fmt.Fprintf(&head, "%6d", level)
	}
	p.line("      people \\ judge%s", head.String())
	for level, row := range table {
		var cells strings.Builder
		for _, n := range row {
			fmt.Fprintf(&cells, "%6d", n)
		}
		p.line("      %s%s", pad(fmt.Sprint(level), 14), cells.String())
	}
}

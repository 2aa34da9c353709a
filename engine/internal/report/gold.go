package report

import (
	"fmt"
	"io"
	"math"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/stats"
)

// Grades writes for people what judges made of golds.
func Grades(w io.Writer, golds []eval.GoldGrades, st Style) {
	p := &printer{w: w, st: st}
	for _, g := range golds {
		text := plural(g.Samples, "sample")
		if c := Cost(g.Usage); c != "" {
			text += ", " + c
		}
		p.line("%s  %s", st.paint(bold, g.Story), st.paint(dim, text))
		for _, j := range g.Judges {
			line := pad(j.Score, 30) + " gold " + grade(j.Gold)
			if g.Floor != "" {
				line += "  floor " + grade(j.Floor)
			}
			p.line("  %s", line)
			if j.Problem != "" {
				p.line("    %s", st.paint(yellow, Line(j.Problem, max(20, st.room(4)))))
			}
		}
	}
}

// grade is a mean with its standard error, where there is one.
func grade(values []float64) string {
	mean, ok := stats.Mean(values)
	if !ok {
		return "not graded"
	}
	text := number(mean)
	if sd, ok := stats.Stdev(values); ok {
		text += fmt.Sprintf(" ±%s", number(sd/math.Sqrt(float64(len(values)))))
	}
	return fmt.Sprintf("%s n=%d", text, len(values))
}

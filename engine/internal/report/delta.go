package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Deltas writes a line for each score that scoring again changed, or that is made
// from something else now, and how many were left as they were.
func Deltas(w io.Writer, list []eval.ScoreDelta) {
	same := 0
	for _, d := range list {
		if d.Changed == 0 && len(d.Causes) == 0 {
			same++
			continue
		}
		arm := []string{d.Story}
		if d.Variant != "" {
			arm = append(arm, d.Variant)
		}
		fmt.Fprintf(w, "  %s %s  %s → %s, %d of %s changed: %s\n", Line(strings.Join(append(arm, d.Host), "."), 80), Line(d.Score, 80),
			mean(d.Before), mean(d.After), d.Changed, Count(d.Trials, "trial", "trials"), Line(strings.Join(d.Causes, "; "), 300))
	}
	if same > 0 {
		fmt.Fprintf(w, "  %s as before\n", Count(same, "score", "scores"))
	}
}

// mean is absent, not 0, where no trial has a value.
func mean(v *float64) string {
	if v == nil {
		return "none"
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

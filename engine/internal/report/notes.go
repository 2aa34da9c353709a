package report

import (
	"fmt"
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
)

// notes are what whoever reads a report has to know before its numbers.
func (d *Document) notes() []string {
	s := d.Summary
	var out []string
	if s.Completion != eval.RunComplete {
		out = append(out, fmt.Sprintf("The run is %s: %d of %s have a verdict.", s.Completion, s.Trials.Passed+s.Trials.Failed, plural(s.Planned, "planned trial")))
	}
	if s.Stopped != "" {
		out = append(out, "Stopped by "+stops[s.Stopped]+": "+s.StopReason)
	}
	if s.Rescored > 0 {
		out = append(out, plural(s.Rescored, "trial")+" with a later verdict than the record's own.")
	}
	if n := len(d.Damage) + d.MoreDamage; n > 0 {
		out = append(out, Count(n, "file of the run is", "files of the run are")+" missing or cannot be read; the numbers are without them.")
	}
	return out
}

// damaged names what is missing or cannot be read.
func (d *Document) damaged() []string {
	if d.MoreDamage == 0 {
		return d.Damage
	}
	return append(append([]string{}, d.Damage...), fmt.Sprintf("and %d more", d.MoreDamage))
}

// facts are names and values of what the run was.
func (d *Document) facts() [][2]string {
	if d.Info == nil {
		return nil
	}
	r := d.Info
	out := [][2]string{{"run", r.ID}, {"started", r.StartedAt.UTC().Format("2006-01-02 15:04:05 UTC")}}
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	commit := r.GitCommit
	if r.GitDirty {
		commit += " with changes that are not committed"
	}
	add("git commit", commit)
	add("time of a trial", Duration(r.Timeout))
	add("attempts beyond the first", strconv.Itoa(r.Retries))
	add("trials at once", strconv.Itoa(r.Concurrency))
	if r.BudgetUSD > 0 {
		add("budget", fmt.Sprintf("$%.2f", r.BudgetUSD))
	}
	for _, f := range r.Files {
		add("suite file "+f.Path, f.SHA256[:min(12, len(f.SHA256))])
	}
	return out
}

// optional4 is a variance: small numbers need their digits.
func optional4(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'g', 3, 64)
}

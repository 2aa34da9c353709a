package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evalengine/evalengine/engine/internal/plan"
)

// Plan writes a trial matrix for people.
func Plan(w io.Writer, pl *plan.Plan, st Style) {
	p := &printer{w: w, st: st}
	p.line("%s  %s of %s", st.paint(bold, pl.Suite), plural(len(pl.Trials), "trial"), plural(len(pl.Arms), "arm"))
	story := ""
	for _, a := range pl.Arms {
		if a.Story != story {
			story = a.Story
			p.line("")
			p.line("%s", st.paint(bold, story))
		}
		target := "no target"
		if a.Target != "" {
			target = "target " + a.Target
		}
		p.line("  %s ×%d  %s, %s, %s, %s", pad(arm(a.Variant, a.Host), 26), a.Repeats, target,
			plural(a.Turns, "turn"), plural(a.Asserts, "gate"), plural(a.Others, "other score"))
	}
	p.line("")
	p.line("needs   hosts %s; provisioners %s; scorer modules %s", list(pl.Needs.Drivers), list(pl.Needs.Provisioners), list(pl.Needs.Modules))
	p.line("worst   agents are started at most %d times, retries included; %s", pl.MaxAttempts, spend(pl))
}

// spend is the worst that a plan can cost.
func spend(pl *plan.Plan) string {
	text := "no budget is set"
	if pl.BudgetUSD > 0 {
		text = fmt.Sprintf("the budget of $%.2f ends the run", pl.BudgetUSD)
	}
	if pl.MaxUSD != nil {
		text = fmt.Sprintf("by their caps that is $%.2f; %s", *pl.MaxUSD, text)
	}
	if pl.MaxTrials > 0 {
		text += fmt.Sprintf("; max_trials ends it after %s", plural(pl.MaxTrials, "trial"))
	}
	return text
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

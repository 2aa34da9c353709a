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
	spend := "no budget is set"
	if pl.BudgetUSD > 0 {
		spend = fmt.Sprintf("the budget of $%.2f ends the run", pl.BudgetUSD)
	}
	p.line("worst   agents are started at most %d times, retries included; %s", pl.MaxAttempts, spend)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

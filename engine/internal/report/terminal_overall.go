package report

import (
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// flaky says on what evidence the verdicts of an arm are not steady.
func (p *printer) flaky(a eval.Arm) {
	if a.Flaky == nil || !a.Flaky.Flaky {
		return
	}
	text := a.Flaky.Evidence
	for _, k := range a.PassAt {
		text += "  " + passed(k.K, k.PassAt, k.PassHat, fmt.Sprintf("for %s", plural(k.N, "trial")))
	}
	p.line("      %s  %s", p.st.paint(yellow, "flaky"), text)
}

// passed is pass@k and pass^k, or why they have no value.
func passed(k int, at, hat *float64, why string) string {
	if at == nil || hat == nil {
		return fmt.Sprintf("pass@%d and pass^%d undefined %s", k, k, why)
	}
	return fmt.Sprintf("pass@%d %.2f  pass^%d %.2f", k, *at, k, *hat)
}

// over writes what is said of each variant x host over its stories.
func (p *printer) over(s *eval.Summary) {
	p.reliability(s.Reliability)
	p.dimensions(s.Dimensions)
	p.variance(s.Variance)
}

func (p *printer) heading(text string) {
	p.line("")
	p.line("%s", p.st.paint(bold, text))
}

// reliability is shown where a story is to be run more than once.
func (p *printer) reliability(list []eval.Reliability) {
	shown := false
	for _, r := range list {
		if r.K < 2 {
			continue
		}
		if !shown {
			p.heading("reliability")
			shown = true
		}
		parts := []string{passed(r.K, r.PassAt, r.PassHat, fmt.Sprintf("for fewer than %s with a verdict", plural(r.K, "trial")))}
		if r.Stories > 0 {
			parts = append(parts, Count(r.Stories, "story", "stories"))
		}
		if r.Left > 0 && r.Stories > 0 {
			parts = append(parts, p.st.paint(yellow, fmt.Sprintf("%s left out for fewer than %s with a verdict", Count(r.Left, "story", "stories"), plural(r.K, "trial"))))
		}
		if r.Flaky > 0 {
			parts = append(parts, p.st.paint(yellow, fmt.Sprintf("%d flaky", r.Flaky)))
		}
		p.line("  %s %s", pad(arm(r.Variant, r.Host), 26), strings.Join(parts, "  "))
	}
}

// dimensions are means over stories; those of one story stand in its arm.
func (p *printer) dimensions(list []eval.Overall) {
	side := ""
	for _, o := range list {
		if o.Stories < 2 || o.Mean == nil || o.Role == eval.RoleAssert && !o.Gate {
			continue
		}
		if side == "" {
			p.heading("over stories, each weighing the same")
		}
		side = p.begin(side, o.Variant, o.Host)
		text := fmt.Sprintf("mean=%s", number(*o.Mean))
		if o.StdErr != nil {
			text += " ±" + number(*o.StdErr)
		}
		if len(o.Interval) == 2 {
			text += fmt.Sprintf(" 95%% [%s %s]", number(o.Interval[0]), number(o.Interval[1]))
		}
		text += fmt.Sprintf("  %s, %s", Count(o.Stories, "story", "stories"), plural(o.N, "trial"))
		if o.Errored > 0 {
			text += "  " + p.st.paint(yellow, fmt.Sprintf("%d errored", o.Errored))
		}
		if o.Skipped > 0 {
			text += fmt.Sprintf("  %d skipped", o.Skipped)
		}
		text = strings.TrimSpace(text + "  " + o.Unit)
		if o.Pairs != nil {
			text += "  " + pairs(o.Pairs)
		}
		p.line("      %s %s", pad(o.Name, 30), text)
	}
}

// variance is where values differ, and a story has more than one trial.
func (p *printer) variance(list []eval.VarianceSplit) {
	side := ""
	for _, v := range list {
		if v.Within == nil || !differs(v) || v.Role == eval.RoleAssert && !v.Gate {
			continue
		}
		if side == "" {
			p.heading("variance")
		}
		side = p.begin(side, v.Variant, v.Host)
		parts := []string{p.part(v, "story", v.Story), p.part(v, "repeat", v.Repeat)}
		if v.Role == eval.RoleJudge || v.Judge != nil {
			parts = append(parts, p.part(v, "judge", v.Judge))
		}
		if v.ICC != nil && v.EffectiveN != nil {
			parts = append(parts, fmt.Sprintf("icc=%.2f  %s worth %s", *v.ICC, plural(v.N, "trial"), number(*v.EffectiveN)))
		}
		p.line("      %s %s", pad(v.Name, 30), strings.Join(parts, "  "))
		for _, why := range v.Reasons {
			p.line("          %s", p.st.paint(dim, why))
		}
	}
}

func differs(v eval.VarianceSplit) bool {
	for _, part := range []*float64{v.Story, v.Within, v.Judge} {
		if part != nil && *part > 0 {
			return true
		}
	}
	return false
}

// part is one part of a variance; one that is not known is no 0.
func (p *printer) part(v eval.VarianceSplit, name string, part *float64) string {
	if part == nil {
		return p.st.paint(dim, name+" not known")
	}
	text := fmt.Sprintf("%s %.3g", name, *part)
	for _, c := range v.Clamped {
		if c == name {
			text += " (below 0)"
		}
	}
	return text
}

// begin writes a variant x host where it begins.
func (p *printer) begin(last, variant, host string) string {
	now := arm(variant, host)
	if now != last {
		p.line("  %s", now)
	}
	return now
}

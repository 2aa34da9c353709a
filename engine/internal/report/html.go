package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of an HTML report.
const (
	htmlValues   = 500 // raw values of one quantity
	htmlDots     = 200 // of one row of the matrix
	htmlProblems = 1000
	htmlFindings = 500
)

// HTML writes a run as one file that runs nothing and asks for nothing but the small
// pictures beside it, where the document's pages have any.
func HTML(w io.Writer, d *Document) error {
	v := d.view()
	p := page{Title: d.Summary.Suite, Kicker: "Run " + d.Summary.Run, Body: v}
	for _, l := range []struct {
		link
		there bool
	}{
		{link{"stories", "Stories"}, true},
		{link{"overall", "Over all stories"}, v.HasOverall()},
		{link{"problems", "Not passed"}, v.HasProblems()},
		{link{"findings", "Findings"}, len(v.Findings) > 0},
		{link{"numbers", "Numbers"}, true},
		{link{"pages", "Pages"}, len(v.Pages) > 0},
		{link{"cost", "Cost and time"}, true},
		{link{"ran", "What ran"}, true},
	} {
		if l.there {
			p.Links = append(p.Links, l.link)
		}
	}
	return writePage(w, "run", p)
}

// runView is what the template of a run gets.
type runView struct {
	*eval.Summary
	Verdict, Why string
	Notes        []string
	Damage       []string
	Tiles        []tile
	Bar          []segment
	Hosts        []string
	Rows         []matrixRow
	Stories      []storyView
	Errored      []string
	Problems     []problemView
	MoreProblems int
	MoreFindings int
	Pages        []TrialPage
	MorePages    int
	Costs        []costView
	JudgesCost   string
	Judges       eval.Usage
	Facts        [][2]string
	Components   []component
	// Findings hides the summary's own, of which it has the first.
	Findings []eval.FindingCount
}

// HasOverall says whether there is anything over all stories.
func (v *runView) HasOverall() bool {
	return len(v.Dimensions)+len(v.Variance)+len(v.Reliability) > 0
}

// HasProblems says whether any trial is not passed.
func (v *runView) HasProblems() bool {
	return v.Trials.Failed+v.Trials.Errored+v.Trials.Skipped > 0
}

type tile struct{ Value, Text, Class string }

// segment is a part of the bar of all trials.
type segment struct {
	Class, Name string
	N           int
	X, Width    string
}

func (d *Document) view() *runView {
	s := d.Summary
	v := &runView{
		Summary: s, Notes: d.notes(), Damage: d.damaged(), Pages: d.Pages, MorePages: d.MorePages,
		Judges: d.Judges, JudgesCost: Cost(d.Judges), Facts: d.facts(), Components: d.components(), Errored: causeList(d.errored),
		Findings: s.Findings[:min(len(s.Findings), htmlFindings)], Tiles: d.tiles(), Bar: d.bar(),
	}
	v.Verdict, v.Why = d.verdict()
	v.MoreFindings = len(s.Findings) - len(v.Findings)
	d.viewMatrix(v)
	d.viewStories(v)
	d.viewProblems(v)
	for i := range s.Arms {
		v.Costs = append(v.Costs, newCostView(&s.Arms[i], d.of(&s.Arms[i])))
	}
	return v
}

func (d *Document) tiles() []tile {
	s := d.Summary
	class := func(n int, c string) string {
		if n == 0 {
			return ""
		}
		return c
	}
	out := []tile{
		{fmt.Sprint(s.Trials.Passed), "passed", class(s.Trials.Passed, "good")},
		{fmt.Sprint(s.Trials.Failed), "failed", class(s.Trials.Failed, "bad")},
		{fmt.Sprint(s.Trials.Errored), "errored, no evidence of the agent", class(s.Trials.Errored, "warn")},
	}
	if s.Trials.Skipped > 0 {
		out = append(out, tile{fmt.Sprint(s.Trials.Skipped), "skipped", ""})
	}
	if n := s.Planned - s.Trials.Total; n > 0 {
		out = append(out, tile{fmt.Sprint(n), "planned and not run", "warn"})
	}
	if c := shortCost(s.Usage); c != "" {
		out = append(out, tile{c, "for the agents", ""})
	}
	if c := shortCost(d.Judges); c != "" {
		out = append(out, tile{c, "for the judges", ""})
	}
	return append(out, tile{Duration(s.FinishedAt.Sub(s.StartedAt)), "from start to end", ""})
}

// shortCost is Cost in cents where that is exact enough.
func shortCost(u eval.Usage) string {
	if u.CostUSD == nil || *u.CostUSD < 1 {
		return Cost(u)
	}
	c := fmt.Sprintf("$%.2f", *u.CostUSD)
	if u.LowerBound {
		return "≥ " + c
	}
	return c
}

// bar shares the width of 1000 among the trials' statuses.
func (d *Document) bar() []segment {
	t := d.Summary.Trials
	list := []segment{
		{Class: "p", Name: "passed", N: t.Passed}, {Class: "f", Name: "failed", N: t.Failed},
		{Class: "e", Name: "errored", N: t.Errored}, {Class: "s", Name: "skipped", N: t.Skipped},
		{Class: "n", Name: "not run", N: max(0, d.Summary.Planned-t.Total)},
	}
	total := 0
	for _, s := range list {
		total += s.N
	}
	var out []segment
	x := 0.0
	for _, s := range list {
		if s.N == 0 {
			continue
		}
		width := 1000 * float64(s.N) / float64(total)
		s.X, s.Width = fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", width)
		x += width
		out = append(out, s)
	}
	return out
}

// problemView is one reason with the trials that share it.
type problemView struct {
	group
	Arm   string
	Which string
	Text  string
}

func (d *Document) viewProblems(v *runView) {
	v.MoreProblems = d.MoreProblems
	for i := range d.Summary.Arms {
		a := &d.Summary.Arms[i]
		for _, g := range groups(*a, d.of(a).problems) {
			if len(v.Problems) == htmlProblems {
				v.MoreProblems += len(g.repeats)
				continue
			}
			v.Problems = append(v.Problems, problemView{g, arm(a.Variant, a.Host), repeats(g.repeats), reason(g.Cause, g.Reason)})
		}
	}
	rank := map[eval.Status]int{eval.StatusFailed: 0, eval.StatusErrored: 1, eval.StatusSkipped: 2}
	slices.SortStableFunc(v.Problems, func(a, b problemView) int { return rank[a.Status] - rank[b.Status] })
}

// costView is what an arm took.
type costView struct {
	Story, Arm, Cost string
	Trials           int
	Wall             float64
	Usage            eval.Usage
	Effort           []eval.Stat
}

func newCostView(a *eval.Arm, f *armFacts) costView {
	return costView{Story: a.Story, Arm: arm(a.Variant, a.Host), Cost: Cost(a.Usage), Trials: a.Trials.Total, Wall: f.seconds, Usage: a.Usage, Effort: a.Effort}
}

// Mean is the mean of an effort by its name, or a dash.
func (c costView) Mean(name string) string {
	if s := named(c.Effort, name); s != nil && s.Mean != nil {
		return strings.TrimSpace(number(*s.Mean))
	}
	return "–"
}

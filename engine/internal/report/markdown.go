package report

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of a Markdown report: forges take a job summary or a comment up to a size,
// and one that is too long is not shown at all.
const (
	mdSize     = 800 << 10
	mdValues   = 50
	mdProblems = 100
	mdFindings = 100
)

// Markdown writes a run for a pull request or a job summary. What does not fit is
// counted and said.
func Markdown(w io.Writer, d *Document) error {
	var b bytes.Buffer
	m := &markdown{w: &b, d: d, s: d.Summary}
	m.head()
	m.arms()
	m.overall()
	m.problems()
	m.findings()
	m.scores()
	m.ran()
	_, err := w.Write(b.Bytes())
	return err
}

type markdown struct {
	w *bytes.Buffer
	d *Document
	s *eval.Summary
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m.w, format+"\n", args...) }

func (m *markdown) head() {
	word, why := m.d.verdict()
	m.line("# %s: %s\n", mdText(m.s.Suite, 0), word)
	facts := []string{
		"run " + mdText(m.s.Run, 0),
		fmt.Sprintf("%d of %s: %s", m.s.Trials.Total, plural(m.s.Planned, "trial"), (&printer{}).tally(m.s.Trials)),
		Duration(m.s.FinishedAt.Sub(m.s.StartedAt)),
	}
	if m.s.Experiment != "" {
		facts = append(facts, "experiment "+mdText(m.s.Experiment, 0))
	}
	if c := Cost(m.s.Usage); c != "" {
		facts = append(facts, "agents "+c)
	}
	if c := Cost(m.d.Judges); c != "" {
		facts = append(facts, "judges "+c)
	}
	m.line("%s: %s.\n", strings.ToUpper(why[:1])+why[1:], strings.ReplaceAll(strings.Join(facts, ", "), "$", `\$`))
	for _, n := range m.d.notes() {
		m.line("> %s\n", mdText(n, 1000))
	}
	for _, n := range m.d.damaged() {
		m.line("- %s", mdText(n, 1000))
	}
	if len(m.d.Damage) > 0 {
		m.line("")
	}
}

// arms is a row for each arm: trials, gates, what judges said.
func (m *markdown) arms() {
	m.line("## Stories\n")
	gates, judges := m.columns()
	header := []string{"story", "variant", "host", "trials"}
	for _, g := range gates {
		header = append(header, g+":")
	}
	for _, j := range judges {
		header = append(header, mdText(j, 60)+":")
	}
	steady := slices.ContainsFunc(m.s.Arms, func(a eval.Arm) bool { return reliability(&a) != "" })
	if steady {
		header = append(header, "steady")
	}
	var rows [][]string
	for i := range m.s.Arms {
		a := &m.s.Arms[i]
		row := []string{mdText(a.Story, 0), mdText(a.Variant, 0), mdText(a.Host, 0), m.d.tally(a)}
		for _, g := range gates {
			row = append(row, mdMean(named(a.Gates, g)))
		}
		for _, j := range judges {
			row = append(row, mdMean(named(a.Scores, j)))
		}
		if steady {
			row = append(row, reliability(a))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		m.line("No story was planned.\n")
	}
	mdTable(m.w, header, rows)
}

// columns are the gates and the judges' scores that any arm has.
func (m *markdown) columns() (gates, judges []string) {
	for _, a := range m.s.Arms {
		for _, g := range a.Gates {
			if !slices.Contains(gates, g.Name) {
				gates = append(gates, g.Name)
			}
		}
		for _, sc := range a.Scores {
			if sc.Role == eval.RoleJudge && !slices.Contains(judges, sc.Name) {
				judges = append(judges, sc.Name)
			}
		}
	}
	return gates, judges
}

func named(list []eval.Stat, name string) *eval.Stat {
	if i := slices.IndexFunc(list, func(s eval.Stat) bool { return s.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// mdMean is a mean with its stdev where there is one; what was not measured is a
// dash.
func mdMean(s *eval.Stat) string {
	switch {
	case s == nil || s.Mean == nil:
		return "–"
	case s.Stdev == nil || s.Role == eval.RoleAssert:
		return number(*s.Mean)
	}
	return number(*s.Mean) + " ± " + number(*s.Stdev)
}

// reliability is how steady an arm is: pass@k, pass^k, and whether it is flaky.
func reliability(a *eval.Arm) string {
	var parts []string
	for _, p := range a.PassAt {
		parts = append(parts, fmt.Sprintf("pass@%d %s, pass^%d %s", p.K, undefined(p.PassAt), p.K, undefined(p.PassHat)))
	}
	if a.Flaky != nil && a.Flaky.Flaky {
		parts = append(parts, "flaky: "+mdText(a.Flaky.Evidence, 0))
	}
	return strings.Join(parts, "; ")
}

// undefined is a number, or that there is none.
func undefined(v *float64) string {
	if v == nil {
		return "undefined"
	}
	return number(*v)
}

func (m *markdown) overall() {
	if len(m.s.Dimensions) == 0 && len(m.s.Variance) == 0 && len(m.s.Reliability) == 0 {
		return
	}
	m.line("## Over all stories\n")
	var rows [][]string
	for _, o := range m.s.Dimensions {
		rows = append(rows, []string{mdText(arm(o.Variant, o.Host), 0), mdText(overallLabel(o.Gate, o.Name), 0), fmt.Sprint(o.Stories), fmt.Sprint(o.N), optional(o.Mean), optional(o.Stdev), interval(o.Interval), lost(o.Errored, o.Skipped)})
	}
	mdTable(m.w, []string{"host", "quantity", "stories:", "trials:", "mean:", "stdev of stories:", "95 % interval:", "not counted"}, rows)
	rows = nil
	for _, r := range m.s.Reliability {
		rows = append(rows, []string{mdText(arm(r.Variant, r.Host), 0), fmt.Sprint(r.K), fmt.Sprint(r.Stories), undefined(r.PassAt), undefined(r.PassHat), fmt.Sprint(r.Flaky), fmt.Sprint(r.Left)})
	}
	mdTable(m.w, []string{"host", "k:", "stories:", "pass@k:", "pass^k:", "flaky stories:", "stories with fewer than k trials:"}, rows)
	rows = nil
	for _, v := range m.s.Variance {
		rows = append(rows, []string{mdText(arm(v.Variant, v.Host), 0), mdText(overallLabel(v.Gate, v.Name), 0), optional4(v.Story), optional4(v.Repeat), optional4(v.Judge), optional(v.ICC), optional(v.EffectiveN), mdText(varianceNote(v), 0)})
	}
	if len(rows) > 0 {
		mdDetails(m.w, "Where the variance comes from", func() {
			mdTable(m.w, []string{"host", "quantity", "story:", "repeat:", "judge:", "ICC:", "effective n:", "note"}, rows)
		})
	}
}

// overallLabel is the name of a quantity over all stories.
func overallLabel(gate bool, name string) string {
	if gate {
		return "all asserts of " + name
	}
	return name
}

// lost says how many trials have no value.
func lost(errored, skipped int) string {
	var parts []string
	if errored > 0 {
		parts = append(parts, fmt.Sprintf("%d errored", errored))
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", skipped))
	}
	return strings.Join(parts, ", ")
}

// varianceNote says what of a split is absent or was cut, and why.
func varianceNote(v eval.VarianceSplit) string {
	parts := slices.Clone(v.Reasons)
	if len(v.Clamped) > 0 {
		parts = append(parts, strings.Join(v.Clamped, " and ")+" estimated below 0 and given as 0")
	}
	return strings.Join(parts, "; ")
}

func (m *markdown) problems() {
	if len(m.d.Problems) == 0 && m.s.Trials.Failed+m.s.Trials.Errored+m.s.Trials.Skipped == 0 {
		return
	}
	m.line("## Trials that did not pass\n")
	if text := strings.Join(causeList(m.d.errored), ", "); text != "" {
		m.line("Errored by cause: %s. They say nothing of the agent and enter no mean.\n", mdText(text, 0))
	}
	var rows [][]string
	left := m.d.MoreProblems
	for i := range m.s.Arms {
		a := &m.s.Arms[i]
		for _, g := range groups(*a, m.d.of(a).problems) {
			if len(rows) == mdProblems {
				left += len(g.repeats)
				continue
			}
			rows = append(rows, []string{string(g.Status), mdText(a.Story, 0), mdText(arm(a.Variant, a.Host), 0), repeats(g.repeats), mdText(g.Cause, 0), mdText(reason(g.Cause, g.Reason), 600)})
		}
	}
	mdTable(m.w, []string{"status", "story", "host", "repeats", "cause", "reason"}, rows)
	if left > 0 {
		m.line("%s more; `evalengine show` has them.\n", plural(left, "trial"))
	}
}

// repeats names the first few trials of a group.
func repeats(list []string) string {
	const shown = 10
	if len(list) <= shown {
		return strings.Join(list, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:shown], " "), len(list)-shown)
}

func (m *markdown) findings() {
	if len(m.s.Findings) == 0 {
		return
	}
	m.line("## Findings\n")
	var rows [][]string
	for _, f := range m.s.Findings[:min(len(m.s.Findings), mdFindings)] {
		text := mdText(f.Text, 600)
		if f.Suggestion != "" {
			text += "<br>*" + strings.TrimSpace(mdText(f.Suggestion, 600)) + "*"
		}
		rows = append(rows, []string{string(f.Severity), mdText(f.Kind, 0), mdText(strings.TrimSpace(f.Tool+" "+f.Action), 0), found(f), text})
	}
	mdTable(m.w, []string{"severity", "kind", "tool", "found", "what"}, rows)
	if n := len(m.s.Findings) - len(rows); n > 0 {
		m.line("%s more in summary.json.\n", plural(n, "finding"))
	}
}

// scores are the numbers of every arm, folded story by story.
func (m *markdown) scores() {
	m.line("## Numbers\n")
	m.line("Each gate, score and effort on its own, over the trials that have a value; what errored or was skipped is counted and enters nothing else. Values are in the order of trials.\n")
	var story bytes.Buffer
	for i := 0; i < len(m.s.Arms); {
		name, first := m.s.Arms[i].Story, i
		story.Reset()
		mdDetails(&story, name, func() {
			for ; i < len(m.s.Arms) && m.s.Arms[i].Story == name; i++ {
				m.armNumbers(&story, &m.s.Arms[i])
			}
		})
		if m.w.Len()+story.Len() > mdSize {
			m.line("%s from %s on are left out for size; the other formats have them.\n", plural(len(m.s.Arms)-first, "arm"), mdText(name, 0))
			return
		}
		m.w.Write(story.Bytes())
	}
}

func (m *markdown) armNumbers(w io.Writer, a *eval.Arm) {
	fmt.Fprintf(w, "**%s**: %s\n\n", mdText(arm(a.Variant, a.Host), 0), m.d.tally(a))
	var rows [][]string
	for _, q := range quantities(a) {
		rows = append(rows, []string{
			mdText(q.Label(), 0), q.What(), mdText(q.Unit, 0), fmt.Sprint(q.N), optional(q.Mean), optional(q.Stdev), optional(q.Min), optional(q.Max),
			interval(q.Interval), lost(q.Errored, q.Skipped), raw(q.Stat, mdValues, number),
		})
	}
	mdTable(w, []string{"quantity", "what", "unit", "n:", "mean:", "stdev:", "min:", "max:", "95 % interval:", "not counted", "values"}, rows)
}

// ran says what ran, so that two reports can be told apart.
func (m *markdown) ran() {
	mdDetails(m.w, "What ran", func() {
		var rows [][]string
		for _, f := range m.d.facts() {
			rows = append(rows, []string{mdText(f[0], 0), mdText(f[1], 0)})
		}
		for _, c := range m.d.components() {
			rows = append(rows, []string{mdText(c.Name, 0), mdText(strings.Join(c.Versions, ", "), 0)})
		}
		mdTable(m.w, []string{"part", "version"}, rows)
	})
}

// causeList is causes, most frequent first.
func causeList(m map[string]int) []string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s ×%d", n, m[n])
	}
	return names
}

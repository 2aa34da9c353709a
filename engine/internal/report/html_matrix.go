package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxStrips is how many scores of an arm have a strip in the matrix; all are among
// the numbers.
const maxStrips = 4

// matrixRow is one story and variant, with a cell for each host.
type matrixRow struct {
	Story, Variant string
	ID             string
	// First is set on the first row of its story, Span how many rows it has.
	First bool
	Span  int
	Cells []cell
}

// cell is one arm: a row of dots for each gate, a strip for what judges said.
type cell struct {
	There         bool
	Host          string
	Status, Tally string
	Flaky         string
	Dots          []dots
	Strips        []stripRow
}

// dots are a gate's verdicts, a letter for each repeat: p held, f did not hold, e
// errored, s skipped or not run.
type dots struct {
	Name, Label string
	Marks       []string
	More        int
	Of          string
}

type stripRow struct {
	Name string
	strip
	Mean string
	// None says why there is no mean.
	None string
}

func (d *Document) viewMatrix(v *runView) {
	s := d.Summary
	at := map[[2]string]int{}
	for i := range s.Arms {
		a := &s.Arms[i]
		col := slices.Index(v.Hosts, a.Host)
		if col < 0 {
			col = len(v.Hosts)
			v.Hosts = append(v.Hosts, a.Host)
		}
		key := [2]string{a.Story, a.Variant}
		row, ok := at[key]
		if !ok {
			row = len(v.Rows)
			at[key] = row
			v.Rows = append(v.Rows, matrixRow{Story: a.Story, Variant: a.Variant, ID: storyID(a.Story)})
		}
		cells := &v.Rows[row].Cells
		for len(*cells) <= col {
			*cells = append(*cells, cell{})
		}
		(*cells)[col] = d.cell(a)
	}
	// Rows of one story stand together even where the plan goes host by host.
	first := map[string]int{}
	for i, r := range v.Rows {
		if _, ok := first[r.Story]; !ok {
			first[r.Story] = i
		}
	}
	slices.SortStableFunc(v.Rows, func(a, b matrixRow) int { return first[a.Story] - first[b.Story] })
	lead := 0
	for i := range v.Rows {
		r := &v.Rows[i]
		for len(r.Cells) < len(v.Hosts) {
			r.Cells = append(r.Cells, cell{})
		}
		if r.First = i == 0 || v.Rows[i-1].Story != r.Story; r.First {
			lead = i
		}
		v.Rows[lead].Span++
	}
}

// storyID is a story's anchor in a page.
func storyID(name string) string {
	return "story-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

func (d *Document) cell(a *eval.Arm) cell {
	c := cell{There: true, Host: a.Host, Tally: d.tally(a), Status: armStatus(a)}
	if a.Flaky != nil && a.Flaky.Flaky {
		c.Flaky = a.Flaky.Evidence
	}
	facts := d.of(a)
	for i := range a.Gates {
		c.Dots = append(c.Dots, facts.dots(&a.Gates[i]))
	}
	if len(a.Gates) == 0 && len(facts.marks) > 0 {
		c.Dots = append(c.Dots, facts.verdicts())
	}
	for i := range a.Scores {
		st := &a.Scores[i]
		if st.Role == eval.RoleAssert || st.Unit != "" && st.Role != eval.RoleJudge || !bounded(st.Values) || len(c.Strips) == maxStrips {
			continue
		}
		r := stripRow{Name: st.Name, strip: newStrip(st)}
		if st.Mean == nil {
			r.None = lost(st.Errored, st.Skipped)
		} else {
			r.Mean = mdMean(st)
		}
		c.Strips = append(c.Strips, r)
	}
	return c
}

// armStatus is the class of an arm's mark: its worst trial decides.
func armStatus(a *eval.Arm) string {
	switch t := a.Trials; {
	case t.Failed > 0:
		return "failed"
	case t.Errored > 0:
		return "errored"
	case t.Passed > 0:
		return "passed"
	}
	return "skipped"
}

// dots are those of a gate: its values where it has them, and how the trial ended
// where it has none.
func (f *armFacts) dots(g *eval.Stat) dots {
	out := dots{Name: g.Name}
	value := map[int]float64{}
	for i, r := range g.Repeats {
		if i < len(g.Values) {
			value[r] = g.Values[i]
		}
	}
	if g.Mean != nil {
		held := 0
		for _, v := range g.Values {
			if v == 1 {
				held++
			}
		}
		out.Of = fmt.Sprintf("%d of %d", held, g.N)
	}
	for _, n := range f.repeats(g.Repeats) {
		v, ok := value[n]
		switch {
		case ok && v == 1:
			out.add("p")
		case ok:
			out.add("f")
		case f.ended(n) == eval.StatusErrored || g.Errored > 0 && f.ended(n) != eval.StatusSkipped && f.ended(n) != "":
			out.add("e")
		default:
			out.add("s")
		}
	}
	return out.labelled()
}

// verdicts are the dots of an arm without gates: how its trials ended.
func (f *armFacts) verdicts() dots {
	out := dots{Name: "trials"}
	letters := map[eval.Status]string{eval.StatusPassed: "p", eval.StatusFailed: "f", eval.StatusErrored: "e"}
	for _, m := range f.marks {
		if l, ok := letters[m.status]; ok {
			out.add(l)
			continue
		}
		out.add("s")
	}
	return out.labelled()
}

func (d *dots) add(mark string) {
	if len(d.Marks) == htmlDots {
		d.More++
		return
	}
	d.Marks = append(d.Marks, mark)
}

// labelled says the dots in words, for who does not see them.
func (d dots) labelled() dots {
	words := map[string]string{"p": "held", "f": "did not hold", "e": "errored", "s": "skipped or not run"}
	list := make([]string, len(d.Marks))
	for i, m := range d.Marks {
		list[i] = words[m]
	}
	d.Label = d.Name + ", trial by trial: " + strings.Join(list, ", ")
	return d
}

// repeats are the numbers of an arm's trials: those planned, and any that have a
// value or a record beyond.
func (f *armFacts) repeats(valued []int) []int {
	seen := map[int]bool{}
	var out []int
	add := func(n int) {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	for n := 1; n <= f.planned; n++ {
		add(n)
	}
	for _, m := range f.marks {
		add(m.repeat)
	}
	for _, n := range valued {
		add(n)
	}
	slices.Sort(out)
	return out
}

// ended is how the trial of that repeat ended; empty where it has no record.
func (f *armFacts) ended(repeat int) eval.Status {
	for _, m := range f.marks {
		if m.repeat == repeat {
			return m.status
		}
	}
	return ""
}

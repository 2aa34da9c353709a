package compare

import (
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// Median returns a side made of several, the oldest first, such as those of the last
// nights: for each arm and quantity the median of what their means are, so that one
// odd night moves it little. Tests within a story take the trials of all of them.
// What ran is what the last of them says; what scores are made from
// too.
func Median(name string, sides []*Side) *Side {
	out := NewSide(name)
	out.info.MedianOf = len(sides)
	for i, s := range sides {
		out.info.Runs = append(out.info.Runs, s.info.Runs...)
		out.info.Planned += s.info.Planned
		addTally(&out.info.Trials, s.info.Trials)
		for _, k := range s.order {
			out.arm(k).trials += s.arms[k].trials
		}
		for _, k := range s.named {
			if _, ok := out.facts[k]; !ok {
				out.named = append(out.named, k)
			}
			out.facts[k] = s.facts[k]
		}
		if i == len(sides)-1 {
			out.info.Suite, out.info.Experiment, out.info.StartedAt = s.info.Suite, s.info.Experiment, s.info.StartedAt
			out.made, out.parameters = s.made, s.parameters
			out.definitions, out.untold = s.definitions, s.untold
		}
	}
	for key, a := range out.arms {
		for _, q := range out.named {
			if c, ok := medianCell(sides, key, q); ok {
				a.cells[q] = c
			}
		}
	}
	return out
}

// medianCell has the median of the sides' means, and the counts of all their trials.
func medianCell(sides []*Side, key armKey, q quantityKey) (*cell, bool) {
	var all cell
	var means []float64
	var last []part
	found := false
	for _, s := range sides {
		a := s.arms[key]
		if a == nil || a.cells[q] == nil {
			continue
		}
		c := a.cells[q]
		found, last = true, c.parts
		all = join(all, *c)
		if c.n > 0 {
			means = append(means, c.mean)
		}
	}
	if len(means) > 0 {
		all.mean = median(means)
	}
	all.parts = last
	return &all, found
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

func addTally(t *eval.Tally, more eval.Tally) {
	t.Total, t.Passed, t.Failed = t.Total+more.Total, t.Passed+more.Passed, t.Failed+more.Failed
	t.Errored, t.Skipped = t.Errored+more.Errored, t.Skipped+more.Skipped
	for cause, n := range more.Causes {
		if t.Causes == nil {
			t.Causes = map[string]int{}
		}
		t.Causes[cause] += n
	}
}

package nightly

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxStories is how many stories of a quantity are named.
const maxStories = 5

// Against says which baseline a comparison is with.
const (
	AgainstBaseline = "baseline"
	AgainstNights   = "nights"
)

// Changes returns the gated quantities, and the stories of them, that a comparison
// says regressed or improved. What does not gate is no news: it is tested without a
// correction, so that among many something always differs.
func Changes(c *eval.Comparison, against string, noise *eval.Noise) (worse, better []eval.NightlyChange) {
	for _, d := range c.Dimensions {
		if !d.Gated || d.NotComparable != "" {
			continue
		}
		floor, stories := floorOf(noise, d)
		switch d.Verdict {
		case eval.Regressed:
			worse = append(worse, overall(d, against, floor))
			continue
		case eval.Improved:
			better = append(better, overall(d, against, floor))
			continue
		}
		for _, s := range d.Changed {
			switch s.Verdict {
			case eval.Regressed:
				worse = append(worse, story(d, s, against, stories))
			case eval.Improved:
				better = append(better, story(d, s, against, stories))
			}
		}
	}
	return worse, better
}

func overall(d eval.Compared, against string, floor *float64) eval.NightlyChange {
	c := eval.NightlyChange{
		Against: against, Name: d.Name, Dimension: d.Dimension, Base: d.Base.Mean, Head: d.Head.Mean,
		Difference: d.Difference, Interval: d.Interval, P: cmp.Or(d.Adjusted, d.P),
	}
	for _, s := range d.Changed {
		if s.Difference != 0 && len(c.Stories) < maxStories && (s.Difference < 0) == (d.Difference != nil && *d.Difference < 0) {
			c.Stories = append(c.Stories, s.Story)
		}
	}
	return within(c, floor)
}

func story(d eval.Compared, s eval.ComparedStory, against string, floors map[string]float64) eval.NightlyChange {
	c := eval.NightlyChange{
		Against: against, Name: d.Name, Dimension: d.Dimension, Story: s.Story, Base: &s.Base, Head: &s.Head,
		Difference: &s.Difference, P: cmp.Or(s.Adjusted, s.P),
	}
	if f, ok := floors[s.Story]; ok {
		return within(c, &f)
	}
	return c
}

// within says whether a difference is one that the quantity has from itself.
func within(c eval.NightlyChange, floor *float64) eval.NightlyChange {
	c.Noise = floor
	c.WithinNoise = floor != nil && c.Difference != nil && math.Abs(*c.Difference) <= *floor
	return c
}

func floorOf(noise *eval.Noise, d eval.Compared) (floor *float64, stories map[string]float64) {
	if noise == nil {
		return nil, nil
	}
	for _, f := range noise.Floors {
		if f.Kind != d.Kind || f.Name != d.Name {
			continue
		}
		stories = map[string]float64{}
		for _, s := range f.Stories {
			stories[s.Story] = s.P95
		}
		return &f.P95, stories
	}
	return nil, nil
}

// Uncovered returns the tools and actions that no story reaches tonight and that were
// reached, or not there, before, and how many others there are. Without an earlier
// coverage all are new.
func Uncovered(tonight, before *eval.Coverage) (fresh []eval.NightlyTool, old int) {
	known := map[eval.NightlyTool]bool{}
	if before != nil {
		for _, t := range gaps(before) {
			known[t] = true
		}
	}
	for _, t := range gaps(tonight) {
		if known[t] {
			old++
		} else {
			fresh = append(fresh, t)
		}
	}
	return fresh, old
}

func gaps(c *eval.Coverage) []eval.NightlyTool {
	var list []eval.NightlyTool
	for _, t := range c.List {
		name := eval.ToolName{Server: t.Server, Tool: t.Tool}
		if len(t.Actions) == 0 && t.Status == eval.Uncovered {
			list = append(list, eval.NightlyTool{ToolName: name})
		}
		for _, a := range t.Actions {
			if a.Status == eval.Uncovered {
				list = append(list, eval.NightlyTool{ToolName: name, Action: a.Action})
			}
		}
	}
	return list
}

// Lost returns what stories ask for tonight and do not reach, and did reach before.
func Lost(tonight, before *eval.Coverage) []eval.LostTool {
	type key struct{ story, use, tool, action string }
	of := func(l eval.LostTool) key { return key{l.Story, l.Use, l.Tool, l.Action} }
	known := map[key]bool{}
	if before != nil {
		for _, l := range before.Lost {
			known[of(l)] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tonight.Lost), func(l eval.LostTool) bool { return known[of(l)] })
}

// Drift returns how the targets' tools differ from those of the night before, and the
// tools that fail on every call tonight and did not then.
func Drift(tonight, before *eval.Coverage) []eval.ToolDrift {
	failed := map[string]bool{}
	if before != nil {
		for _, t := range before.List {
			if t.Called.AlwaysFails {
				failed[t.Server+"\x00"+t.Tool] = true
			}
		}
	}
	var list []eval.ToolDrift
	for _, d := range tonight.Drift {
		d.Failing = slices.DeleteFunc(slices.Clone(d.Failing), func(t eval.ToolName) bool { return failed[t.Server+"\x00"+t.Tool] })
		if !d.None() {
			list = append(list, d)
		}
	}
	return list
}

// Causes counts the errored trials by cause, the commonest first.
func Causes(errored map[string]int) []eval.CauseCount {
	var list []eval.CauseCount
	for c, n := range errored {
		list = append(list, eval.CauseCount{Cause: c, Count: n})
	}
	slices.SortFunc(list, func(a, b eval.CauseCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Cause, b.Cause))
	})
	return list
}

// Settle gives the night its verdict from the comparison that counts, nil where there
// is none, makes its lists those of JSON, and says whether it was quiet.
func Settle(n *eval.Nightly, c *eval.Comparison) {
	switch {
	case c != nil:
		n.Verdict, n.Reason = c.Verdict, c.Reason
	case n.Trials.Passed+n.Trials.Failed == 0:
		n.Verdict, n.Reason = eval.InsufficientData, "no trial passed or failed, so there is nothing to compare"
	default:
		n.Reason = "no baseline is set and there are fewer than 3 earlier nights: set one with --set-baseline or evalengine baseline set RUN"
	}
	n.Nights, n.Regressions, n.Improved, n.Variance = some(n.Nights), some(n.Regressions), some(n.Improved), some(n.Variance)
	n.New, n.CameBack, n.Gone = some(n.New), some(n.CameBack), some(n.Gone)
	n.Uncovered, n.Lost, n.Drift, n.Causes, n.Problems = some(n.Uncovered), some(n.Lost), some(n.Drift), some(n.Causes), some(n.Problems)
	news := len(n.Regressions) + len(n.Improved) + len(n.Variance) + len(n.New) + len(n.CameBack) + len(n.Gone) +
		len(n.Uncovered) + len(n.Lost) + len(n.Drift) + len(n.Causes) + len(n.Problems)
	n.Quiet = news == 0 && n.Verdict != eval.InsufficientData && n.Verdict != "" && n.Trials.Total == n.Planned && n.Trials.Skipped == 0
}

// Unfinished says in a sentence what is missing of a run, or nothing.
func Unfinished(n *eval.Nightly) string {
	missing := n.Planned - n.Trials.Total
	switch {
	case missing > 0 && n.Trials.Skipped > 0:
		return fmt.Sprintf("%d of %d trials have no record and %d were skipped: evalengine resume %s", missing, n.Planned, n.Trials.Skipped, n.Run)
	case missing > 0:
		return fmt.Sprintf("%d of %d trials have no record: evalengine resume %s", missing, n.Planned, n.Run)
	case n.Trials.Skipped > 0:
		return fmt.Sprintf("%d of %d trials were skipped: evalengine resume %s", n.Trials.Skipped, n.Planned, n.Run)
	}
	return ""
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

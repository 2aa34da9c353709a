package coverage

import (
	"cmp"
	"maps"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// Usage is how often tools are used in production.
type Usage struct {
	// Weights are by tool and action; they need not sum to 1.
	Weights map[UseOf]float64
	// Events is how many calls they rest on, Broken how many could not be read.
	Events, Broken int64
}

// UseOf is what is used: a tool, as "tool" or "server/tool", and an action of it,
// empty where that is not known or the tool has none.
type UseOf struct{ Tool, Action string }

// maxWeight bounds a weight, so that sums of them are numbers.
const maxWeight = 1e18

// keys are in order, so that sums over them have the same digits every time.
func (u *Usage) keys() []UseOf {
	return slices.SortedFunc(maps.Keys(u.Weights), func(a, b UseOf) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Action, b.Action))
	})
}

// Coverage folds what was taken in; u is nil where use in production is not known.
// It is called once.
func (m *Map) Coverage(u *Usage) *eval.Coverage {
	for i := range m.stories {
		for j := range m.stories[i].Asks {
			m.ask(&m.stories[i], &m.stories[i].Asks[j])
		}
	}
	total := 0.0
	var hits map[UseOf][]*part
	if u != nil {
		total, hits = m.weigh(u)
	}
	m.foldDrift()
	for _, t := range m.tools {
		m.out.List = append(m.out.List, m.toolCoverage(t, total))
	}
	if u != nil {
		m.out.Use = m.use(u, total, hits)
	}
	m.sortOut()
	return &m.out
}

func (m *Map) sortOut() {
	for k, c := range m.unlisted {
		m.out.Unlisted = append(m.out.Unlisted, eval.UnlistedTool{Target: k.target, Server: k.name.Server, Tool: k.name.Tool, Called: c.use})
	}
	slices.SortFunc(m.out.Unlisted, func(a, b eval.UnlistedTool) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	if len(m.unlisted) == maxUnlisted {
		m.Problem("more than %d tools were called that are not offered; the first of them are listed", maxUnlisted-1)
	}
	slices.SortFunc(m.out.Lost, func(a, b eval.LostTool) int {
		return cmp.Or(cmp.Compare(a.Story, b.Story), cmp.Compare(a.Use, b.Use), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Action, b.Action))
	})
}

func (m *Map) toolCoverage(t *tool, total float64) eval.ToolCoverage {
	c := eval.ToolCoverage{
		Server: t.Server, Tool: t.Tool, Targets: t.targets, Called: t.whole.count.use,
		Left: t.known.Left, Cut: t.known.Cut, Others: t.others, Unread: t.unread, Share: t.whole.share(total),
	}
	c.Status, c.Stories, c.Patterns = m.status(&t.whole)
	m.out.Tools.Add(c.Status)
	if len(t.actions) == 0 {
		m.out.Parts.Add(c.Status)
		return c
	}
	c.Argument = t.known.Argument()
	for i := range t.actions {
		p := &t.actions[i]
		a := eval.ActionCoverage{Action: p.name, Called: p.count.use, Share: p.share(total)}
		a.Status, a.Stories, a.Patterns = m.status(p)
		c.Actions = append(c.Actions, a)
		m.out.Actions.Add(a.Status)
		m.out.Parts.Add(a.Status)
	}
	return c
}

// status says what is known of a part, and which stories ask for it.
func (m *Map) status(p *part) (s eval.CoverageStatus, stories, patterns []string) {
	waiting := false
	for _, st := range sorted(p.named) {
		stories = append(stories, st)
		waiting = waiting || m.finished[st] == 0
	}
	for _, st := range sorted(p.pattern) {
		switch {
		case p.named[st]:
		case p.stories[st] > 0:
			stories = append(stories, st)
		default:
			patterns = append(patterns, st)
		}
	}
	slices.Sort(stories)
	called := p.count.use.Calls > 0
	switch {
	case len(stories) > 0 && called:
		return eval.Covered, stories, patterns
	case waiting:
		return eval.Asserted, stories, patterns
	case len(stories) > 0:
		return eval.Unreached, stories, patterns
	case called:
		return eval.Exercised, stories, patterns
	}
	return eval.Uncovered, stories, patterns
}

func (p *part) share(total float64) *float64 {
	if !p.used || total <= 0 {
		return nil
	}
	return new(p.weight / total)
}

// weigh gives the parts their weights, and says for each use which parts it is of.
// What is used of a name that several servers offer is given to each of them.
func (m *Map) weigh(u *Usage) (total float64, hits map[UseOf][]*part) {
	hits = map[UseOf][]*part{}
	byName := map[string][]*tool{}
	for _, t := range m.tools {
		byName[t.Tool] = append(byName[t.Tool], t)
		if t.Server != "" {
			byName[t.Server+"/"+t.Tool] = append(byName[t.Server+"/"+t.Tool], t)
		}
	}
	bad := 0
	for _, key := range u.keys() {
		w := u.Weights[key]
		if !(w >= 0 && w <= maxWeight) {
			bad++
			continue
		}
		total += w
		for _, t := range byName[key.Tool] {
			t.whole.weigh(w)
			switch i, ok := t.index[key.Action]; {
			case ok:
				t.actions[i].weigh(w)
				hits[key] = append(hits[key], &t.actions[i])
			case key.Action == "" || len(t.actions) == 0 || t.known.Left > 0:
				hits[key] = append(hits[key], &t.whole)
			}
		}
	}
	if bad > 0 {
		m.Problem("%d weights of use are no numbers from 0 up; they count for nothing", bad)
	}
	return total, hits
}

func (p *part) weigh(w float64) {
	p.weight += w
	p.used = true
}

// use is how much of the use is of covered parts.
func (m *Map) use(u *Usage, total float64, hits map[UseOf][]*part) *eval.CoverageUse {
	out := &eval.CoverageUse{Events: u.Events, Broken: u.Broken}
	offered, covered := 0.0, 0.0
	for _, k := range u.keys() {
		if len(hits[k]) == 0 {
			continue
		}
		offered += u.Weights[k]
		if slices.ContainsFunc(hits[k], func(p *part) bool { s, _, _ := m.status(p); return s.Holds() }) {
			covered += u.Weights[k]
		}
	}
	if offered > 0 {
		out.Share = new(covered / offered)
	}
	if total > 0 {
		out.Unlisted = max(0, 1-offered/total)
	}
	return out
}

// Package coverage holds what the stories of a suite ask for, and what its trials
// called, against the tools that the targets offer: each tool and each action of a
// multi-action tool. It knows schemas, scorers' parameters and calls; where they
// come from is decided elsewhere, and nothing is run.
//
// Start at [New], then [Map.Trial] for each finished trial and [Map.Coverage].
// [ActionsOf] finds the actions in a tool's schema, [Drift] compares two lists.
package coverage

import (
	"fmt"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxProblems bounds what is told of one kind of trouble, maxUnlisted the tools
// that were called and are not offered.
const (
	maxProblems = 50
	maxUnlisted = 1000
)

// Target is a target with the tools that it offers.
type Target struct {
	Name string
	// Source and From are as in [eval.CoverageTarget]; the tools of a target without
	// a source are not known.
	Source, From string
	Tools        []eval.Tool
}

// Story is what a story asks for.
type Story struct {
	Name   string
	Target string
	Asks   []Ask
}

// Map is the coverage under way. It is not safe for concurrent use.
type Map struct {
	out     eval.Coverage
	targets []Target
	stories []Story
	tools   []*tool
	// offered are the tools of a target by their name.
	offered map[string]map[eval.ToolName]*tool
	// finished counts the trials of each story.
	finished map[string]int
	unlisted map[unlistedKey]*counter
	trial    int
}

type unlistedKey struct {
	target string
	name   eval.ToolName
}

// tool is one tool with the targets that offer it.
type tool struct {
	eval.ToolName
	targets []string
	known   Actions
	whole   part
	actions []part
	index   map[string]int
	others  int
	unread  int
}

// part is a tool or an action of one, as far as it is known.
type part struct {
	name    string
	count   counter
	stories map[string]int // calls by story
	named   map[string]bool
	pattern map[string]bool
	weight  float64
	used    bool
}

// counter counts calls.
type counter struct {
	use   eval.ToolUse
	ok    int
	trial int
}

func (c *counter) add(status eval.CallStatus, trial int) {
	c.use.Calls++
	switch status {
	case eval.CallOK:
		c.ok++
	case eval.CallError:
		c.use.Failed++
	default:
		c.use.Unfinished++
	}
	if c.trial != trial {
		c.trial = trial
		c.use.Trials++
	}
	c.use.AlwaysFails = c.ok == 0 && c.use.Failed >= 2
}

func (p *part) add(story string, status eval.CallStatus, trial int) {
	p.count.add(status, trial)
	if p.stories == nil {
		p.stories = map[string]int{}
	}
	p.stories[story]++
}

// New returns a map of a suite's targets and stories.
func New(suite string, targets []Target, stories []Story) *Map {
	m := &Map{targets: targets, stories: stories, offered: map[string]map[eval.ToolName]*tool{}, finished: map[string]int{}, unlisted: map[unlistedKey]*counter{}}
	m.out = eval.Coverage{
		Schema: 1, Suite: suite, Runs: []string{}, Targets: []eval.CoverageTarget{}, List: []eval.ToolCoverage{},
		Lost: []eval.LostTool{}, Unlisted: []eval.UnlistedTool{}, Drift: []eval.ToolDrift{}, Problems: []string{},
	}
	shared := map[string]*tool{}
	for _, t := range targets {
		m.out.Targets = append(m.out.Targets, eval.CoverageTarget{Name: t.Name, Source: t.Source, From: t.From, Tools: len(t.Tools)})
		if t.Source == "" {
			continue
		}
		m.offered[t.Name] = m.offer(t, shared)
	}
	slices.SortFunc(m.tools, func(a, b *tool) int { return compareNames(a.ToolName, b.ToolName) })
	return m
}

// offer takes in a target's tools. Targets that offer the same share it.
func (m *Map) offer(t Target, shared map[string]*tool) map[eval.ToolName]*tool {
	offered := make(map[eval.ToolName]*tool, len(t.Tools))
	twice := 0
	for i := range t.Tools {
		n := nameOf(&t.Tools[i])
		if offered[n] != nil {
			twice++
			continue
		}
		key := fmt.Sprintf("%q %q %s", n.Server, n.Tool, canonical(t.Tools[i].InputSchema))
		one := shared[key]
		if one == nil {
			one = newTool(n, t.Tools[i].InputSchema)
			shared[key] = one
			m.tools = append(m.tools, one)
		}
		one.targets = append(one.targets, t.Name)
		offered[n] = one
	}
	m.cutSchemas(t.Name, offered)
	if twice > 0 {
		m.Problem("target.%s lists %d tools under a name that another of the same server has; the first of each counts", t.Name, twice)
	}
	return offered
}

func (m *Map) cutSchemas(target string, offered map[eval.ToolName]*tool) {
	n := 0
	for _, t := range offered {
		if t.known.Cut {
			n++
		}
	}
	if n > 0 {
		m.Problem("target.%s has %d tools whose schemas are too large to be looked at whole: they may have other actions", target, n)
	}
}

func newTool(n eval.ToolName, schema eval.JSON) *tool {
	t := &tool{ToolName: n, known: ActionsOf(schema), index: map[string]int{}}
	t.whole.name = n.Tool
	for i, name := range t.known.Names {
		t.actions = append(t.actions, part{name: name})
		t.index[name] = i
	}
	return t
}

// Problem takes note of something that could not be looked at.
func (m *Map) Problem(format string, args ...any) {
	switch n := len(m.out.Problems); {
	case n < maxProblems:
		m.out.Problems = append(m.out.Problems, fmt.Sprintf(format, args...))
	case n == maxProblems:
		m.out.Problems = append(m.out.Problems, fmt.Sprintf("and more than these %d", maxProblems))
	}
}

// Trials are the counts of the trials looked at, for the caller to fill in; Read
// is counted by [Map.Trial].
func (m *Map) Trials() *eval.CoverageTrials { return &m.out.Trials }

// Ran adds a run whose trials are looked at.
func (m *Map) Ran(run string) { m.out.Runs = append(m.out.Runs, run) }

// Against takes in the tools of a target as an earlier run saw them.
func (m *Map) Against(run, target string, before []eval.Tool) {
	m.out.Against = run
	i := slices.IndexFunc(m.targets, func(t Target) bool { return t.Name == target && t.Source != "" })
	if i < 0 {
		return
	}
	d := Drift(before, m.targets[i].Tools)
	d.Target = target
	m.out.Drift = append(m.out.Drift, d)
}

// Trial takes in the calls of a trial that passed or failed. Those that only the
// host reports, and those of tools of the host's own, are left out.
func (m *Map) Trial(story, target string, calls []eval.Call) {
	m.trial++
	m.out.Trials.Read++
	m.finished[story]++
	offered, known := m.offered[target]
	if !known {
		return
	}
	for i := range calls {
		c := &calls[i]
		if c.Observed == eval.Unconfirmed || c.Server == "" {
			continue
		}
		n := eval.ToolName{Server: c.Server, Tool: c.Tool}
		listed, ok := whose(offered, c)
		if !ok {
			m.notOffered(unlistedKey{target, n}, c.Status)
			continue
		}
		offered[listed].called(story, c, m.trial)
	}
}

func (m *Map) notOffered(k unlistedKey, status eval.CallStatus) {
	if m.unlisted[k] == nil {
		if len(m.unlisted) >= maxUnlisted {
			return
		}
		m.unlisted[k] = &counter{}
	}
	m.unlisted[k].add(status, m.trial)
}

func (t *tool) called(story string, c *eval.Call, trial int) {
	t.whole.add(story, c.Status, trial)
	if len(t.actions) == 0 {
		return
	}
	var names []string
	ok := !c.BadArguments
	if ok {
		names, ok = t.known.Called(c.Arguments)
	}
	if !ok {
		t.unread++
		return
	}
	for _, name := range names {
		if i, has := t.index[name]; has {
			t.actions[i].add(story, c.Status, trial)
		} else {
			t.others++
		}
	}
}

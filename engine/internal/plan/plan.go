// Package plan turns a suite into ordered trials. It runs nothing and reads
// nothing: the same suite and selection give the same plan.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// Selection narrows a plan. Each list holds globs of which one must match; an
// empty list takes everything.
type Selection struct {
	Stories, Hosts, Variants, Tags []string
	// Repeats overrides the suite's and the stories' where not zero.
	Repeats int
}

// Plan is what a run will do, in order.
type Plan struct {
	Suite  string       `json:"suite"`
	Trials []eval.Trial `json:"trials"`
	Arms   []Arm        `json:"arms"`
	Needs  Needs        `json:"needs"`
	// MaxAttempts bounds how often an agent is started, retries included.
	MaxAttempts int `json:"max_attempts"`
	// BudgetUSD and MaxTrials are the suite's; 0 is none.
	BudgetUSD float64 `json:"budget_usd,omitempty"`
	MaxTrials int     `json:"max_trials,omitempty"`
	// MaxUSD is the worst that all attempts can cost by the caps of their trials,
	// the budget left out; absent where a trial has no cap.
	MaxUSD *float64 `json:"max_usd,omitempty"`
}

// Arm is one story x variant x host with its number of repeats.
type Arm struct {
	Story   string `json:"story"`
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	Target  string `json:"target,omitempty"`
	Repeats int    `json:"repeats"`
	Turns   int    `json:"turns"`
	Asserts int    `json:"asserts"`
	Others  int    `json:"measures_and_judges"`
	// CapUSD is the most that an attempt can cost; absent where there is no cap.
	CapUSD float64 `json:"cap_usd,omitempty"`
}

// Needs are what the planned trials use.
type Needs struct {
	Drivers      []string `json:"drivers"`
	Provisioners []string `json:"provisioners"`
	Modules      []string `json:"modules"`
}

// Make plans the selected trials of s: all first repeats before all second
// ones, so that a run stopped early has seen every story. A selection that
// matches nothing is an error which names what there is.
func Make(s *eval.Suite, sel Selection) (*Plan, diag.List) {
	if diags := sel.check(s); diags.HasErrors() {
		return nil, diags
	}
	p := &Plan{Suite: s.Name}
	most := 0
	for i := range s.Stories {
		p.add(s, &s.Stories[i], sel)
	}
	for _, a := range p.Arms {
		most = max(most, a.Repeats)
	}
	for r := 1; r <= most; r++ {
		for _, a := range p.Arms {
			if r <= a.Repeats {
				p.Trials = append(p.Trials, eval.Trial{Story: a.Story, Variant: a.Variant, Host: a.Host, Repeat: r})
			}
		}
	}
	if len(p.Trials) == 0 {
		return nil, diag.Errors("nothing to run", "The selection matches stories, hosts and variants, but no combination of them. Leave out one of --story, --host, --variant and --tag.")
	}
	p.bound(s)
	return p, nil
}

// Of is the plan of trials that are known already, for finishing a run. Trials
// whose story or host the suite does not have are an error.
func Of(s *eval.Suite, trials []eval.Trial) (*Plan, diag.List) {
	p := &Plan{Suite: s.Name, Trials: trials}
	arms := map[eval.Trial]int{}
	for _, t := range trials {
		st, h := s.Story(t.Story), s.Host(t.Host)
		if st == nil || h == nil {
			return nil, diag.Errors(fmt.Sprintf("the suite has no trial %s", t.ID()), "Its story or host is gone. Restore the suite as it was, or start a new run.")
		}
		i, ok := arms[t.Arm()]
		if !ok {
			i = len(p.Arms)
			arms[t.Arm()] = i
			p.Arms = append(p.Arms, arm(s, st, t.Variant, t.Host, Selection{}))
			p.Arms[i].Repeats = 0
			p.need(s, st, h)
		}
		p.Arms[i].Repeats++
	}
	p.bound(s)
	return p, nil
}

func (p *Plan) add(s *eval.Suite, st *eval.Story, sel Selection) {
	if !match(sel.Stories, st.Name) || !matchAny(sel.Tags, st.Tags) {
		return
	}
	variants := []string{""}
	if len(st.Variants) > 0 {
		variants = variants[:0]
		for _, v := range st.Variants {
			variants = append(variants, v.Name)
		}
	}
	for _, v := range variants {
		if !match(sel.Variants, v) {
			continue
		}
		for i := range s.Hosts {
			h := &s.Hosts[i]
			if !match(sel.Hosts, h.Name) || len(st.Hosts) > 0 && !slices.Contains(st.Hosts, h.Name) {
				continue
			}
			p.Arms = append(p.Arms, arm(s, st, v, h.Name, sel))
			p.need(s, st, h)
		}
	}
}

func arm(s *eval.Suite, st *eval.Story, variant, host string, sel Selection) Arm {
	a := Arm{Story: st.Name, Variant: variant, Host: host, Target: st.Target, Turns: len(st.Turns), Repeats: s.Repeats, Asserts: len(st.Checks), CapUSD: capUSD(s, st, s.Host(host))}
	if st.Repeats > 0 {
		a.Repeats = st.Repeats
	}
	if sel.Repeats > 0 {
		a.Repeats = sel.Repeats
	}
	for _, u := range st.Uses {
		if u.Role == eval.RoleAssert {
			a.Asserts++
			continue
		}
		a.Others++
	}
	return a
}

func (p *Plan) need(s *eval.Suite, st *eval.Story, h *eval.HostConfig) {
	p.Needs.Drivers = insert(p.Needs.Drivers, h.Driver)
	if t := s.Target(st.Target); t != nil {
		p.Needs.Provisioners = insert(p.Needs.Provisioners, t.Provisioner)
	}
	for _, u := range st.Uses {
		module, _, _ := strings.Cut(u.Scorer, "/")
		p.Needs.Modules = insert(p.Needs.Modules, module)
	}
}

func insert(list []string, s string) []string {
	i, found := slices.BinarySearch(list, s)
	if found {
		return list
	}
	return slices.Insert(list, i, s)
}

func match(globs []string, name string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool {
		ok, _ := doublestar.Match(g, name)
		return ok
	})
}

func matchAny(globs, names []string) bool {
	return len(globs) == 0 || slices.ContainsFunc(names, func(n string) bool { return match(globs, n) })
}

// check reports globs that are malformed or match nothing in the suite.
func (sel Selection) check(s *eval.Suite) diag.List {
	var stories, hosts, variants, tags []string
	for _, h := range s.Hosts {
		hosts = insert(hosts, h.Name)
	}
	for _, st := range s.Stories {
		stories = insert(stories, st.Name)
		for _, t := range st.Tags {
			tags = insert(tags, t)
		}
		for _, v := range st.Variants {
			variants = insert(variants, v.Name)
		}
	}
	var diags diag.List
	diags = append(diags, unmatched("--story", sel.Stories, stories)...)
	diags = append(diags, unmatched("--host", sel.Hosts, hosts)...)
	diags = append(diags, unmatched("--variant", sel.Variants, variants)...)
	return append(diags, unmatched("--tag", sel.Tags, tags)...)
}

func unmatched(flag string, globs, names []string) diag.List {
	var diags diag.List
	for _, g := range globs {
		if !doublestar.ValidatePattern(g) {
			diags = append(diags, diag.Errors(fmt.Sprintf("%s %q is not a valid glob", flag, g), "")...)
			continue
		}
		if !slices.ContainsFunc(names, func(n string) bool { return match([]string{g}, n) }) {
			has := "The suite has none."
			if len(names) > 0 {
				has = "The suite has " + strings.Join(names, ", ") + "."
			}
			diags = append(diags, diag.Errors(fmt.Sprintf("%s %q matches nothing", flag, g), has)...)
		}
	}
	return diags
}

// Match returns the names that one of the globs of a flag matches, all without
// globs. A glob that matches nothing is an error.
func Match(flag string, globs, names []string) ([]string, diag.List) {
	if diags := unmatched(flag, globs, names); diags.HasErrors() {
		return nil, diags
	}
	var list []string
	for _, n := range names {
		if match(globs, n) {
			list = append(list, n)
		}
	}
	return list, nil
}

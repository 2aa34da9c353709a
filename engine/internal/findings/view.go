package findings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrNoRun is returned by [History.Delta] for a run that was not added.
var ErrNoRun = errors.New("the run is not in the history")

// schemaVersion is written into what is made here.
const schemaVersion = 1

// Options say what of a history is wanted. The zero Options want all of it.
type Options struct {
	// Triage is what people decided; nil for nothing.
	Triage *Triage
	// Hosts are globs: only what was found on one of them counts, also for the state.
	Hosts []string
	// Kinds are globs and States a list of what is shown; empty shows all.
	Kinds  []string
	States []eval.FindingState
	// Since and Newest show only what was seen, went or came back since then, or in the
	// newest so many runs; zero shows all. States are always those over all runs.
	Since  time.Time
	Newest int
}

// Of returns the findings as of the newest run.
func (h *History) Of(o Options) *eval.FindingHistory {
	runs := h.ordered("")
	out := &eval.FindingHistory{Schema: schemaVersion, Runs: len(runs), Hosts: o.Hosts, Groups: []eval.FindingGroup{}, Unread: h.problems()}
	if len(runs) > 0 {
		out.First, out.Newest = &runs[0].Sighting, &runs[len(runs)-1].Sighting
	}
	since := o.since(runs)
	for _, g := range h.follow(runs, o) {
		switch {
		case !o.shows(g, since):
			out.Hidden++
		case g.State == "":
			out.Unverified = append(out.Unverified, g)
		default:
			out.Groups = append(out.Groups, g)
		}
	}
	return out
}

// Delta returns what a run changed, held against the runs that began before it.
func (h *History) Delta(run string, o Options) (*eval.FindingDelta, error) {
	if h.runs[run] == nil {
		return nil, fmt.Errorf("run %s: %w", run, ErrNoRun)
	}
	runs := h.ordered(run)
	d := &eval.FindingDelta{
		Schema: schemaVersion, Run: run, Before: len(runs) - 1, Unread: h.problems(),
		New: []eval.FindingGroup{}, CameBack: []eval.FindingGroup{}, Gone: []eval.FindingGroup{},
		Known: []eval.FindingGroup{}, Acknowledged: []eval.FindingGroup{}, NotLookedAt: []eval.FindingGroup{},
	}
	to := map[eval.FindingState]*[]eval.FindingGroup{
		eval.FindingNew: &d.New, eval.FindingCameBack: &d.CameBack, eval.FindingKnown: &d.Known,
		eval.FindingAcknowledged: &d.Acknowledged, eval.FindingNotLookedAt: &d.NotLookedAt, "": &d.Unverified,
	}
	for _, g := range h.follow(runs, o) {
		switch list := to[g.State]; {
		case g.State == eval.FindingFixed && g.GoneSince != nil && g.GoneSince.Run == run:
			d.Gone = append(d.Gone, g)
		case g.State == "" && g.LastSeen.Run != run:
		case list != nil:
			*list = append(*list, g)
		}
	}
	return d, nil
}

// follow returns all groups as of the last of the runs, the most urgent first.
func (h *History) follow(runs []*run, o Options) []eval.FindingGroup {
	among := map[*run]bool{}
	for _, r := range runs {
		among[r] = true
	}
	keep := func(s seen) bool { return among[s.run] && fits(o.Hosts, s.place.arm.Host) }
	var out []eval.FindingGroup
	for _, g := range h.groups() {
		said := o.Triage.of(g)
		f, ok := follow(g, runs, keep, said)
		if !ok {
			continue
		}
		if said != nil && said.State == eval.TriageAcknowledged && f.State != "" && f.State != eval.FindingFixed {
			f.State = eval.FindingAcknowledged
		}
		out = append(out, f)
	}
	states := eval.FindingStates()
	slices.SortFunc(out, func(a, b eval.FindingGroup) int {
		return cmp.Or(
			cmp.Compare(slices.Index(states, a.State), slices.Index(states, b.State)),
			cmp.Compare(rank(a.Severity), rank(b.Severity)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Kind+a.Tool+a.Action, b.Kind+b.Tool+b.Action),
		)
	})
	return out
}

func (h *History) groups() []*group {
	list := make([]*member, 0, len(h.members))
	for _, m := range h.members {
		list = append(list, m)
	}
	return groups(list)
}

// problems are what could not be taken in, by run.
func (h *History) problems() []eval.Unread {
	list := slices.Clone(h.unread)
	if h.left > 0 {
		list = append(list, eval.Unread{Why: fmt.Sprintf("%d findings are left out: a history holds %d different ones", h.left, maxMembers)})
	}
	slices.SortFunc(list, func(a, b eval.Unread) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Why, b.Why)) })
	return list
}

// since is from when on something has to have happened to be shown.
func (o Options) since(runs []*run) time.Time {
	since := o.Since
	if o.Newest > 0 && o.Newest < len(runs) {
		if at := runs[len(runs)-o.Newest].At; at.After(since) {
			since = at
		}
	}
	return since
}

func (o Options) shows(g eval.FindingGroup, since time.Time) bool {
	last := g.LastSeen.At
	if g.GoneSince != nil && g.GoneSince.At.After(last) {
		last = g.GoneSince.At
	}
	return fits(o.Kinds, g.Kind) && (len(o.States) == 0 || slices.Contains(o.States, g.State)) && !last.Before(since)
}

// fits reports whether one of the globs covers the name; none cover all.
func fits(globs []string, name string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(g string) bool { return eval.Glob(g, name) })
}

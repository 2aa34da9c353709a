package findings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
)

// Bounds of what a group lists.
const (
	maxExamples     = 20
	maxFingerprints = 50
)

// story is what became of one group, run by run.
type story struct {
	out  eval.FindingGroup
	mark *eval.Triage
	// open are the places where it was when somebody looked last; ever those where it
	// was at any time.
	open, ever map[place]bool
}

// follow tells what became of a group over the runs, oldest first. It is not ok where
// none of the sightings is one that keep wants.
func follow(g *group, runs []*run, keep func(seen) bool, said *eval.Triage) (out eval.FindingGroup, ok bool) {
	m := g.members[0]
	st := &story{open: map[place]bool{}, ever: map[place]bool{}, mark: said}
	st.out = eval.FindingGroup{ID: g.id, Kind: m.kind, Tool: m.tool, Action: m.action, Triage: said}
	st.describe(g)
	byRun, suspect := map[*run][]seen{}, map[*run][]seen{}
	for _, m := range g.members {
		for _, s := range m.seen {
			if !keep(s) {
				continue
			}
			st.out.Unverified += s.unverified
			if s.count > 0 {
				byRun[s.run] = append(byRun[s.run], s)
			} else {
				suspect[s.run] = append(suspect[s.run], s)
			}
		}
	}
	if len(byRun) == 0 {
		st.only(runs, suspect)
		return st.out, len(suspect) > 0
	}
	for _, r := range runs {
		st.pass(r, byRun[r])
	}
	st.hear()
	st.count(byRun)
	return st.out, st.out.Runs > 0
}

// describe says what the group is: its text is that of the newest run that has it.
func (st *story) describe(g *group) {
	seen := map[string]bool{}
	last := g.members[0].last
	for _, m := range g.members {
		if m.verified == g.members[0].verified && m.last.before(last) {
			last = m.last
		}
		if !seen[m.fingerprint] && len(seen) < maxFingerprints {
			st.out.Fingerprints = append(st.out.Fingerprints, m.fingerprint)
		}
		seen[m.fingerprint] = true
	}
	st.out.Text, st.out.Suggestion, st.out.Wordings = last.text, last.suggestion, len(seen)
}

// only fills in a group that was never found with evidence that exists: it has no
// state.
func (st *story) only(runs []*run, suspect map[*run][]seen) {
	for _, r := range runs {
		if len(suspect[r]) == 0 {
			continue
		}
		if st.out.FirstSeen.Run == "" {
			st.out.FirstSeen = r.Sighting
		}
		st.out.LastSeen = r.Sighting
		st.latest(suspect[r])
	}
	st.count(suspect)
}

// pass goes on to the next run, in which there are these findings.
func (st *story) pass(r *run, found []seen) {
	o := &st.out
	if st.mark != nil && r.At.After(st.mark.At) {
		st.hear()
	}
	if len(found) == 0 && o.Runs == 0 {
		return
	}
	looked := false
	for p := range st.ever {
		if r.looked[p] {
			looked = true
			delete(st.open, p)
		}
	}
	for _, s := range found {
		st.open[s.place], st.ever[s.place] = true, true
	}
	if looked || len(found) > 0 {
		o.LookedAt++
	}
	if len(found) > 0 {
		st.again(r, found)
		return
	}
	switch {
	case o.State == eval.FindingFixed:
	case len(st.open) == 0:
		o.State, o.GoneSince = eval.FindingFixed, &r.Sighting
	default:
		o.State = eval.FindingNotLookedAt
	}
}

// again goes on to a run that has it.
func (st *story) again(r *run, found []seen) {
	o := &st.out
	if o.Runs == 0 {
		o.FirstSeen = r.Sighting
	}
	switch {
	case o.State == eval.FindingFixed:
		o.State, o.CameBack = eval.FindingCameBack, &r.Sighting
	case o.Runs == 0:
		o.State = eval.FindingNew
	default:
		o.State = eval.FindingKnown
	}
	o.Runs++
	o.LastSeen, o.GoneSince = r.Sighting, nil
	st.latest(found)
}

// hear puts into force what a person said, once: by "fixed" it is gone from every
// place, also where the runs that had it are no longer kept.
func (st *story) hear() {
	if st.mark != nil && st.mark.State == eval.TriageFixed && st.out.State != eval.FindingFixed {
		clear(st.open)
		st.out.State, st.out.GoneSince = eval.FindingFixed, &eval.Sighting{At: st.mark.At}
	}
	st.mark = nil
}

// latest takes severity and examples from the findings of a run.
func (st *story) latest(found []seen) {
	o := &st.out
	o.Severity, o.Examples = found[0].severity, nil
	for _, s := range found {
		if rank(s.severity) < rank(o.Severity) {
			o.Severity = s.severity
		}
		o.Examples = append(o.Examples, s.trial)
	}
	slices.Sort(o.Examples)
	o.Examples = slices.Compact(o.Examples)
	o.Examples = o.Examples[:min(len(o.Examples), maxExamples)]
}

// count sums up over all runs.
func (st *story) count(byRun map[*run][]seen) {
	o := &st.out
	type trial struct{ run, id string }
	hosts, trials := map[string]*eval.HostCount{}, map[trial]bool{}
	stories, sources := map[string]bool{}, map[string]bool{}
	for r, list := range byRun {
		for _, s := range list {
			arm := s.place.arm
			h := hosts[arm.Host]
			if h == nil {
				h = &eval.HostCount{Host: arm.Host}
				hosts[arm.Host] = h
			}
			if key := (trial{r.Run, s.trial}); !trials[key] {
				trials[key] = true
				h.Trials++
			}
			h.Count += s.count
			o.Count += s.count
			stories[arm.Story], sources[s.place.source] = true, true
		}
	}
	o.Trials = len(trials)
	o.Stories, o.Sources = slices.Sorted(maps.Keys(stories)), slices.Sorted(maps.Keys(sources))
	o.Hosts = []eval.HostCount{}
	for _, h := range hosts {
		o.Hosts = append(o.Hosts, *h)
	}
	slices.SortFunc(o.Hosts, func(a, b eval.HostCount) int { return cmp.Compare(a.Host, b.Host) })
}

package eval

import "time"

// FindingState is what became of a finding over the runs of a suite. The zero
// FindingState is that of findings that count nowhere.
type FindingState string

// States of a finding as of the newest run. Who has looked is decided place by
// place: a story x variant x host, and the finder.
const (
	// FindingNew was found in the newest run and in none before.
	FindingNew FindingState = "new"
	// FindingKnown was found in the newest run and before.
	FindingKnown FindingState = "known"
	// FindingAcknowledged is known to somebody who said so, and is not fixed.
	FindingAcknowledged FindingState = "acknowledged"
	// FindingFixed was found before, and wherever that was somebody has looked since
	// and not found it; or somebody said that it is fixed, and it was not found since.
	FindingFixed FindingState = "fixed"
	// FindingCameBack was fixed, and was found again in the newest run.
	FindingCameBack FindingState = "came_back"
	// FindingNotLookedAt was found before, and where it was found nobody has looked
	// since: the story was not run, its trials errored, or its finder was skipped.
	FindingNotLookedAt FindingState = "not_looked_at"
)

// FindingStates are all states, in the order in which they are shown.
func FindingStates() []FindingState {
	return []FindingState{FindingNew, FindingCameBack, FindingKnown, FindingNotLookedAt, FindingAcknowledged, FindingFixed}
}

// FindingHistory is the findings of a suite over its runs.
type FindingHistory struct {
	Schema int    `json:"schema"`
	Suite  string `json:"suite"`
	// Experiment is set where only the runs of one were looked at.
	Experiment string `json:"experiment,omitempty"`
	// Runs is how many there are; First and Newest are the ends of them, absent for
	// none.
	Runs   int       `json:"runs"`
	First  *Sighting `json:"first,omitempty"`
	Newest *Sighting `json:"newest,omitempty"`
	// Hosts are the globs that the history is narrowed to; absent for all hosts.
	Hosts []string `json:"hosts,omitempty"`
	// Groups are the findings whose evidence exists, Unverified those that were never
	// found with evidence that does; these have no state.
	Groups     []FindingGroup `json:"groups"`
	Unverified []FindingGroup `json:"unverified,omitempty"`
	// Hidden is how many groups are left out because they were not asked for.
	Hidden int `json:"hidden,omitempty"`
	// Triage is the file of what people said; it may not be there.
	Triage string `json:"triage,omitempty"`
	// Unread says what could not be read, and why: what it holds is not in Groups.
	Unread []Unread `json:"unread,omitempty"`
	// OtherSuites are suites whose runs were not looked at.
	OtherSuites []string `json:"other_suites,omitempty"`
}

// Unread is a part of a run that could not be read.
type Unread struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// FindingGroup is one finding over runs and hosts: findings of one kind, tool and
// action whose texts say the same.
type FindingGroup struct {
	// ID is the fingerprint of the oldest: it stays when later findings join.
	ID     string       `json:"id"`
	State  FindingState `json:"state,omitempty"`
	Kind   string       `json:"kind"`
	Tool   string       `json:"tool,omitempty"`
	Action string       `json:"action,omitempty"`
	// Severity is the most urgent in the last run that has it; Text and Suggestion are
	// of that one.
	Severity   Severity `json:"severity"`
	Text       string   `json:"text"`
	Suggestion string   `json:"suggestion,omitempty"`
	FirstSeen  Sighting `json:"first_seen"`
	LastSeen   Sighting `json:"last_seen"`
	// GoneSince is the first run, or the word of a person, by which it is fixed.
	GoneSince *Sighting `json:"gone_since,omitempty"`
	// CameBack is the last run in which it was found again after it was fixed.
	CameBack *Sighting `json:"came_back,omitempty"`
	// Count is how many findings there are and Trials how many trials have one, over
	// all runs; Runs is how many runs have one, of LookedAt in which somebody looked
	// since it was first seen.
	Count    int         `json:"count"`
	Trials   int         `json:"trials"`
	Runs     int         `json:"runs"`
	LookedAt int         `json:"looked_at"`
	Hosts    []HostCount `json:"hosts"`
	Stories  []string    `json:"stories"`
	// Sources are the finders.
	Sources []string `json:"sources,omitempty"`
	// Examples are trials of the run in which it was last seen.
	Examples []string `json:"examples,omitempty"`
	// Fingerprints are some of those in the group, oldest first, of Wordings.
	Fingerprints []string `json:"fingerprints"`
	Wordings     int      `json:"wordings"`
	// Unverified is how many more cite what does not exist; they count nowhere else.
	Unverified int     `json:"unverified,omitempty"`
	Triage     *Triage `json:"triage,omitempty"`
}

// HostCount is a finding on one host.
type HostCount struct {
	Host   string `json:"host"`
	Count  int    `json:"count"`
	Trials int    `json:"trials"`
}

// Sighting is when something was seen: a run and its start. Run is empty where a
// person said it.
type Sighting struct {
	Run string    `json:"run,omitempty"`
	At  time.Time `json:"at"`
}

// FindingDelta is what a run changed in the findings of its suite.
type FindingDelta struct {
	Schema int    `json:"schema"`
	Suite  string `json:"suite"`
	Run    string `json:"run"`
	// Before is how many earlier runs it is held against; with none every finding is
	// new.
	Before   int            `json:"before"`
	New      []FindingGroup `json:"new"`
	CameBack []FindingGroup `json:"came_back"`
	// Gone are those that this run is the first to have looked for in vain.
	Gone         []FindingGroup `json:"gone"`
	Known        []FindingGroup `json:"known"`
	Acknowledged []FindingGroup `json:"acknowledged"`
	// NotLookedAt were there before, and this run did not look.
	NotLookedAt []FindingGroup `json:"not_looked_at"`
	Unverified  []FindingGroup `json:"unverified,omitempty"`
	Unread      []Unread       `json:"unread,omitempty"`
}

// TriageState is what a person decided about a finding. The zero TriageState is
// invalid.
type TriageState string

// Decisions about findings.
const (
	TriageAcknowledged TriageState = "acknowledged"
	TriageFixed        TriageState = "fixed"
	// TriageOpen takes an earlier decision back.
	TriageOpen TriageState = "open"
)

// Triage is a decision about a finding: a line of the triage file.
type Triage struct {
	Schema int `json:"schema"`
	// Finding is the group's ID, or any fingerprint in the group.
	Finding string      `json:"finding"`
	State   TriageState `json:"state"`
	By      string      `json:"by,omitempty"`
	At      time.Time   `json:"at"`
	Note    string      `json:"note,omitempty"`
	// About says what the finding is, for who reads the file.
	About string `json:"about,omitempty"`
}

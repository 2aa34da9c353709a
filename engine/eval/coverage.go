package eval

// CoverageStatus is what is known of a tool or an action of one. The zero
// CoverageStatus is invalid.
type CoverageStatus string

// The first three are covered. A tool counts as called where a finished trial
// called it.
const (
	Covered   CoverageStatus = "covered"   // a story asks for it, and a trial called it
	Asserted  CoverageStatus = "asserted"  // a story asks for it that has no finished trial yet
	Exercised CoverageStatus = "exercised" // a trial called it, and no story asks for it
	Unreached CoverageStatus = "unreached" // a story asks for it, and no trial called it
	Uncovered CoverageStatus = "uncovered" // no story asks for it, and no trial called it
)

// Holds reports whether the status is one of those that are covered.
func (s CoverageStatus) Holds() bool { return s == Covered || s == Asserted || s == Exercised }

// Coverage is what the stories of a suite ask for, and what trials called, of the
// tools that its targets offer.
type Coverage struct {
	Schema int    `json:"schema"`
	Suite  string `json:"suite"`
	// Runs are those whose trials were looked at, the newest first.
	Runs    []string         `json:"runs"`
	Trials  CoverageTrials   `json:"trials"`
	Targets []CoverageTarget `json:"targets"`
	// Tools and Actions count each tool and each action of a multi-action tool; Parts
	// count each action, and each tool that has none.
	Tools   CoverageTally `json:"tools"`
	Actions CoverageTally `json:"actions"`
	Parts   CoverageTally `json:"parts"`
	// Use is there where it is known how often each is used in production.
	Use  *CoverageUse   `json:"use,omitempty"`
	List []ToolCoverage `json:"list"`
	// Lost are what stories ask for and no longer reach.
	Lost []LostTool `json:"lost"`
	// Unlisted were called in trials and are not offered.
	Unlisted []UnlistedTool `json:"unlisted"`
	// Drift is how the targets' tools differ from those of the run Against.
	Against string      `json:"against,omitempty"`
	Drift   []ToolDrift `json:"drift"`
	// Problems are what could not be looked at, in a sentence each.
	Problems []string `json:"problems"`
}

// CoverageTrials count the trials of the runs.
type CoverageTrials struct {
	// Read are those that passed or failed; the calls of others say nothing.
	Read    int `json:"read"`
	Errored int `json:"errored"`
	Skipped int `json:"skipped"`
	// Other are of stories that were not looked at.
	Other int `json:"other"`
	// Unreadable have records that are missing or broken.
	Unreadable int `json:"unreadable"`
}

// CoverageTarget is a target and where its tools are known from.
type CoverageTarget struct {
	Name string `json:"name"`
	// Source is "run", "file" or "live"; empty where the tools are not known.
	Source string `json:"source,omitempty"`
	// From is the run or the file.
	From  string `json:"from,omitempty"`
	Tools int    `json:"tools"`
}

// CoverageTally counts tools or actions.
type CoverageTally struct {
	Total     int `json:"total"`
	Covered   int `json:"covered"`
	Asserted  int `json:"asserted"`
	Exercised int `json:"exercised"`
	Unreached int `json:"unreached"`
	Uncovered int `json:"uncovered"`
	// Share is how much of Total is covered, asserted or exercised, in 0..1; absent
	// where Total is 0.
	Share *float64 `json:"share,omitempty"`
}

// Add counts one more.
func (t *CoverageTally) Add(s CoverageStatus) {
	t.Total++
	switch s {
	case Covered:
		t.Covered++
	case Asserted:
		t.Asserted++
	case Exercised:
		t.Exercised++
	case Unreached:
		t.Unreached++
	case Uncovered:
		t.Uncovered++
	}
	share := float64(t.Covered+t.Asserted+t.Exercised) / float64(t.Total)
	t.Share = &share
}

// CoverageUse is coverage by how often tools are used in production.
type CoverageUse struct {
	// Share is how much of the use of offered tools is of covered ones, in 0..1;
	// absent where none of the use is of offered tools.
	Share *float64 `json:"share,omitempty"`
	// Unlisted is how much of all use is of tools or actions that are not offered.
	Unlisted float64 `json:"unlisted"`
	// Events is how many calls that rests on, Broken how many lines of the file could
	// not be read.
	Events int64 `json:"events"`
	Broken int64 `json:"broken,omitempty"`
}

// ToolCoverage is one tool. Targets that offer the same tool of the same server
// share it.
type ToolCoverage struct {
	Server  string         `json:"server"`
	Tool    string         `json:"tool"`
	Targets []string       `json:"targets"`
	Status  CoverageStatus `json:"status"`
	// Stories ask for the tool by name, or by a pattern that their trials then came
	// to it by; Patterns are stories with a pattern that covers it among others.
	Stories  []string `json:"stories,omitempty"`
	Patterns []string `json:"patterns,omitempty"`
	Called   ToolUse  `json:"called"`
	// Share of its use in production, in 0..1; absent where that is not known.
	Share *float64 `json:"share,omitempty"`
	// Argument names the action: "mode", "actions[].kind", or "actions[].*" where
	// members are named for actions; empty for a tool that has none.
	Argument string           `json:"argument,omitempty"`
	Actions  []ActionCoverage `json:"actions,omitempty"`
	// Left is how many actions the tool has beyond those listed.
	Left int `json:"actions_left_out,omitempty"`
	// Cut says that the schema is too large to be looked at whole: there may be other
	// actions.
	Cut bool `json:"schema_cut,omitempty"`
	// Others are calls of actions that the schema does not have, Unread calls whose
	// arguments could not be read.
	Others int `json:"other_actions,omitempty"`
	Unread int `json:"unread,omitempty"`
}

// ActionCoverage is one action of a multi-action tool.
type ActionCoverage struct {
	Action   string         `json:"action"`
	Status   CoverageStatus `json:"status"`
	Stories  []string       `json:"stories,omitempty"`
	Patterns []string       `json:"patterns,omitempty"`
	Called   ToolUse        `json:"called"`
	Share    *float64       `json:"share,omitempty"`
}

// ToolUse is how finished trials called something.
type ToolUse struct {
	Calls int `json:"calls"`
	// Failed ended in an error, Unfinished have no result.
	Failed     int `json:"failed,omitempty"`
	Unfinished int `json:"unfinished,omitempty"`
	// Trials is how many trials called it.
	Trials int `json:"trials"`
	// AlwaysFails says that two calls or more were answered, each with an error.
	AlwaysFails bool `json:"always_fails,omitempty"`
}

// Why a story does not reach what it asks for.
const (
	LostNotOffered  = "not_offered"  // no tool of the target is called that
	LostNoAction    = "no_action"    // the tool has no such action
	LostNeverCalled = "never_called" // none of its finished trials called it
)

// LostTool is something that a story asks for and does not reach.
type LostTool struct {
	Story string `json:"story"`
	// Use is what of the story asks for it: the scorer's use or the check.
	Use string `json:"use"`
	// Tool and Action are as the story names them.
	Tool   string `json:"tool"`
	Action string `json:"action,omitempty"`
	Why    string `json:"why"`
	// Trials is how many finished trials the story has.
	Trials int `json:"trials"`
}

// UnlistedTool was called and is not offered.
type UnlistedTool struct {
	Target string  `json:"target"`
	Server string  `json:"server"`
	Tool   string  `json:"tool"`
	Called ToolUse `json:"called"`
}

// ToolDrift is how a target's list of tools differs from an earlier one.
type ToolDrift struct {
	Target  string        `json:"target,omitempty"`
	Added   []ToolName    `json:"added"`
	Removed []ToolName    `json:"removed"`
	Changed []ToolChanged `json:"changed"`
	// Failing are listed, were called twice or more, and failed each time.
	Failing []ToolName `json:"failing"`
}

// None reports whether there is nothing to tell.
func (d ToolDrift) None() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Failing) == 0
}

// ToolName tells a tool apart within a target.
type ToolName struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// ToolChanged is a tool that is described otherwise than it was.
type ToolChanged struct {
	ToolName
	// What differs: "description", "input_schema" or "annotations".
	What []string `json:"what"`
	// Actions that are new or gone.
	ActionsAdded   []string `json:"actions_added,omitempty"`
	ActionsRemoved []string `json:"actions_removed,omitempty"`
}

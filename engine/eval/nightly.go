package eval

import "time"

// Baseline is the run that later ones of a suite are compared with: a file of the
// store, baselines/<suite>.json.
type Baseline struct {
	Schema int       `json:"schema"`
	Suite  string    `json:"suite"`
	Run    string    `json:"run"`
	SetAt  time.Time `json:"set_at"`
	// Replaces is the run that was the baseline before.
	Replaces string `json:"replaces,omitempty"`
}

// Nightly is what one run of a suite changed: the nightly report. Its lists hold
// what is news; what is as it was is counted.
type Nightly struct {
	Schema     int       `json:"schema"`
	Suite      string    `json:"suite"`
	Run        string    `json:"run"`
	Experiment string    `json:"experiment,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	// Seconds is how long the run took from its start to its last record.
	Seconds float64 `json:"seconds"`
	Planned int     `json:"planned"`
	Trials  Tally   `json:"trials"`
	Usage   Usage   `json:"usage"`
	// Baseline is the run that was set as such, empty for none; Nights are the earlier
	// runs whose median is the moving baseline, the oldest first.
	Baseline string   `json:"baseline,omitempty"`
	Nights   []string `json:"nights"`
	// SetBaseline says that this run has become the baseline.
	SetBaseline bool `json:"set_baseline,omitempty"`
	// Verdict is that of the comparison with the baseline, or with the nights where
	// none is set; empty where there is neither. Reason says it in a sentence.
	Verdict ComparisonVerdict `json:"verdict,omitempty"`
	Reason  string            `json:"reason"`
	// Quiet says that there is no news.
	Quiet       bool              `json:"quiet"`
	Regressions []NightlyChange   `json:"regressions"`
	Improved    []NightlyChange   `json:"improvements"`
	Variance    []NightlyVariance `json:"variance"`
	New         []FindingGroup    `json:"new_findings"`
	CameBack    []FindingGroup    `json:"findings_that_came_back"`
	Gone        []FindingGroup    `json:"findings_gone"`
	// Known is how many findings there were before as well.
	Known int `json:"known_findings"`
	// Uncovered are tools and actions that no story reaches and that were reached, or
	// not there, before; UncoveredBefore is how many more there are.
	Uncovered       []NightlyTool `json:"uncovered_tools"`
	UncoveredBefore int           `json:"uncovered_before"`
	// Lost are what stories ask for and no longer reach.
	Lost []LostTool `json:"lost"`
	// Drift is how the targets' tools differ from those of the night before.
	Drift []ToolDrift `json:"drift"`
	// Causes count the errored trials by cause.
	Causes []CauseCount `json:"errored"`
	// Noise is what is known of how far the gates differ from themselves.
	Noise *NightlyNoise `json:"noise,omitempty"`
	// Problems are what could not be looked at, in a sentence each.
	Problems []string `json:"problems"`
}

// NightlyChange is a gated quantity, or a story of it, that differs from a
// baseline.
type NightlyChange struct {
	// Against is "baseline" or "nights".
	Against   string    `json:"against"`
	Name      string    `json:"name"`
	Dimension Dimension `json:"dimension,omitempty"`
	// Story is empty for the quantity over all stories.
	Story      string    `json:"story,omitempty"`
	Base       *float64  `json:"base,omitempty"`
	Head       *float64  `json:"head,omitempty"`
	Difference *float64  `json:"difference,omitempty"`
	Interval   []float64 `json:"interval,omitempty"`
	P          *float64  `json:"p,omitempty"`
	// Noise is how far the quantity differs from itself 19 times in 20, and WithinNoise
	// that the difference is no larger; absent where that is not known.
	Noise       *float64 `json:"noise,omitempty"`
	WithinNoise bool     `json:"within_noise,omitempty"`
	// Stories are those of a quantity that differ most, at most five.
	Stories []string `json:"stories,omitempty"`
}

// NightlyVariance is a score whose repeats differed more than in the nights before.
type NightlyVariance struct {
	Story   string `json:"story"`
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	Score   string `json:"score"`
	// Stdev is tonight's, of Values; Before are those of the nights, the oldest first.
	Stdev  float64   `json:"stdev"`
	Values []float64 `json:"values"`
	Before []float64 `json:"before"`
	// P is of the permutation test, Adjusted what Benjamini and Hochberg's procedure
	// makes of it.
	P        float64 `json:"p"`
	Adjusted float64 `json:"p_adjusted"`
}

// NightlyTool is a tool, or an action of one.
type NightlyTool struct {
	ToolName
	Action string `json:"action,omitempty"`
}

// CauseCount is how many trials errored for one cause.
type CauseCount struct {
	Cause string `json:"cause"`
	Count int    `json:"count"`
}

// NightlyNoise is what an aa of an earlier run says of the gate.
type NightlyNoise struct {
	Run string `json:"run"`
	// FalseRegressed is how often the gate says regressed where nothing changed.
	FalseRegressed FalseAlarm `json:"false_regressed"`
}

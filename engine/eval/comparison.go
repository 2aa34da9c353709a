package eval

import "time"

// Comparison holds the trials of one side against those of another, paired by
// story: what evalengine compare says. Two sides are two runs, or two hosts or
// variants of one.
type Comparison struct {
	Schema int `json:"schema"`
	// By is what tells the sides apart within one run: "host" or "variant"; empty for
	// sides that are runs.
	By   string       `json:"by,omitempty"`
	Base ComparedSide `json:"base"`
	Head ComparedSide `json:"head"`
	// Level is that of the intervals; 1 less it is the tests' level.
	Level float64 `json:"level"`
	// Seed is of the tests that draw at random, so that they can be done again.
	Seed uint64 `json:"seed"`
	// Verdict is that of the gated dimensions together, Reason why, in a sentence.
	Verdict ComparisonVerdict `json:"verdict"`
	Reason  string            `json:"reason"`
	// Dimensions are all quantities that either side has, those that gate first.
	Dimensions []Compared `json:"dimensions"`
	// Unpaired are what only one side has: it enters no difference.
	Unpaired []Unpaired `json:"unpaired,omitempty"`
	// Changes are what else differs between the sides.
	Changes []Change `json:"changes,omitempty"`
	// Notes say what could not be told.
	Notes []string `json:"notes,omitempty"`
}

// ComparisonVerdict is what a comparison makes of a difference. The zero
// ComparisonVerdict is invalid.
type ComparisonVerdict string

// Verdicts of a comparison. No evidence is no proof that nothing changed: the
// minimum detectable effect says what could have been seen.
const (
	Regressed        ComparisonVerdict = "regressed"
	Improved         ComparisonVerdict = "improved"
	NoEvidence       ComparisonVerdict = "no_evidence"
	InsufficientData ComparisonVerdict = "insufficient_data"
)

// ComparedSide is one side of a comparison.
type ComparedSide struct {
	// Name is what reports call it: the run, or the host or variant.
	Name string `json:"name"`
	// Runs are the runs that the side's trials are of.
	Runs []string `json:"runs"`
	// Host and Variant are set where the side is one of a run's.
	Host       string     `json:"host,omitempty"`
	Variant    string     `json:"variant,omitempty"`
	Suite      string     `json:"suite,omitempty"`
	Experiment string     `json:"experiment,omitempty"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	Trials     Tally      `json:"trials"`
	// Planned is how many trials the plan has for the side; more than Trials counts
	// means that the rest has no record.
	Planned int `json:"planned"`
	// MedianOf is how many runs a moving baseline is the median of; 0 is no such
	// baseline.
	MedianOf int `json:"median_of,omitempty"`
}

// QuantityKind says what a compared quantity is. The zero QuantityKind is invalid.
type QuantityKind string

// Kinds of quantities, named as in [Arm].
const (
	QuantityGate   QuantityKind = "gate"
	QuantityScore  QuantityKind = "score"
	QuantityEffort QuantityKind = "effort"
)

// Compared is one quantity on both sides.
type Compared struct {
	Kind QuantityKind `json:"kind"`
	Name string       `json:"name"`
	// Role and Dimension are those of its scores.
	Role          Role      `json:"role,omitempty"`
	Dimension     Dimension `json:"dimension,omitempty"`
	Unit          string    `json:"unit,omitempty"`
	LowerIsBetter bool      `json:"lower_is_better,omitempty"`
	// Rate says that each trial's value is 0 or 1.
	Rate bool `json:"rate,omitempty"`
	// Gated says that it decides the comparison's verdict.
	Gated bool           `json:"gated,omitempty"`
	Base  ComparedValues `json:"base"`
	Head  ComparedValues `json:"head"`
	// Stories is how many stories both sides have values of: the size of the sample.
	Stories int `json:"stories"`
	// OneSided are stories of both sides of which only one has a value.
	OneSided []string `json:"one_sided_stories,omitempty"`
	// LeftOut says which stories enter nothing since their scorer changed, and why.
	LeftOut []string `json:"left_out,omitempty"`
	// Forced says what changed in the scorer and was to be compared all the same.
	Forced []string `json:"forced,omitempty"`
	// Difference is head less base: the mean over stories of what the means of their
	// trials differ by. Absent without a story that both sides have.
	Difference *float64 `json:"difference,omitempty"`
	// Interval is that of Difference, by Method.
	Interval []float64 `json:"interval,omitempty"`
	Method   string    `json:"interval_method,omitempty"`
	// Test is what P is of, TestWhy why that one.
	Test    string `json:"test,omitempty"`
	TestWhy string `json:"test_why,omitempty"`
	// P is of both tails, Adjusted what Holm's correction over the quantities that
	// gate makes of it; absent for others, and for a test that cannot reach the level
	// with so few stories that differ.
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// PairedT is the p-value of the paired t test, for comparison.
	PairedT *float64 `json:"p_paired_t,omitempty"`
	// Detectable is the smallest true difference that would be seen four times in
	// five, given how much stories differ; absent where that is not known.
	Detectable *float64 `json:"minimum_detectable_effect,omitempty"`
	// Effect is the mean of the stories' differences in their standard deviations
	// (Cohen's d of paired values); absent where they have none.
	Effect  *float64          `json:"effect_size,omitempty"`
	Verdict ComparisonVerdict `json:"verdict"`
	Reason  string            `json:"reason"`
	// NotComparable is why the values of the sides are not of one scale, such as
	// another version of the scorer; empty where they are.
	NotComparable string `json:"not_comparable,omitempty"`
	// Changed are the stories of it, those that differ most for the worse first.
	Changed []ComparedStory `json:"by_story"`
	// Within are its parts by host or variant, where the sides have several of both;
	// they gate nothing.
	Within []ComparedPart `json:"within,omitempty"`
}

// ComparedValues are one side's values of a quantity.
type ComparedValues struct {
	// N is how many trials of the stories have a value.
	N int `json:"n"`
	// Mean is the mean of the means of the stories that both sides have; absent
	// without one.
	Mean *float64 `json:"mean,omitempty"`
	// Errored and Skipped count scores of finished trials without a value; they enter
	// nothing else. Trials that did not finish are in the side's own count.
	Errored int `json:"errored,omitempty"`
	Skipped int `json:"skipped,omitempty"`
	// Refused counts values that are no number that can be summed up: NaN, infinite, or
	// beyond 1e100.
	Refused int `json:"refused,omitempty"`
}

// ComparedStory is one story of a quantity on both sides.
type ComparedStory struct {
	Story string  `json:"story"`
	Base  float64 `json:"base"`
	Head  float64 `json:"head"`
	// BaseN and HeadN are how many trials the means are of.
	BaseN      int     `json:"base_n"`
	HeadN      int     `json:"head_n"`
	Difference float64 `json:"difference"`
	// P is of Fisher's exact test on the story's own trials, for rates that gate with
	// several trials on each side; Adjusted is Holm's correction over the stories of all
	// of them, as in [Compared].
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// Verdict is of this story alone.
	Verdict ComparisonVerdict `json:"verdict"`
}

// ComparedPart is a quantity on one host, of one variant.
type ComparedPart struct {
	Host       string    `json:"host,omitempty"`
	Variant    string    `json:"variant,omitempty"`
	Stories    int       `json:"stories"`
	Base       *float64  `json:"base,omitempty"`
	Head       *float64  `json:"head,omitempty"`
	Difference *float64  `json:"difference,omitempty"`
	Interval   []float64 `json:"interval,omitempty"`
	P          *float64  `json:"p,omitempty"`
}

// Unpaired is a story, or its part on one host and of one variant, that only one
// side has trials of.
type Unpaired struct {
	Story   string `json:"story"`
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host,omitempty"`
	// Side is "base", "head", or "neither" for a story that has no part in what is
	// compared.
	Side string `json:"side"`
	// Whole says that the other side has nothing of the story at all.
	Whole  bool `json:"whole,omitempty"`
	Trials int  `json:"trials"`
}

// Change is something in what ran that differs between the sides.
type Change struct {
	// What is a fixed word: "tools", "prompt", "plugin", "scorer", "parameters",
	// "judge_model", "agent", "agent_model", "engine", "suite_file", "setting",
	// "commit", "suite", "host", "variant".
	What string `json:"what"`
	// Name is which of them.
	Name string `json:"name,omitempty"`
	// Base and Head are what the sides have, nothing where a side has none.
	Base []string `json:"base"`
	Head []string `json:"head"`
}

// Noise is noise.json of a run: how often the comparison of an arm with itself says
// that it changed, over the run's own trials.
type Noise struct {
	Schema int       `json:"schema"`
	Run    string    `json:"run"`
	Suite  string    `json:"suite"`
	MadeAt time.Time `json:"made_at"`
	Level  float64   `json:"level"`
	// Seed is of the splits, Splits how many there were.
	Seed   uint64 `json:"seed"`
	Splits int    `json:"splits"`
	// Stories is how many stories were split, Repeats the fewest and the most trials
	// that one side of a split had of a story's arm.
	Stories int    `json:"stories"`
	Repeats [2]int `json:"repeats_a_side"`
	// LeftOut are arms with too few trials for two sides.
	LeftOut []Unpaired `json:"left_out,omitempty"`
	Trials  Tally      `json:"trials"`
	// FalseRegressed and FalseImproved are of the comparison's verdict.
	FalseRegressed FalseAlarm `json:"false_regressed"`
	FalseImproved  FalseAlarm `json:"false_improved"`
	// AnyDrop is how often a gate that fails at any drop of a gated quantity would
	// have failed, for scale.
	AnyDrop FalseAlarm `json:"any_drop"`
	// Insufficient is how many of the splits had too little data for a verdict.
	Insufficient int          `json:"insufficient_data"`
	Floors       []NoiseFloor `json:"floors"`
}

// FalseAlarm is a share of splits.
type FalseAlarm struct {
	Count    int       `json:"count"`
	Rate     float64   `json:"rate"`
	Interval []float64 `json:"interval"`
}

// NoiseFloor is how far a quantity differs from itself by chance.
type NoiseFloor struct {
	Kind      QuantityKind `json:"kind"`
	Name      string       `json:"name"`
	Dimension Dimension    `json:"dimension,omitempty"`
	Unit      string       `json:"unit,omitempty"`
	Gated     bool         `json:"gated,omitempty"`
	// Splits is how many splits gave a difference.
	Splits int `json:"splits"`
	// Median and P95 are quantiles of the difference without its sign, Max the
	// largest.
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Max    float64 `json:"max"`
	// FalseRegressed and FalseImproved count verdicts on the quantity alone.
	FalseRegressed int `json:"false_regressed"`
	FalseImproved  int `json:"false_improved"`
	// Stories are the same, story by story.
	Stories []StoryNoise `json:"stories"`
}

// StoryNoise is a noise floor of one story.
type StoryNoise struct {
	Story string  `json:"story"`
	P95   float64 `json:"p95"`
	Max   float64 `json:"max"`
}

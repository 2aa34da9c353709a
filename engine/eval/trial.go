package eval

import "strconv"

// Trial is one story x variant x host x repeat.
type Trial struct {
	Story string `json:"story"`
	// Variant is empty for a story without variants.
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	// Repeat counts from 1.
	Repeat int `json:"repeat"`
}

// NoVariant stands in a trial's ID where the story has no variants.
const NoVariant = "base"

// ID is story.variant.host.rN, readable and the same across resume. Names are
// checked to be safe as file names before a trial exists.
func (t Trial) ID() string {
	v := t.Variant
	if v == "" {
		v = NoVariant
	}
	return t.Story + "." + v + "." + t.Host + ".r" + strconv.Itoa(t.Repeat)
}

// Arm is the trial without its repeat: what repeats are repeats of.
func (t Trial) Arm() Trial { t.Repeat = 0; return t }

// Status is how a trial ended. The zero Status is invalid.
type Status string

// A failed trial says something of the agent; an errored one says nothing of it
// and never enters a statistic.
const (
	StatusPassed  Status = "passed"
	StatusFailed  Status = "failed"
	StatusErrored Status = "errored"
	StatusSkipped Status = "skipped"
)

// Role is what a scorer is for. The zero Role is invalid.
type Role string

// Only an assert gates.
const (
	RoleAssert  Role = "assert"
	RoleMeasure Role = "measure"
	RoleJudge   Role = "judge"
)

// Dimension is the question that a score answers. The zero Dimension is
// invalid.
type Dimension string

// Dimensions are never folded into one number. Path and quality never fail a
// trial.
const (
	DimensionOutcome    Dimension = "outcome"
	DimensionConstraint Dimension = "constraint"
	DimensionPath       Dimension = "path"
	DimensionQuality    Dimension = "quality"
)

// ScoreState says whether a score holds a value. The zero ScoreState is
// invalid.
type ScoreState string

// Only a scored score enters a statistic.
const (
	Scored       ScoreState = "scored"
	ScoreSkipped ScoreState = "skipped"
	ScoreErrored ScoreState = "errored"
)

// Score is one named value in one dimension.
type Score struct {
	// Name is unique within the story: ScorerUse.Name, or "check/" and the
	// check's name.
	Name      string     `json:"name"`
	Scorer    string     `json:"scorer"`
	Role      Role       `json:"role"`
	Dimension Dimension  `json:"dimension"`
	State     ScoreState `json:"state"`
	// Value is in 0..1; absent unless State is scored: what was not measured is no 0.
	Value *float64 `json:"value,omitempty"`
	// Raw is the measured number in Unit, where there is one.
	Raw  *float64 `json:"raw,omitempty"`
	Unit string   `json:"unit,omitempty"`
	// LowerIsBetter says which way Raw points.
	LowerIsBetter bool `json:"lower_is_better,omitempty"`
	// Passed is set by asserts alone.
	Passed *bool `json:"passed,omitempty"`
	// Reason is why, in a sentence for a person: also of a skip or an error.
	Reason   string     `json:"reason,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Samples are a judge's values in 0..1 where it was asked more than once about
	// the same trial; Value is what the scorer made of them.
	Samples []float64 `json:"samples,omitempty"`
	// StdErr is the standard error of Raw, or of Value where there is no Raw; nil
	// where it is not known.
	StdErr *float64 `json:"std_err,omitempty"`
	// Judge is what the score's own model calls took, apart from the agent's.
	Judge *JudgeUse `json:"judge,omitempty"`
}

// JudgeUse is what a score asked of models.
type JudgeUse struct {
	Usage Usage `json:"usage"`
	// Requests are the ids of the calls in judge.jsonl.
	Requests []string `json:"requests,omitempty"`
	// Cached says that an answer came from an earlier call of the same content.
	Cached bool `json:"cached,omitempty"`
}

// Evidence points at what a score or finding rests on: one of the first three is
// set.
type Evidence struct {
	Step string `json:"step,omitempty"`
	Page string `json:"page,omitempty"`
	// Pointer is a JSON pointer into the state.
	Pointer string `json:"pointer,omitempty"`
	// Quote is text said to stand there.
	Quote string `json:"quote,omitempty"`
}

// Severity of a finding. The zero Severity is invalid.
type Severity string

// Severities, most urgent first.
const (
	SeverityCritical Severity = "critical"
	SeverityMajor    Severity = "major"
	SeverityMinor    Severity = "minor"
	SeverityInfo     Severity = "info"
)

// Finding is a concrete problem to mend, pass or fail.
type Finding struct {
	Kind string `json:"kind"`
	// Tool is "server/tool" where the finder knows the server.
	Tool string `json:"tool,omitempty"`
	// Action is the action of a multi-action tool.
	Action   string     `json:"action,omitempty"`
	Severity Severity   `json:"severity"`
	Text     string     `json:"text"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Suggestion is what to change, where the finder has one.
	Suggestion string `json:"suggestion,omitempty"`
	// Source is the scorer, or "engine".
	Source      string `json:"source,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	// Unverified says that what it cites does not exist: it is shown and enters no
	// count.
	Unverified bool `json:"unverified,omitempty"`
}

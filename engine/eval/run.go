package eval

import "time"

// Run is one execution of a plan: run.json, written when the run starts.
type Run struct {
	Schema int `json:"schema"`
	// ID is the start's UTC time and six hex digits: 20261130T151735Z-3f09ab.
	ID         string    `json:"id"`
	Suite      string    `json:"suite"`
	Experiment string    `json:"experiment,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	// Args is the command line, secrets left out.
	Args      []string `json:"args,omitempty"`
	GitCommit string   `json:"git_commit,omitempty"`
	GitDirty  bool     `json:"git_dirty,omitempty"`
	// Dir is the suite's folder and Paths what of it was loaded, for resume.
	Dir   string   `json:"dir,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// Files are the suite files as run; copies lie under suite/.
	Files []File `json:"files"`
	// Plugins and Modules say exactly what ran.
	Plugins []Component `json:"plugins"`
	Modules []Component `json:"modules"`
	Trials  []Trial     `json:"trials"`
	// Settings that the trials ran under.
	Timeout     time.Duration `json:"timeout_ns"`
	Retries     int           `json:"retries"`
	Concurrency int           `json:"concurrency"`
	BudgetUSD   float64       `json:"budget_usd,omitempty"`
	MaxTrials   int           `json:"max_trials,omitempty"`
	// TimeoutForAll says that Timeout goes before the stories' own.
	TimeoutForAll bool              `json:"timeout_for_all,omitempty"`
	Vars          map[string]string `json:"vars,omitempty"`
	// PassK is the k of pass@k and pass^k; 0 stands for the repeats of each arm.
	PassK int `json:"pass_k,omitempty"`
}

// Component is one plugin binary or scorer module.
type Component struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	SHA256  string `json:"sha256"`
	// Protocol is the major of the plugin protocol that was spoken.
	Protocol int `json:"protocol,omitempty"`
}

// Completion says whether a run has everything it planned. The zero Completion
// is invalid.
type Completion string

// Completions of a run.
const (
	RunComplete    Completion = "complete"
	RunIncomplete  Completion = "incomplete"
	RunInterrupted Completion = "interrupted"
)

// Stop is why a run ended before all of its plan was run. The zero Stop is a run
// that went through its plan.
type Stop string

// Stops of a run.
const (
	StopBudget      Stop = "budget"      // another trial could have passed the run's budget
	StopTrials      Stop = "trials"      // max_trials were started
	StopFailFast    Stop = "fail_fast"   // a trial failed
	StopCircuit     Stop = "circuit"     // too many faults in a row: the rest of a part was skipped
	StopInterrupted Stop = "interrupted" // someone stopped it
	StopStore       Stop = "store"       // a record could not be written
)

// Summary is the fold of a run's records: summary.json.
type Summary struct {
	Schema     int        `json:"schema"`
	Run        string     `json:"run"`
	Suite      string     `json:"suite"`
	Experiment string     `json:"experiment,omitempty"`
	StartedAt  time.Time  `json:"started_at"`
	FinishedAt time.Time  `json:"finished_at"`
	Completion Completion `json:"completion"`
	// Stopped is why not all of the plan was run, StopReason says it in a sentence.
	Stopped    Stop   `json:"stopped,omitempty"`
	StopReason string `json:"stop_reason,omitempty"`
	// Planned is how many trials the plan has; Trials counts those recorded.
	Planned int   `json:"planned"`
	Trials  Tally `json:"trials"`
	Arms    []Arm `json:"arms"`
	// Dimensions, Variance and Reliability are of each variant x host over its
	// stories, in the order of Arms.
	Dimensions  []Overall       `json:"dimensions,omitempty"`
	Variance    []VarianceSplit `json:"variance,omitempty"`
	Reliability []Reliability   `json:"reliability,omitempty"`
	Findings    []FindingCount  `json:"findings,omitempty"`
	Usage       Usage           `json:"usage"`
	// Rescored is how many of the trials count with a later verdict than their
	// record's own.
	Rescored int `json:"rescored,omitempty"`
}

// Tally counts trials by status.
type Tally struct {
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errored int `json:"errored"`
	Skipped int `json:"skipped"`
	// Causes count failed and errored trials by cause.
	Causes map[string]int `json:"causes,omitempty"`
}

// Arm is one story x variant x host: what repeats are repeats of.
type Arm struct {
	Story   string `json:"story"`
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	Trials  Tally  `json:"trials"`
	// Gates hold, for each dimension with asserts, the share of trials in which
	// all of them held; Scores hold each score on its own.
	Gates  []Stat `json:"gates"`
	Scores []Stat `json:"scores"`
	// Effort is of the agent's run: seconds, calls, turns, tokens.
	Effort []Stat `json:"effort,omitempty"`
	Usage  Usage  `json:"usage"`
	// PassAt has pass@k and pass^k of the k that was chosen.
	PassAt []PassK `json:"pass_at,omitempty"`
	// Flaky says how steady the trials' verdicts are; absent where none has one.
	Flaky *Flaky `json:"flaky,omitempty"`
}

// Stat is one named quantity over the trials of an arm. Errored and skipped
// ones are counted and enter nothing else; a trial that errored or was skipped as a
// whole counts so in each quantity of its arm, and so does a value that is no number.
type Stat struct {
	Name          string    `json:"name"`
	Scorer        string    `json:"scorer,omitempty"`
	Role          Role      `json:"role,omitempty"`
	Dimension     Dimension `json:"dimension,omitempty"`
	Unit          string    `json:"unit,omitempty"`
	LowerIsBetter bool      `json:"lower_is_better,omitempty"`
	N             int       `json:"n"`
	// Mean, Min and Max are absent for n = 0, Stdev (of the sample) for n < 2.
	Mean  *float64 `json:"mean,omitempty"`
	Stdev *float64 `json:"stdev,omitempty"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	// Values are in the order of Repeats.
	Values  []float64 `json:"values"`
	Repeats []int     `json:"repeats"`
	Errored int       `json:"errored,omitempty"`
	Skipped int       `json:"skipped,omitempty"`
	// Interval is the 95 % interval: Wilson's for a rate, t's for a mean. It is of
	// this arm's own trials.
	Interval []float64 `json:"interval,omitempty"`
	// StdErr is the standard error that one of the values has of its own, on average
	// (the root of their mean square); absent where that is not known of each.
	StdErr *float64 `json:"std_err,omitempty"`
	// MeanStdErr is the standard error of Mean over the trials; absent for n < 2, and
	// for a rate, which has Interval alone.
	MeanStdErr *float64 `json:"mean_std_err,omitempty"`
	// Pairs is there for a judge's preferences.
	Pairs *Pairs `json:"pairs,omitempty"`
}

// UnitPreference is the unit of judges that compare the trial's result with another.
// Their samples come in pairs, the trial shown first and the other shown first: 1
// where the trial is preferred, 0 where the other is, 0.5 for a tie.
const UnitPreference = "preference"

// Pairs are a judge's preferences between trials and others, each pair of results
// shown in both orders. A preference that does not outlast the change of order is a
// tie.
type Pairs struct {
	N    int `json:"n"`
	Won  int `json:"won"`
	Lost int `json:"lost"`
	Tied int `json:"tied"`
	// WinRate is the share of pairs that trials win, ties as half a win.
	WinRate *float64 `json:"win_rate,omitempty"`
	// OrderConsistency is the share of pairs with the same answer in both orders.
	OrderConsistency *float64 `json:"order_consistency,omitempty"`
	// FirstPickRate is how often what is shown first is preferred, of all answers that
	// prefer one: far from a half it is a bias of position. Absent for ties alone.
	FirstPickRate *float64 `json:"first_pick_rate,omitempty"`
}

// FindingCount is one finding over a run: findings of one fingerprint.
type FindingCount struct {
	Kind   string `json:"kind"`
	Tool   string `json:"tool,omitempty"`
	Action string `json:"action,omitempty"`
	// Severity is the most urgent of them; Text and Suggestion are the first's.
	Severity   Severity `json:"severity"`
	Text       string   `json:"text"`
	Suggestion string   `json:"suggestion,omitempty"`
	// Count is how many there are whose evidence exists, Unverified how many more
	// cite what does not.
	Count      int `json:"count"`
	Unverified int `json:"unverified,omitempty"`
	// Trials name the first of the trials.
	Trials      []string `json:"trials,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
}

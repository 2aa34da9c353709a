package eval

// PassK is the chance that of k trials at least one passes, and that all pass, as
// estimated without bias from the trials that have a verdict.
type PassK struct {
	K int `json:"k"`
	// N is how many trials passed or failed, Passed how many of them passed.
	N      int `json:"n"`
	Passed int `json:"passed"`
	// PassAt is pass@k and PassHat pass^k; both absent for N < K.
	PassAt  *float64 `json:"pass_at,omitempty"`
	PassHat *float64 `json:"pass_hat,omitempty"`
}

// Flaky says how often the verdicts of an arm's trials change, in the order of
// repeats. Trials without a verdict are left out.
type Flaky struct {
	N       int `json:"n"`
	Passed  int `json:"passed"`
	Changes int `json:"changes"`
	// FlipRate is Changes in N-1; absent for N < 2.
	FlipRate *float64 `json:"flip_rate,omitempty"`
	// Flaky: there was a pass and a failure.
	Flaky bool `json:"flaky"`
	// Evidence says in a sentence what that rests on.
	Evidence string `json:"evidence"`
}

// Overall is one quantity of one variant x host over its stories. Every story that
// has a value weighs the same, however many trials it has: stories are what a
// conclusion is drawn from, and repeats tell about each of them.
type Overall struct {
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	Name    string `json:"name"`
	// Scorer tells quantities of one name apart.
	Scorer        string    `json:"scorer,omitempty"`
	Role          Role      `json:"role,omitempty"`
	Dimension     Dimension `json:"dimension,omitempty"`
	Unit          string    `json:"unit,omitempty"`
	LowerIsBetter bool      `json:"lower_is_better,omitempty"`
	// Gate: the quantity is one of [Arm.Gates], not of [Arm.Scores].
	Gate bool `json:"gate,omitempty"`
	// Stories and N count the stories and trials that have a value; Errored and
	// Skipped count trials that have none.
	Stories int `json:"stories"`
	N       int `json:"n"`
	Errored int `json:"errored,omitempty"`
	Skipped int `json:"skipped,omitempty"`
	// Mean is of the stories' means, Stdev, Min and Max are those of these means.
	// Mean, Min and Max are absent for no story, the others for fewer than two.
	Mean  *float64 `json:"mean,omitempty"`
	Stdev *float64 `json:"stdev,omitempty"`
	Min   *float64 `json:"min,omitempty"`
	Max   *float64 `json:"max,omitempty"`
	// StdErr is the standard error of Mean, clustered by story, and Interval its 95 %
	// interval by IntervalMethod: t with Stories-1 degrees of freedom, which may pass the
	// bounds of what is measured and is not cut; or, for a rate that is 0 or 1 in every
	// story, Wilson's over stories, since t's would have no width there.
	StdErr   *float64  `json:"std_err,omitempty"`
	Interval []float64 `json:"interval,omitempty"`
	// IntervalMethod is absent without an interval.
	IntervalMethod IntervalMethod `json:"interval_method,omitempty"`
	// Pairs are those of all stories together, for a judge's preferences.
	Pairs *Pairs `json:"pairs,omitempty"`
}

// IntervalMethod says how an interval was made. The zero IntervalMethod is none.
type IntervalMethod string

// Methods of intervals.
const (
	IntervalT      IntervalMethod = "t"
	IntervalWilson IntervalMethod = "wilson"
)

// VarianceSplit says where the variance of one quantity of one variant x host comes
// from. The parts add up to the variance of a single trial's value of a story that is
// taken at random.
type VarianceSplit struct {
	Variant   string    `json:"variant,omitempty"`
	Host      string    `json:"host"`
	Name      string    `json:"name"`
	Scorer    string    `json:"scorer,omitempty"`
	Role      Role      `json:"role,omitempty"`
	Dimension Dimension `json:"dimension,omitempty"`
	Unit      string    `json:"unit,omitempty"`
	// Gate: the quantity is one of [Arm.Gates], not of [Arm.Scores].
	Gate    bool `json:"gate,omitempty"`
	Stories int  `json:"stories"`
	N       int  `json:"n"`
	// Story is the variance between stories, Within that between the trials of one
	// story. Repeat and Judge are the parts of Within: what the trials differ by, and
	// what the judge's answers about one and the same trial differ by. Each is absent
	// where the trials do not tell it; without samples of a judge Repeat holds both.
	Story  *float64 `json:"story,omitempty"`
	Within *float64 `json:"within,omitempty"`
	Repeat *float64 `json:"repeat,omitempty"`
	Judge  *float64 `json:"judge,omitempty"`
	// JudgeAnswer is the variance of a single answer of the judge; Judge is less where
	// values are means of several. Samples is how many answers that is known from.
	JudgeAnswer *float64 `json:"judge_answer,omitempty"`
	Samples     int      `json:"samples,omitempty"`
	// ICC is the story's share in Story and Within, DesignEffect how much the variance
	// of the mean over trials grows by it, and EffectiveN how many independent trials
	// those there are worth.
	ICC          *float64 `json:"icc,omitempty"`
	DesignEffect *float64 `json:"design_effect,omitempty"`
	EffectiveN   *float64 `json:"effective_n,omitempty"`
	// StdErr is the standard error of the mean of stories' means for stories at large,
	// FixedStdErr for these very stories.
	StdErr      *float64 `json:"std_err,omitempty"`
	FixedStdErr *float64 `json:"fixed_std_err,omitempty"`
	// Clamped name the parts (story, repeat) whose estimate was below 0 and is given
	// as 0.
	Clamped []string `json:"clamped,omitempty"`
	// Reasons say why parts are absent.
	Reasons []string `json:"reasons,omitempty"`
}

// Reliability is the pass@k and pass^k of one variant x host: their means over the
// stories that have enough trials.
type Reliability struct {
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	K       int    `json:"k"`
	// Stories count into the means; Left have fewer than K trials with a verdict.
	Stories int `json:"stories"`
	Left    int `json:"left,omitempty"`
	// Flaky counts the stories with both a pass and a failure.
	Flaky   int      `json:"flaky"`
	PassAt  *float64 `json:"pass_at,omitempty"`
	PassHat *float64 `json:"pass_hat,omitempty"`
}

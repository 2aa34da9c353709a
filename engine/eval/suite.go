package eval

import "time"

// Suite is one checked configuration: what is to be run, and how often.
type Suite struct {
	Name string
	// Dir is the folder that relative paths of the suite start from.
	Dir string
	// Files are the suite files and every file that they read, in the order of
	// first use; a run keeps a copy.
	Files []File

	// Repeats is how many trials each story x variant x host has; at least 1.
	Repeats int
	// Timeout bounds one attempt at a trial.
	Timeout time.Duration
	// OnTimeout says what an agent's running out of time means.
	OnTimeout TimeoutPolicy
	// Retries is how many attempts a trial has beyond the first, for
	// infrastructure faults only.
	Retries int
	// BudgetUSD ends the run before it is passed; 0 is no budget.
	BudgetUSD float64
	// MaxTrials is how many trials one call of run or resume starts; 0 is all.
	MaxTrials int
	// Circuit is how many infrastructure faults in a row make the engine skip
	// what is left of a host, a provider or a target; 0 is never.
	Circuit int
	// Limits are the caps of one trial; a story overrides them.
	Limits Limits
	// Providers bound what all hosts of a provider do at once.
	Providers []ProviderConfig

	Hosts   []HostConfig
	Targets []TargetConfig
	Models  []ModelConfig
	Browser BrowserConfig
	Modules []ModuleConfig
	Stories []Story

	// Vars are the values that the suite was loaded with, in the form that --var
	// takes; sensitive ones are left out.
	Vars map[string]string
	// Secrets are values that must never reach a record or a log: of sensitive
	// variables and of config attributes that the plugin marks as secret.
	Secrets []string
}

// TimeoutPolicy says what a trial's timeout means. The zero TimeoutPolicy is
// TimeoutFails.
type TimeoutPolicy string

// Timeout policies. The state is looked up, and every gate evaluated, under both.
const (
	// TimeoutFails: an agent that is not done in time has failed.
	TimeoutFails TimeoutPolicy = "fail"
	// TimeoutJudged: the gates decide, as if the agent had been done.
	TimeoutJudged TimeoutPolicy = "judge"
)

// Host returns the host block of that name, or nil.
func (s *Suite) Host(name string) *HostConfig { return find(s.Hosts, name) }

// Target returns the target block of that name, or nil.
func (s *Suite) Target(name string) *TargetConfig { return find(s.Targets, name) }

// Story returns the story of that name, or nil.
func (s *Suite) Story(name string) *Story { return find(s.Stories, name) }

// File is one file that a suite was made of.
type File struct {
	// Path is relative to Suite.Dir where it lies below it, with slashes.
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Content []byte `json:"-"`
}

// Source is a place in a suite file, for messages about a trial.
type Source struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// HostConfig is a host block: an agent program with its model and settings.
type HostConfig struct {
	Name   string
	Driver string
	// Capabilities are what this host offers to the target's tools, such as
	// "designer_tab"; a tool rule may require one.
	Capabilities []string
	// Env names the variables of the engine's environment that the agent gets.
	Env []string
	// Concurrency is how many trials of the host run at once; 0 is as many as the
	// run has.
	Concurrency int
	// Config has the plugin's attributes as one JSON object, checked.
	Config JSON
	// SHA256 pins the plugin binary; empty is not pinned.
	SHA256 string
	// Isolation says whether the agent is kept from what is not its own.
	Isolation IsolationPolicy
	Source    Source
}

// TargetConfig is a target block: the throw-away thing the agent works on.
type TargetConfig struct {
	Name        string
	Provisioner string
	Config      JSON
	Env         []string
	Tools       []ToolRule
	SHA256      string
	Source      Source
}

// ToolRule says what the engine should know of the tools that match.
type ToolRule struct {
	// Pattern is a glob over tool names, optionally "server/tool": [MatchTool].
	Pattern string `json:"pattern"`
	// Requires are capabilities that a host must offer; a call on a host without
	// them breaks a constraint.
	Requires    []string `json:"requires,omitempty"`
	Destructive bool     `json:"destructive,omitempty"`
	Source      Source   `json:"-"`
}

// ModelConfig is a model block, for judges.
type ModelConfig struct {
	Name     string
	Provider string
	Model    string
	Config   JSON
	// SHA256 pins the plugin of a provider that is one.
	SHA256 string
	Source Source
}

// ModuleConfig is a scorer block: a module beside the built-in ones.
type ModuleConfig struct {
	Name string
	// Path is the module's file, absolute.
	Path   string
	SHA256 string
	Grants Grants
	Source Source
}

// Grants bound what a module may use. Zero values mean the engine's defaults.
type Grants struct {
	Models      []string
	MemoryBytes int64
	Timeout     time.Duration
	OutputBytes int64
	LogBytes    int64
	Calls       int
}

// Story is a task in plain language with what should be true afterwards.
type Story struct {
	Name string
	Tags []string
	// Target names a target block; empty is a story without a target.
	Target string
	// Hosts restricts the story to these host blocks; empty is the suite's.
	Hosts []string
	// Turns has at least one turn; the first is the story's own prompt.
	Turns    []Turn
	Variants []Variant
	Checks   []Check
	Uses     []ScorerUse
	Captures []Capture
	Gold     *Gold
	// Repeats, Timeout and each of Limits override the suite's where not zero.
	Repeats int
	Timeout time.Duration
	Limits  Limits
	Source  Source
}

// Turn is one prompt of a story.
type Turn struct {
	Name   string
	Prompt Late[string]
}

// Late is a value that may refer to the trial's target: it is evaluated when
// the target exists. Value is safe for concurrent use.
type Late[T any] interface {
	Value(Vars) (T, error)
}

// Vars is what a late value can refer to.
type Vars struct {
	// Target has the provisioner's values: target.url and so on.
	Target JSON
	Trial  Trial
}

// Variant is a named alteration of a story's prompt or tools.
type Variant struct {
	Name string
	// Prompt replaces the first turn's prompt where not nil.
	Prompt Late[string]
	// Prepend and Append are set around the first turn's prompt.
	Prepend, Append Late[string]
	Tools           []ToolChange
	Source          Source
}

// ToolChange alters what the agent sees of the tools that match.
type ToolChange struct {
	// Pattern is a glob over tool names, optionally "server/tool": [MatchTool].
	Pattern string `json:"pattern"`
	Hide    bool   `json:"hide,omitempty"`
	// Description replaces the tool's description where not empty.
	Description string `json:"description,omitempty"`
	// Latency is added to every call.
	Latency time.Duration `json:"latency,omitempty"`
	// Fault is answered in place of the call where not empty.
	Fault string `json:"fault,omitempty"`
	// FaultEvery makes only every n-th call fail; 0 and 1 are every call.
	FaultEvery int    `json:"fault_every,omitempty"`
	Source     Source `json:"-"`
}

// Check is an assert written as an HCL condition.
type Check struct {
	Name      string
	Dimension Dimension
	Condition Condition
	// Written is the condition as the suite has it, in one line; Values are what it
	// refers to and the suite knows, as one text. Together they decide the check.
	Written, Values string
	Source          Source
}

// Condition decides a check. Eval is safe for concurrent use. Message is the
// suite's error_message where passed is false; err means that the condition
// itself could not be evaluated, which is not a failure of the agent.
type Condition interface {
	Eval(Facts) (passed bool, message string, err error)
}

// Facts are what a check can see of a trial.
type Facts struct {
	Trial  Trial
	Target JSON
	// State and Before are the target's state after and before the run.
	State, Before JSON
	// Answer is the agent's final message.
	Answer string
	Calls  []Call
	Tools  []Tool
	Usage  Usage
	// Pages is nil where none were captured: a check that asks for them cannot be
	// evaluated then.
	Pages []Page
}

// ScorerUse is one assert, measure or judge block of a story.
type ScorerUse struct {
	// Name tells uses of one scorer apart within a story: the scorer's name, or
	// with "#2" and so on behind it.
	Name string
	// Scorer is module/scorer.
	Scorer string
	Role   Role
	// Params has the scorer's parameters as one JSON object.
	Params Late[JSON]
	// Models name model blocks, for a judge.
	Models []string
	Source Source
}

// Capture is a page to be taken after the run.
type Capture struct {
	Name      string
	URL       Late[string]
	Viewports []Viewport
	// Scale is device pixels for each CSS pixel; 0 is 1.
	Scale float64
	// FirstScreen takes the viewport alone, not the whole page.
	FirstScreen bool
	// MaxHeight is where a page that goes on for ever is cut, in CSS pixels; 0 is
	// the engine's.
	MaxHeight int
	// Expect says how the right page is known from a login or an error.
	ExpectURL  string
	ExpectText Late[string]
	// WaitFor is a CSS selector that must be there before the page is taken.
	WaitFor string
	// Hide are CSS selectors of what is not to be seen, such as a cookie layer.
	Hide []string
	// Origins are globs over further origins that the page may reach.
	Origins []string
	// Timeout bounds one page; 0 is the engine's.
	Timeout time.Duration
	Source  Source
}

// BrowserConfig says which browser takes pages. All empty is the first that is
// found on the machine.
type BrowserConfig struct {
	// Path is the program, URL a DevTools address of a browser that runs already.
	Path, URL string
	// Concurrency is how many pages are taken at once; 0 is the engine's.
	Concurrency int
	Source      Source
}

// Viewport is a browser window's size in CSS pixels.
type Viewport struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Gold is an ideal result built by hand: the ceiling of what a judge gives.
type Gold struct {
	Result
	// Floor is an empty or poor result, graded alike; nil is none.
	Floor *Result
	// Samples is how often each judge grades it; 0 is the engine's.
	Samples int
	// Ceiling is the scorer that holds a trial's scores against the gold's; empty
	// is gold/ceiling.
	Ceiling string
	Source  Source
}

// Result is how a gold or a floor is built: one of the fields is set, or none
// for the target as it is when it is fresh.
type Result struct {
	// Script is a file of tool calls that are made on a fresh target, absolute.
	Script string
	// Files is a folder of files that are served in the target's place, absolute.
	Files string
	// URL is something that exists already, in the target's place.
	URL string
}

type named interface {
	HostConfig | TargetConfig | Story
}

func find[T named](list []T, name string) *T {
	for i := range list {
		if nameOf(&list[i]) == name {
			return &list[i]
		}
	}
	return nil
}

func nameOf[T named](v *T) string {
	switch v := any(v).(type) {
	case *HostConfig:
		return v.Name
	case *TargetConfig:
		return v.Name
	case *Story:
		return v.Name
	}
	return ""
}

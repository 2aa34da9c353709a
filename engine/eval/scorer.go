package eval

// Manifest is what a scorer module says of itself.
type Manifest struct {
	Module  string       `json:"module"`
	Version string       `json:"version"`
	Doc     string       `json:"doc,omitempty"`
	Scorers []ScorerSpec `json:"scorers"`
}

// Scorer returns the scorer of that name within the module, or nil.
func (m *Manifest) Scorer(name string) *ScorerSpec {
	for i := range m.Scorers {
		if m.Scorers[i].Name == name {
			return &m.Scorers[i]
		}
	}
	return nil
}

// ScorerSpec describes one scorer of a module.
type ScorerSpec struct {
	// Name is the part behind the slash of module/scorer, in snake_case.
	Name          string    `json:"name"`
	Role          Role      `json:"role"`
	Dimension     Dimension `json:"dimension"`
	Doc           string    `json:"doc,omitempty"`
	Params        Schema    `json:"params"`
	Needs         []Part    `json:"needs,omitempty"`
	Capabilities  []string  `json:"capabilities,omitempty"`
	Unit          string    `json:"unit,omitempty"`
	LowerIsBetter bool      `json:"lower_is_better,omitempty"`
}

// Part names a part of a trial that a scorer can ask for.
type Part string

// Parts of a [ScoreInput]. What nobody asks for does not cross.
const (
	PartTranscript Part = "transcript"
	PartAnswer     Part = "answer"
	PartState      Part = "state"
	PartTools      Part = "tools"
	// PartPages is what is known of the captured pages, without HTML and pictures.
	PartPages      Part = "pages"
	PartPagesHTML  Part = "pages.html"
	PartPagesImage Part = "pages.image"
	PartGold       Part = "gold"
	PartScores     Part = "scores"
	PartFiles      Part = "files"
)

// ScoreInput is what a module gets of a trial: one Use for every time that the
// story uses one of its scorers.
type ScoreInput struct {
	Trial Trial
	Uses  []Use
	// Steps are there for PartTranscript, and so on for the others.
	Steps              []Step
	Answer             string
	StateBefore, State JSON
	Tools              []Tool
	Pages              []Page
	Scores             []Score
	GoldState          JSON
	GoldPages          []Page
	// GoldGrades and FloorGrades are what the story's judges made of its gold and
	// of its floor; empty where there are none that can be used, and GoldStale says
	// why.
	GoldGrades, FloorGrades []Grade
	GoldStale               string
	// GoldTrial names the trial whose state and pages are GoldState and GoldPages, where
	// a judge compares two trials; empty is the story's gold.
	GoldTrial string
	// The rest is always there.
	Usage            Usage
	HostCapabilities []string
	Prompts          []string
	Outcome          Outcome
	AgentSeconds     float64
	Target           JSON
}

// Use is one use of a scorer in a story.
type Use struct {
	// Name is unique within the input.
	Name string
	// Scorer is the scorer's name within the module.
	Scorer string
	// Params is a JSON object, checked against the scorer's Params, defaults
	// filled in.
	Params JSON
	// Models name the model blocks granted to this use.
	Models []string
}

// Grade is how a judge graded one result several times.
type Grade struct {
	// Score is the name of the score, as [Score.Name].
	Score string `json:"score"`
	// Values are in 0..1, in the order of asking.
	Values []float64 `json:"values"`
}

// ScoreOutput answers one Use.
type ScoreOutput struct {
	Name     string
	State    ScoreState
	Value    float64
	Raw      *float64
	Unit     string
	Passed   *bool
	Reason   string
	Evidence []Evidence
	Findings []Finding
	// Samples are a judge's single values in 0..1.
	Samples []float64
	// StdErr is [Score.StdErr].
	StdErr *float64
}

package eval

// Suggestions are stories drafted from usage: what suggest --json writes.
type Suggestions struct {
	Schema int `json:"schema"`
	// Lines of the usage file; each is an event or broken.
	Lines  int           `json:"lines"`
	Events int           `json:"events"`
	Broken []BrokenLines `json:"broken"`
	// Sessions are all that have an event.
	Sessions int `json:"sessions"`
	// From and To are the first and the last day of the events, in UTC; empty where
	// no time is mapped.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// MinSessions is the fewest sessions that a pattern may have; Support is what it
	// was raised to so that there are not too many patterns.
	MinSessions int `json:"min_sessions"`
	Support     int `json:"support"`
	MaxGap      int `json:"max_gap"`
	MaxLength   int `json:"max_length"`
	// RareNames is how many tools and actions have fewer sessions; they are nowhere
	// named.
	RareNames int `json:"rare_names"`
	// Patterns are all that are frequent. Of these Absorbed are told by a longer one,
	// Covered by a story, Redundant by a pattern that is drafted, and Left are those
	// beyond the limit.
	Patterns  int         `json:"patterns"`
	Absorbed  int         `json:"absorbed"`
	Covered   int         `json:"covered"`
	Redundant int         `json:"redundant"`
	Left      int         `json:"left"`
	Drafts    []Suggested `json:"drafts"`
	// Usage is what models used that wrote prompts.
	Usage Usage `json:"usage"`
}

// BrokenLines is how many lines of a usage file one thing is wrong with.
type BrokenLines struct {
	Kind  string `json:"kind"`
	Lines int    `json:"lines"`
	// FirstLine is the number of the first, from 1.
	FirstLine int `json:"first_line"`
}

// Suggested is one drafted story.
type Suggested struct {
	Story string `json:"story"`
	// File is where it was written, empty where it was not.
	File string `json:"file,omitempty"`
	// Calls are the pattern.
	Calls []SuggestedCall `json:"calls"`
	// Sessions have the pattern; Share is theirs among all sessions.
	Sessions int     `json:"sessions"`
	Share    float64 `json:"share"`
	// Known is in how many of these sessions it is known whether the pattern's calls
	// worked, Failed in how many of those one did not. FailureRate is absent where it
	// is known in none.
	Known       int      `json:"known"`
	Failed      int      `json:"failed"`
	FailureRate *float64 `json:"failure_rate,omitempty"`
	// Rank is what drafts are in the order of: share x (1 + failure rate).
	Rank    float64 `json:"rank"`
	HeldOut bool    `json:"held_out"`
	// Prompt is written or unfinished; PromptProblem is why a model that was asked
	// wrote none.
	Prompt        PromptState `json:"prompt"`
	PromptProblem string      `json:"prompt_problem,omitempty"`
}

// SuggestedCall is one call of a pattern: a tool, and its action where it has one.
type SuggestedCall struct {
	Tool   string `json:"tool"`
	Action string `json:"action,omitempty"`
}

// PromptState says whether a drafted story has a prompt. The zero PromptState is
// invalid.
type PromptState string

// States of a prompt.
const (
	PromptWritten    PromptState = "written"
	PromptUnfinished PromptState = "unfinished"
)

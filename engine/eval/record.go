package eval

import "time"

// Record is what a finished trial leaves: trial.json. It is never changed after
// it is written.
type Record struct {
	// Schema is the record format's version.
	Schema int    `json:"schema"`
	Run    string `json:"run"`
	ID     string `json:"id"`
	Trial
	Driver string `json:"driver"`
	Status Status `json:"status"`
	// Cause is a short fixed word for why a trial failed or errored, such as
	// "assert", "max_turns", "timeout", "auth", "rate_limit".
	Cause string `json:"cause,omitempty"`
	// Reason says the same in a sentence.
	Reason   string    `json:"reason,omitempty"`
	Attempts []Attempt `json:"attempts"`
	Scores   []Score   `json:"scores,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Definitions say what the scores were made from.
	Definitions []Definition `json:"definitions,omitempty"`
	// Prompts are what the agent was told, turn by turn.
	Prompts []string `json:"prompts,omitempty"`
	// Answer is the agent's final message.
	Answer  string  `json:"answer,omitempty"`
	Calls   Counts  `json:"calls"`
	Usage   Usage   `json:"usage"`
	Timings Timings `json:"timings"`
	Target  *Placed `json:"target,omitempty"`
	// ToolsDigest is the SHA-256 of the tool list as the agent saw it.
	ToolsDigest string `json:"tools_digest,omitempty"`
	// Isolation says how far the agent was kept from what is not its own; empty
	// without an agent program.
	Isolation Isolated `json:"isolation,omitempty"`
	// Versions are of the engine, plugins, agent program and scorer modules.
	Versions map[string]string `json:"versions,omitempty"`
	// Pages are the captured pages; what they show is in the pages folder.
	Pages []Page `json:"pages,omitempty"`
	// Files has the SHA-256 of every other file of the trial's folder.
	Files map[string]string `json:"files,omitempty"`
	// Rescored is set where the verdict, scores and findings are of a later scoring
	// than the record's own. It is never in trial.json.
	Rescored *Rescored `json:"rescored,omitempty"`
}

// Attempt is one try at a trial.
type Attempt struct {
	// N counts from 1.
	N         int       `json:"n"`
	StartedAt time.Time `json:"started_at"`
	// Seconds are by the monotonic clock.
	Seconds float64 `json:"seconds"`
	// Outcome is how the agent's run ended, empty where it never began.
	Outcome Outcome `json:"outcome,omitempty"`
	// Fault is why the attempt is no evidence of the agent; nil where it is.
	Fault *Fault `json:"fault,omitempty"`
	Usage Usage  `json:"usage"`
}

// Counts sum up the tool calls of a trial.
type Counts struct {
	Total       int   `json:"total"`
	Failed      int   `json:"failed"`
	Unfinished  int   `json:"unfinished,omitempty"`
	Unconfirmed int   `json:"unconfirmed,omitempty"`
	Unreported  int   `json:"unreported,omitempty"`
	Bytes       int64 `json:"bytes"`
}

// Timings are of the attempt that counted. Seconds are by the monotonic clock.
type Timings struct {
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	Provision  float64   `json:"provision_s"`
	Agent      float64   `json:"agent_s"`
	Observe    float64   `json:"observe_s"`
	Capture    float64   `json:"capture_s,omitempty"`
	Score      float64   `json:"score_s"`
	Total      float64   `json:"total_s"`
}

// Placed is the target that a trial ran on.
type Placed struct {
	Name        string `json:"name"`
	Provisioner string `json:"provisioner"`
	ID          string `json:"id"`
	// Values are the provisioner's values with secrets left out.
	Values JSON `json:"values,omitzero"`
}

// State is the target's state around the run: state.json.
type State struct {
	Before JSON `json:"before,omitzero"`
	After  JSON `json:"after,omitzero"`
}

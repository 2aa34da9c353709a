package eval

import "time"

// Rescore is a later verdict on a recorded trial, from the same evidence:
// scores/<id>.json in the trial's folder. The record stays as it is, and so does
// every rescore; the one that none replaces counts.
type Rescore struct {
	Schema int `json:"schema"`
	// ID is the same for all trials that were scored in one go.
	ID  string `json:"id"`
	Run string `json:"run"`
	// Trial is the trial's ID.
	Trial    string    `json:"trial"`
	ScoredAt time.Time `json:"scored_at"`
	// Replaces is the verdict that counted before.
	Replaces Verdict `json:"replaces"`
	// Files are those of the suite that the trial was scored by.
	Files    []File    `json:"files"`
	Status   Status    `json:"status"`
	Cause    string    `json:"cause,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Scores   []Score   `json:"scores,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Definitions say what the scores were made from.
	Definitions []Definition `json:"definitions,omitempty"`
	// Versions are of the engine and the scorer modules.
	Versions map[string]string `json:"versions,omitempty"`
}

// Verdict is how a trial ended, by its record or by a rescore.
type Verdict struct {
	// ID is the rescore's, empty for the record's own verdict.
	ID     string `json:"id,omitempty"`
	Status Status `json:"status"`
	Cause  string `json:"cause,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Rescored says of a record that its verdict is a later one than its own.
type Rescored struct {
	ID       string    `json:"id"`
	ScoredAt time.Time `json:"scored_at"`
	// Times is how often the trial was scored again.
	Times int `json:"times"`
	// First is the record's own verdict.
	First Verdict `json:"first"`
}

// Verdict is the record's verdict that counts.
func (r *Record) Verdict() Verdict {
	v := Verdict{Status: r.Status, Cause: r.Cause, Reason: r.Reason}
	if r.Rescored != nil {
		v.ID = r.Rescored.ID
	}
	return v
}

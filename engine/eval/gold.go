package eval

import "time"

// GoldInfo is golds/STORY/gold.json: what a story's gold was recorded from. The
// evidence itself is kept beside it as that of a trial, in gold and in floor.
type GoldInfo struct {
	Schema     int       `json:"schema"`
	Story      string    `json:"story"`
	Suite      string    `json:"suite"`
	RecordedAt time.Time `json:"recorded_at"`
	// MadeFrom has digests of what the gold was made from, by part: story, target,
	// captures, gold, floor.
	MadeFrom map[string]string `json:"made_from"`
	// Gold and Floor are the SHA-256 of the evidence's trial.json; Floor is empty
	// where there is none.
	Gold     string            `json:"gold"`
	Floor    string            `json:"floor,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
}

// GoldGrades is golds/STORY/grades.json: what the story's judges made of its gold
// and of its floor.
type GoldGrades struct {
	Schema   int       `json:"schema"`
	Story    string    `json:"story"`
	GradedAt time.Time `json:"graded_at"`
	// Gold and Floor are what was graded, as in [GoldInfo].
	Gold  string `json:"gold"`
	Floor string `json:"floor,omitempty"`
	// Samples is how often each was graded.
	Samples int         `json:"samples"`
	Judges  []GoldJudge `json:"judges"`
	// Usage is what it took of models.
	Usage Usage `json:"usage"`
}

// GoldJudge is what one judge of a story made of the story's gold.
type GoldJudge struct {
	// Score is the name of the score, as [Score.Name].
	Score  string `json:"score"`
	Scorer string `json:"scorer"`
	// MadeFrom has digests of what decides the grades, by part: judge, parameters,
	// models.
	MadeFrom map[string]string `json:"made_from"`
	// Gold and Floor are in 0..1, in the order of asking. A sample without a value
	// is left out, and Problem says why.
	Gold    []float64 `json:"gold"`
	Floor   []float64 `json:"floor,omitempty"`
	Problem string    `json:"problem,omitempty"`
}

package eval

// ScoreDelta is what scoring again made of one score of a story x variant x host.
type ScoreDelta struct {
	Story   string `json:"story"`
	Variant string `json:"variant,omitempty"`
	Host    string `json:"host"`
	Score   string `json:"score"`
	// Trials is how many trials were scored again, Changed in how many of them the
	// score is another now.
	Trials  int `json:"trials"`
	Changed int `json:"changed"`
	// Before and After are means of the values in 0..1; absent where no trial has one.
	Before *float64 `json:"before,omitempty"`
	After  *float64 `json:"after,omitempty"`
	// Causes say why, each in a sentence; empty where nothing changed.
	Causes []string `json:"causes,omitempty"`
}

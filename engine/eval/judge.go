package eval

import "time"

// JudgeCall is a line of judge.jsonl: one request of a score to a model, with its
// answer.
type JudgeCall struct {
	// ID is unique within the file.
	ID string `json:"id"`
	// Score is the score's name, Model the model block's.
	Score string `json:"score"`
	Model string `json:"model"`
	// Key is the SHA-256 of all of the request that decides its answer: the same
	// request to the same model with the same settings has the same key, whichever
	// trial asks.
	Key string `json:"key"`
	// Sample counts the samples of one request from 0.
	Sample  int       `json:"sample,omitempty"`
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"`
	// Request has its images by their digests, never as bytes.
	Request *ModelRequest `json:"request,omitempty"`
	// Answer is absent where the call failed; Fault says why.
	Answer *ModelAnswer `json:"answer,omitempty"`
	Fault  *Fault       `json:"fault,omitempty"`
	// Attempts is how many requests were sent for it; 0 for an answer that was
	// stored.
	Attempts int  `json:"attempts,omitempty"`
	Cached   bool `json:"cached,omitempty"`
}

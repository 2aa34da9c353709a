package eval

import "context"

// ModelProvider answers requests of judges. Complete is safe for concurrent use
// and makes exactly one request to the model for each answer: retries, limits and
// budgets are the caller's. An error is a *[Fault] where its cause is known.
type ModelProvider interface {
	Describe(ctx context.Context) (Description, error)
	Complete(ctx context.Context, call ModelCall) (*ModelAnswer, error)
}

// ModelCall is one request to one model.
type ModelCall struct {
	// Model is the provider's name of the model.
	Model string
	// Config has the model block's settings as one JSON object, checked.
	Config JSON
	// Key is the secret that the provider is called with; empty where it needs none.
	Key     string
	Request ModelRequest
}

// ModelRequest asks a model for answers: capability model.complete/1.
type ModelRequest struct {
	// Model is the name of one of the use's model blocks; empty is the first.
	Model string `json:"model,omitempty"`
	// System stands before the messages.
	System   string         `json:"system,omitempty"`
	Messages []ModelMessage `json:"messages"`
	// Schema is a JSON Schema that each answer is asked to follow; empty is free
	// text. Providers without such a promise get it in words: the asker checks.
	Schema JSON `json:"schema,omitzero"`
	// SchemaName is a short name for the schema, for providers that want one.
	SchemaName string `json:"schema_name,omitempty"`
	// Samples is how many answers are wanted, each from a call of its own; 0 is 1.
	Samples int `json:"samples,omitempty"`
	// MaxTokens bounds one answer; 0 is the model block's.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Temperature is absent for the model block's.
	Temperature *float64 `json:"temperature,omitempty"`
}

// ModelMessage is one message of a request.
type ModelMessage struct {
	// Role is user or assistant.
	Role  string      `json:"role"`
	Parts []ModelPart `json:"parts"`
}

// ModelPart is text, or an image.
type ModelPart struct {
	Text  string      `json:"text,omitempty"`
	Image *ModelImage `json:"image,omitempty"`
}

// ModelImage is a picture. A scorer names a tile of the trial's pages, and the
// engine puts the bytes in: they never cross to the module.
type ModelImage struct {
	// Page names a page; Gold says that it is the gold's. Shot and Tile count from 0.
	Page string `json:"page,omitempty"`
	Gold bool   `json:"gold,omitempty"`
	Shot int    `json:"shot,omitempty"`
	Tile int    `json:"tile,omitempty"`
	// MediaType is image/png where empty.
	MediaType string `json:"media_type,omitempty"`
	// SHA256 is that of Data, in hexadecimal.
	SHA256 string `json:"sha256,omitempty"`
	Data   []byte `json:"-"`
}

// ModelReply answers a ModelRequest: samples, or why there are none.
type ModelReply struct {
	Samples []ModelAnswer `json:"samples,omitempty"`
	// Failure is a fixed word, one of the Failure constants, with Detail for a
	// person; empty where every sample was answered.
	Failure string `json:"failure,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// Failures of a model request that a scorer may act on.
const (
	FailureNoModel  = "no_model"   // none is configured
	FailureBudget   = "budget"     // the call could pass the run's budget
	FailureTooLarge = "too_large"  // the prompt is longer than the model takes
	FailureAuth     = "auth"       // the provider refused the key
	FailureBusy     = "busy"       // rate limits or overload outlasted the retries
	FailureTimeout  = "timeout"    // no answer in time
	FailureNoReplay = "not_stored" // a replay has no answer to this request
	FailureOther    = "failed"
)

// ModelAnswer is one answer of a model.
type ModelAnswer struct {
	// Request is the call's id in judge.jsonl.
	Request string `json:"request,omitempty"`
	Text    string `json:"text"`
	// Stop says why the answer ended.
	Stop ModelStop `json:"stop"`
	// Model is the model's name as the provider told it.
	Model  string `json:"model,omitempty"`
	Usage  Usage  `json:"usage"`
	Cached bool   `json:"cached,omitempty"`
}

// ModelStop says why an answer ended. The zero ModelStop is invalid.
type ModelStop string

// Only StopEnd makes a whole answer.
const (
	StopEnd       ModelStop = "end"
	StopMaxTokens ModelStop = "max_tokens"
	StopWindow    ModelStop = "window" // the context window was full
	StopRefusal   ModelStop = "refusal"
	StopOther     ModelStop = "other"
)

package eval

// StepKind says what a step is. The zero StepKind is invalid.
type StepKind string

// A tool call and its result are two steps, joined by CallID.
const (
	StepMessage    StepKind = "message"
	StepReasoning  StepKind = "reasoning"
	StepToolCall   StepKind = "tool_call"
	StepToolResult StepKind = "tool_result"
	StepError      StepKind = "error"
)

// Observation says who saw a tool call. The gateway's word is the stronger one.
type Observation string

// Empty is a step that the gateway could not have seen: a message, a built-in
// tool of the host.
const (
	// Confirmed was reported by the host and seen by the gateway.
	Confirmed Observation = "confirmed"
	// Unconfirmed was reported by the host and never seen by the gateway.
	Unconfirmed Observation = "unconfirmed"
	// Unreported was seen by the gateway and never reported by the host.
	Unreported Observation = "unreported"
)

// Step is one entry of a transcript: a line of transcript.jsonl.
type Step struct {
	// ID is "s" and the step's place in the transcript, from 1.
	ID string `json:"id"`
	// Turn counts from 1.
	Turn int      `json:"turn"`
	Kind StepKind `json:"kind"`
	// Role is user or assistant, for a message.
	Role string `json:"role,omitempty"`
	Text string `json:"text,omitempty"`
	// CallID joins a tool call with its result; unique within the trial.
	CallID string `json:"call_id,omitempty"`
	// Server is empty for a built-in tool of the host.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Arguments are kept as sent, also where they are not valid JSON: then they
	// are a JSON string of the raw text and BadArguments is set.
	Arguments    JSON `json:"arguments,omitzero"`
	BadArguments bool `json:"bad_arguments,omitempty"`
	// Result is the MCP tool result (content, structuredContent, isError) or
	// {"error":{...}} for a JSON-RPC error.
	Result  JSON `json:"result,omitzero"`
	IsError bool `json:"is_error,omitempty"`
	// Bytes is the size of Result as observed, also where Result is cut.
	Bytes int64 `json:"bytes,omitempty"`
	// Truncated says that Text, Arguments or Result is cut.
	Truncated bool        `json:"truncated,omitempty"`
	Observed  Observation `json:"observed,omitempty"`
	// Parent is the CallID of the sub-agent call that this step belongs to.
	Parent string `json:"parent,omitempty"`
	// AtMS is milliseconds since the agent's start, by the engine's monotonic
	// clock; DurationMS is a call's own time, absent where unknown.
	AtMS       float64  `json:"at_ms"`
	DurationMS *float64 `json:"duration_ms,omitempty"`
	Model      string   `json:"model,omitempty"`
}

// CallStatus is how a tool call ended. The zero CallStatus is invalid.
type CallStatus string

// An unfinished call has no result: neither ok nor an error.
const (
	CallOK         CallStatus = "ok"
	CallError      CallStatus = "error"
	CallUnfinished CallStatus = "unfinished"
)

// Call is a tool call with its result, as [Calls] pairs them.
type Call struct {
	// Step is the ID of the tool_call step, ResultStep of its result.
	Step         string      `json:"step"`
	ResultStep   string      `json:"result_step,omitempty"`
	Turn         int         `json:"turn"`
	Server       string      `json:"server"`
	Tool         string      `json:"tool"`
	Arguments    JSON        `json:"arguments,omitzero"`
	BadArguments bool        `json:"bad_arguments,omitempty"`
	Result       JSON        `json:"result,omitzero"`
	Status       CallStatus  `json:"status"`
	Bytes        int64       `json:"bytes,omitempty"`
	Truncated    bool        `json:"truncated,omitempty"`
	Observed     Observation `json:"observed,omitempty"`
	Parent       string      `json:"parent,omitempty"`
	DurationMS   *float64    `json:"duration_ms,omitempty"`
}

// Calls pairs tool calls with their results by CallID, in the order of the
// calls.
func Calls(steps []Step) []Call {
	var calls []Call
	open := map[string]int{}
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case StepToolCall:
			open[s.CallID] = len(calls)
			calls = append(calls, Call{
				Step: s.ID, Turn: s.Turn, Server: s.Server, Tool: s.Tool,
				Arguments: s.Arguments, BadArguments: s.BadArguments,
				Status: CallUnfinished, Truncated: s.Truncated,
				Observed: s.Observed, Parent: s.Parent,
			})
		case StepToolResult:
			j, ok := open[s.CallID]
			if !ok {
				continue
			}
			delete(open, s.CallID)
			c := &calls[j]
			c.ResultStep, c.Result, c.Bytes = s.ID, s.Result, s.Bytes
			c.DurationMS = s.DurationMS
			c.Truncated = c.Truncated || s.Truncated
			c.Status = CallOK
			if s.IsError {
				c.Status = CallError
			}
		}
	}
	return calls
}

// Tool is one tool of a target as the agent saw it.
type Tool struct {
	Server      string `json:"server"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema JSON   `json:"input_schema,omitzero"`
	// Annotations are the server's own hints, as sent.
	Annotations JSON `json:"annotations,omitzero"`
	// Requires and Destructive come from the suite's tool rules, Destructive also
	// from the server's destructiveHint being true.
	Requires    []string `json:"requires,omitempty"`
	Destructive bool     `json:"destructive,omitempty"`
}

// Usage is what a trial consumed. Counts are totals, each token counted once.
type Usage struct {
	// Turns is how many model responses there were, Requests how many HTTP
	// requests to the model, retries included.
	Turns    int `json:"turns,omitempty"`
	Requests int `json:"requests,omitempty"`
	// InputTokens are all prompt tokens, those read from or written to a cache
	// included; the two cache counts are parts of it.
	InputTokens      int64 `json:"input_tokens,omitempty"`
	CacheReadTokens  int64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	// OutputTokens includes ReasoningTokens.
	OutputTokens    int64 `json:"output_tokens,omitempty"`
	ReasoningTokens int64 `json:"reasoning_tokens,omitempty"`
	// CostUSD is absent where the model's price is not known: unknown, not 0.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// LowerBound says that something was consumed that nobody counted.
	LowerBound bool `json:"lower_bound,omitempty"`
	// Source is who counted: "model_proxy" or "host".
	Source string   `json:"source,omitempty"`
	Models []string `json:"models,omitempty"`
}

// Add adds the counts of more to u. Cost and Source are the caller's: what a sum
// of unknown costs means is not the same everywhere.
func (u *Usage) Add(more Usage) {
	u.Turns += more.Turns
	u.Requests += more.Requests
	u.InputTokens += more.InputTokens
	u.CacheReadTokens += more.CacheReadTokens
	u.CacheWriteTokens += more.CacheWriteTokens
	u.OutputTokens += more.OutputTokens
	u.ReasoningTokens += more.ReasoningTokens
	u.LowerBound = u.LowerBound || more.LowerBound
	for _, m := range more.Models {
		if !contains(u.Models, m) {
			u.Models = append(u.Models, m)
		}
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

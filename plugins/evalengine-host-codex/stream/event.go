package stream

import (
	"encoding/json"
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// event is one line, with the fields of all kinds that matter here.
type event struct {
	Type    string        `json:"type"`
	Thread  string        `json:"thread_id"`
	Message agentout.Text `json:"message"`
	Usage   usage         `json:"usage"`
	Error   struct {
		Message agentout.Text `json:"message"`
	} `json:"error"`
	Item item `json:"item"`
}

// usage is of the thread since it began.
type usage struct {
	Input      agentout.Count `json:"input_tokens"`
	CacheRead  agentout.Count `json:"cached_input_tokens"`
	CacheWrite agentout.Count `json:"cache_write_input_tokens"`
	Output     agentout.Count `json:"output_tokens"`
	Reasoning  agentout.Count `json:"reasoning_output_tokens"`
}

func (u usage) known() bool {
	return agentout.Known(u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning)
}

func (u usage) eval() eval.Usage {
	return eval.Usage{
		InputTokens: int64(u.Input), CacheReadTokens: int64(u.CacheRead), CacheWriteTokens: int64(u.CacheWrite),
		OutputTokens: int64(u.Output), ReasoningTokens: int64(u.Reasoning),
	}
}

type item struct {
	ID      string        `json:"id"`
	Type    string        `json:"type"`
	Text    agentout.Text `json:"text"`
	Message agentout.Text `json:"message"`
	Status  string        `json:"status"`

	// mcp_tool_call, collab_tool_call
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Prompt    agentout.Text   `json:"prompt"`
	Threads   []string        `json:"receiver_thread_ids"`

	// command_execution
	Command  agentout.Text `json:"command"`
	Output   agentout.Text `json:"aggregated_output"`
	ExitCode exit          `json:"exit_code"`

	// file_change
	Changes json.RawMessage `json:"changes"`
	// web_search
	Query agentout.Text `json:"query"`
}

// tool is the name of the tool that the item is a call of. Those of the program's
// own are named as the model knows them, but for the shell, which has many names.
func (i *item) tool() string {
	switch i.Type {
	case "command_execution":
		return "shell"
	case "file_change":
		return "apply_patch"
	case "web_search":
		return "web_search"
	}
	if i.Tool == "" {
		return i.Type
	}
	return i.Tool
}

func (i *item) arguments() eval.JSON {
	var v any
	switch i.Type {
	case "command_execution":
		v = map[string]string{"command": string(i.Command)}
	case "file_change":
		v = map[string]json.RawMessage{"changes": i.Changes}
	case "web_search":
		v = map[string]string{"query": string(i.Query)}
	case "collab_tool_call":
		v = map[string]string{"prompt": string(i.Prompt)}
	default:
		return compact(i.Arguments)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return agentout.JSON(b)
}

func (i *item) errorMessage() string {
	var e struct {
		Message agentout.Text `json:"message"`
	}
	if agentout.Decode(i.Error, &e) == nil {
		return string(e.Message)
	}
	return ""
}

// result is the call's result; not finished where the item was closed without the
// call having ended.
func (i *item) result() (s eval.Step, finished bool) {
	if i.Status == "in_progress" {
		return s, false
	}
	failed := i.Status == "failed" || i.Status == "declined"
	switch i.Type {
	case "mcp_tool_call":
		return i.mcpResult(failed), true
	case "command_execution":
		if !i.ExitCode.known && i.Status != "declined" {
			return s, false
		}
		s.IsError = failed || i.ExitCode.code != 0
		s.Result = agentout.TextResult(string(i.Output), s.IsError)
		return s, true
	}
	s.IsError = failed
	s.Result = agentout.TextResult(i.Status, failed)
	return s, true
}

// exit is a command's exit code, not known where what was told is no number.
type exit struct {
	code  int
	known bool
}

// UnmarshalJSON accepts any value.
func (e *exit) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(string(b))
	*e = exit{n, err == nil}
	return nil
}

// mcpResult is what the server answered, or the error that kept it from it.
func (i *item) mcpResult(failed bool) eval.Step {
	s := eval.Step{IsError: failed}
	if message := i.errorMessage(); message != "" {
		s.IsError = true
		s.Result = append(append(eval.JSON(`{"error":{"message":`), agentout.String(message)...), `}}`...)
		return s
	}
	var r struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structured_content"`
	}
	if agentout.Decode(i.Result, &r) != nil {
		s.Result = agentout.TextResult("", failed)
		return s
	}
	out := struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}{r.Content, nil, failed}
	if len(out.Content) == 0 || string(out.Content) == "null" {
		out.Content = json.RawMessage("[]")
	}
	if len(r.Structured) > 0 && string(r.Structured) != "null" {
		out.Structured = r.Structured
	}
	b, err := json.Marshal(out)
	if err != nil {
		b = agentout.TextResult(string(i.Result), failed)
	}
	s.Result = agentout.JSON(b)
	return s
}

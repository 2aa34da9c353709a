package stream

import (
	"encoding/json"

	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// event is one line, with the fields of all kinds that matter here.
type event struct {
	Type     string        `json:"type"`
	Subtype  string        `json:"subtype"`
	UUID     string        `json:"uuid"`
	Parent   string        `json:"parent_tool_use_id"`
	Message  message       `json:"message"`
	Error    agentout.Text `json:"error"`
	ToolUses []toolUseMeta `json:"tool_use_meta"`

	// system/init
	Servers   []serverStatus `json:"mcp_servers"`
	Tools     []string       `json:"tools"`
	Version   string         `json:"claude_code_version"`
	Session   string         `json:"session_id"`
	KeySource string         `json:"apiKeySource"`

	// system/api_retry
	Status agentout.Status `json:"error_status"`

	// result
	IsError    bool                  `json:"is_error"`
	APIStatus  agentout.Status       `json:"api_error_status"`
	Result     agentout.Text         `json:"result"`
	Errors     []agentout.Text       `json:"errors"`
	StopReason string                `json:"stop_reason"`
	Terminal   string                `json:"terminal_reason"`
	Usage      usage                 `json:"usage"`
	ModelUsage map[string]modelUsage `json:"modelUsage"`
	Denials    []denial              `json:"permission_denials"`

	// tool_use_result of a user event: what the server sent, where the model was
	// given less.
	ToolResult json.RawMessage `json:"tool_use_result"`

	// FileResult is the same in a session file; Sidechain says there that the line
	// is of a sub-agent.
	FileResult json.RawMessage `json:"toolUseResult"`
	Sidechain  bool            `json:"isSidechain"`
}

type toolUseMeta struct {
	ID string `json:"id"`
}

type serverStatus struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

type denial struct {
	Tool string `json:"tool_name"`
	ID   string `json:"tool_use_id"`
}

type message struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
}

// block is one content block, of a message or a tool result.
type block struct {
	Type     string        `json:"type"`
	Text     agentout.Text `json:"text"`
	Thinking agentout.Text `json:"thinking"`

	// tool_use
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`

	// tool_result
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`

	// image
	Source struct {
		Data      string `json:"data"`
		MediaType string `json:"media_type"`
	} `json:"source"`
}

// blocks reads content that is a list of blocks or a text.
func blocks(raw json.RawMessage) []block {
	if len(raw) == 0 {
		return nil
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		out := make([]block, 0, len(list))
		for _, r := range list {
			var b block
			if agentout.Decode(r, &b) == nil {
				out = append(out, b)
			}
		}
		return out
	}
	var t agentout.Text
	if json.Unmarshal(raw, &t) != nil || t == "" {
		return nil
	}
	return []block{{Type: "text", Text: t}}
}

// usage is of one turn; input leaves out what came from or went into a cache.
type usage struct {
	Input      agentout.Count `json:"input_tokens"`
	CacheRead  agentout.Count `json:"cache_read_input_tokens"`
	CacheWrite agentout.Count `json:"cache_creation_input_tokens"`
	Output     agentout.Count `json:"output_tokens"`
}

// modelUsage is of one model since the process began.
type modelUsage struct {
	Input      agentout.Count `json:"inputTokens"`
	CacheRead  agentout.Count `json:"cacheReadInputTokens"`
	CacheWrite agentout.Count `json:"cacheCreationInputTokens"`
	Output     agentout.Count `json:"outputTokens"`
}

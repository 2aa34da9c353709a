package stream

import (
	"encoding/json"
	"regexp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
)

// toolResult turns a tool_result block into an MCP tool result. own is the
// event's tool_use_result, which holds the structured content where the server
// sent one.
func toolResult(b block, own []byte) eval.JSON {
	out := struct {
		Content    []any           `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}{Content: []any{}, IsError: b.IsError}
	content := b.Content
	var sent struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if len(own) > 0 && own[0] == '{' && agentout.Decode(own, &sent) == nil && len(sent.Structured) > 0 {
		out.Structured = sent.Structured
		if len(sent.Content) > 0 && string(sent.Content) != "null" {
			content = sent.Content
		}
	}
	for _, c := range contents(content) {
		out.Content = append(out.Content, c)
	}
	j, err := json.Marshal(out)
	if err != nil {
		return agentout.TextResult(string(b.Content), b.IsError)
	}
	return agentout.JSON(j)
}

// contents returns the content blocks as MCP has them. Only images differ; what
// is not known stays as it is.
func contents(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		var t agentout.Text
		if json.Unmarshal(raw, &t) != nil {
			return nil
		}
		return []json.RawMessage{mcpText(string(t))}
	}
	for i, r := range list {
		var b block
		if agentout.Decode(r, &b) != nil {
			continue
		}
		switch {
		case b.Type == "image" && b.Source.Data != "":
			list[i] = mcpImage(b)
		case b.Type == "text":
			list[i] = mcpText(string(b.Text))
		}
	}
	return list
}

func mcpText(s string) json.RawMessage {
	return append(append([]byte(`{"type":"text","text":`), agentout.String(s)...), '}')
}

func mcpImage(b block) json.RawMessage {
	j := append([]byte(`{"type":"image","data":`), agentout.String(b.Source.Data)...)
	j = append(append(j, `,"mimeType":`...), agentout.String(b.Source.MediaType)...)
	return append(j, '}')
}

// tooLarge is what the agent program puts in the place of a result that it kept
// from the model.
var tooLarge = regexp.MustCompile(`^(?:Error: result \(([\d,]{1,20} (?:characters|tokens))[^)]{0,80}\) exceeds maximum allowed tokens|<persisted-output>\s{0,8}Output too large \(([^)]{1,40})\))`)

// replaced returns the size of the result that the agent program withheld, empty
// where it did not.
func replaced(b block) string {
	for _, c := range blocks(b.Content) {
		if m := tooLarge.FindStringSubmatch(string(c.Text)); m != nil {
			return m[1] + m[2]
		}
	}
	return ""
}

package model

import (
	"encoding/json"
	"errors"
	"fmt"
)

// anthropic is the Anthropic Messages protocol.
type anthropic struct{}

const anthropicCallPrefix = "toolu_01"

type anthropicRequest struct {
	Model    string             `json:"model"`
	Stream   bool               `json:"stream"`
	Messages []anthropicMessage `json:"messages"`
	Tools    []struct {
		Name        string          `json:"name"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	Metadata struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func (anthropic) name() string { return APIMessages }

func (anthropic) decode(body []byte) (*request, error) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if len(in.Messages) == 0 {
		return nil, errors.New("messages: at least one message is required")
	}
	req := &request{model: in.Model, stream: in.Stream, session: in.Metadata.UserID}
	for _, t := range in.Tools {
		req.tools = append(req.tools, tool{toolName{name: t.Name}, t.InputSchema})
	}
	for i, m := range in.Messages {
		blocks, err := blocksOf(m.Content)
		if err != nil {
			return nil, fmt.Errorf("messages.%d.content: %w", i, err)
		}
		for _, b := range blocks {
			b.add(m.Role, &req.talk)
		}
	}
	return req, nil
}

// blocksOf reads content, which is a string or a list of blocks.
func blocksOf(raw json.RawMessage) ([]anthropicBlock, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	var blocks []anthropicBlock
	err := json.Unmarshal(raw, &blocks)
	return blocks, err
}

func (b anthropicBlock) add(role string, talk *conversation) {
	switch {
	case b.Type == "tool_result":
		inner, _ := blocksOf(b.Content) // an unknown form of content is no text
		var texts []string
		for _, t := range inner {
			texts = append(texts, t.Text)
		}
		talk.result(b.ToolUseID, texts, b.IsError)
	case role == "user" && b.Type == "text":
		talk.user(b.Text)
	case role == "assistant" && b.Type == "tool_use":
		talk.call(b.ID, toolName{name: b.Name})
	case role == "assistant":
		talk.assistant()
	}
}

func (anthropic) stopReason(r *reply) string {
	switch r.stop {
	case stopCalls:
		return "tool_use"
	case stopMaxTokens, stopRefusal:
		return r.stop
	}
	return "end_turn"
}

func (anthropic) usage(u Usage, output int) o {
	return o{
		"input_tokens", u.Input,
		"cache_creation_input_tokens", u.CacheWrite,
		"cache_read_input_tokens", u.CacheRead,
		"cache_creation", o{"ephemeral_5m_input_tokens", u.CacheWrite, "ephemeral_1h_input_tokens", 0},
		"output_tokens", output,
		"service_tier", "standard",
	}
}

func (p anthropic) message(r *reply, content []any, stop any, u o) o {
	return o{
		"id", r.id.numbered("msg_01", 0), "type", "message", "role", "assistant", "model", r.model,
		"content", content, "stop_reason", stop, "stop_sequence", nil, "usage", u,
	}
}

// signature stands where the vendor signs a thinking block.
const signature = "c2NyaXB0ZWQtbW9kZWw="

func (p anthropic) whole(r *reply) any {
	content := []any{}
	if r.reasoning != "" {
		content = append(content, o{"type", "thinking", "thinking", r.reasoning, "signature", signature})
	}
	if r.text != "" {
		content = append(content, o{"type", "text", "text", r.text})
	}
	for i, k := range r.calls {
		input := any(json.RawMessage(k.args))
		if !json.Valid([]byte(k.args)) {
			input = o{} // only a stream can carry broken arguments in this protocol
		}
		content = append(content, o{"type", "tool_use", "id", r.id.numbered(anthropicCallPrefix, i), "name", k.name.String(), "input", input})
	}
	return p.message(r, content, p.stopReason(r), p.usage(r.usage, r.usage.Output))
}

func (p anthropic) event(name string, rest ...any) event {
	return event{name: name, data: string(compact(append(o{"type", name}, rest...)))}
}

func (p anthropic) opening(r *reply) []event {
	return []event{
		p.event("message_start", "message", p.message(r, []any{}, nil, p.usage(r.usage, 1))),
		p.event("ping"),
	}
}

func (p anthropic) events(r *reply) []event {
	list := p.opening(r)
	i := 0
	block := func(start o, deltas []o) {
		list = append(list, p.event("content_block_start", "index", i, "content_block", start))
		for _, d := range deltas {
			e := p.event("content_block_delta", "index", i, "delta", d)
			e.part = true
			list = append(list, e)
		}
		list = append(list, p.event("content_block_stop", "index", i))
		i++
	}
	if r.reasoning != "" {
		block(o{"type", "thinking", "thinking", "", "signature", ""},
			append(deltas(r.reasoning, "thinking_delta", "thinking"), o{"type", "signature_delta", "signature", signature}))
	}
	if r.text != "" {
		block(o{"type", "text", "text", ""}, deltas(r.text, "text_delta", "text"))
	}
	for n, k := range r.calls {
		block(o{"type", "tool_use", "id", r.id.numbered(anthropicCallPrefix, n), "name", k.name.String(), "input", o{}},
			append([]o{{"type", "input_json_delta", "partial_json", ""}}, deltas(k.args, "input_json_delta", "partial_json")...))
	}
	return append(list,
		p.event("message_delta", "delta", o{"stop_reason", p.stopReason(r), "stop_sequence", nil}, "usage", o{
			"input_tokens", r.usage.Input,
			"cache_creation_input_tokens", r.usage.CacheWrite,
			"cache_read_input_tokens", r.usage.CacheRead,
			"output_tokens", r.usage.Output,
		}),
		p.event("message_stop"))
}

func deltas(text, kind, field string) []o {
	var list []o
	for _, c := range chunks(text) {
		list = append(list, o{"type", kind, field, c})
	}
	return list
}

func (anthropic) errorBody(e apiError, requestID string) any {
	return o{"type", "error", "error", o{"type", e.anthropicType, "message", e.anthropicMessage}, "request_id", requestID}
}

func (p anthropic) failing(r *reply, e apiError, requestID string) []event {
	return append(p.opening(r), event{name: "error", data: string(compact(p.errorBody(e, requestID)))})
}

func (anthropic) requestIDHeader() string { return "Request-Id" }

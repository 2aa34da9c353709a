package model

import (
	"encoding/json"
	"errors"
	"fmt"
)

// chat is the OpenAI chat completions protocol.
type chat struct{}

type chatRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	PromptCacheKey string `json:"prompt_cache_key"`
	User           string `json:"user"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chat) name() string { return APIChat }

func (chat) decode(body []byte) (*request, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if len(in.Messages) == 0 {
		return nil, errors.New("messages: at least one message is required")
	}
	req := &request{model: in.Model, stream: in.Stream, wantUsage: in.StreamOptions.IncludeUsage, session: in.PromptCacheKey}
	if req.session == "" {
		req.session = in.User
	}
	for _, t := range in.Tools {
		req.tools = append(req.tools, tool{toolName{name: t.Function.Name}, t.Function.Parameters})
	}
	for i, m := range in.Messages {
		if err := m.add(&req.talk); err != nil {
			return nil, fmt.Errorf("messages[%d].content: %w", i, err)
		}
	}
	return req, nil
}

func (m chatMessage) add(talk *conversation) error {
	texts, err := textsOf(m.Content)
	if err != nil {
		return err
	}
	switch m.Role {
	case "user":
		for _, t := range texts {
			talk.user(t)
		}
	case "tool":
		talk.result(m.ToolCallID, texts, false)
	case "assistant":
		talk.assistant()
		for _, k := range m.ToolCalls {
			talk.call(k.ID, toolName{name: k.Function.Name})
		}
	}
	return nil
}

func (chat) finish(r *reply) string {
	switch r.stop {
	case stopCalls:
		return "tool_calls"
	case stopMaxTokens:
		return "length"
	}
	return "stop"
}

func (chat) usage(u Usage) o {
	in := u.Input + u.CacheRead + u.CacheWrite
	return o{
		"prompt_tokens", in, "completion_tokens", u.Output, "total_tokens", in + u.Output,
		"prompt_tokens_details", o{"cached_tokens", u.CacheRead},
		"completion_tokens_details", o{"reasoning_tokens", u.Reasoning},
	}
}

// textField is where a message has its text.
func (chat) textField(r *reply) string {
	if r.stop == stopRefusal {
		return "refusal"
	}
	return "content"
}

func (p chat) whole(r *reply) any {
	message := o{"role", "assistant"}
	var content any
	if r.text != "" && r.stop != stopRefusal {
		content = r.text
	}
	message = append(message, "content", content)
	if r.reasoning != "" {
		message = append(message, "reasoning_content", r.reasoning)
	}
	if r.stop == stopRefusal {
		message = append(message, "refusal", r.text)
	}
	var calls []any
	for i, k := range r.calls {
		calls = append(calls, o{"id", r.id.numbered(openAICallPrefix, i), "type", "function",
			"function", o{"name", k.name.String(), "arguments", k.args}})
	}
	if calls != nil {
		message = append(message, "tool_calls", calls)
	}
	return o{
		"id", r.id.numbered("chatcmpl-", 0), "object", "chat.completion", "created", r.created.Unix(), "model", r.model,
		"choices", []any{o{"index", 0, "message", message, "finish_reason", p.finish(r)}},
		"usage", p.usage(r.usage),
	}
}

func (chat) chunk(r *reply, choices []any, rest ...any) event {
	return event{data: string(compact(append(o{
		"id", r.id.numbered("chatcmpl-", 0), "object", "chat.completion.chunk", "created", r.created.Unix(), "model", r.model,
		"choices", choices,
	}, rest...)))}
}

func (p chat) delta(r *reply, delta o, finish any) event {
	return p.chunk(r, []any{o{"index", 0, "delta", delta, "finish_reason", finish}})
}

func (p chat) opening(r *reply) []event {
	return []event{p.delta(r, o{"role", "assistant", "content", ""}, nil)}
}

// events has a chunk of usage only if the request asks for it, as with the vendor.
func (p chat) events(r *reply) []event {
	list := p.opening(r)
	part := func(delta o) {
		e := p.delta(r, delta, nil)
		e.part = true
		list = append(list, e)
	}
	for _, c := range chunks(r.reasoning) {
		part(o{"reasoning_content", c})
	}
	for _, c := range chunks(r.text) {
		part(o{p.textField(r), c})
	}
	for i, k := range r.calls {
		part(o{"tool_calls", []any{o{"index", i, "id", r.id.numbered(openAICallPrefix, i), "type", "function",
			"function", o{"name", k.name.String(), "arguments", ""}}}})
		for _, c := range chunks(k.args) {
			part(o{"tool_calls", []any{o{"index", i, "function", o{"arguments", c}}}})
		}
	}
	list = append(list, p.delta(r, o{}, p.finish(r)))
	if r.wantUsage {
		list = append(list, p.chunk(r, []any{}, "usage", p.usage(r.usage)))
	}
	return append(list, event{data: "[DONE]"})
}

func (chat) errorBody(e apiError, _ string) any { return openAIError(e) }

func (p chat) failing(r *reply, e apiError, _ string) []event {
	return append(p.opening(r), event{data: string(compact(openAIError(e)))})
}

func (chat) requestIDHeader() string { return "X-Request-Id" }

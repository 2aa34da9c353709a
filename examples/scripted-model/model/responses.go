package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// responses is the OpenAI Responses protocol.
type responses struct{}

const openAICallPrefix = "call_"

type responsesRequest struct {
	Model          string          `json:"model"`
	Stream         bool            `json:"stream"`
	Input          json.RawMessage `json:"input"`
	Tools          []responsesTool `json:"tools"`
	PromptCacheKey string          `json:"prompt_cache_key"`
}

type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
	Tools      []responsesTool `json:"tools"` // of a namespace
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Output    json.RawMessage `json:"output"`
}

func (responses) name() string { return APIResponses }

func (responses) decode(body []byte) (*request, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &request{model: in.Model, stream: in.Stream, session: in.PromptCacheKey}
	for _, t := range in.Tools {
		req.tools = append(req.tools, t.flat()...)
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		req.talk.user(text)
		return req, nil
	}
	var items []responsesItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if len(items) == 0 {
		return nil, errors.New("input: at least one item is required")
	}
	for i, it := range items {
		if err := it.add(&req.talk); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	return req, nil
}

// flat gives a function tool, or those of a namespace.
func (t responsesTool) flat() []tool {
	switch t.Type {
	case "function":
		return []tool{{toolName{name: t.Name}, t.Parameters}}
	case "namespace":
		var list []tool
		for _, f := range t.Tools {
			list = append(list, tool{toolName{t.Name, f.Name}, f.Parameters})
		}
		return list
	}
	return nil
}

func (it responsesItem) add(talk *conversation) error {
	switch {
	case it.Type == "message" || it.Type == "":
		texts, err := textsOf(it.Content)
		if err != nil {
			return err
		}
		if it.Role == "assistant" {
			talk.assistant()
		}
		for _, t := range texts {
			if it.Role == "user" {
				talk.user(t)
			}
		}
	case strings.HasSuffix(it.Type, "_call_output"):
		texts, err := textsOf(it.Output)
		if err != nil {
			return err
		}
		talk.result(it.CallID, texts, false)
	case strings.HasSuffix(it.Type, "_call"):
		talk.call(it.CallID, toolName{it.Namespace, it.Name})
	case it.Type == "reasoning":
		talk.assistant()
	}
	return nil
}

// textsOf reads content of OpenAI's: nothing, a string or a list of parts.
func textsOf(raw json.RawMessage) ([]string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return []string{text}, nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return texts, nil
}

func (responses) usage(u Usage) o {
	in := u.Input + u.CacheRead + u.CacheWrite
	return o{
		"input_tokens", in,
		"input_tokens_details", o{"cached_tokens", u.CacheRead, "cache_write_tokens", u.CacheWrite},
		"output_tokens", u.Output,
		"output_tokens_details", o{"reasoning_tokens", u.Reasoning},
		"total_tokens", in + u.Output,
	}
}

func (responses) response(r *reply, status string, output []any, rest ...any) o {
	return append(o{
		"id", r.id.numbered("resp_", 0), "object", "response", "created_at", r.created.Unix(), "status", status,
		"model", r.model, "output", output, "parallel_tool_calls", true,
	}, rest...)
}

// closing is the status of the finished response and what else it then has.
func (p responses) closing(r *reply) (status string, rest []any) {
	if r.stop == stopMaxTokens {
		return "incomplete", []any{"error", nil, "incomplete_details", o{"reason", "max_output_tokens"}, "usage", p.usage(r.usage)}
	}
	return "completed", []any{"error", nil, "incomplete_details", nil, "usage", p.usage(r.usage)}
}

func (p responses) whole(r *reply) any {
	output := []any{}
	if r.reasoning != "" {
		output = append(output, p.reasoning(r, true))
	}
	if r.text != "" {
		output = append(output, p.textItem(r, "completed", []any{p.part(r, r.text)}))
	}
	for i := range r.calls {
		output = append(output, p.callItem(r, i, "completed", r.calls[i].args))
	}
	status, rest := p.closing(r)
	return p.response(r, status, output, rest...)
}

func (responses) reasoning(r *reply, done bool) o {
	summary := []any{}
	if done {
		summary = append(summary, o{"type", "summary_text", "text", r.reasoning})
	}
	return o{"id", r.id.numbered("rs_", 0), "type", "reasoning", "summary", summary}
}

func (responses) textItem(r *reply, status string, content []any) o {
	return o{"id", r.id.numbered("msg_", 0), "type", "message", "role", "assistant", "status", status, "content", content}
}

func (responses) part(r *reply, text string) o {
	if r.stop == stopRefusal {
		return o{"type", "refusal", "refusal", text}
	}
	return o{"type", "output_text", "text", text, "annotations", []any{}}
}

func (responses) callItem(r *reply, i int, status, args string) o {
	k := r.calls[i]
	item := o{"id", r.id.numbered("fc_", i), "type", "function_call", "status", status,
		"call_id", r.id.numbered(openAICallPrefix, i), "name", k.name.name}
	if k.name.namespace != "" {
		item = append(item, "namespace", k.name.namespace)
	}
	return append(item, "arguments", args)
}

// responsesStream numbers the events of one stream.
type responsesStream struct {
	responses
	r      *reply
	list   []event
	output []any
}

func (s *responsesStream) add(name string, rest ...any) {
	data := append(o{"type", name, "sequence_number", len(s.list)}, rest...)
	s.list = append(s.list, event{name: name, data: string(compact(data)), part: strings.HasSuffix(name, ".delta")})
}

// item is one output item: what comes between its beginning and its end is inner's.
func (s *responsesStream) item(begun, done o, inner func(id, index any)) {
	index := len(s.output)
	s.add("response.output_item.added", "output_index", index, "item", begun)
	inner(begun[1], index)
	s.add("response.output_item.done", "output_index", index, "item", done)
	s.output = append(s.output, done)
}

func (p responses) opening(r *reply) *responsesStream {
	s := &responsesStream{responses: p, r: r, output: []any{}}
	begun := p.response(r, "in_progress", []any{}, "error", nil, "incomplete_details", nil, "usage", nil)
	s.add("response.created", "response", begun)
	s.add("response.in_progress", "response", begun)
	return s
}

func (p responses) events(r *reply) []event {
	s := p.opening(r)
	if r.reasoning != "" {
		s.item(p.reasoning(r, false), p.reasoning(r, true), s.summary)
	}
	if r.text != "" {
		s.item(p.textItem(r, "in_progress", []any{}), p.textItem(r, "completed", []any{p.part(r, r.text)}), s.text)
	}
	for i := range r.calls {
		s.item(p.callItem(r, i, "in_progress", ""), p.callItem(r, i, "completed", r.calls[i].args), func(id, index any) {
			for _, c := range chunks(r.calls[i].args) {
				s.add("response.function_call_arguments.delta", "item_id", id, "output_index", index, "delta", c)
			}
			s.add("response.function_call_arguments.done", "item_id", id, "output_index", index, "arguments", r.calls[i].args)
		})
	}
	status, rest := p.closing(r)
	s.add("response."+status, "response", p.response(r, status, s.output, rest...))
	return s.list
}

func (s *responsesStream) summary(id, index any) {
	at := []any{"item_id", id, "output_index", index, "summary_index", 0}
	s.add("response.reasoning_summary_part.added", append(at, "part", o{"type", "summary_text", "text", ""})...)
	for _, c := range chunks(s.r.reasoning) {
		s.add("response.reasoning_summary_text.delta", append(at, "delta", c)...)
	}
	s.add("response.reasoning_summary_text.done", append(at, "text", s.r.reasoning)...)
	s.add("response.reasoning_summary_part.done", append(at, "part", o{"type", "summary_text", "text", s.r.reasoning})...)
}

func (s *responsesStream) text(id, index any) {
	kind, field := "response.output_text", "text"
	if s.r.stop == stopRefusal {
		kind, field = "response.refusal", "refusal"
	}
	at := []any{"item_id", id, "output_index", index, "content_index", 0}
	s.add("response.content_part.added", append(at, "part", s.part(s.r, ""))...)
	for _, c := range chunks(s.r.text) {
		s.add(kind+".delta", append(at, "delta", c)...)
	}
	s.add(kind+".done", append(at, field, s.r.text)...)
	s.add("response.content_part.done", append(at, "part", s.part(s.r, s.r.text))...)
}

func (responses) errorBody(e apiError, _ string) any { return openAIError(e) }

func openAIError(e apiError) o {
	return o{"error", o{"message", e.openAIMessage, "type", e.openAIType, "param", nil, "code", e.openAICode}}
}

func (p responses) failing(r *reply, e apiError, _ string) []event {
	s := p.opening(r)
	s.add("response.failed", "response", p.response(r, "failed", []any{},
		"error", o{"code", e.openAICode, "message", e.openAIMessage}, "incomplete_details", nil, "usage", nil))
	return s.list
}

func (responses) requestIDHeader() string { return "X-Request-Id" }

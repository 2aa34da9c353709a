package model

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/engine/eval"
)

// maxMessage bounds what is kept of an error's text.
const maxMessage = 1 << 10

// Reading is what is known of one answer while it comes. The zero Reading is of
// an answer of which nothing came.
type Reading struct {
	API        string
	Model      string
	Usage      eval.Usage
	Counted    bool
	StopReason string
	// ErrorType, ErrorCode and ErrorMessage are the provider's error.
	ErrorType, ErrorCode, ErrorMessage string
	// Closed says that the answer's last event came.
	Closed bool
	events int
	bad    bool
	odd    bool // a count was none
}

// Final reports whether Usage is the answer's own final count, and one that can be
// true.
func (r *Reading) Final() bool { return r.Counted && !r.odd }

// Event takes the data of one event of a stream.
func (r *Reading) Event(data []byte) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return
	}
	r.events++
	if r.API == OpenAIChat && string(data) == "[DONE]" {
		r.Closed = true
		return
	}
	switch r.API {
	case AnthropicMessages:
		r.anthropicEvent(data)
	case OpenAIResponses:
		r.responsesEvent(data)
	case OpenAIChat:
		r.chatEvent(data)
	}
}

// Document takes a whole answer that is no stream.
func (r *Reading) Document(body []byte) {
	if len(bytes.TrimSpace(body)) == 0 {
		return
	}
	r.events++
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &e) == nil && len(e.Error) > 0 && string(e.Error) != "null" {
		r.failure(e.Error)
		r.Closed = true
		return
	}
	switch r.API {
	case AnthropicMessages:
		r.anthropicDocument(body)
	case OpenAIResponses:
		r.responsesDocument(body)
	case OpenAIChat:
		r.chatDocument(body)
	}
}

// End is how an answer ended that the provider ended.
func (r *Reading) End() End {
	switch {
	case r.Closed:
		return Complete
	case r.events == 0:
		return Empty
	case r.bad:
		return Malformed
	}
	return Cut
}

// failure reads an error object; some providers send a string.
func (r *Reading) failure(raw json.RawMessage) {
	var e struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil {
		e.Message = strings.Trim(string(raw), `"`)
	}
	r.ErrorType, r.ErrorMessage = bound(e.Type, 100), bound(e.Message, maxMessage)
	if code := strings.Trim(string(e.Code), `"`); code != "null" {
		r.ErrorCode = bound(code, 100)
	}
	if r.ErrorType == "" {
		r.ErrorType = "error"
	}
}

func bound(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// anthropicUsage counts what the cache gave beside the input.
type anthropicUsage struct {
	Input      count `json:"input_tokens"`
	Output     count `json:"output_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`
}

func (r *Reading) anthropicUsage(u *anthropicUsage) {
	if u == nil {
		return
	}
	fresh := r.Usage.InputTokens - r.Usage.CacheReadTokens - r.Usage.CacheWriteTokens
	r.set(&fresh, u.Input)
	r.set(&r.Usage.CacheReadTokens, u.CacheRead)
	r.set(&r.Usage.CacheWriteTokens, u.CacheWrite)
	r.set(&r.Usage.OutputTokens, u.Output)
	r.Usage.InputTokens = fresh + r.Usage.CacheReadTokens + r.Usage.CacheWriteTokens
}

// count is a number of tokens as a provider tells it. What cannot be one is told
// and odd: it must not cost the rest of the answer.
type count struct {
	n         int64
	told, odd bool
}

// UnmarshalJSON accepts any value.
func (c *count) UnmarshalJSON(b []byte) error {
	*c = count{}
	if string(b) == "null" {
		return nil
	}
	f, err := strconv.ParseFloat(string(b), 64)
	c.told, c.odd = true, err != nil || !(f >= 0 && f < 1<<40)
	if !c.odd {
		c.n = int64(f)
	}
	return nil
}

// set takes a count that is there and can be one.
func (r *Reading) set(to *int64, c count) {
	switch {
	case c.odd:
		r.odd = true
	case c.told:
		*to = c.n
	}
}

func (r *Reading) anthropicEvent(data []byte) {
	var e struct {
		Type    string `json:"type"`
		Message struct {
			Model string          `json:"model"`
			Usage *anthropicUsage `json:"usage"`
		} `json:"message"`
		Delta struct {
			StopReason string `json:"stop_reason"`
		} `json:"delta"`
		Usage *anthropicUsage `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &e) != nil {
		r.bad = true
		return
	}
	switch e.Type {
	case "message_start":
		r.Model = bound(e.Message.Model, 200)
		r.anthropicUsage(e.Message.Usage)
	case "message_delta":
		r.anthropicUsage(e.Usage)
		r.Counted = r.Counted || e.Usage != nil
		if e.Delta.StopReason != "" {
			r.StopReason = bound(e.Delta.StopReason, 100)
		}
	case "message_stop":
		r.Closed = true
	case "error":
		r.failure(e.Error)
		r.Closed = true
	}
}

func (r *Reading) anthropicDocument(body []byte) {
	var d struct {
		Type       string          `json:"type"`
		Model      string          `json:"model"`
		StopReason string          `json:"stop_reason"`
		Usage      *anthropicUsage `json:"usage"`
	}
	if json.Unmarshal(body, &d) != nil || d.Type != "message" {
		r.bad = true
		return
	}
	r.Model, r.StopReason, r.Closed = bound(d.Model, 200), bound(d.StopReason, 100), true
	r.anthropicUsage(d.Usage)
	r.Counted = d.Usage != nil
}

// openAIUsage has the names of both OpenAI protocols; cached and reasoning
// tokens are parts of the totals.
type openAIUsage struct {
	Input      count        `json:"input_tokens"`
	Output     count        `json:"output_tokens"`
	Prompt     count        `json:"prompt_tokens"`
	Completion count        `json:"completion_tokens"`
	InputIs    openAIDetail `json:"input_tokens_details"`
	OutputIs   openAIDetail `json:"output_tokens_details"`
	PromptIs   openAIDetail `json:"prompt_tokens_details"`
	CompleteIs openAIDetail `json:"completion_tokens_details"`
}

type openAIDetail struct {
	Cached     count `json:"cached_tokens"`
	CacheWrite count `json:"cache_write_tokens"`
	Reasoning  count `json:"reasoning_tokens"`
}

func (r *Reading) openAIUsage(u *openAIUsage) {
	if u == nil {
		return
	}
	r.Counted = true
	for _, n := range []count{u.Input, u.Prompt} {
		r.set(&r.Usage.InputTokens, n)
	}
	for _, n := range []count{u.Output, u.Completion} {
		r.set(&r.Usage.OutputTokens, n)
	}
	for _, d := range []openAIDetail{u.InputIs, u.PromptIs} {
		r.set(&r.Usage.CacheReadTokens, d.Cached)
		r.set(&r.Usage.CacheWriteTokens, d.CacheWrite)
	}
	for _, d := range []openAIDetail{u.OutputIs, u.CompleteIs} {
		r.set(&r.Usage.ReasoningTokens, d.Reasoning)
	}
}

type openAIResponse struct {
	Object     string          `json:"object"`
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	Usage      *openAIUsage    `json:"usage"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

func (r *Reading) responsesEvent(data []byte) {
	var e struct {
		Type     string         `json:"type"`
		Response openAIResponse `json:"response"`
		// An event of type error has its members beside the type, or below error.
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &e) != nil {
		r.bad = true
		return
	}
	if e.Response.Model != "" {
		r.Model = bound(e.Response.Model, 200)
	}
	switch e.Type {
	case "response.completed", "response.incomplete", "response.failed":
		r.response(&e.Response)
	case "response.refusal.done":
		r.StopReason = "refusal"
	case "error":
		r.failure(e.Error)
		if len(e.Error) == 0 {
			r.failure(data)
		}
		r.Closed = true
	}
}

func (r *Reading) response(d *openAIResponse) {
	r.Closed = true
	r.openAIUsage(d.Usage)
	if d.Model != "" {
		r.Model = bound(d.Model, 200)
	}
	switch {
	case d.Status == "failed" || len(d.Error) > 0 && string(d.Error) != "null":
		r.failure(d.Error)
	case d.Incomplete.Reason != "":
		r.StopReason = bound(d.Incomplete.Reason, 100)
	case r.StopReason == "":
		r.StopReason = bound(d.Status, 100)
	}
}

func (r *Reading) responsesDocument(body []byte) {
	var d openAIResponse
	if json.Unmarshal(body, &d) != nil || d.Object != "response" {
		r.bad = true
		return
	}
	r.response(&d)
}

type openAIChunk struct {
	Object  string `json:"object"`
	Model   string `json:"model"`
	Choices []struct {
		Finish  string `json:"finish_reason"`
		Message struct {
			Refusal string `json:"refusal"`
		} `json:"message"`
		Delta struct {
			Refusal string `json:"refusal"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *openAIUsage    `json:"usage"`
	Error json.RawMessage `json:"error"`
}

func (r *Reading) chatEvent(data []byte) {
	var c openAIChunk
	if json.Unmarshal(data, &c) != nil {
		r.bad = true
		return
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		r.failure(c.Error)
		r.Closed = true
		return
	}
	r.chunk(&c)
}

func (r *Reading) chunk(c *openAIChunk) {
	if c.Model != "" {
		r.Model = bound(c.Model, 200)
	}
	r.openAIUsage(c.Usage)
	for _, choice := range c.Choices {
		if choice.Finish != "" {
			// Some providers end the stream here, without [DONE].
			r.Closed = true
			if r.StopReason != "refusal" {
				r.StopReason = bound(choice.Finish, 100)
			}
		}
		if choice.Message.Refusal != "" || choice.Delta.Refusal != "" {
			r.StopReason = "refusal"
		}
	}
}

func (r *Reading) chatDocument(body []byte) {
	var c openAIChunk
	if json.Unmarshal(body, &c) != nil || len(c.Choices) == 0 {
		r.bad = true
		return
	}
	r.chunk(&c)
}

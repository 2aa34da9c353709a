package openai

import (
	"context"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/evalengine/evalengine/engine/eval"
)

// chat asks by Chat Completions.
func (c *request) chat(ctx context.Context, opts []option.RequestOption) (said, error) {
	service := openai.NewChatCompletionService(opts...)
	params := c.chatParams()
	if c.set.Stream {
		return chatStream(ctx, &service, params)
	}
	res, err := service.New(ctx, params)
	if err != nil || len(res.Choices) == 0 {
		return said{}, err
	}
	m := res.Choices[0].Message
	return either(m.Content, m.Refusal), nil
}

func chatStream(ctx context.Context, service *openai.ChatCompletionService, params openai.ChatCompletionNewParams) (said, error) {
	params.StreamOptions.IncludeUsage = param.NewOpt(true)
	stream := service.NewStreaming(ctx, params)
	defer stream.Close()
	var text, refusal strings.Builder
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			if choice.Index == 0 {
				text.WriteString(choice.Delta.Content)
				refusal.WriteString(choice.Delta.Refusal)
			}
		}
	}
	return either(text.String(), refusal.String()), stream.Err()
}

func (c *request) chatParams() openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model: c.call.Model, Messages: c.chatMessages(), ReasoningEffort: shared.ReasoningEffort(c.set.Effort),
	}
	if c.compatible { // the older name is the one that all servers know
		p.MaxTokens = param.NewOpt(c.maxTokens())
	} else {
		p.MaxCompletionTokens = param.NewOpt(c.maxTokens())
	}
	if t := c.temperature(); t != nil {
		p.Temperature = param.NewOpt(*t)
	}
	if c.schema != nil {
		format := shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: c.schemaName(), Schema: c.schema}
		if strict(c.schema) {
			format.Strict = param.NewOpt(true)
		}
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: format}
	}
	return p
}

func (c *request) chatMessages() []openai.ChatCompletionMessageParamUnion {
	var list []openai.ChatCompletionMessageParamUnion
	q := &c.call.Request
	if q.System != "" {
		list = append(list, openai.SystemMessage(q.System))
	}
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role == "assistant" {
			list = append(list, openai.AssistantMessage(textOf(m)))
			continue
		}
		list = append(list, openai.UserMessage(chatParts(m)))
	}
	return list
}

func chatParts(m *eval.ModelMessage) []openai.ChatCompletionContentPartUnionParam {
	var parts []openai.ChatCompletionContentPartUnionParam
	for _, p := range m.Parts {
		if p.Image != nil {
			parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(p.Image)}))
			continue
		}
		parts = append(parts, openai.TextContentPart(p.Text))
	}
	return parts
}

// textOf is a message's text alone: an answer of the model has no pictures.
func textOf(m *eval.ModelMessage) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

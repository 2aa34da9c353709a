package openai

import (
	"context"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/evalengine/evalengine/engine/eval"
)

// responses asks by the Responses API. Nothing is stored at the provider.
func (c *request) responses(ctx context.Context, opts []option.RequestOption) (said, error) {
	service := responses.NewResponseService(opts...)
	params := c.responseParams()
	if !c.set.Stream {
		res, err := service.New(ctx, params)
		if err != nil {
			return said{}, err
		}
		return output(res), nil
	}
	stream := service.NewStreaming(ctx, params)
	defer stream.Close()
	var out said
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.completed", "response.incomplete", "response.failed":
			out = output(&e.Response)
		}
	}
	return out, stream.Err()
}

// output is the text of all output messages.
func output(res *responses.Response) said {
	var text, refusal strings.Builder
	for _, item := range res.Output {
		for _, part := range item.Content {
			text.WriteString(part.Text)
			refusal.WriteString(part.Refusal)
		}
	}
	return either(text.String(), refusal.String())
}

func (c *request) responseParams() responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: c.call.Model, MaxOutputTokens: param.NewOpt(c.maxTokens()), Store: param.NewOpt(false),
		Reasoning: shared.ReasoningParam{Effort: shared.ReasoningEffort(c.set.Effort)},
	}
	q := &c.call.Request
	if q.System != "" {
		p.Instructions = param.NewOpt(q.System)
	}
	if t := c.temperature(); t != nil {
		p.Temperature = param.NewOpt(*t)
	}
	for i := range q.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, inputItem(&q.Messages[i]))
	}
	if c.schema != nil {
		format := responses.ResponseFormatTextJSONSchemaConfigParam{Name: c.schemaName(), Schema: c.schema, Strict: param.NewOpt(strict(c.schema))}
		p.Text.Format.OfJSONSchema = &format
	}
	return p
}

func inputItem(m *eval.ModelMessage) responses.ResponseInputItemUnionParam {
	if m.Role == "assistant" {
		return responses.ResponseInputItemParamOfMessage(textOf(m), responses.EasyInputMessageRoleAssistant)
	}
	var parts responses.ResponseInputMessageContentListParam
	for _, p := range m.Parts {
		if p.Image != nil {
			part := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
			part.OfInputImage.ImageURL = param.NewOpt(dataURL(p.Image))
			parts = append(parts, part)
			continue
		}
		parts = append(parts, responses.ResponseInputContentParamOfInputText(p.Text))
	}
	return responses.ResponseInputItemParamOfMessage(parts, responses.EasyInputMessageRoleUser)
}

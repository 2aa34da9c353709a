// Package anthropic asks models through Anthropic's official client, by the
// Messages API.
package anthropic

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
	"github.com/evalengine/evalengine/engine/internal/model/exchange"
	"github.com/evalengine/evalengine/engine/internal/model/settings"
)

var _ eval.ModelProvider = (*Provider)(nil)

// Provider asks models of Anthropic.
type Provider struct{ next http.RoundTripper }

// New returns the provider, which sends its requests over next.
func New(next http.RoundTripper) *Provider { return &Provider{next} }

// Describe says what a model block may have.
func (p *Provider) Describe(context.Context) (eval.Description, error) {
	s, _ := settings.Schema(settings.Anthropic)
	return eval.Description{Name: settings.Anthropic, Schema: s, Capabilities: []string{"schema", "images"}}, nil
}

// Complete makes one request.
func (p *Provider) Complete(ctx context.Context, call eval.ModelCall) (*eval.ModelAnswer, error) {
	s, err := settings.Strict(settings.Anthropic, call.Config)
	if err != nil {
		return nil, &eval.Fault{Cause: eval.CauseSuite, Retry: eval.RetryStop, Detail: err.Error()}
	}
	params, err := paramsOf(&call, &s)
	if err != nil {
		return nil, &eval.Fault{Cause: eval.CauseBadRequest, Retry: eval.RetryNever, Detail: err.Error()}
	}
	x := exchange.New(p.next, model.AnthropicMessages)
	text, err := ask(ctx, params, s.Stream, options(&call, &s, x))
	if ctx.Err() != nil && ctx.Err() != context.DeadlineExceeded {
		return nil, context.Cause(ctx)
	}
	r, f := x.Result(ctx, err)
	if f != nil {
		return nil, f
	}
	u := r.Usage
	u.Turns, u.Requests = 1, 1
	u.LowerBound = !r.Final()
	return &eval.ModelAnswer{Text: text, Stop: stop(r.StopReason), Model: r.Model, Usage: u}, nil
}

// options are the client's. Nothing comes from the environment: the service is
// made without the client that would read it. The time of a call is its context's.
func options(call *eval.ModelCall, s *settings.Settings, x *exchange.Exchange) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(s.BaseURL, "/") + "/"),
		option.WithHTTPClient(x.Client()), option.WithMaxRetries(0),
		option.WithRequestTimeout(s.Duration() + time.Minute),
	}
	if call.Key != "" {
		opts = append(opts, option.WithAPIKey(call.Key))
	}
	return opts
}

// ask returns the answer's text.
func ask(ctx context.Context, params sdk.MessageNewParams, stream bool, opts []option.RequestOption) (string, error) {
	service := sdk.NewMessageService(opts...)
	if !stream {
		m, err := service.New(ctx, params)
		if err != nil {
			return "", err
		}
		return textOf(m), nil
	}
	events := service.NewStreaming(ctx, params)
	defer events.Close()
	var m sdk.Message
	for events.Next() {
		if err := m.Accumulate(events.Current()); err != nil {
			return "", err
		}
	}
	return textOf(&m), events.Err()
}

// textOf is the text of an answer, without what the model thought.
func textOf(m *sdk.Message) string {
	var b strings.Builder
	for _, block := range m.Content {
		if block.Type == "text" {
			b.WriteString(block.Text)
		}
	}
	return b.String()
}

func stop(reason string) eval.ModelStop {
	switch reason {
	case "end_turn", "stop_sequence":
		return eval.StopEnd
	case "max_tokens":
		return eval.StopMaxTokens
	case "model_context_window_exceeded":
		return eval.StopWindow
	case "refusal":
		return eval.StopRefusal
	}
	return eval.StopOther
}

func paramsOf(call *eval.ModelCall, s *settings.Settings) (sdk.MessageNewParams, error) {
	q := &call.Request
	p := sdk.MessageNewParams{Model: call.Model, MaxTokens: int64(s.MaxTokens)}
	if q.MaxTokens > 0 {
		p.MaxTokens = int64(q.MaxTokens)
	}
	if q.System != "" {
		p.System = []sdk.TextBlockParam{{Text: q.System}}
	}
	if t := s.Temperature; t != nil {
		p.Temperature = param.NewOpt(*t)
	}
	if t := q.Temperature; t != nil {
		p.Temperature = param.NewOpt(*t)
	}
	p.OutputConfig.Effort = sdk.OutputConfigEffort(s.Effort)
	if len(q.Schema) > 0 {
		var schema map[string]any
		if err := json.Unmarshal(q.Schema, &schema); err != nil {
			return p, fmt.Errorf("the schema is no JSON object: %w", err)
		}
		p.OutputConfig.Format = sdk.JSONOutputFormatParam{Schema: fit(schema)}
	}
	for i := range q.Messages {
		p.Messages = append(p.Messages, message(&q.Messages[i]))
	}
	return p, nil
}

func message(m *eval.ModelMessage) sdk.MessageParam {
	var blocks []sdk.ContentBlockParamUnion
	for _, part := range m.Parts {
		if i := part.Image; i != nil {
			kind := i.MediaType
			if kind == "" {
				kind = "image/png"
			}
			blocks = append(blocks, sdk.NewImageBlockBase64(kind, base64.StdEncoding.EncodeToString(i.Data)))
			continue
		}
		blocks = append(blocks, sdk.NewTextBlock(part.Text))
	}
	if m.Role == "assistant" {
		return sdk.NewAssistantMessage(blocks...)
	}
	return sdk.NewUserMessage(blocks...)
}

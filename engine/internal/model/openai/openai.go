// Package openai asks models through OpenAI's official client: its Responses API,
// Chat Completions, and servers that speak the latter.
package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/openai/openai-go/v3/option"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
	"github.com/evalengine/evalengine/engine/internal/model/exchange"
	"github.com/evalengine/evalengine/engine/internal/model/settings"
)

var _ eval.ModelProvider = (*Provider)(nil)

// Provider asks models of OpenAI, or of servers that speak its protocol.
type Provider struct {
	name string
	next http.RoundTripper
}

// New returns the provider of that name, [settings.OpenAI] or
// [settings.Compatible], which sends its requests over next.
func New(name string, next http.RoundTripper) *Provider { return &Provider{name, next} }

// Describe says what a model block may have.
func (p *Provider) Describe(context.Context) (eval.Description, error) {
	s, _ := settings.Schema(p.name)
	return eval.Description{Name: p.name, Schema: s, Capabilities: []string{"schema", "images"}}, nil
}

// Complete makes one request.
func (p *Provider) Complete(ctx context.Context, call eval.ModelCall) (*eval.ModelAnswer, error) {
	s, err := settings.Strict(p.name, call.Config)
	if err != nil {
		return nil, &eval.Fault{Cause: eval.CauseSuite, Retry: eval.RetryStop, Detail: err.Error()}
	}
	c := &request{call: &call, set: &s, compatible: p.name == settings.Compatible}
	if len(call.Request.Schema) > 0 {
		if err := json.Unmarshal(call.Request.Schema, &c.schema); err != nil {
			return nil, &eval.Fault{Cause: eval.CauseBadRequest, Retry: eval.RetryNever, Detail: fmt.Sprintf("the schema is no JSON object: %v", err)}
		}
	}
	ask, api := c.chat, model.OpenAIChat
	if s.API == settings.Responses {
		ask, api = c.responses, model.OpenAIResponses
	}
	x := exchange.New(p.next, api)
	out, err := ask(ctx, c.options(x))
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
	a := &eval.ModelAnswer{Text: out.text, Stop: stop(r.StopReason), Model: r.Model, Usage: u}
	if out.refused {
		a.Stop = eval.StopRefusal
	}
	return a, nil
}

// said is what a model said.
type said struct {
	text    string
	refused bool
}

// either is an answer's text; a refusal is one where there is no other.
func either(text, refusal string) said {
	if text == "" && refusal != "" {
		return said{refusal, true}
	}
	return said{text, false}
}

// request is one request with what it is made of.
type request struct {
	call       *eval.ModelCall
	set        *settings.Settings
	schema     map[string]any
	compatible bool
}

// options are the client's. Nothing comes from the environment: the services are
// made without the client that would read it.
func (c *request) options(x *exchange.Exchange) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(c.set.BaseURL, "/") + "/"),
		option.WithHTTPClient(x.Client()), option.WithMaxRetries(0),
	}
	if c.call.Key != "" {
		opts = append(opts, option.WithAPIKey(c.call.Key))
	}
	return opts
}

func (c *request) maxTokens() int64 {
	if n := c.call.Request.MaxTokens; n > 0 {
		return int64(n)
	}
	return int64(c.set.MaxTokens)
}

func (c *request) temperature() *float64 {
	if t := c.call.Request.Temperature; t != nil {
		return t
	}
	return c.set.Temperature
}

func stop(reason string) eval.ModelStop {
	switch reason {
	case "stop", "completed":
		return eval.StopEnd
	case "length", "max_output_tokens", "max_tokens":
		return eval.StopMaxTokens
	case "refusal", "content_filter":
		return eval.StopRefusal
	}
	return eval.StopOther
}

func dataURL(i *eval.ModelImage) string {
	kind := i.MediaType
	if kind == "" {
		kind = "image/png"
	}
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

var unnamed = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// schemaName is a name that the API takes.
func (c *request) schemaName() string {
	name := unnamed.ReplaceAllString(c.call.Request.SchemaName, "_")
	if name == "" {
		return "answer"
	}
	return name[:min(len(name), 64)]
}

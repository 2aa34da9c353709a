package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/model/anthropic"
	"github.com/evalengine/evalengine/engine/internal/model/openai"
	"github.com/evalengine/evalengine/engine/internal/model/settings"
)

// Providers are the names of the providers that are part of the engine.
func Providers() []string { return settings.Providers() }

// Schema is what a model block of a provider may say; false where the provider is
// not part of the engine.
func Schema(provider string) (eval.Schema, bool) { return settings.Schema(provider) }

// Check says what is wrong with a model block's settings beyond what the schema
// says.
func Check(m eval.ModelConfig) error {
	_, err := read(m)
	return err
}

func builtIn(provider string) bool { return slices.Contains(settings.Providers(), provider) }

func read(m eval.ModelConfig) (settings.Settings, error) {
	if builtIn(m.Provider) {
		return settings.Strict(m.Provider, m.Config)
	}
	return settings.Lenient(m.Provider, m.Config)
}

// open returns a block's provider, started at its first use.
func (b *Broker) open(ctx context.Context, m *modelBlock) (eval.ModelProvider, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.provider != nil {
		return m.provider, nil
	}
	switch m.Provider {
	case settings.Anthropic:
		m.provider = anthropic.New(b.next)
	case settings.OpenAI, settings.Compatible:
		m.provider = openai.New(m.Provider, b.next)
	default:
		return b.plugin(ctx, m)
	}
	m.native = true
	return m.provider, nil
}

// plugin opens a provider that is not part of the engine. A plugin that is not
// there may be there at the next call.
func (b *Broker) plugin(ctx context.Context, m *modelBlock) (eval.ModelProvider, error) {
	if b.o.Plugin == nil {
		return nil, &eval.Fault{Cause: eval.CausePlugin, Retry: eval.RetryStop,
			Detail: fmt.Sprintf("there is no provider %q: there are %v", m.Provider, settings.Providers())}
	}
	p, err := b.o.Plugin(ctx, m.Provider, m.SHA256)
	if err != nil {
		return nil, err
	}
	d, err := p.Describe(ctx)
	if err != nil {
		return nil, err
	}
	m.provider, m.native = p, slices.Contains(d.Capabilities, "schema")
	return p, nil
}

// key is the secret that a block's provider is called with. It is made known as a
// secret before it is used.
func (b *Broker) key(m *modelBlock) (string, *eval.ModelReply) {
	name := m.set.KeyEnv
	if name == "" {
		return "", nil
	}
	key, _ := b.o.Environ(name)
	if key == "" {
		detail := fmt.Sprintf("model %q: the environment variable %s with its key is not set", m.Name, name)
		b.once("judges cannot ask a model: " + detail)
		return "", &eval.ModelReply{Failure: eval.FailureNoModel, Detail: detail}
	}
	if err := b.o.Secrets.Add(name, key); err != nil {
		return "", &eval.ModelReply{Failure: eval.FailureAuth, Detail: fmt.Sprintf("model %q: %v", m.Name, err)}
	}
	return key, nil
}

// schema says how the block's provider is told of an answer's form.
func (m *modelBlock) inWords() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.set.Structured {
	case settings.StructuredWords:
		return true
	case settings.StructuredNative:
		return !m.native
	}
	return !m.native || m.words
}

// refusedSchema takes in that the provider does not take schemas.
func (m *modelBlock) refusedSchema() {
	m.mu.Lock()
	m.words = true
	m.mu.Unlock()
}

// Package model asks models for judges. A judge is a scorer module that holds no
// key and has no network: it sends a request through capability model.complete/1,
// and the [Broker] does the rest: which model is meant, its key, limits, retries,
// budget, stored answers, and the record of what was asked.
//
// A [Broker] is made for a run. Each trial that is scored has a [Session] of it,
// whose Call is what a module's call ends in. The clients are subpackages, one for
// each official SDK; further providers are plugins.
package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/model/settings"
)

// Errors of [Session.Call].
var (
	// ErrDenied is returned where the use may not ask that model, or none at all.
	ErrDenied = errors.New("the suite does not grant that model")
	// ErrUnknown is returned for a capability that is not this package's.
	ErrUnknown = errors.New("unknown capability")
)

// Options say what a broker works with.
type Options struct {
	// Models are the suite's model blocks.
	Models []eval.ModelConfig
	// Plugin returns a provider that is not part of the engine; nil is none.
	Plugin func(ctx context.Context, provider, sha256 string) (eval.ModelProvider, error)
	// Environ looks up a variable of the engine's environment, for keys.
	Environ func(name string) (string, bool)
	// Budget bounds what calls cost; nil bounds nothing.
	Budget Budget
	// Limits are the suite's provider blocks.
	Limits []eval.ProviderConfig
	// Cache is the folder of stored answers, made where it is not there; empty
	// stores none.
	Cache string
	// Secrets learns the keys, and takes secrets out of whatever leaves.
	Secrets Secrets
	Logger  *slog.Logger

	// Now, Wait and Random are the clock and the source of jitter in [0, 1), for
	// tests; nil is the real ones.
	Now    func() time.Time
	Wait   func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Secrets are values that must reach no record. It is redact.Set.
type Secrets interface {
	Add(name, value string) error
	Bytes([]byte) []byte
	String(string) string
}

// Broker asks models for all judges of a run. It is safe for concurrent use.
type Broker struct {
	o      Options
	models map[string]*modelBlock
	next   *http.Transport
	store  *store
	purse  purse

	mu    sync.Mutex
	lanes map[string]*lane
	said  map[string]bool
}

// modelBlock is a model block with what is known of it.
type modelBlock struct {
	eval.ModelConfig
	set settings.Settings

	mu       sync.Mutex
	provider eval.ModelProvider
	// native says that the provider takes a schema; words that it refused one.
	native, words bool
}

// New returns a broker that has asked nothing yet. The caller must call Close.
func New(o Options) (*Broker, error) {
	o.defaults()
	b := &Broker{
		o: o, models: map[string]*modelBlock{}, lanes: map[string]*lane{}, said: map[string]bool{},
		store: newStore(o.Cache), next: http.DefaultTransport.(*http.Transport).Clone(),
	}
	b.purse.budget = o.Budget
	b.next.MaxIdleConnsPerHost = 64
	b.next.MaxResponseHeaderBytes = 1 << 20
	for _, m := range o.Models {
		s, err := read(m)
		if err != nil {
			return nil, fmt.Errorf("model %q: %w", m.Name, err)
		}
		b.models[m.Name] = &modelBlock{ModelConfig: m, set: s}
	}
	return b, nil
}

func (o *Options) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Environ == nil {
		o.Environ = func(string) (string, bool) { return "", false }
	}
	if o.Secrets == nil {
		o.Secrets = none{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
}

// Close ends the connections. No call may be under way.
func (b *Broker) Close() { b.next.CloseIdleConnections() }

// once warns the first time that it is called with that message.
func (b *Broker) once(message string, args ...any) {
	b.mu.Lock()
	said := b.said[message]
	b.said[message] = true
	b.mu.Unlock()
	if !said {
		b.o.Logger.Warn(message, args...)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// none knows no secrets.
type none struct{}

func (none) Add(string, string) error { return nil }
func (none) Bytes(b []byte) []byte    { return b }
func (none) String(s string) string   { return s }

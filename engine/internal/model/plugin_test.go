package model

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// fake is a provider that is not part of the engine.
type fake struct {
	capabilities []string
	complete     func(context.Context, eval.ModelCall) (*eval.ModelAnswer, error)

	mu    sync.Mutex
	calls []eval.ModelCall
}

func (f *fake) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake", Version: "1", Capabilities: f.capabilities}, nil
}

func (f *fake) Complete(ctx context.Context, c eval.ModelCall) (*eval.ModelAnswer, error) {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.complete != nil {
		return f.complete(ctx, c)
	}
	return &eval.ModelAnswer{Text: "ok", Stop: eval.StopEnd, Model: "m", Usage: eval.Usage{InputTokens: 10, OutputTokens: 5}}, nil
}

func withPlugin(t *testing.T, f *fake, config string) *bench {
	return newBench(t, chatAPI(), "http://127.0.0.1:1", "", func(o *Options) {
		o.Models = []eval.ModelConfig{{Name: "judge", Provider: "ours", Model: "m", Config: eval.JSON(config), SHA256: "aa"}}
		o.Plugin = func(_ context.Context, provider, sha256 string) (eval.ModelProvider, error) {
			if provider != "ours" || sha256 != "aa" {
				t.Errorf("provider %q, sha256 %q", provider, sha256)
			}
			return f, nil
		}
	})
}

func TestPlugin(t *testing.T) {
	for _, tt := range []struct {
		capabilities []string
		native       bool
	}{{nil, false}, {[]string{"schema"}, true}} {
		f := &fake{capabilities: tt.capabilities}
		b := withPlugin(t, f, `{"api_key_env":"KEY","region":"north","price":{"input":1,"output":2}}`)
		s := b.session()
		if r := call(t, s, withSchema()); r.Failure != "" || r.Samples[0].Text != "ok" {
			t.Fatalf("reply = %+v", r)
		}
		c := f.calls[0]
		if c.Key != canary || c.Model != "m" || !strings.Contains(string(c.Config), "north") {
			t.Errorf("call = %+v", c)
		}
		if native := len(c.Request.Schema) > 0; native != tt.native || strings.Contains(c.Request.System, closedSchema) == tt.native {
			t.Errorf("capabilities %v: schema %q, system %q", tt.capabilities, c.Request.Schema, c.Request.System)
		}
		if u := s.Use("judge/x").Usage; u.CostUSD == nil || *u.CostUSD != 20e-6 {
			t.Errorf("usage = %+v", u)
		}
		b.lines(t)
	}
}

func TestPluginsFaults(t *testing.T) {
	for _, tt := range []struct {
		name    string
		err     error
		failure string
		sent    int
	}{
		{"no fault", errors.New("lost " + canary), eval.FailureOther, 5},
		{"wrapped", errors.Join(errors.New("x"), &eval.Fault{Cause: eval.CauseTooLarge, Retry: eval.RetryNever}), eval.FailureTooLarge, 1},
		{"billing", &eval.Fault{Cause: eval.CauseBilling, Retry: eval.RetryStop}, eval.FailureAuth, 1},
		{"busy", &eval.Fault{Cause: eval.CauseRateLimit, Retry: eval.RetryTrial, RetryAfter: time.Second}, eval.FailureBusy, 5},
		{"neither", nil, eval.FailureOther, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{complete: func(context.Context, eval.ModelCall) (*eval.ModelAnswer, error) { return nil, tt.err }}
			b := withPlugin(t, f, `{"api_key_env":"KEY"}`)
			if r := call(t, b.session(), ask1("x")); r.Failure != tt.failure || len(f.calls) != tt.sent {
				t.Errorf("reply = %+v after %d calls; want %s after %d", r, len(f.calls), tt.failure, tt.sent)
			}
			b.lines(t)
		})
	}
}

func TestUnknownProvider(t *testing.T) {
	b := withPlugin(t, &fake{}, `{}`)
	b.o.Plugin = nil
	if r := call(t, b.session(), ask1("x")); r.Failure != eval.FailureOther || !strings.Contains(r.Detail, `no provider "ours"`) {
		t.Errorf("reply = %+v", r)
	}
}

// The end of the trial's context ends a call wherever it is.
func TestCancelled(t *testing.T) {
	q := wire.AppendModelRequest(nil, ask1("x"))
	asked := make(chan struct{}, 10)
	f := &fake{complete: func(ctx context.Context, _ eval.ModelCall) (*eval.ModelAnswer, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	b := withPlugin(t, f, `{}`)
	b.o.Limits = []eval.ProviderConfig{{Name: "plugin ours", Concurrency: 1}}
	ctx, cancel := context.WithCancel(t.Context())
	s := b.session()
	var wg sync.WaitGroup
	for range 3 { // one is under way, two wait for its place
		wg.Go(func() {
			if _, err := s.Call(ctx, "judge/x", wire.OpComplete, q); !errors.Is(err, context.Canceled) {
				t.Errorf("Call = %v; want context canceled", err)
			}
		})
	}
	<-asked
	cancel()
	wg.Wait()
	if len(f.calls) != 1 {
		t.Errorf("%d calls; want 1", len(f.calls))
	}
}

// Some answers of several are worth having, with why there are no more.
func TestSomeSamples(t *testing.T) {
	n := 0
	var mu sync.Mutex
	f := &fake{complete: func(context.Context, eval.ModelCall) (*eval.ModelAnswer, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == 2 {
			return nil, &eval.Fault{Cause: eval.CauseAuth, Retry: eval.RetryStop, Detail: "expired"}
		}
		return &eval.ModelAnswer{Text: "ok", Stop: eval.StopEnd}, nil
	}}
	b := withPlugin(t, f, `{}`)
	q := ask1("x")
	q.Samples = 3
	if r := call(t, b.session(), q); len(r.Samples) != 2 || r.Failure != eval.FailureAuth {
		t.Errorf("reply = %+v", r)
	}
}

func TestBoundsOfRequests(t *testing.T) {
	b := withPlugin(t, &fake{}, `{}`)
	many, role, none := ask1("x"), ask1("x"), &eval.ModelRequest{}
	many.Samples, role.Messages[0].Role = maxSamples+1, "system"
	for _, q := range []*eval.ModelRequest{many, role, none} {
		if r := call(t, b.session(), q); r.Failure != eval.FailureOther || r.Detail == "" {
			t.Errorf("reply = %+v", r)
		}
	}
}

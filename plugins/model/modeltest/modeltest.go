// Package modeltest is the conformance kit of model plugins: it runs a built plugin
// as the engine does, or a provider in this process, and checks what the engine
// relies on. Fill in a [Kit] and call [Kit.Run] from a test of the plugin.
package modeltest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/conform"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// Kit says what to test, and how the provider is made to do it.
type Kit struct {
	// Binary is a built plugin, Env its environment; or Provider is one in this
	// process.
	Binary   string
	Env      []string
	Provider eval.ModelProvider
	// Call is one that is answered with a whole answer: Model, Config and Key, and
	// a request of the kit's own where it has no messages.
	Call eval.ModelCall
	// Refused is one that ends in a fault, and Cause that fault's cause; no Cause
	// checks nothing.
	Refused eval.ModelCall
	Cause   string
	// Slow is one that takes longer than a second, for the check of cancelling; no
	// Model checks nothing.
	Slow eval.ModelCall
	// Calls is how many are made side by side; 0 is 16.
	Calls int
}

// Run runs all checks as subtests.
func (k Kit) Run(t *testing.T) {
	t.Helper()
	p := k.Provider
	if k.Binary != "" {
		p = conform.Start(t, rpc.KindModel, "under-test", k.Binary, k.Env).Model()
	}
	r := &running{Kit: k, p: p}
	t.Run("describe", func(t *testing.T) { conform.Description(t, p.Describe) })
	t.Run("answer", r.answer)
	t.Run("side_by_side", r.sideBySide)
	if k.Cause != "" {
		t.Run("fault", r.fault)
	}
	if k.Slow.Model != "" {
		t.Run("cancel", r.cancel)
	}
}

type running struct {
	Kit
	p eval.ModelProvider
}

// asked is the call with a question in it.
func asked(c eval.ModelCall) eval.ModelCall {
	if len(c.Request.Messages) == 0 {
		c.Request.Messages = []eval.ModelMessage{{Role: "user", Parts: []eval.ModelPart{{Text: "Say yes."}}}}
	}
	return c
}

func (r *running) complete(t *testing.T, c eval.ModelCall) (*eval.ModelAnswer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), conform.Bound)
	defer cancel()
	return r.p.Complete(ctx, asked(c))
}

func (r *running) answer(t *testing.T) {
	a, err := r.complete(t, r.Call)
	if err != nil {
		t.Fatalf("Complete: %v", err)
	}
	for _, problem := range problems(a) {
		t.Errorf("Complete: %s", problem)
	}
}

// problems lists what is wrong with a whole answer.
func problems(a *eval.ModelAnswer) []string {
	var list []string
	add := func(bad bool, text string) {
		if bad {
			list = append(list, text)
		}
	}
	if a == nil {
		return []string{"neither an answer nor an error"}
	}
	u := a.Usage
	add(a.Text == "", "the answer has no text")
	add(a.Stop != eval.StopEnd, "the answer stopped with "+string(a.Stop)+"; want end")
	add(a.Cached, "the answer says that it is cached: stored answers are the engine's")
	add(u.Requests > 1, "more than one request was made for the answer: retries are the engine's")
	add(u.InputTokens < 0 || u.OutputTokens < 0, "a count of tokens is below 0")
	add(u.CacheReadTokens+u.CacheWriteTokens > u.InputTokens, "more cache tokens than input tokens: they are a part of them")
	add(u.ReasoningTokens > u.OutputTokens, "more reasoning tokens than output tokens: they are a part of them")
	add(u.InputTokens+u.OutputTokens == 0 && !u.LowerBound, "no tokens were counted, and lower_bound does not say so")
	return list
}

func (r *running) sideBySide(t *testing.T) {
	n := r.Calls
	if n == 0 {
		n = 16
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if a, err := r.complete(t, r.Call); err != nil || a == nil {
				t.Errorf("Complete beside others: %v", err)
			}
		})
	}
	wg.Wait()
}

func (r *running) fault(t *testing.T) {
	a, err := r.complete(t, r.Refused)
	var f *eval.Fault
	if !errors.As(err, &f) {
		t.Fatalf("Complete gave %+v, %v; want a fault", a, err)
	}
	if f.Cause != r.Cause {
		t.Errorf("cause = %q; want %q", f.Cause, r.Cause)
	}
}

func (r *running) cancel(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.p.Complete(ctx, asked(r.Slow)); err == nil {
		t.Error("Complete gave an answer after its context had ended")
	}
	if _, err := r.complete(t, r.Call); err != nil {
		t.Errorf("Complete after one that was cancelled: %v", err)
	}
}

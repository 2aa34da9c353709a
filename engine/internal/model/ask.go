package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// ask is one answer that is wanted.
type ask struct {
	use     string
	block   *modelBlock
	request *eval.ModelRequest
	sample  int
}

// ask returns an answer, or why there is none, and records it either way.
func (s *Session) ask(ctx context.Context, a *ask) (*eval.ModelAnswer, *eval.ModelReply) {
	key := a.key()
	if s.o.Replay != nil {
		return s.replay(a, key)
	}
	if a.block.set.Cache == "off" || s.b.store == nil {
		return s.fresh(ctx, a, key, "")
	}
	scoped := s.scoped(a, key)
	unlock, err := s.b.store.lock(ctx, scoped)
	if err != nil {
		return nil, failure(err)
	}
	defer unlock()
	if answer := s.b.store.get(scoped); answer != nil {
		began := s.b.o.Now()
		answer.Cached, answer.Usage = true, eval.Usage{Models: answer.Usage.Models}
		s.record(a, key, began, answer, nil, 0)
		return answer, nil
	}
	return s.fresh(ctx, a, key, scoped)
}

// fresh asks the model, and stores a whole answer under the key where it has
// one.
func (s *Session) fresh(ctx context.Context, a *ask, key, scoped string) (*eval.ModelAnswer, *eval.ModelReply) {
	secret, no := s.b.key(a.block)
	if no != nil {
		return nil, no
	}
	began := s.b.o.Now()
	t := &tries{b: s.b, a: a, key: secret}
	answer, err := t.run(ctx)
	if answer == nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		f := *eval.AsFault(err)
		f.Detail = s.b.o.Secrets.String(f.Detail)
		s.record(a, key, began, &eval.ModelAnswer{Usage: t.usage()}, &f, t.sent)
		no := failure(&f)
		if ctx.Err() == nil {
			s.b.once(fmt.Sprintf("judges lack answers of model %q (%s); show TRIAL says which", a.block.Name, f.Cause), "said", f.Detail)
		}
		no.Detail = fmt.Sprintf("model %q: %s", a.block.Name, no.Detail)
		return nil, no
	}
	answer.Text = s.b.o.Secrets.String(answer.Text)
	answer.Usage = t.usage()
	if scoped != "" && answer.Stop == eval.StopEnd {
		if err := s.b.store.put(scoped, answer); err != nil {
			s.b.once("a model's answer was not stored", "err", err)
		}
	}
	s.record(a, key, began, answer, nil, t.sent)
	return answer, nil
}

// failure is what a judge is told of an error.
func failure(err error) *eval.ModelReply {
	f := eval.AsFault(err)
	word := eval.FailureOther
	switch f.Cause {
	case eval.CauseTooLarge:
		word = eval.FailureTooLarge
	case eval.CauseAuth, eval.CauseBilling:
		word = eval.FailureAuth
	case eval.CauseRateLimit, eval.CauseOverloaded:
		word = eval.FailureBusy
	case eval.CauseModelHang:
		word = eval.FailureTimeout
	case eval.CauseBudget:
		word = eval.FailureBudget
	}
	return &eval.ModelReply{Failure: word, Detail: f.Error()}
}

// tries are the requests for one answer.
type tries struct {
	b   *Broker
	a   *ask
	key string

	sent  int
	total eval.Usage
	// unpriced says that something was used whose price is not known.
	unpriced bool
	cost     float64
	hung     bool
}

// run asks until there is an answer, or a fault that asking again does not mend.
func (t *tries) run(ctx context.Context) (*eval.ModelAnswer, error) {
	p, err := t.b.open(ctx, t.a.block)
	if err != nil {
		return nil, err
	}
	l := t.b.lane(t.a.block)
	for retry := 0; ; {
		answer, err := t.once(ctx, p, l)
		if err == nil || ctx.Err() != nil {
			return answer, err
		}
		f := eval.AsFault(err)
		if t.words(f) {
			continue
		}
		if !t.again(f, retry) {
			return nil, err
		}
		retry++
		if f.RetryAfter > 0 {
			l.hold(t.b.o.Now(), f.RetryAfter)
			continue // entering waits
		}
		if err := t.b.o.Wait(ctx, backoff(retry, t.b.o.Random())); err != nil {
			return nil, err
		}
	}
}

// again reports whether a request after a fault may do better.
func (t *tries) again(f *eval.Fault, retry int) bool {
	if f.Retry != eval.RetryTrial || retry >= *t.a.block.set.Retries || f.Cause == eval.CauseBudget {
		return false
	}
	if f.Cause != eval.CauseModelHang {
		return true
	}
	first := !t.hung
	t.hung = true
	return first
}

// words reports whether the provider refused the schema and is to be told in
// words from now on.
func (t *tries) words(f *eval.Fault) bool {
	m := t.a.block
	if f.Cause != eval.CauseBadRequest || m.set.Structured != "auto" || len(t.a.request.Schema) == 0 || m.inWords() {
		return false
	}
	text := strings.ToLower(f.Detail)
	for _, word := range []string{"schema", "response_format", "output_config", "output_format", "text.format", "structured output"} {
		if strings.Contains(text, word) {
			m.refusedSchema()
			t.b.o.Logger.Info("a model takes no JSON schema and is told in words", "model", m.Name, "said", t.b.o.Secrets.String(f.Detail))
			return true
		}
	}
	return false
}

// backoff is how long to wait before the n-th retry: it doubles from half a
// second to half a minute, less up to a half at random.
func backoff(n int, random float64) time.Duration {
	d := min(500*time.Millisecond<<min(n-1, 10), 30*time.Second)
	return d - time.Duration(random*float64(d)/2)
}

// once makes one request, within the limits and the budget.
func (t *tries) once(ctx context.Context, p eval.ModelProvider, l *lane) (*eval.ModelAnswer, error) {
	if err := t.b.enter(ctx, l); err != nil {
		return nil, err
	}
	defer l.leave()
	m := t.a.block
	worst, priced := m.cost(m.Model, t.a.worst())
	if t.b.o.Budget != nil && !priced {
		t.b.once(fmt.Sprintf("the budget does not bound model %q: the price of %s is not known; say it in the model block's price", m.Name, m.Model))
	}
	settle, ok, err := t.b.purse.reserve(ctx, worst)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &eval.Fault{Cause: eval.CauseBudget, Retry: eval.RetryNever,
			Detail: fmt.Sprintf("one more request, which can cost $%.4f, could pass the run's budget", worst)}
	}
	spent := worst
	defer func() { settle(spent) }()
	answer, err := t.send(ctx, p)
	spent = t.count(answer, err, worst)
	return answer, err
}

// send makes the request, within the timeout.
func (t *tries) send(ctx context.Context, p eval.ModelProvider) (*eval.ModelAnswer, error) {
	m := t.a.block
	call := eval.ModelCall{Model: m.Model, Config: m.Config, Key: t.key, Request: *t.a.request}
	call.Request.Model = ""
	if len(call.Request.Schema) > 0 && m.inWords() {
		call.Request = inWords(call.Request)
	}
	limited, cancel := context.WithTimeout(ctx, m.set.Duration())
	defer cancel()
	t.sent++
	answer, err := p.Complete(limited, call)
	if err == nil && answer == nil {
		err = errors.New("the provider gave neither an answer nor an error")
	}
	if err != nil && ctx.Err() == nil && limited.Err() != nil && eval.AsFault(err).Cause != eval.CauseModelHang {
		err = &eval.Fault{Cause: eval.CauseModelHang, Retry: eval.RetryTrial, Detail: fmt.Sprintf("no whole answer within %v", m.set.Duration())}
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// count adds up what a request used, and returns what it is taken to have cost. A
// failure that may have used tokens that nobody counted is taken to have cost the
// most.
func (t *tries) count(answer *eval.ModelAnswer, err error, worst float64) float64 {
	t.total.Requests++
	if err != nil {
		if !uncounted(eval.AsFault(err)) {
			return 0
		}
		t.total.LowerBound = true
		return worst
	}
	u := answer.Usage
	u.Turns, u.Requests = 1, 0
	if answer.Model != "" {
		u.Models = []string{answer.Model}
	}
	t.total.Add(u)
	usd, ok := t.a.block.cost(answer.Model, u)
	if !ok || u.LowerBound {
		t.unpriced = t.unpriced || !ok
		return max(usd, worst)
	}
	t.cost += usd
	return usd
}

// uncounted reports whether a provider may have used tokens for a request that
// failed.
func uncounted(f *eval.Fault) bool {
	switch f.Cause {
	case eval.CauseStream, eval.CauseModelHang:
		return true
	case eval.CauseUnknown, eval.CausePlugin, eval.CauseNetwork, eval.CauseInterrupted:
		return f.Status == 0
	}
	return false
}

// usage is what all requests together used.
func (t *tries) usage() eval.Usage {
	u := t.total
	u.CostUSD = nil
	if !t.unpriced && (t.cost > 0 || u.InputTokens+u.OutputTokens > 0) {
		usd := t.cost
		u.CostUSD = &usd
	}
	return u
}

// inWords says in the system text what form the answer has.
func inWords(q eval.ModelRequest) eval.ModelRequest {
	text := "Answer with one JSON value alone, with no text around it. It follows this JSON Schema:\n" + string(q.Schema)
	if q.System != "" {
		text = q.System + "\n\n" + text
	}
	q.System, q.Schema, q.SchemaName = text, nil, ""
	return q
}

package model

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Bounds of one request of a module.
const (
	maxSamples  = 64
	maxMessages = 1000
)

// SessionOptions are one trial that is being scored.
type SessionOptions struct {
	// Run and Trial name it. Stored answers are its own unless the model block
	// shares them.
	Run   string
	Trial eval.Trial
	// Own keeps stored answers the trial's own also where the model block shares
	// them: for repeats of one judgement, which are to differ as the model does.
	Own bool
	// Pages and Gold are the captured pages, of the trial and of the gold, with
	// their pictures.
	Pages, Gold []eval.Page
	// Granted are the names of model blocks that each use may ask, the first being
	// the one that is meant where a request names none. A use that is not there may
	// ask none; one with an empty list has no model.
	Granted map[string][]string
	// Log gets one line for each request, judge.jsonl; nil is none. Each is written
	// at once.
	Log io.Writer
	// Replay has stored answers. Where it is not nil nothing is sent: what it does
	// not have fails with [eval.FailureNoReplay].
	Replay *Replay
}

// Session is the judges of one trial. It is safe for concurrent use.
type Session struct {
	b *Broker
	o SessionOptions

	mu   sync.Mutex
	n    int
	uses map[string]*use
}

// Session returns a session of one trial.
func (b *Broker) Session(o SessionOptions) *Session {
	return &Session{b: b, o: o, uses: map[string]*use{}}
}

// Call answers a call of a module: use is the name of the score, op the
// capability. What a judge may act on is a failure in the reply; an error is for
// the engine, [ErrDenied] and [ErrUnknown] among them.
func (s *Session) Call(ctx context.Context, use, op string, request []byte) ([]byte, error) {
	if op != wire.OpComplete {
		return nil, fmt.Errorf("%q: %w", op, ErrUnknown)
	}
	q, err := wire.DecodeModelRequest(request)
	if err != nil {
		return nil, fmt.Errorf("%s: the model request: %w", use, err)
	}
	reply, err := s.complete(ctx, use, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", use, err)
	}
	reply.Detail = s.b.o.Secrets.String(reply.Detail)
	return wire.AppendModelReply(nil, reply), nil
}

// complete answers a request, sample by sample, side by side.
func (s *Session) complete(ctx context.Context, use string, q *eval.ModelRequest) (*eval.ModelReply, error) {
	m, reply, err := s.block(use, q.Model)
	if m == nil {
		return reply, err
	}
	if detail := s.prepare(q); detail != "" {
		return &eval.ModelReply{Failure: eval.FailureOther, Detail: detail}, nil
	}
	samples := max(1, q.Samples)
	q.Samples = 0
	answers, faults := make([]*eval.ModelAnswer, samples), make([]*eval.ModelReply, samples)
	var wg sync.WaitGroup
	for i := range samples {
		wg.Go(func() { answers[i], faults[i] = s.ask(ctx, &ask{use: use, block: m, request: q, sample: i}) })
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	reply = &eval.ModelReply{}
	for i := range samples {
		if answers[i] != nil {
			reply.Samples = append(reply.Samples, *answers[i])
		} else if reply.Failure == "" {
			reply.Failure, reply.Detail = faults[i].Failure, faults[i].Detail
		}
	}
	return reply, nil
}

// block is the model block that a use means by a name. Where there is none, the
// reply says so.
func (s *Session) block(use, name string) (*modelBlock, *eval.ModelReply, error) {
	granted, ok := s.o.Granted[use]
	if !ok {
		return nil, nil, ErrDenied
	}
	if len(granted) == 0 {
		return nil, &eval.ModelReply{Failure: eval.FailureNoModel, Detail: "no model is configured for this judge"}, nil
	}
	if name == "" {
		name = granted[0]
	}
	if !slices.Contains(granted, name) {
		return nil, nil, fmt.Errorf("model %q: %w", name, ErrDenied)
	}
	m := s.b.models[name]
	if m == nil {
		return nil, &eval.ModelReply{Failure: eval.FailureNoModel, Detail: fmt.Sprintf("the suite has no model %q", name)}, nil
	}
	return m, nil, nil
}

// prepare checks a request, puts the pictures in and takes secrets out; it says
// what is wrong.
func (s *Session) prepare(q *eval.ModelRequest) string {
	switch {
	case len(q.Messages) == 0:
		return "the request has no messages"
	case len(q.Messages) > maxMessages:
		return fmt.Sprintf("the request has %d messages; at most %d are sent", len(q.Messages), maxMessages)
	case q.Samples < 0 || q.Samples > maxSamples:
		return fmt.Sprintf("the request asks for %d samples; at most %d are given", q.Samples, maxSamples)
	case q.MaxTokens < 0:
		return "max_tokens is below 0"
	}
	secrets := s.b.o.Secrets
	q.System = secrets.String(q.System)
	for i := range q.Messages {
		m := &q.Messages[i]
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Sprintf("message %d is of role %q; there are user and assistant", i+1, m.Role)
		}
		for j := range m.Parts {
			p := &m.Parts[j]
			p.Text = secrets.String(p.Text)
			if p.Image == nil {
				continue
			}
			if detail := s.picture(p.Image); detail != "" {
				return detail
			}
		}
	}
	return ""
}

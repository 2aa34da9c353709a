package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-claude-code/stream"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// grace is how long the program may take to end a turn that it was asked to
// interrupt, or to exit after its input ended.
const grace = 3 * time.Second

// longSilence is well above what one long answer takes.
const longSilence = 2 * time.Minute

// session is one process that is given prompt after prompt.
type session struct {
	quiet time.Duration // silence that is worth a note
	kept  *kept

	proc   *agentproc.Process
	parser *stream.Parser
	hide   *strings.Replacer
	max    int // turns of the model, 0 for no limit

	// lines is closed at the end of the output, closing when nobody listens any
	// more.
	lines   chan agentproc.Line
	closing chan struct{}
	read    chan struct{}
	unwatch func() bool

	turns     int
	responses int // in the turns before
	asked     int // interrupts
	over      bool
	closed    bool
}

var _ eval.Session = (*session)(nil)

func newSession(ctx context.Context, proc *agentproc.Process, l launch, cfg config) *session {
	s := &session{
		quiet: longSilence,
		kept:  &kept{dir: l.config},
		proc:  proc, parser: stream.New(l.names), hide: hider(l.secrets), max: cfg.MaxTurns,
		lines: make(chan agentproc.Line), closing: make(chan struct{}), read: make(chan struct{}),
	}
	s.unwatch = context.AfterFunc(ctx, func() {
		// A turn that goes on has the same grace to end by itself.
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-t.C:
			proc.Stop()
		case <-s.closing:
		}
	})
	go s.pump()
	return s
}

// hider replaces secrets that are long enough to be told from ordinary text.
func hider(secrets []string) *strings.Replacer {
	var pairs []string
	for _, v := range secrets {
		if len(v) >= 8 {
			pairs = append(pairs, v, "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// pump reads lines until the output ends.
func (s *session) pump() {
	defer close(s.read)
	defer close(s.lines)
	for {
		l, err := s.proc.Line()
		if err != nil {
			return
		}
		select {
		case s.lines <- l:
		case <-s.closing:
			return
		}
	}
}

// Turn implements [eval.Session].
func (s *session) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	switch {
	case s.over || s.closed:
		return eval.TurnResult{}, agentout.Fault(eval.CauseHost, eval.RetryTrial, "the agent program has ended before this turn")
	case s.max > 0 && s.responses >= s.max:
		return eval.TurnResult{Outcome: eval.MaxTurns, Detail: fmt.Sprintf("the %d turns of the model are used up", s.max)}, nil
	}
	s.turns++
	s.parser.Begin(func(e eval.Event) {
		e.Warning = s.hide.Replace(e.Warning)
		emit(e)
	})
	s.write(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": literal(prompt)}})
	end := s.follow(ctx)
	end.Stderr = s.proc.Stderr()
	s.kept.each(s.parser.Session(), s.parser.Recorded)
	s.responses += s.parser.Responses()
	r, err := s.parser.Result(end)
	r.Detail = s.hide.Replace(r.Detail)
	var f *eval.Fault
	switch {
	case end.Stop == stream.StopTime && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r, context.Cause(ctx)
	case errors.As(err, &f):
		f.Detail = s.hide.Replace(f.Detail)
		return r, f
	}
	return r, err
}

// literal keeps a prompt that begins like one of the program's own commands from
// being taken for one.
func literal(prompt string) string {
	if strings.HasPrefix(prompt, "/") {
		return " " + prompt
	}
	return prompt
}

// write sends one line without waiting: a program that does not read must not
// hold the turn.
func (s *session) write(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return // no value here can fail
	}
	go func() { _, _ = s.proc.Write(append(b, '\n')) }()
}

// interrupt asks the program to end the turn: unlike after a signal, it then says
// what was consumed.
func (s *session) interrupt() {
	s.asked++
	s.write(map[string]any{
		"type": "control_request", "request_id": fmt.Sprintf("interrupt-%d", s.asked),
		"request": map[string]any{"subtype": "interrupt"},
	})
}

// follow reads the turn to its end, which it brings about when the time or the
// model's turns are up.
func (s *session) follow(ctx context.Context) stream.End {
	var end stream.End
	var late <-chan time.Time
	done := ctx.Done()
	heard := time.Now()
	hear := func() {
		if silent := time.Since(heard); silent >= s.quiet {
			s.parser.Quiet(silent)
		}
		heard = time.Now()
	}
	stop := func(why stream.Stop) {
		hear()
		end.Stop = why
		s.interrupt()
		t := time.NewTimer(grace)
		late = t.C
	}
	for {
		select {
		case l, ok := <-s.lines:
			if !ok {
				hear()
				s.over = true
				exit := s.proc.Wait()
				end.Exit = &exit
				return end
			}
			hear()
			s.parser.Line(l)
			switch {
			case s.parser.Ended():
				return end
			case end.Stop != stream.StopNone:
			case len(s.parser.Missing()) > 0:
				// Whatever it did now would be spent for nothing.
				end.Stop = stream.StopMissing
				s.proc.Stop()
			case s.usedUp():
				stop(stream.StopTurns)
			}
		case <-done:
			done = nil
			if end.Stop == stream.StopNone {
				stop(stream.StopTime)
			}
		case <-late:
			late = nil
			s.proc.Stop()
		}
	}
}

// usedUp reports whether the model has had its turns. In the first prompt the
// program counts itself; its count begins anew with each.
func (s *session) usedUp() bool {
	if s.max == 0 {
		return false
	}
	n := s.responses + s.parser.Responses()
	return n > s.max || (n == s.max && s.turns > 1 && s.parser.Continues())
}

// Close implements [eval.Session].
func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.proc.CloseStdin()
	if s.turns > 0 && !s.over {
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-s.proc.Exited():
		case <-t.C:
		}
	}
	close(s.closing)
	s.proc.Stop()
	<-s.read
	s.proc.Close()
	s.unwatch()
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/rollout"
	"github.com/evalengine/evalengine/plugins/evalengine-host-codex/stream"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// longSilence is well above what one long answer takes.
const longSilence = 2 * time.Minute

// longExit is well above what the program takes to exit when it has said that its
// turn is over.
const longExit = 15 * time.Second

// session is a conversation: a process a turn, held together by the thread that
// the program keeps under CODEX_HOME.
type session struct {
	quiet time.Duration // silence that is worth a note
	exit  time.Duration // after the turn's end; then the program is stopped

	// over is closed when the context of Start ends, which cause is why: nothing
	// outlives it.
	over   <-chan struct{}
	cause  func() error
	launch launch
	parser *stream.Parser
	hide   *strings.Replacer
	max    int // turns of the model, 0 for no limit

	turns     int
	responses int              // in the turns before
	read      int64            // of the session file
	below     map[string]int64 // of those of sub-agents, by thread
	closed    bool
}

var _ eval.Session = (*session)(nil)

func newSession(ctx context.Context, l launch, cfg config) *session {
	return &session{
		quiet: longSilence, exit: longExit,
		over: ctx.Done(), cause: func() error { return context.Cause(ctx) },
		launch: l, parser: stream.New(l.names), hide: hider(l.secrets), max: cfg.MaxTurns,
	}
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

// Turn implements [eval.Session].
func (s *session) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	switch {
	case s.closed:
		return eval.TurnResult{}, agentout.Fault(eval.CauseHost, eval.RetryTrial, "the session is closed")
	case s.turns > 0 && s.parser.Thread() == "":
		return eval.TurnResult{}, agentout.Fault(eval.CauseHost, eval.RetryTrial, "the agent program has no thread to go on with")
	case s.max > 0 && s.responses >= s.max:
		return eval.TurnResult{Outcome: eval.MaxTurns, Detail: fmt.Sprintf("the %d turns of the model are used up", s.max)}, nil
	}
	c := s.launch.command
	c.Args = s.arguments()
	s.turns++
	s.parser.Begin(func(e eval.Event) {
		e.Warning = s.hide.Replace(e.Warning)
		emit(e)
	})
	// The process ends with ctx by way of follow, which tells the two ends of a
	// turn apart.
	proc, err := agentproc.Start(context.WithoutCancel(ctx), c)
	if err != nil {
		return eval.TurnResult{}, startFault(c.Path, err)
	}
	end := s.follow(ctx, proc, prompt)
	return s.result(ctx, end)
}

// arguments are those of the next turn. The prompt comes over stdin: it may begin
// with a dash or be too long for an argument.
func (s *session) arguments() []string {
	args := append([]string{}, s.launch.prefix...)
	args = append(args, "exec")
	args = append(args, s.launch.options...)
	if s.turns > 0 {
		args = append(args, "resume", s.parser.Thread())
	}
	return append(args, "-")
}

// follow gives the program its prompt and reads to the end, which it brings about
// when the time or the model's turns are up. Nothing of the process is left.
func (s *session) follow(ctx context.Context, proc *agentproc.Process, prompt string) stream.End {
	var end stream.End
	lines := make(chan agentproc.Line)
	go func() {
		defer close(lines)
		for {
			l, err := proc.Line()
			if err != nil {
				return
			}
			lines <- l
		}
	}()
	go func() {
		_, _ = proc.Write([]byte(prompt))
		proc.CloseStdin()
	}()
	heard := time.Now()
	hear := func() {
		if silent := time.Since(heard); silent >= s.quiet {
			s.parser.Quiet(silent)
		}
		heard = time.Now()
	}
	stop := func(why stream.Stop) {
		if end.Stop == stream.StopNone {
			hear()
			end.Stop = why
			proc.Stop()
		}
	}
	done, over := ctx.Done(), s.over
	var late <-chan time.Time
	checked := 0
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				hear()
				end.Exit = proc.Wait()
				end.Stderr = proc.Stderr()
				proc.Close()
				return end
			}
			hear()
			s.parser.Line(l)
			if late == nil && s.parser.Ended() {
				t := time.NewTimer(s.exit)
				defer t.Stop()
				late = t.C
			}
			if n := s.responses + s.parser.Responses(); s.max > 0 && n > s.max && n > checked {
				checked = n
				if s.counted() >= s.max {
					stop(stream.StopTurns)
				}
			}
		case <-done:
			done = nil
			stop(stream.StopTime)
		case <-over:
			over = nil
			stop(stream.StopTime)
		case <-late:
			// What the agent had to say is said.
			proc.Stop()
		}
	}
}

// counted is how many answers of the model the session file has, in all turns: the
// output alone cannot tell calls of one answer from those of several.
func (s *session) counted() int {
	t, err := rollout.Read(rollout.Find(s.launch.home, s.parser.Thread()), s.read)
	if err != nil {
		return 0
	}
	return s.responses + t.Responses
}

// result adds what the session file says and judges the turn.
func (s *session) result(ctx context.Context, end stream.End) (eval.TurnResult, error) {
	if path := rollout.Find(s.launch.home, s.parser.Thread()); path != "" {
		if t, err := rollout.Read(path, s.read); err == nil {
			s.read = t.End
			s.parser.Fill(&t)
		}
	}
	s.fillBelow()
	r, err := s.parser.Result(end)
	s.responses += r.Usage.Turns - s.parser.Below()
	r.Detail = s.hide.Replace(r.Detail)
	var f *eval.Fault
	switch {
	case end.Stop == stream.StopTime && ctx.Err() == nil:
		return r, s.cause()
	case end.Stop == stream.StopTime && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r, context.Cause(ctx)
	case errors.As(err, &f):
		f.Detail = s.hide.Replace(f.Detail)
		return r, f
	}
	return r, err
}

// fillBelow adds what sub-agents did.
func (s *session) fillBelow() {
	for _, th := range rollout.Below(s.launch.home, s.parser.Thread()) {
		t, err := rollout.Read(th.Path, s.below[th.ID])
		if err != nil {
			continue
		}
		if s.below == nil {
			s.below = map[string]int64{}
		}
		s.below[th.ID] = t.End
		s.parser.FillSub(th.ID, &t)
	}
}

// Close implements [eval.Session]. Between turns there is nothing to end.
func (s *session) Close() error {
	s.closed = true
	return nil
}

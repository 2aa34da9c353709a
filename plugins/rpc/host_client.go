package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
)

var (
	_ eval.Host    = (*hostClient)(nil)
	_ eval.Session = (*session)(nil)
)

// ErrStuck is in the error of a session's Close when the plugin did not end it in
// time: what it started may still be running, so end the plugin.
var ErrStuck = errors.New("session is stuck")

// hostClient is the engine's half of a host plugin.
type hostClient struct {
	plug
	client hostv1.HostServiceClient
}

// NewHost returns the host that a plugin of that name serves on conn.
//
// When the context given to Start or Turn ends, the plugin is told, and the
// method returns what the turn had come to together with the context's cause
// once the plugin has answered, at most [CloseTimeout] later.
func NewHost(name string, conn grpc.ClientConnInterface) eval.Host {
	return &hostClient{plug: plug{KindHost, name}, client: hostv1.NewHostServiceClient(conn)}
}

func (c *hostClient) Describe(ctx context.Context) (eval.Description, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	r, err := c.client.Describe(ctx, &pluginv1.DescribeRequest{}, grpc.MaxCallRecvMsgSize(maxDescription))
	if err != nil {
		return eval.Description{}, c.broken(err)
	}
	return descriptionFromProto(r), nil
}

func (c *hostClient) Start(ctx context.Context, spec eval.SessionSpec) (eval.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	// The stream's own context does not end with ctx: the plugin must be able to
	// answer after it was told to end.
	rpcCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stream, err := c.client.Session(rpcCtx)
	if err != nil {
		cancel()
		return nil, c.broken(err)
	}
	s := &session{plug: c.plug, stream: stream, cancel: cancel}
	s.stop = context.AfterFunc(ctx, s.end)
	s.send(&hostv1.SessionRequest{Message: &hostv1.SessionRequest_Start{Start: sessionSpecToProto(spec)}})
	if err := s.started(); err != nil {
		_ = s.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return s, nil
}

// session is the engine's half of one session.
type session struct {
	plug
	stream grpc.BidiStreamingClient[hostv1.SessionRequest, hostv1.SessionResponse]
	cancel context.CancelFunc // of the stream
	stop   func() bool

	// over is why the stream has ended; nil while it has not. Used by the
	// session's caller alone.
	over   error
	closed bool
	stuck  bool // the stream did not end, it was given up
	err    error

	once    sync.Once
	bound   *time.Timer
	expired atomic.Bool

	sending sync.Mutex
}

func (s *session) started() error {
	for {
		r, err := s.recv()
		if err != nil {
			return err
		}
		if r.GetStarted() != nil {
			return nil
		}
	}
}

// Turn implements [eval.Session].
func (s *session) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	if s.closed {
		return eval.TurnResult{}, fmt.Errorf("%s: turn on a closed session", s.plug)
	}
	stop := context.AfterFunc(ctx, s.end)
	defer stop()
	s.send(&hostv1.SessionRequest{Message: &hostv1.SessionRequest_Turn{Turn: &hostv1.Turn{Prompt: valid(prompt)}}})
	res, err := s.await(emit)
	if ctx.Err() != nil {
		return res, context.Cause(ctx)
	}
	return res, err
}

// await reads to the end of the turn.
func (s *session) await(emit func(eval.Event)) (eval.TurnResult, error) {
	for {
		r, err := s.recv()
		if err != nil {
			return eval.TurnResult{}, err
		}
		switch m := r.GetMessage().(type) {
		case *hostv1.SessionResponse_Event:
			if e, ok := eventFromProto(m.Event); ok {
				emit(e)
			}
		case *hostv1.SessionResponse_TurnDone:
			res, f := turnDoneFromProto(m.TurnDone)
			if f != nil {
				return res, s.named(f)
			}
			if !knownOutcome(res.Outcome) {
				return res, s.fault(eval.RetryNever, "ended a turn with the unknown outcome %q", res.Outcome)
			}
			return res, nil
		}
	}
}

// recv returns the next message, or an error that says why the session is over.
func (s *session) recv() (*hostv1.SessionResponse, error) {
	if s.over != nil {
		return nil, s.over
	}
	r, err := s.stream.Recv()
	if err != nil {
		s.stuck = s.expired.Load() && !errors.Is(err, io.EOF)
		s.over = s.broken(err)
		if errors.Is(err, io.EOF) {
			s.over = s.fault(eval.RetryTrial, "ended the session before its answer")
		}
		return nil, s.over
	}
	if f := r.GetFault(); f != nil {
		s.over = s.named(FaultFromProto(f))
		return nil, s.over
	}
	return r, nil
}

// send ignores errors: they mean that the stream is over, and receiving says why.
func (s *session) send(r *hostv1.SessionRequest) {
	s.sending.Lock()
	defer s.sending.Unlock()
	_ = s.stream.Send(r)
}

// end tells the plugin that the session is to end and bounds how long that may
// take.
func (s *session) end() {
	s.once.Do(func() {
		s.bound = time.AfterFunc(CloseTimeout, func() {
			s.expired.Store(true)
			s.cancel()
		})
		s.sending.Lock()
		defer s.sending.Unlock()
		_ = s.stream.CloseSend()
	})
}

// Close implements [eval.Session]. It returns when the plugin has ended the
// session, at most after [CloseTimeout].
func (s *session) Close() error {
	if s.closed {
		return s.err
	}
	s.closed = true
	s.stop()
	s.end()
	s.err = s.drain()
	s.bound.Stop()
	if s.stuck {
		s.err = fmt.Errorf("%w: %w", ErrStuck, s.fault(eval.RetryTrial, "did not end its session within %s", CloseTimeout))
	}
	s.cancel()
	return s.err
}

// drain reads to the stream's end. What comes after the last turn is of no use,
// except a fault.
func (s *session) drain() error {
	var fault error
	for {
		r, err := s.stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return fault
		case err != nil:
			s.stuck = s.stuck || s.expired.Load()
			if s.over != nil {
				return nil // already told by Start or Turn
			}
			return s.broken(err)
		}
		if f := r.GetFault(); f != nil {
			fault = s.named(FaultFromProto(f))
		}
	}
}

func knownOutcome(o eval.Outcome) bool {
	switch o {
	case eval.Completed, eval.Refused, eval.MaxTurns, eval.MaxBudget, eval.MaxOutput,
		eval.ContextExceeded, eval.TimedOut, eval.GaveUp:
		return true
	}
	return false
}

package rpc

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	pluginv1 "github.com/evalengine/evalengine/proto/evalengine/plugin/v1"
)

// hostServer offers an [eval.Host] over gRPC.
type hostServer struct {
	hostv1.UnimplementedHostServiceServer
	host eval.Host
	life *lifetime
}

var errEnding = status.Error(codes.Unavailable, "the plugin is ending")

func (s *hostServer) Describe(ctx context.Context, _ *pluginv1.DescribeRequest) (_ *pluginv1.DescribeResponse, err error) {
	defer rescue(&err)
	d, err := s.host.Describe(ctx)
	if err != nil {
		return nil, status.Error(codes.Internal, valid(err.Error()))
	}
	return descriptionToProto(d), nil
}

// Session runs one trial's session. See host.proto for the order of messages.
func (s *hostServer) Session(stream grpc.BidiStreamingServer[hostv1.SessionRequest, hostv1.SessionResponse]) error {
	leave, ok := s.life.enter()
	if !ok {
		return errEnding
	}
	defer leave()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if first.GetStart() == nil {
		return status.Error(codes.InvalidArgument, "the first message of a session must be start")
	}
	ctx, cancel := s.life.bind(stream.Context())
	defer cancel()
	v := &serving{stream: stream, cancel: cancel, turns: make(chan string, 1)}
	go v.receive()
	v.begin()
	sess, err := s.start(ctx, sessionSpecFromProto(first.GetStart()))
	v.done()
	if err != nil {
		return v.sendFault(err)
	}
	v.send(&hostv1.SessionResponse{Message: &hostv1.SessionResponse_Started{Started: &hostv1.Started{}}})
	v.serve(ctx, sess)
	if err := closeSession(sess); err != nil {
		return v.sendFault(err)
	}
	return nil
}

func (s *hostServer) start(ctx context.Context, spec eval.SessionSpec) (sess eval.Session, err error) {
	defer rescue(&err)
	sess, err = s.host.Start(ctx, spec)
	if err == nil && sess == nil {
		err = &eval.Fault{Cause: eval.CausePlugin, Retry: eval.RetryNever, Detail: "Start returned no session"}
	}
	return sess, err
}

func closeSession(sess eval.Session) (err error) {
	defer rescue(&err)
	return sess.Close()
}

// serving is the plugin's half of one session.
type serving struct {
	stream grpc.BidiStreamingServer[hostv1.SessionRequest, hostv1.SessionResponse]
	cancel context.CancelFunc
	turns  chan string // closed when the engine's side ends

	sending sync.Mutex

	mu    sync.Mutex
	busy  bool
	ended bool
}

// receive reads the engine's messages to the end. The engine's end in the middle
// of a turn cancels it; between turns it is the session's orderly end.
func (v *serving) receive() {
	defer v.end()
	defer close(v.turns)
	for {
		req, err := v.stream.Recv()
		if err != nil {
			return
		}
		turn := req.GetTurn()
		if turn == nil {
			continue
		}
		select {
		case v.turns <- turn.GetPrompt():
		default:
			return // a third turn while two wait breaks the protocol
		}
	}
}

func (v *serving) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy = true
	if v.ended {
		v.cancel()
	}
}

func (v *serving) done() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.busy = false
}

func (v *serving) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	if v.busy {
		v.cancel()
	}
}

// serve runs turns until the engine's side or ctx ends.
func (v *serving) serve(ctx context.Context, sess eval.Session) {
	for {
		select {
		case prompt, ok := <-v.turns:
			if !ok {
				return
			}
			v.begin()
			res, err := v.turn(ctx, sess, prompt)
			v.done()
			v.send(&hostv1.SessionResponse{Message: &hostv1.SessionResponse_TurnDone{
				TurnDone: turnDoneToProto(res, faultOf(err, eval.CauseHost)),
			}})
		case <-ctx.Done():
			return
		}
	}
}

func (v *serving) turn(ctx context.Context, sess eval.Session, prompt string) (res eval.TurnResult, err error) {
	var mu sync.Mutex
	over := false
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}()
	defer rescue(&err)
	return sess.Turn(ctx, prompt, func(e eval.Event) {
		mu.Lock()
		defer mu.Unlock()
		if p := eventToProto(e); p != nil && !over {
			v.send(&hostv1.SessionResponse{Message: &hostv1.SessionResponse_Event{Event: p}})
		}
	})
}

// send ignores errors: they mean that the stream is over, which the session's
// context says as well.
func (v *serving) send(r *hostv1.SessionResponse) {
	v.sending.Lock()
	defer v.sending.Unlock()
	_ = v.stream.Send(r)
}

func (v *serving) sendFault(err error) error {
	f := faultOf(err, eval.CauseHost)
	v.send(&hostv1.SessionResponse{Message: &hostv1.SessionResponse_Fault{Fault: FaultToProto(f)}})
	return nil
}

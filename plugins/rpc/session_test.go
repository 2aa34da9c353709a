package rpc

import (
	"context"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/evalengine/evalengine/engine/eval"
	hostv1 "github.com/evalengine/evalengine/proto/evalengine/host/v1"
	provisionerv1 "github.com/evalengine/evalengine/proto/evalengine/provisioner/v1"
)

// fakeHost is a host made of functions.
type fakeHost struct {
	start func(context.Context, eval.SessionSpec) (eval.Session, error)
	turn  func(context.Context, string, func(eval.Event)) (eval.TurnResult, error)
	close func() error
	// describe is what it says of itself.
	describe func() eval.Description
	closed   atomic.Int32
}

func (h *fakeHost) Describe(context.Context) (eval.Description, error) {
	if h.describe != nil {
		return h.describe(), nil
	}
	return eval.Description{Name: "fake", Version: "1"}, nil
}

func (h *fakeHost) Start(ctx context.Context, spec eval.SessionSpec) (eval.Session, error) {
	if h.start != nil {
		return h.start(ctx, spec)
	}
	return &fakeSession{h}, nil
}

type fakeSession struct{ h *fakeHost }

func (s *fakeSession) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	return s.h.turn(ctx, prompt, emit)
}

func (s *fakeSession) Close() error {
	s.h.closed.Add(1)
	if s.h.close != nil {
		return s.h.close()
	}
	return nil
}

// connect serves register over memory and returns a connection and what cuts it.
func connect(t testing.TB, register func(*grpc.Server)) (*grpc.ClientConn, func()) {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	srv := newServer(nil)
	register(srv)
	go func() { _ = srv.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:///memory",
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return l.Dial() }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); srv.Stop() })
	return conn, srv.Stop
}

func serveFake(t testing.TB, h eval.Host) (eval.Host, func()) {
	t.Helper()
	conn, cut := connect(t, func(s *grpc.Server) {
		hostv1.RegisterHostServiceServer(s, &hostServer{host: h, life: newLifetime()})
	})
	return NewHost("fake", conn), cut
}

func noEvents(eval.Event) {}

func TestSession(t *testing.T) {
	var got eval.SessionSpec
	h := &fakeHost{}
	h.start = func(_ context.Context, s eval.SessionSpec) (eval.Session, error) {
		got = s
		return &fakeSession{h}, nil
	}
	n := 0
	h.turn = func(_ context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
		n++
		for i := range 100 {
			emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Text: prompt, Turn: i}})
		}
		emit(eval.Event{Progress: "p"})
		emit(eval.Event{})
		return eval.TurnResult{Outcome: eval.Completed, Answer: "answer to " + prompt, Usage: eval.Usage{Turns: n}}, nil
	}
	host, _ := serveFake(t, h)
	spec := eval.SessionSpec{Trial: eval.Trial{Story: "s", Repeat: 1}, Config: eval.JSON(`{"a":1}`)}
	sess, err := host.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, spec) {
		t.Errorf("spec = %+v; want %+v", got, spec)
	}
	for turn, prompt := range []string{"one", "two"} {
		var events []eval.Event
		res, err := sess.Turn(t.Context(), prompt, func(e eval.Event) { events = append(events, e) })
		if err != nil {
			t.Fatal(err)
		}
		if res.Answer != "answer to "+prompt || res.Usage.Turns != turn+1 {
			t.Errorf("result = %+v", res)
		}
		if len(events) != 101 || events[100].Progress != "p" {
			t.Fatalf("%d events; want 101", len(events))
		}
		for i, e := range events[:100] {
			if e.Step.Turn != i || e.Step.Text != prompt {
				t.Fatalf("event %d = %+v; out of order", i, e.Step)
			}
		}
	}
	for range 2 {
		if err := sess.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if n := h.closed.Load(); n != 1 {
		t.Errorf("the host's session was closed %d times; want 1", n)
	}
	if _, err := sess.Turn(t.Context(), "three", noEvents); err == nil {
		t.Error("Turn after Close gave no error")
	}
}

func TestFaultsOfAHost(t *testing.T) {
	fault := &eval.Fault{Cause: eval.CauseRateLimit, Retry: eval.RetryTrial, Status: 429, RetryAfter: time.Minute}
	plain := errors.New("no such binary")
	for _, tt := range []struct {
		name        string
		start, turn error
		want        eval.Fault
	}{
		{"fault at start", fault, nil, *fault},
		{"error at start", plain, nil, eval.Fault{Cause: eval.CauseHost, Retry: eval.RetryTrial, Detail: "no such binary"}},
		{"fault in a turn", nil, fault, *fault},
		{"error in a turn", nil, plain, eval.Fault{Cause: eval.CauseHost, Retry: eval.RetryTrial, Detail: "no such binary"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHost{}
			h.start = func(context.Context, eval.SessionSpec) (eval.Session, error) {
				return &fakeSession{h}, tt.start
			}
			h.turn = func(context.Context, string, func(eval.Event)) (eval.TurnResult, error) {
				return eval.TurnResult{Usage: eval.Usage{InputTokens: 5}}, tt.turn
			}
			host, _ := serveFake(t, h)
			sess, err := host.Start(t.Context(), eval.SessionSpec{})
			if tt.start == nil {
				var res eval.TurnResult
				res, err = sess.Turn(t.Context(), "", noEvents)
				if res.Usage.InputTokens != 5 {
					t.Errorf("usage of the broken turn = %+v; want 5 input tokens", res.Usage)
				}
				sess.Close()
			}
			if f := eval.AsFault(err); f == nil || *f != tt.want {
				t.Errorf("fault = %+v; want %+v", f, tt.want)
			}
			if !strings.Contains(err.Error(), `host plugin "fake"`) {
				t.Errorf("error %q does not name the plugin", err)
			}
		})
	}
}

func TestPanicsAreFaults(t *testing.T) {
	h := &fakeHost{turn: func(context.Context, string, func(eval.Event)) (eval.TurnResult, error) { panic("boom") }}
	host, _ := serveFake(t, h)
	sess, err := host.Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sess.Turn(t.Context(), "", noEvents)
	want := eval.Fault{Cause: eval.CausePlugin, Retry: eval.RetryTrial, Detail: "panic: boom"}
	if f := eval.AsFault(err); *f != want {
		t.Errorf("fault = %+v; want %+v", f, want)
	}
	if err := sess.Close(); err != nil || h.closed.Load() != 1 {
		t.Errorf("Close = %v, closed %d times; want once", err, h.closed.Load())
	}
}

// The end of a turn's context ends the turn at the plugin, closes its session,
// and still brings what the turn had come to.
func TestCancelledTurn(t *testing.T) {
	why := errors.New("trial timeout")
	h := &fakeHost{}
	h.turn = func(ctx context.Context, _ string, emit func(eval.Event)) (eval.TurnResult, error) {
		emit(eval.Event{Progress: "up"})
		<-ctx.Done()
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Text: "last words"}})
		return eval.TurnResult{Outcome: eval.GaveUp, Usage: eval.Usage{OutputTokens: 3}}, ctx.Err()
	}
	host, _ := serveFake(t, h)
	ctx, cancel := context.WithCancelCause(t.Context())
	sess, err := host.Start(ctx, eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	var last string
	res, err := sess.Turn(ctx, "", func(e eval.Event) {
		if e.Progress == "up" {
			cancel(why)
		}
		if e.Step != nil {
			last = e.Step.Text
		}
	})
	if !errors.Is(err, why) || res.Usage.OutputTokens != 3 || last != "last words" {
		t.Errorf("Turn = %+v, %v, last step %q; want usage, %v and the last step", res, err, last, why)
	}
	if err := sess.Close(); err != nil || h.closed.Load() != 1 {
		t.Errorf("Close = %v, closed %d times; want once", err, h.closed.Load())
	}
}

func TestCancelledStart(t *testing.T) {
	ended := make(chan struct{})
	started := make(chan struct{})
	h := &fakeHost{start: func(ctx context.Context, _ eval.SessionSpec) (eval.Session, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}}
	host, _ := serveFake(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := host.Start(ctx, eval.SessionSpec{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v; want canceled", err)
	}
	<-ended
}

// The context given to Start covers the session between turns.
func TestCancelBetweenTurns(t *testing.T) {
	closed := make(chan struct{})
	h := &fakeHost{close: func() error { close(closed); return nil }}
	host, _ := serveFake(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	sess, err := host.Start(ctx, eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-closed
	if _, err := sess.Turn(ctx, "", noEvents); !errors.Is(err, context.Canceled) {
		t.Errorf("Turn = %v; want canceled", err)
	}
	sess.Close()
}

// A host that does not end when told to is given up after a bound.
func TestHostThatIgnoresItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stuckStream{closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		sess := &session{plug: plug{KindHost, "fake"}, stream: s, cancel: func() { s.once() }, stop: func() bool { return true }}
		cancel()
		start := time.Now()
		_, err := sess.Turn(ctx, "", noEvents)
		if !errors.Is(err, context.Canceled) || time.Since(start) != CloseTimeout {
			t.Errorf("Turn = %v after %v; want canceled after %v", err, time.Since(start), CloseTimeout)
		}
		if err := sess.Close(); !errors.Is(err, ErrStuck) {
			t.Errorf("Close after the stuck Turn = %v; want ErrStuck", err)
		}
		s = &stuckStream{closed: make(chan struct{})}
		sess = &session{plug: plug{KindHost, "fake"}, stream: s, cancel: func() { s.once() }, stop: func() bool { return true }}
		if err := sess.Close(); !errors.Is(err, ErrStuck) || eval.AsFault(err).Cause != eval.CausePlugin {
			t.Errorf("Close = %v; want ErrStuck and a fault of the plugin", err)
		}
	})
}

// stuckStream never answers.
type stuckStream struct {
	grpc.BidiStreamingClient[hostv1.SessionRequest, hostv1.SessionResponse]
	closed chan struct{}
	did    atomic.Bool
}

func (s *stuckStream) once() {
	if s.did.CompareAndSwap(false, true) {
		close(s.closed)
	}
}
func (s *stuckStream) Send(*hostv1.SessionRequest) error { return nil }
func (s *stuckStream) CloseSend() error                  { return nil }
func (s *stuckStream) Recv() (*hostv1.SessionResponse, error) {
	<-s.closed
	return nil, context.Canceled
}

func TestConnectionLost(t *testing.T) {
	h := &fakeHost{turn: func(ctx context.Context, _ string, emit func(eval.Event)) (eval.TurnResult, error) {
		emit(eval.Event{Progress: "up"})
		<-ctx.Done()
		return eval.TurnResult{}, ctx.Err()
	}}
	host, cut := serveFake(t, h)
	sess, err := host.Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sess.Turn(t.Context(), "", func(eval.Event) { go cut() })
	f := eval.AsFault(err)
	if f.Cause != eval.CausePlugin || f.Retry != eval.RetryTrial || !strings.Contains(f.Detail, `host plugin "fake"`) {
		t.Errorf("fault = %+v; want one of the plugin, to be tried again, with its name", f)
	}
	sess.Close()
}

func TestLargeMessages(t *testing.T) {
	h := &fakeHost{}
	h.turn = func(_ context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepToolResult, Text: prompt}})
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepToolResult, Result: eval.JSON(`"` + strings.Repeat("x", MaxStep) + `"`)}})
		return eval.TurnResult{Outcome: eval.Completed, Answer: prompt}, nil
	}
	host, _ := serveFake(t, h)
	sess, err := host.Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	prompt := strings.Repeat("p", 50<<20)
	var steps []*eval.Step
	res, err := sess.Turn(t.Context(), prompt, func(e eval.Event) { steps = append(steps, e.Step) })
	if err != nil {
		t.Fatal(err)
	}
	if res.Answer != prompt || steps[0].Text != prompt || steps[0].Truncated {
		t.Errorf("50 MiB did not pass whole")
	}
	if s := steps[1]; !s.Truncated || s.Bytes != MaxStep+2 || len(s.Result) > 2<<20 || s.Result[0] != '"' {
		t.Errorf("oversized step: truncated %v, bytes %d, kept %d", s.Truncated, s.Bytes, len(s.Result))
	}
}

func TestUnsoundSteps(t *testing.T) {
	h := &fakeHost{turn: func(_ context.Context, _ string, emit func(eval.Event)) (eval.TurnResult, error) {
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepToolCall, Arguments: eval.JSON(`{"a":`)}})
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepToolResult, Result: eval.JSON("no \xff json")}})
		return eval.TurnResult{Outcome: "won"}, nil
	}}
	host, _ := serveFake(t, h)
	sess, err := host.Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	var steps []*eval.Step
	_, err = sess.Turn(t.Context(), "", func(e eval.Event) { steps = append(steps, e.Step) })
	if got, want := string(steps[0].Arguments), `"{\"a\":"`; got != want || !steps[0].BadArguments {
		t.Errorf("arguments = %s, bad %v; want %s, true", got, steps[0].BadArguments, want)
	}
	if got, want := string(steps[1].Result), "\"no \uFFFD json\""; got != want {
		t.Errorf("result = %s; want %s", got, want)
	}
	if f := eval.AsFault(err); f.Cause != eval.CausePlugin || !strings.Contains(f.Detail, `unknown outcome "won"`) {
		t.Errorf("fault = %+v; want one that quotes the unknown outcome", f)
	}
}

// fakeProvisioner is a provisioner made of functions.
type fakeProvisioner struct {
	provision func(context.Context, eval.ProvisionRequest) (eval.Target, error)
	snapshot  func(context.Context, string) (eval.JSON, error)
	destroyed chan string
}

func (p *fakeProvisioner) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake"}, nil
}

func (p *fakeProvisioner) Provision(ctx context.Context, r eval.ProvisionRequest) (eval.Target, error) {
	return p.provision(ctx, r)
}

func (p *fakeProvisioner) Snapshot(ctx context.Context, id string) (eval.JSON, error) {
	return p.snapshot(ctx, id)
}

func (p *fakeProvisioner) Destroy(_ context.Context, id string) error {
	p.destroyed <- id
	return nil
}

func serveFakeProvisioner(t *testing.T, p eval.Provisioner) (eval.Provisioner, *provisionerServer) {
	t.Helper()
	srv := newProvisionerServer(p, newLifetime())
	conn, _ := connect(t, func(s *grpc.Server) { provisionerv1.RegisterProvisionerServiceServer(s, srv) })
	return NewProvisioner("fake", conn), srv
}

func TestProvisioner(t *testing.T) {
	big := `"` + strings.Repeat("s", 50<<20) + `"`
	p := &fakeProvisioner{destroyed: make(chan string, 10)}
	p.provision = func(_ context.Context, r eval.ProvisionRequest) (eval.Target, error) {
		if r.Nonce == "" {
			return eval.Target{}, errors.New("port taken")
		}
		if r.Nonce == "bad" {
			return eval.Target{ID: "bad", Values: eval.JSON("{")}, nil
		}
		return eval.Target{ID: "t-" + r.Nonce, Values: eval.JSON(`{"url":"u"}`)}, nil
	}
	p.snapshot = func(_ context.Context, id string) (eval.JSON, error) {
		switch id {
		case "t-1":
			return eval.JSON(big), nil
		case "empty":
			return nil, nil
		case "bad":
			return eval.JSON("{"), nil
		}
		return nil, &eval.Fault{Cause: eval.CauseObserve, Retry: eval.RetryNever, Detail: "gone"}
	}
	prov, srv := serveFakeProvisioner(t, p)
	target, err := prov.Provision(t.Context(), eval.ProvisionRequest{Nonce: "1"})
	if err != nil || target.ID != "t-1" {
		t.Fatalf("Provision = %+v, %v", target, err)
	}
	if state, err := prov.Snapshot(t.Context(), "t-1"); string(state) != big || err != nil {
		t.Errorf("Snapshot = %d bytes, %v; want %d", len(state), err, len(big))
	}
	if state, err := prov.Snapshot(t.Context(), "empty"); state != nil || err != nil {
		t.Errorf("empty Snapshot = %q, %v; want none", state, err)
	}
	for id, want := range map[string]eval.Fault{
		"bad":  {Cause: eval.CauseObserve, Retry: eval.RetryTrial, Detail: `provisioner plugin "fake": the state of target bad is not JSON`},
		"else": {Cause: eval.CauseObserve, Retry: eval.RetryNever, Detail: "gone"},
	} {
		if _, err := prov.Snapshot(t.Context(), id); *eval.AsFault(err) != want {
			t.Errorf("Snapshot(%s) = %+v; want %+v", id, eval.AsFault(err), want)
		}
	}
	_, err = prov.Provision(t.Context(), eval.ProvisionRequest{})
	if want := (eval.Fault{Cause: eval.CauseProvision, Retry: eval.RetryTrial, Detail: "port taken"}); *eval.AsFault(err) != want {
		t.Errorf("Provision = %+v; want %+v", eval.AsFault(err), want)
	}
	target, err = prov.Provision(t.Context(), eval.ProvisionRequest{Nonce: "bad"})
	if f := eval.AsFault(err); target.ID != "bad" || f.Cause != eval.CausePlugin || f.Detail != `provisioner plugin "fake": target "bad" has values that are not JSON` {
		t.Errorf("Provision = %+v, %v; want the target and a fault of the plugin", target, err)
	}
	if err := prov.Destroy(t.Context(), "bad"); err != nil || <-p.destroyed != "bad" {
		t.Errorf("Destroy = %v; want the bad target gone", err)
	}
	// What is alive at the plugin's end is destroyed.
	srv.life.end(time.Minute)
	srv.destroyAll(time.Minute)
	if got := <-p.destroyed; got != "t-1" {
		t.Errorf("destroyed %q; want t-1", got)
	}
}

// Nobody hears of a target whose Provision was cancelled: the plugin's half
// destroys it.
func TestCancelledProvision(t *testing.T) {
	p := &fakeProvisioner{destroyed: make(chan string, 1)}
	up := make(chan struct{})
	p.provision = func(ctx context.Context, _ eval.ProvisionRequest) (eval.Target, error) {
		close(up)
		<-ctx.Done()
		return eval.Target{ID: "late"}, nil
	}
	prov, _ := serveFakeProvisioner(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-up; cancel() }()
	if _, err := prov.Provision(ctx, eval.ProvisionRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v; want canceled", err)
	}
	if got := <-p.destroyed; got != "late" {
		t.Errorf("destroyed %q; want late", got)
	}
}

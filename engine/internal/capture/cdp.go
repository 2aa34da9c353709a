package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// errGone is returned by calls on a browser that has ended, or on a page whose
// renderer has; the page may be taken once more.
var errGone = errors.New("the browser has ended")

// listener is told of each event, in order, by the goroutine that reads: it must
// not wait.
type listener func(method string, params []byte)

// conn is the connection to a browser. Beside chromedp's own it keeps no copy of
// the page's nodes, no queue of events and no session state that a page could
// make grow.
type conn struct {
	tr   chromedp.Transport
	stop context.CancelFunc
	done chan struct{}

	mu       sync.Mutex
	next     int64
	calls    map[int64]pending
	sessions map[target.SessionID]*session
	browser  listener
	err      error
}

// pending is one call under way.
type pending struct {
	session target.SessionID
	reply   chan *cdproto.Message
}

// session is one attached target, the browser itself where it has no name.
type session struct {
	c    *conn
	id   target.SessionID
	on   listener
	gone chan struct{}
	once sync.Once
}

// newConn reads until the transport ends. The caller must call close.
func newConn(tr chromedp.Transport, on listener) *conn {
	ctx, stop := context.WithCancel(context.Background())
	c := &conn{tr: tr, stop: stop, done: make(chan struct{}), calls: map[int64]pending{}, sessions: map[target.SessionID]*session{}, browser: on}
	go c.read(ctx)
	return c
}

func (c *conn) close() {
	c.stop()
	c.tr.Close()
	<-c.done
}

func (c *conn) read(ctx context.Context) {
	var err error
	for {
		var msg cdproto.Message
		if err = c.tr.Read(ctx, &msg); err != nil {
			break
		}
		c.dispatch(&msg)
	}
	c.mu.Lock()
	c.err = fmt.Errorf("%w: %v", errGone, err)
	for _, s := range c.sessions {
		s.end()
	}
	c.mu.Unlock()
	close(c.done)
}

func (c *conn) dispatch(msg *cdproto.Message) {
	if msg.Method == "" {
		c.mu.Lock()
		k, ok := c.calls[msg.ID]
		delete(c.calls, msg.ID)
		c.mu.Unlock()
		if ok {
			k.reply <- msg
		}
		return
	}
	if msg.SessionID == "" {
		if msg.Method == cdproto.MethodType(target.DetachedFromTarget.Method) {
			c.detached(msg.Params)
		}
		c.browser(string(msg.Method), msg.Params)
		return
	}
	c.mu.Lock()
	s := c.sessions[msg.SessionID]
	c.mu.Unlock()
	if s != nil {
		s.on(string(msg.Method), msg.Params)
	}
}

func (c *conn) detached(params []byte) {
	var ev struct {
		SessionID target.SessionID `json:"sessionId"`
	}
	if decode(params, &ev) {
		c.drop(ev.SessionID)
	}
}

// drop forgets a session; calls on it end.
func (c *conn) drop(id target.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.sessions[id]; s != nil {
		s.end()
		delete(c.sessions, id)
	}
}

func (s *session) live() bool {
	select {
	case <-s.gone:
		return false
	case <-s.c.done:
		return false
	default:
		return true
	}
}

func (s *session) end() { s.once.Do(func() { close(s.gone) }) }

// root is the browser's own session.
func (c *conn) root() *session { return &session{c: c, gone: c.done} }

// session gives an attached target a listener.
func (c *conn) session(id target.SessionID, on listener) *session {
	s := &session{c: c, id: id, on: on, gone: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		s.end()
		return s
	}
	c.sessions[id] = s
	return s
}

// do sends a command and waits for its result.
func do[P, R any](ctx context.Context, s *session, cmd cdp.Command[P, R], params P) (R, error) {
	return start(ctx, s, cmd, params)()
}

// start sends a command; the result is waited for by calling what it returns.
func start[P, R any](ctx context.Context, s *session, cmd cdp.Command[P, R], params P) func() (R, error) {
	id, reply, err := s.send(ctx, cmd.Method, params)
	return func() (R, error) {
		var r R
		if err != nil {
			return r, err
		}
		msg, err := s.await(ctx, id, reply)
		if err != nil {
			return r, fmt.Errorf("%s: %w", cmd.Method, err)
		}
		if err := jsonv2.Unmarshal(msg.Result, &r, chromedp.DefaultUnmarshalOptions); err != nil {
			return r, fmt.Errorf("%s: %w", cmd.Method, err)
		}
		return r, nil
	}
}

// tell sends a command whose result nobody waits for.
func tell[P, R any](s *session, cmd cdp.Command[P, R], params P) {
	go func() {
		if id, _, err := s.send(context.Background(), cmd.Method, params); err == nil {
			s.c.forget(id)
		}
	}()
}

func (s *session) send(ctx context.Context, method string, params any) (int64, chan *cdproto.Message, error) {
	b, err := jsonv2.Marshal(params, chromedp.DefaultMarshalOptions)
	if err != nil {
		return 0, nil, err
	}
	c := s.c
	reply := make(chan *cdproto.Message, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return 0, nil, c.err
	}
	c.next++
	id := c.next
	c.calls[id] = pending{session: s.id, reply: reply}
	c.mu.Unlock()
	if err := c.tr.Write(ctx, &cdproto.Message{ID: id, SessionID: s.id, Method: cdproto.MethodType(method), Params: b}); err != nil {
		c.forget(id)
		return 0, nil, fmt.Errorf("%w: %v", errGone, err)
	}
	return id, reply, nil
}

func (s *session) await(ctx context.Context, id int64, reply chan *cdproto.Message) (*cdproto.Message, error) {
	defer s.c.forget(id)
	select {
	case msg := <-reply:
		if msg.Error == nil {
			return msg, nil
		}
		for _, gone := range []string{"crashed", "Session with given id not found", "Target closed"} {
			if strings.Contains(msg.Error.Message, gone) {
				return nil, fmt.Errorf("%w: %s", errGone, msg.Error.Message)
			}
		}
		return nil, msg.Error
	case <-s.gone:
		return nil, errGone
	case <-s.c.done:
		return nil, errGone
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *conn) forget(id int64) {
	c.mu.Lock()
	delete(c.calls, id)
	c.mu.Unlock()
}

// decode reads an event, or reports false: what a page made of it is not an error.
func decode(params []byte, into any) bool {
	return jsonv2.Unmarshal(params, into, chromedp.DefaultUnmarshalOptions) == nil
}

package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// stdio serves the agent's sessions from one process of a server that speaks
// over stdio. After the process has ended, requests of its sessions fail as they
// would on a direct connection, and the next handshake starts another.
type stdio struct {
	s *server

	mu       sync.Mutex
	mux      *mux
	muxes    []*mux
	sessions map[string]*session
	closed   bool
}

// session is one session of the agent's.
type session struct {
	id  string
	mux *mux

	mu      sync.Mutex
	queue   []*wire.Message // for the agent's own stream
	waiting int64           // bytes of the queue
	notify  chan struct{}
	ended   chan struct{}
	replace func() // ends the stream that is open
}

// Bounds of what is kept for an agent that opens no stream.
const (
	maxWaiting      = 256
	maxWaitingBytes = 16 << 20
)

// stateless is the session of agents whose protocol has none.
const stateless = ""

// errEnded is the trial's end.
var errEnded = errors.New("the trial has ended")

func newStdio(s *server) *stdio { return &stdio{s: s, sessions: map[string]*session{}} }

// stream is one POST that waits for answers.
type stream struct {
	ch   chan *wire.Message
	done <-chan struct{}
}

func (u *stdio) post(w http.ResponseWriter, r *http.Request, m *wire.Message) {
	sess, status, err := u.session(r, m)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	u.s.fromAgent(sess.id, m)
	if sess.id != stateless {
		w.Header().Set(sessionHeader, sess.id)
	}
	x := sess.mux
	st := &stream{ch: make(chan *wire.Message, 32), done: r.Context().Done()}
	if opens(m) && !x.awaitHandshake(st.done) {
		return
	}
	a := x.admit(sess, st, m)
	if a.forward != nil && !x.write(a.forward, st.done) {
		if x.unsent(st, opens(m)); r.Context().Err() != nil {
			return
		}
		if a.requests == 0 {
			http.Error(w, "the server's connection has ended", http.StatusBadGateway)
			return
		}
	}
	if a.requests == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	defer x.left(st)
	u.answer(newAnswer(w, r, a.requests), x, st, a)
}

// answer sends what comes for one POST until every request has its response.
func (u *stdio) answer(out *answer, x *mux, st *stream, a admitted) {
	defer st.drain()
	for _, m := range a.own {
		if out.send(m, sse.Event{}) != nil {
			return
		}
	}
	quiet := time.NewTimer(headersAfter)
	defer quiet.Stop()
	for out.open > 0 {
		select {
		case m := <-st.ch:
			if !u.pass(out, x, m, st) {
				return
			}
		case <-x.gone:
			u.abandon(out, x, st)
			return
		case <-st.done:
			return
		case <-quiet.C:
			if out.comment() != nil {
				return
			}
			quiet.Reset(commentsEvery)
		}
	}
}

func (u *stdio) pass(out *answer, x *mux, m *wire.Message, st *stream) bool {
	defer m.Release()
	return sleep(x.delay(m), st.done) && out.send(m, sse.Event{}) == nil
}

// abandon answers what the ended process left open.
func (u *stdio) abandon(out *answer, x *mux, st *stream) {
	for {
		select {
		case m := <-st.ch:
			if !u.pass(out, x, m, st) {
				return
			}
			continue
		default:
		}
		break
	}
	for _, f := range x.take(st) {
		if out.send(f.lost(), sse.Event{}) != nil {
			return
		}
	}
}

func (st *stream) drain() {
	for {
		select {
		case m := <-st.ch:
			m.Release()
		default:
			return
		}
	}
}

func opens(m *wire.Message) bool {
	return len(m.List) == 1 && m.List[0].Method == "initialize" && m.List[0].IsRequest()
}

// session finds the message's session, or begins one.
func (u *stdio) session(r *http.Request, m *wire.Message) (*session, int, error) {
	id := r.Header.Get(sessionHeader)
	free := id == "" && isStateless(r, m)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil, http.StatusGone, errEnded
	}
	switch {
	case opens(m):
		return u.begin(random(12))
	case free:
		if s := u.sessions[stateless]; s != nil && !s.mux.over() {
			return s, 0, nil
		}
		return u.begin(stateless)
	case id == "":
		return nil, http.StatusBadRequest, errors.New("no " + sessionHeader + " header, and no initialize request")
	}
	s := u.sessions[id]
	if s == nil {
		return nil, http.StatusNotFound, errors.New("no such session")
	}
	return s, 0, nil
}

// isStateless reports whether the message follows a protocol without sessions.
func isStateless(r *http.Request, m *wire.Message) bool {
	if r.Header.Get(versionHeader) >= "2026-07-28" {
		return true
	}
	for i := range m.List {
		if m.List[i].Stateless {
			return true
		}
	}
	return false
}

// maxSessions bounds an agent that opens one after the other.
const maxSessions = 1000

func (u *stdio) begin(id string) (*session, int, error) {
	if len(u.sessions) >= maxSessions {
		return nil, http.StatusServiceUnavailable, errors.New("too many sessions")
	}
	if u.mux == nil || u.mux.over() {
		x, err := startMux(u.s)
		if err != nil {
			u.s.troubled("mcp_server_start", err.Error())
			return nil, http.StatusBadGateway, fmt.Errorf("MCP server %q does not start", u.s.cfg.Name)
		}
		u.mux = x
		u.muxes = append(u.muxes, x)
	}
	s := &session{id: id, mux: u.mux, notify: make(chan struct{}, 1), ended: make(chan struct{})}
	u.sessions[id] = s
	u.mux.join(s)
	return s, 0, nil
}

func (u *stdio) get(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	s := u.sessions[r.Header.Get(sessionHeader)]
	u.mu.Unlock()
	switch {
	case s == nil && r.Header.Get(sessionHeader) == "", s != nil && s.id == stateless:
		w.Header().Set("Allow", "POST")
		http.Error(w, "no stream without a session", http.StatusMethodNotAllowed)
		return
	case s == nil:
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	w.Header().Set(sessionHeader, s.id)
	s.serve(newAnswer(w, r, 0), r.Context().Done())
}

// serve is the agent's own stream. A later one takes its place: an agent that
// lost its stream opens another before the loss is noticed here.
func (s *session) serve(out *answer, done <-chan struct{}) {
	replaced := make(chan struct{})
	s.mu.Lock()
	if s.replace != nil {
		s.replace()
	}
	s.replace = sync.OnceFunc(func() { close(replaced) })
	s.mu.Unlock()
	out.noJSON = true
	out.stream(http.StatusOK)
	t := time.NewTicker(commentsEvery)
	defer t.Stop()
	for {
		if m := s.next(); m != nil {
			err := out.send(m, sse.Event{})
			m.Release()
			if err != nil {
				return
			}
			continue
		}
		select {
		case <-s.notify:
		case <-t.C:
			if out.comment() != nil {
				return
			}
		case <-replaced:
			return
		case <-s.ended:
			return
		case <-s.mux.gone:
			return
		case <-done:
			return
		}
	}
}

func (s *session) next() *wire.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	s.waiting -= m.Size
	return m
}

// put keeps a message for the agent's own stream. The oldest give way.
func (s *session) put(m *wire.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting += m.Size
	for len(s.queue) > 0 && (len(s.queue) >= maxWaiting || s.waiting > maxWaitingBytes) {
		s.waiting -= s.queue[0].Size
		s.queue[0].Release()
		s.queue = slices.Delete(s.queue, 0, 1)
		s.mux.s.notices.undelivered.Add(1)
	}
	s.queue = append(s.queue, m)
	select {
	case s.notify <- struct{}{}:
	default:
	}
}

func (u *stdio) delete(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	u.mu.Lock()
	s := u.sessions[id]
	if id != stateless {
		delete(u.sessions, id)
	}
	u.mu.Unlock()
	if s == nil || id == stateless {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	s.mux.leave(s)
	close(s.ended)
	w.WriteHeader(http.StatusNoContent)
}

func (u *stdio) stderr() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var b bytes.Buffer
	for _, x := range u.muxes {
		b.WriteString(x.proc.Stderr())
	}
	return b.String()
}

func (u *stdio) findings() []eval.Finding {
	u.mu.Lock()
	muxes := slices.Clone(u.muxes)
	u.mu.Unlock()
	var list []eval.Finding
	for _, x := range muxes {
		if n, first := x.noise.get(); n > 0 {
			list = append(list, u.s.finding("mcp_stdout_noise", eval.SeverityMinor,
				"%d lines on stdout are no JSON-RPC messages, the first: %s", n, quote(first)))
		}
		if n, first := x.glued.get(); n > 0 {
			list = append(list, u.s.finding("mcp_shared_line", eval.SeverityMajor,
				"%d messages share a line on stdout with something else; other clients lose them, the first: %s", n, quote(first)))
		}
		if n, first := x.strays.get(); n > 0 {
			list = append(list, u.s.strayFinding(n, first))
		}
	}
	if len(muxes) > 1 {
		list = append(list, u.s.finding("mcp_server_restarted", eval.SeverityMajor,
			"the server was started %d times because it ended before the trial did; what it held in memory was lost", len(muxes)))
	}
	return list
}

func (s *server) strayFinding(n int, first string) eval.Finding {
	return s.finding("mcp_unknown_id", eval.SeverityMajor, "%d responses answer no request that is open, the first has id %s", n, quote(first))
}

func (u *stdio) close() {
	u.mu.Lock()
	u.closed = true
	muxes := u.muxes
	u.mu.Unlock()
	for _, x := range muxes {
		x.close()
	}
}

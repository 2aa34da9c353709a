package gateway

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// line takes one line of the server's output.
func (x *mux) line(m *wire.Message) {
	if m.List == nil && m.Err == nil || !m.IsRPC() {
		if text := m.Slice(m.All(), 1<<10); len(text) > 0 {
			if x.noise.add(string(text)) <= maxNoticesLogged {
				x.s.g.log.text(x.s.cfg.Name, "", fromServer, "stdout", x.s.g.since(), m, x.s.g.hub.o.MaxRecordBytes)
			}
		}
		if m.Size <= maxShared {
			x.shared(m.Slice(m.All(), m.Size))
		}
		return
	}
	if !m.Batch {
		x.route(m)
		return
	}
	// A batch's messages may belong to different streams.
	for _, e := range m.List {
		part := wire.Parse(m.Slice(e.Range, m.Size))
		x.route(part)
		part.Release()
	}
}

// maxShared is the longest line that is searched for messages: banners are short.
const maxShared = 1 << 20

// shared passes on messages that share a line with something else, such as a banner
// that did not end its own. They are told of: other clients lose them.
func (x *mux) shared(line []byte) {
	for tries := 0; tries < 32; tries++ {
		i := bytes.Index(line, []byte(`{"`))
		if i < 0 {
			return
		}
		line = line[i:]
		var v json.RawMessage
		if json.NewDecoder(bytes.NewReader(line)).Decode(&v) != nil {
			line = line[1:]
			continue
		}
		line = line[len(v):]
		if part := wire.Parse(bytes.Clone(v)); part.IsRPC() && !part.Batch && bytes.Contains(v, []byte(`"jsonrpc"`)) {
			x.glued.add(string(v[:min(len(v), 200)]))
			x.route(part)
			part.Release()
		}
	}
}

func (x *mux) route(m *wire.Message) {
	e := &m.List[0]
	switch {
	case e.IsResponse():
		x.response(m, e)
	case e.IsRequest():
		x.ask(m, e)
	case e.IsNotification():
		x.notification(m, e)
	default: // an error without an id answers nothing
		x.s.logged("", fromServer, m, nil)
	}
}

// response goes to the POST that waits for it.
func (x *mux) response(m *wire.Message, e *wire.Envelope) {
	x.mu.Lock()
	p := x.open[e.ID.Raw]
	if p != nil {
		x.drop(p)
	}
	x.mu.Unlock()
	if p == nil {
		if x.strays.add(e.ID.Raw) <= maxNoticesLogged {
			x.s.logged("", fromServer, m, nil)
		}
		return
	}
	if p.f.method == "initialize" {
		x.keepHandshake(m, e)
	}
	if errors.Is(m.Err, wire.ErrTooLarge) || !m.Kept() {
		x.s.logged(p.sess.id, fromServer, m, nil)
		x.deliver(p.st, p.f.tooLarge(m))
		return
	}
	d := p.f.response(m, e)
	if d > 0 {
		x.mu.Lock()
		x.delays[m] = d
		x.mu.Unlock()
	}
	var changed []byte
	if m.Edited() {
		changed = m.Bytes()
	}
	x.s.loggedAnswer(p.sess.id, m, changed, p.f)
	if p.wire != p.id {
		m.Edit(e.ID.Range, []byte(p.id))
	}
	x.deliver(p.st, m.Retain())
}

func (x *mux) keepHandshake(m *wire.Message, e *wire.Envelope) {
	var result []byte
	if e.Result.Present() {
		result = m.Slice(e.Result, e.Result.End-e.Result.Start)
	}
	x.mu.Lock()
	x.shaken(result)
	x.mu.Unlock()
}

// unsent forgets what a POST wanted of the server: it never got there.
func (x *mux) unsent(st *stream, handshake bool) {
	select {
	case <-x.gone: // the POST itself answers
		return
	default:
	}
	x.take(st)
	if handshake {
		x.mu.Lock()
		x.shaken(nil)
		x.mu.Unlock()
	}
}

// maxAsked bounds what is remembered of a server that asks and asks.
const maxAsked = 10_000

// ask passes a request of the server's to the session that is being served.
func (x *mux) ask(m *wire.Message, e *wire.Envelope) {
	x.mu.Lock()
	s, st := x.busiest(nil)
	if s != nil && len(x.asked) < maxAsked {
		x.asked[e.ID.Raw] = s
	}
	x.mu.Unlock()
	logs := x.s.noticed(e)
	if s == nil {
		if logs {
			x.s.logged("", fromServer, m, nil)
		}
		x.s.notices.undelivered.Add(1)
		return
	}
	if logs {
		x.s.logged(s.id, fromServer, m, nil)
	}
	x.pass(s, st, m.Retain())
}

// busiest is the session whose open request is the latest, with the stream of
// it; else the session that spoke last. Among one session's alone where only is
// not nil.
func (x *mux) busiest(only *session) (*session, *stream) {
	var best *pending
	for _, p := range x.open {
		if (only == nil || p.sess == only) && p.f.method != "initialize" && p.f.method != "subscriptions/listen" &&
			!p.st.left() && (best == nil || p.order > best.order) {
			best = p
		}
	}
	switch {
	case best != nil:
		return best.sess, best.st
	case only != nil:
		return only, nil
	case len(x.sessions) > 0:
		return x.sessions[len(x.sessions)-1], nil
	}
	return nil, nil
}

// left reports whether the agent waits no more.
func (st *stream) left() bool {
	select {
	case <-st.done:
		return true
	default:
		return false
	}
}

func (x *mux) notification(m *wire.Message, e *wire.Envelope) {
	logs := x.s.noticed(e)
	x.mu.Lock()
	var to []*session
	var st *stream
	switch p := x.addressee(m, e); {
	case p != nil:
		to, st = []*session{p.sess}, p.st
	case e.Method == "notifications/progress" && len(x.sessions) > 1:
	case e.Method == "notifications/cancelled" && x.asked[e.Cancels.Raw] != nil:
		to = []*session{x.asked[e.Cancels.Raw]}
		delete(x.asked, e.Cancels.Raw)
	default:
		to = append(to, x.sessions...)
	}
	streams := make([]*stream, len(to))
	for i, s := range to {
		if streams[i] = st; st == nil || st.left() {
			_, streams[i] = x.busiest(s)
		}
	}
	x.mu.Unlock()
	name := ""
	if len(to) == 1 {
		name = to[0].id
	}
	if logs {
		x.s.logged(name, fromServer, m, nil)
	}
	for i, s := range to {
		x.pass(s, streams[i], m.Retain())
	}
}

// addressee is the request that a notification belongs to, its token put back.
func (x *mux) addressee(m *wire.Message, e *wire.Envelope) *pending {
	if p := x.tokens[e.Progress.Raw]; p != nil && e.Progress.Present() {
		if p.wired != p.token {
			m.Edit(e.Progress.Range, []byte(p.token))
		}
		return p
	}
	if p := x.open[e.Subscription.Raw]; p != nil && e.Subscription.Present() {
		if p.wire != p.id {
			m.Edit(e.Subscription.Range, []byte(p.id))
		}
		return p
	}
	return nil
}

// pass hands a message to a POST under way, or else to the session's own stream.
// It takes over the message.
func (x *mux) pass(s *session, st *stream, m *wire.Message) {
	if !m.Kept() {
		x.s.tooLarge(m)
		m.Release()
		return
	}
	if st != nil {
		if x.deliver(st, m) {
			return
		}
	}
	if s.id == stateless {
		x.s.notices.undelivered.Add(1)
		m.Release()
		return
	}
	s.put(m)
}

// deliver waits for the POST to take the message, which holds the server back
// as a slow reader on a pipe would. False where the agent is gone; a response is
// given up then.
func (x *mux) deliver(st *stream, m *wire.Message) bool {
	select {
	case st.ch <- m:
		return true
	case <-st.done:
	case <-x.closing:
	}
	if m.List[0].IsResponse() {
		m.Release()
	}
	return false
}

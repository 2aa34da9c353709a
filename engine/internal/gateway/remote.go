package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// remote passes the agent's sessions on to a server that speaks streamable HTTP:
// each is a session of the server's own, headers and event ids included.
type remote struct {
	s      *server
	client *http.Client

	strays, replays, cut, refused count

	mu   sync.Mutex
	open map[[2]string]*flight // by session and id
}

// trip is one HTTP request of the agent's. A response belongs to a request of
// the same trip; only where the agent fetches lost events does it come on
// another.
type trip struct {
	ctx     context.Context
	session string
	open    map[string]*flight // nil for a stream of the agent's own
	// resumable says that the server gave an event to come back to, told that it is
	// known why there is no response.
	resumable, told bool
}

func newRemote(s *server) *remote {
	return &remote{s: s, open: map[[2]string]*flight{}, client: &http.Client{Transport: newTransport(), CheckRedirect: sameHost}}
}

// sameHost follows a server that moves its own path, and no further: the
// headers may hold keys.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) > 5 || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// hopHeaders belong to one connection, or to the gateway's own endpoint.
var hopHeaders = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true,
	"Authorization": true, "Origin": true, "Referer": true, "Cookie": true, "Accept-Encoding": true,
}

func copyHeaders(to, from http.Header) {
	named := strings.Split(from.Get("Connection"), ",")
	for name, values := range from {
		if hopHeaders[name] {
			continue
		}
		to[name] = append([]string(nil), values...)
	}
	for _, name := range named {
		to.Del(strings.TrimSpace(name))
	}
}

func (u *remote) post(w http.ResponseWriter, r *http.Request, m *wire.Message) {
	t := &trip{ctx: r.Context(), session: r.Header.Get(sessionHeader), open: map[string]*flight{}}
	u.s.fromAgent(t.session, m)
	forward, own := u.admit(t, m)
	if forward == nil && len(own) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := newAnswer(w, r, requests(m))
	for _, reply := range own {
		if out.send(reply, sse.Event{}) != nil {
			return
		}
	}
	if forward == nil {
		return
	}
	defer forward.Release()
	resp, err := u.send(r, forward)
	if err != nil {
		t.told = true
		u.settle(t)
		u.failed(w, r, err)
		return
	}
	defer resp.Body.Close()
	defer u.settle(t)
	t.told = resp.StatusCode >= 300
	u.back(w, out, resp, t)
}

// settle looks at what an answer left open when it ended.
func (u *remote) settle(t *trip) {
	gone := t.ctx.Err() != nil
	if t.resumable && !gone {
		return
	}
	for _, f := range t.open {
		f.left()
		if !gone && !t.told {
			u.cut.add("the answer to " + quote(f.method) + " ended without a response")
			t.told = true
		}
	}
}

func requests(m *wire.Message) int {
	n := 0
	for i := range m.List {
		if m.List[i].IsRequest() {
			n++
		}
	}
	return n
}

// admit opens the message's requests and answers those that a tool change takes
// out.
func (u *remote) admit(t *trip, m *wire.Message) (forward *wire.Message, own []*wire.Message) {
	var kept []int
	for i := range m.List {
		e := &m.List[i]
		switch {
		case e.IsRequest():
			f := u.s.request(t.session, m, e)
			if reply := u.s.intercept(f); reply != nil {
				own = append(own, reply)
				continue
			}
			u.depart(t, f)
		case e.Method == "notifications/cancelled":
			u.mu.Lock()
			if f := u.open[[2]string{t.session, e.Cancels.Raw}]; f != nil {
				f.cancelled()
			}
			u.mu.Unlock()
		}
		kept = append(kept, i)
	}
	switch {
	case len(kept) == len(m.List):
		return m.Retain(), own
	case len(kept) > 0:
		return pick(m, kept), own
	}
	return nil, own
}

// maxOpen bounds the requests whose response may come on another trip.
const maxOpen = 10_000

func (u *remote) depart(t *trip, f *flight) {
	t.open[f.id] = f
	u.mu.Lock()
	defer u.mu.Unlock()
	if t.session != "" && len(u.open) < maxOpen {
		u.open[[2]string{t.session, f.id}] = f
	}
}

func (u *remote) send(r *http.Request, m *wire.Message) (*http.Response, error) {
	var body io.Reader
	if m != nil {
		body = m.Reader()
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, u.s.cfg.URL, body)
	if err != nil {
		return nil, err
	}
	if m != nil {
		req.ContentLength = m.Len()
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(m.Reader()), nil }
	}
	copyHeaders(req.Header, r.Header)
	req.Header.Set("Accept-Encoding", "identity")
	for k, v := range u.s.cfg.Headers {
		req.Header.Set(k, v)
		if strings.EqualFold(k, "Host") {
			req.Host = v
		}
	}
	return u.client.Do(req)
}

// failed tells the agent's HTTP client what a connection of its own would have.
func (u *remote) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	text := plain(err)
	u.s.troubled("mcp_server_unreachable", text)
	http.Error(w, fmt.Sprintf("MCP server %q: %s", u.s.cfg.Name, text), http.StatusBadGateway)
}

// back passes the server's answer on.
func (u *remote) back(w http.ResponseWriter, out *answer, resp *http.Response, t *trip) {
	if id := resp.Header.Get(sessionHeader); t.session == "" && id != "" {
		t.session = id
		for _, f := range t.open {
			f.session = id
		}
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if out.streams { // the gateway's own answers went first
		u.merge(out, resp, kind, t)
		return
	}
	copyHeaders(w.Header(), resp.Header)
	switch kind {
	case streamType:
		out.stream(resp.StatusCode)
		u.events(out, resp.Body, t)
	case jsonType:
		u.document(w, resp, t)
	default:
		u.other(w, resp, t)
	}
}

// merge sends what the server says as events after the gateway's own answers.
func (u *remote) merge(out *answer, resp *http.Response, kind string, t *trip) {
	if kind == streamType {
		u.events(out, resp.Body, t)
		return
	}
	m := u.read(resp.Body, t)
	defer m.Release()
	if m.Err == nil && m.IsRPC() && u.observe(t, m) {
		out.send(m, sse.Event{})
	}
}

// events passes a stream of events on.
func (u *remote) events(out *answer, body io.Reader, t *trip) {
	out.noJSON = true
	r := sse.NewReader(body)
	for {
		b := wire.NewBuilder(u.s.g.hub.o.limits())
		e, err := r.Next(b)
		m := b.Done()
		ok := (err == nil || e.HasData) && u.event(out, e, m, t)
		m.Release()
		if err != nil && !errors.Is(err, io.EOF) && t.ctx.Err() == nil {
			// The stream must not look as if it had ended whole.
			u.broken(t, err)
		}
		if !ok || err != nil {
			return
		}
	}
}

// broken ends the agent's connection as the server's ended: in the middle.
func (u *remote) broken(t *trip, err error) {
	if t.ctx.Err() == nil && len(t.open) > 0 {
		u.cut.add(plain(err))
	}
	t.told = true
	panic(http.ErrAbortHandler)
}

func (u *remote) event(out *answer, e sse.Event, m *wire.Message, t *trip) bool {
	t.resumable = t.resumable || e.ID != ""
	switch {
	case e.Comment:
		return out.comment() == nil
	case e.Partial:
		return false
	case !e.HasData:
		return sse.Write(out.out, e, nil) == nil && out.flush() == nil
	case m.Size == 0: // an event that carries an id and no message
		return sse.Write(out.out, e, m) == nil && out.flush() == nil
	case !m.Kept():
		if m = u.tooLarge(t, m); m == nil {
			return true
		}
	case !u.observe(t, m):
		return false
	}
	return sse.Write(out.out, e, m) == nil && out.flush() == nil
}

// document passes one JSON document on.
func (u *remote) document(w http.ResponseWriter, resp *http.Response, t *trip) {
	m := u.read(resp.Body, t)
	defer m.Release()
	switch {
	case !m.Kept():
		own := u.tooLarge(t, m)
		if own == nil {
			http.Error(w, "answer too large", http.StatusBadGateway)
			return
		}
		m = own
	case m.Err == nil && m.IsRPC():
		if !u.observe(t, m) {
			return
		}
	default:
		u.logHTTP(t, resp.StatusCode, m)
	}
	w.Header().Set("Content-Length", strconv.FormatInt(m.Len(), 10))
	w.WriteHeader(resp.StatusCode)
	m.WriteTo(w)
}

// read takes a whole document. What was cut must not look whole to the agent.
func (u *remote) read(body io.Reader, t *trip) *wire.Message {
	b := wire.NewBuilder(u.s.g.hub.o.limits())
	if _, err := io.Copy(b, body); err != nil {
		b.Done().Release()
		u.broken(t, err)
	}
	return b.Done()
}

// tooLarge is the answer in place of one that passes the limit; nil where the
// message is none.
func (u *remote) tooLarge(t *trip, m *wire.Message) *wire.Message {
	for i := range m.List {
		if f := u.take(t, &m.List[i]); f != nil {
			return f.tooLarge(m)
		}
	}
	u.s.tooLarge(m)
	return nil
}

// other passes an answer on that is no message.
func (u *remote) other(w http.ResponseWriter, resp *http.Response, t *trip) {
	b := wire.NewBuilder(wire.Limits{Max: 64 << 10, Memory: 64 << 10})
	w.WriteHeader(resp.StatusCode)
	io.Copy(io.MultiWriter(w, b), resp.Body)
	m := b.Done()
	defer m.Release()
	if resp.StatusCode >= 300 || m.Size > 0 {
		u.logHTTP(t, resp.StatusCode, m)
	}
}

func (u *remote) logHTTP(t *trip, status int, m *wire.Message) {
	if len(t.open) > 0 && status >= 300 {
		u.refused.add(fmt.Sprintf("status %d: %s", status, m.Slice(m.All(), 300)))
	}
	if status >= 400 {
		u.s.mu.Lock()
		if !u.s.connected {
			u.s.trouble = strings.TrimSpace(fmt.Sprintf("status %d: %s", status, quote(string(m.Slice(m.All(), 300)))))
		}
		u.s.mu.Unlock()
	}
	u.s.g.log.message(entry{AtMS: ms(u.s.g.since()), Server: u.s.cfg.Name, Session: t.session, From: fromServer, Kind: "http", Status: status}, m, 4<<10, nil)
}

func (u *remote) take(t *trip, e *wire.Envelope) *flight {
	if !e.IsResponse() {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	key := [2]string{t.session, e.ID.Raw}
	f := t.open[e.ID.Raw]
	if f == nil {
		f = u.open[key]
	}
	if f == nil && e.ID.Raw == "null" && len(t.open) == 1 {
		// A server that could not make out what it was asked says so without the
		// request's id, and there is one request that this can be the answer to.
		for id, only := range t.open {
			key, f = [2]string{t.session, id}, only
			delete(t.open, id)
		}
	}
	delete(t.open, e.ID.Raw)
	if f != nil && u.open[key] == f {
		delete(u.open, key)
	}
	return f
}

// observe records a message of the server's, changes it where a tool change asks
// for it and holds it back as long; false when the agent is gone.
func (u *remote) observe(t *trip, m *wire.Message) bool {
	var delay time.Duration
	var flights []*flight
	logs := len(m.List) == 0
	for i := range m.List {
		e := &m.List[i]
		switch f := u.take(t, e); {
		case f != nil:
			delay, logs = max(delay, f.response(m, e)), true
			flights = append(flights, f)
		case e.HasMethod:
			logs = u.s.noticed(e) || logs
		case e.IsResponse() && t.open != nil:
			logs = u.strays.add(e.ID.Raw) <= maxNoticesLogged || logs
		default: // fetched again, or no answer at all
			logs = u.replays.add("") <= maxNoticesLogged || logs
		}
	}
	var changed []byte
	if m.Edited() {
		changed = m.Bytes()
	}
	if logs {
		u.s.loggedAnswer(t.session, m, changed, flights...)
	}
	return sleep(delay, t.ctx.Done())
}

func (u *remote) get(w http.ResponseWriter, r *http.Request) { u.plain(w, r) }

func (u *remote) delete(w http.ResponseWriter, r *http.Request) { u.plain(w, r) }

func (u *remote) plain(w http.ResponseWriter, r *http.Request) {
	resp, err := u.send(r, nil)
	if err != nil {
		u.failed(w, r, err)
		return
	}
	defer resp.Body.Close()
	u.back(w, newAnswer(w, r, 0), resp, &trip{ctx: r.Context(), session: r.Header.Get(sessionHeader)})
}

func (u *remote) stderr() string { return "" }

func (u *remote) findings() []eval.Finding {
	var list []eval.Finding
	if n, first := u.strays.get(); n > 0 {
		list = append(list, u.s.strayFinding(n, first))
	}
	if n, first := u.cut.get(); n > 0 {
		list = append(list, u.s.finding("mcp_answer_cut", eval.SeverityMajor, "%d answers ended in the middle, the first: %s", n, quote(first)))
	}
	if n, first := u.refused.get(); n > 0 {
		list = append(list, u.s.finding("mcp_http_error", eval.SeverityMajor, "%d requests were answered with an HTTP error, the first: %s", n, quote(first)))
	}
	return list
}

func (u *remote) close() { u.client.CloseIdleConnections() }

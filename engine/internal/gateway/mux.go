package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/internal/gateway/proc"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// mux is one process with the sessions that share it. Ids and progress tokens
// are the agent's own; one is replaced only where another session's request
// with the same is open, and put back in what comes of it.
type mux struct {
	s    *server
	proc *proc.Proc
	in   chan *wire.Message
	// gone is closed when no more messages come from the process, closing when
	// the trial ends.
	gone, closing chan struct{}
	ended         sync.Once
	wg            sync.WaitGroup
	noise, strays count
	glued         count // messages that share a line with something else

	mu       sync.Mutex
	sessions []*session // the one that spoke last is at the end
	open     map[string]*pending
	tokens   map[string]*pending
	asked    map[string]*session // whom the server's requests went to
	seq      int64
	// The handshake is the process's own: later sessions get its result again.
	shaking   chan struct{} // closed when no handshake is under way; nil before the first
	handshake []byte        // its result
	told      bool          // the server knows that the handshake is over
	delays    map[*wire.Message]time.Duration
}

// pending is a request that the process has not answered.
type pending struct {
	f           *flight
	sess        *session
	st          *stream
	order       int64
	id, token   string // as the agent sent them
	wire, wired string // as the server got them
}

// firstReplacement keeps ids that stand in for others away from those that
// clients count up from zero, and within 32 bits.
const firstReplacement = 1 << 30

func startMux(s *server) (*mux, error) {
	p, err := proc.Start(proc.Spec{Command: s.cfg.Command, Args: s.cfg.Args, Env: s.cfg.Env, Dir: s.cfg.Dir, Grace: s.g.hub.o.StopGrace})
	if err != nil {
		return nil, err
	}
	x := &mux{
		s: s, proc: p, in: make(chan *wire.Message, 64), gone: make(chan struct{}), closing: make(chan struct{}),
		open: map[string]*pending{}, tokens: map[string]*pending{}, asked: map[string]*session{}, delays: map[*wire.Message]time.Duration{},
	}
	x.wg.Go(x.writeLoop)
	x.wg.Go(x.readLoop)
	return x, nil
}

func (x *mux) over() bool {
	select {
	case <-x.gone:
		return true
	default:
		return false
	}
}

func (x *mux) join(s *session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sessions = append(x.sessions, s)
}

func (x *mux) leave(s *session) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(s)
}

func (x *mux) remove(s *session) {
	for i, other := range x.sessions {
		if other == s {
			x.sessions = append(x.sessions[:i:i], x.sessions[i+1:]...)
			return
		}
	}
}

// awaitHandshake waits for another session's handshake to be answered; false
// when stop ends first.
func (x *mux) awaitHandshake(stop <-chan struct{}) bool {
	for {
		x.mu.Lock()
		ch := x.shaking
		if ch == nil || x.handshake != nil {
			if x.handshake == nil {
				x.shaking = make(chan struct{})
			}
			x.mu.Unlock()
			return true
		}
		x.mu.Unlock()
		select {
		case <-ch:
		case <-x.gone:
			return true
		case <-stop:
			return false
		}
	}
}

// shaken ends the handshake under way; without a result the next session tries.
func (x *mux) shaken(result []byte) {
	if x.shaking == nil || x.handshake != nil {
		return
	}
	x.handshake = result
	close(x.shaking)
	x.shaking = nil
}

// admitted is what becomes of one POST.
type admitted struct {
	forward  *wire.Message   // nil where nothing goes to the server
	own      []*wire.Message // answers of the gateway's own
	requests int
	open     int // requests that the server is to answer
}

// admit takes in what one POST holds and makes the message that the server gets.
func (x *mux) admit(sess *session, st *stream, m *wire.Message) admitted {
	var a admitted
	var kept []int
	x.mu.Lock()
	x.remove(sess)
	x.sessions = append(x.sessions, sess)
	x.mu.Unlock()
	for i := range m.List {
		e := &m.List[i]
		switch {
		case e.IsRequest():
			a.requests++
			if own := x.admitRequest(sess, st, m, e); own != nil {
				a.own = append(a.own, own)
				continue
			}
			a.open++
		case e.IsNotification() && !x.admitNotice(sess, m, e):
			continue
		case e.IsResponse():
			x.mu.Lock()
			delete(x.asked, e.ID.Raw)
			x.mu.Unlock()
		}
		kept = append(kept, i)
	}
	switch {
	case len(kept) == len(m.List):
		a.forward = m.Retain()
	case len(kept) > 0:
		a.forward = pick(m, kept)
	}
	return a
}

// pick is a batch of some of m's messages, edits included.
func pick(m *wire.Message, which []int) *wire.Message {
	b := m.Bytes()
	whole := wire.Parse(b)
	parts := make([]string, 0, len(which))
	for _, i := range which {
		e := whole.List[i]
		parts = append(parts, string(b[e.Start:e.End]))
	}
	return wire.Parse([]byte("[" + strings.Join(parts, ",") + "]"))
}

// admitRequest opens a request, or returns the gateway's own answer to it.
func (x *mux) admitRequest(sess *session, st *stream, m *wire.Message, e *wire.Envelope) *wire.Message {
	f := x.s.request(sess.id, m, e)
	if own := x.s.intercept(f); own != nil {
		return own
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.Method == "initialize" && x.handshake != nil {
		own := wire.Parse([]byte(`{"jsonrpc":"2.0","id":` + e.ID.Raw + `,"result":` + string(x.handshake) + `}`))
		x.s.logged(sess.id, fromGateway, own, nil)
		return own
	}
	x.seq++
	p := &pending{f: f, sess: sess, st: st, order: x.seq, id: e.ID.Raw, wire: e.ID.Raw, token: e.Token.Raw, wired: e.Token.Raw}
	if x.open[p.wire] != nil {
		p.wire = strconv.FormatInt(firstReplacement+x.seq, 10)
		m.Edit(e.ID.Range, []byte(p.wire))
	}
	if p.wired != "" && x.tokens[p.wired] != nil {
		p.wired = strconv.FormatInt(firstReplacement+x.seq, 10)
		m.Edit(e.Token.Range, []byte(p.wired))
	}
	x.open[p.wire] = p
	if p.wired != "" {
		x.tokens[p.wired] = p
	}
	return nil
}

// admitNotice reports whether the notification goes on to the server.
func (x *mux) admitNotice(sess *session, m *wire.Message, e *wire.Envelope) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e.Method {
	case "notifications/initialized":
		if x.told {
			return false
		}
		x.told = true
	case "notifications/cancelled":
		for _, p := range x.open {
			if p.sess == sess && p.id == e.Cancels.Raw {
				p.f.cancelled()
				if p.wire != p.id {
					m.Edit(e.Cancels.Range, []byte(p.wire))
				}
			}
		}
	}
	return true
}

// write queues a message for the server; false when it does not go there. It
// takes over the message.
func (x *mux) write(m *wire.Message, stop <-chan struct{}) bool {
	select {
	case <-x.gone:
	case <-stop:
	case x.in <- m:
		return true
	}
	m.Release()
	return false
}

func (x *mux) writeLoop() {
	out := bufio.NewWriterSize(x.proc.Stdin, 32<<10)
	for {
		select {
		case <-x.gone:
			return
		case m := <-x.in:
			// An error is the process's end, which its output tells too.
			m.WriteTo(oneLine{out})
			out.WriteByte('\n')
			m.Release()
			if len(x.in) == 0 {
				out.Flush()
			}
		}
	}
}

// oneLine turns line ends within messages, which JSON has between values only,
// into spaces.
type oneLine struct{ w io.Writer }

func (o oneLine) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, '\n') >= 0 || bytes.IndexByte(p, '\r') >= 0 {
		p = bytes.Clone(p)
		for i, c := range p {
			if c == '\n' || c == '\r' {
				p[i] = ' '
			}
		}
	}
	return o.w.Write(p)
}

func (x *mux) readLoop() {
	r := bufio.NewReaderSize(x.proc.Stdout, 32<<10)
	for {
		m, err := readLine(r, x.s.g.hub.o.limits())
		if m != nil {
			x.line(m)
			m.Release()
		}
		if err != nil {
			break
		}
	}
	early := true
	select {
	case <-x.closing:
		early = false
	default:
	}
	x.proc.OutputEnded()
	x.mu.Lock()
	x.shaken(nil)
	x.mu.Unlock()
	close(x.gone)
	x.proc.Stop()
	if early {
		x.died()
	}
}

// died says how the process ended before the trial did.
func (x *mux) died() {
	text := "the server ended during the trial"
	if err := x.proc.Err(); err != nil {
		text += ": " + err.Error()
	}
	if tail := strings.TrimSpace(x.proc.Stderr()); tail != "" {
		text += "; its stderr ends with: " + quote(tail[max(0, len(tail)-200):])
	}
	x.s.troubled("mcp_server_died", text)
}

// readLine reads one line as a message; nil for an empty one.
func readLine(r *bufio.Reader, l wire.Limits) (*wire.Message, error) {
	b := wire.NewBuilder(l)
	var err error
	for {
		var part []byte
		part, err = r.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		b.Write(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if b.Size() == 0 {
		return nil, err
	}
	return b.Done(), err
}

// close ends the process and waits until nothing is left of it.
func (x *mux) close() {
	x.ended.Do(func() { close(x.closing) })
	x.proc.Stop()
	x.wg.Wait()
	x.mu.Lock()
	for _, s := range x.sessions {
		for m := s.next(); m != nil; m = s.next() {
			m.Release()
		}
	}
	x.mu.Unlock()
}

// take removes the requests that a POST still waits for.
func (x *mux) take(st *stream) []*flight {
	x.mu.Lock()
	defer x.mu.Unlock()
	var list []*flight
	for _, p := range x.open {
		if p.st == st {
			x.drop(p)
			list = append(list, p.f)
		}
	}
	return list
}

// left notes that nobody waits for what a POST asked for.
func (x *mux) left(st *stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.open {
		if p.st == st {
			p.f.left()
		}
	}
}

func (x *mux) drop(p *pending) {
	delete(x.open, p.wire)
	if x.tokens[p.wired] == p {
		delete(x.tokens, p.wired)
	}
}

func (x *mux) delay(m *wire.Message) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.delays[m]
	delete(x.delays, m)
	return d
}

// count is how often something happened, and the first time's text.
type count struct {
	mu    sync.Mutex
	n     int
	first string
}

// add returns how often it happened with this time.
func (c *count) add(text string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n == 1 {
		c.first = text
	}
	return c.n
}

func (c *count) get() (int, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n, c.first
}

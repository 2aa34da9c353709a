package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// TrialOptions are one trial's MCP servers and what is to be done with them.
type TrialOptions struct {
	Servers []eval.Server
	Changes []eval.ToolChange
	Rules   []eval.ToolRule
	// MaxBytes is how many bytes of tool results the agent may have; 0 is no limit.
	// Calls after it is used up are answered with an error.
	MaxBytes int64
	// Log gets one JSON object a line for every message observed; it may be nil.
	// A log that is slow or fails loses lines, never a message.
	Log io.Writer
	// Origin is the agent's start, from which times count; default now. It can
	// be moved with [Gateway.SetOrigin] before the agent starts.
	Origin time.Time
}

// Gateway is one trial's way to its MCP servers. Its methods are safe for
// concurrent use.
type Gateway struct {
	hub     *Hub
	path    string
	token   string
	o       TrialOptions
	servers []*server
	visits  *visits
	log     *log
	calls   *calls
	started time.Time

	// big bounds how many large messages are under way: they lie on the disk.
	big      chan struct{}
	patience time.Duration

	mu     sync.Mutex
	origin time.Time
	ended  time.Duration // since the origin; 0 before
	found  []eval.Finding
	once   sync.Once
}

// maxBig is how many messages over wire's memory limit one trial's agent may
// have under way; more wait.
const maxBig = 16

// server is one MCP server with what was seen of it.
type server struct {
	g       *Gateway
	cfg     eval.Server
	up      upstream
	changes []*change
	tools   toolList
	notices notices

	mu        sync.Mutex
	contacted bool
	connected bool
	trouble   string // why there was no connection
	sessions  int
	hidden    map[string]bool // tools whose success hid a failure, reported once each
}

// upstream is the way to a server by one transport.
type upstream interface {
	post(w http.ResponseWriter, r *http.Request, m *wire.Message)
	get(w http.ResponseWriter, r *http.Request)
	delete(w http.ResponseWriter, r *http.Request)
	// stderr is the end of what the server wrote there.
	stderr() string
	findings() []eval.Finding
	close()
}

// Open makes the endpoints of one trial. Servers over stdio are started by the
// agent's first message. The caller must call Close; ctx is not kept.
func (h *Hub) Open(ctx context.Context, o TrialOptions) (*Gateway, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Origin.IsZero() {
		o.Origin = time.Now()
	}
	g := &Gateway{hub: h, path: random(16), token: random(24), o: o, visits: newVisits(), origin: o.Origin, started: time.Now(), patience: patience, big: make(chan struct{}, maxBig)}
	g.log = newLog(o.Log)
	g.calls = &calls{each: h.o.MaxRecordBytes, left: h.o.MaxRecordTotal, most: o.MaxBytes}
	names := map[string]bool{}
	for _, cfg := range o.Servers {
		if names[cfg.Name] || cfg.Name == "" {
			g.log.close()
			return nil, fmt.Errorf("gateway: two servers or none are named %q", cfg.Name)
		}
		names[cfg.Name] = true
		s := &server{g: g, cfg: cfg, changes: compile(o.Changes), hidden: map[string]bool{}}
		switch {
		case cfg.Command != "" && cfg.URL == "":
			s.up = newStdio(s)
		case cfg.URL != "" && cfg.Command == "":
			s.up = newRemote(s)
		default:
			g.log.close()
			return nil, fmt.Errorf("gateway: server %q needs either a command or a URL", cfg.Name)
		}
		g.servers = append(g.servers, s)
	}
	if err := h.enter(g.path, g); err != nil {
		g.log.close()
		return nil, err
	}
	return g, nil
}

// SetOrigin moves the time from which calls count to the agent's start.
func (g *Gateway) SetOrigin(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.origin = t
}

// since is the time since the origin, by the monotonic clock.
func (g *Gateway) since() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Since(g.origin)
}

// Endpoints are the servers as the agent reaches them.
func (g *Gateway) Endpoints() []eval.Endpoint {
	var list []eval.Endpoint
	for _, s := range g.servers {
		e := eval.Endpoint{Name: s.cfg.Name, URL: g.hub.base + "/" + g.path + "/" + url.PathEscape(s.cfg.Name) + "/mcp", Token: g.token}
		if len(g.hub.o.ShimCommand) > 0 {
			e.Shim = append(append([]string{}, g.hub.o.ShimCommand...), e.URL)
		}
		list = append(list, e)
	}
	return list
}

// Calls are the tool calls observed, in the order of their arrival.
func (g *Gateway) Calls() []Call { return g.calls.list() }

// Refused reports whether the agent called a tool after the tools had returned as
// much as the trial allows.
func (g *Gateway) Refused() bool { return g.calls.over() }

// Close ends the trial's servers, streams and everything else of it. Findings,
// calls and tools can still be asked for.
func (g *Gateway) Close() error {
	g.once.Do(func() {
		g.hub.leave(g.path)
		now := g.since()
		g.mu.Lock()
		g.ended = max(now, 1)
		g.mu.Unlock()
		var wg sync.WaitGroup
		for _, s := range g.servers {
			wg.Go(s.up.close)
		}
		g.visits.close()
		wg.Wait()
		g.log.close()
		if n := g.log.dropped(); n > 0 {
			g.find(eval.Finding{Kind: "mcp_log_dropped", Severity: eval.SeverityMinor,
				Text: fmt.Sprintf("%d lines of gateway.jsonl were dropped: the log was too slow, failed or passed its limit", n)})
		}
	})
	return g.log.err()
}

// ServeHTTP serves the trial's endpoints.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || !same(token, g.token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "wrong or missing bearer token", http.StatusUnauthorized)
		return
	}
	s := g.server(r.URL.EscapedPath())
	if s == nil {
		http.NotFound(w, r)
		return
	}
	r, end, err := g.visits.begin(w, r)
	if err != nil {
		refuseVisit(w, err)
		return
	}
	defer end()
	w = g.visits.steady(w, r)
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet:
		s.up.get(w, r)
	case http.MethodDelete:
		s.up.delete(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	}
}

// server is the server of a path /random/name/mcp.
func (g *Gateway) server(path string) *server {
	parts := strings.Split(path, "/")
	if len(parts) != 4 || parts[3] != "mcp" {
		return nil
	}
	name, err := url.PathUnescape(parts[2])
	if err != nil {
		return nil
	}
	for _, s := range g.servers {
		if s.cfg.Name == name {
			return s
		}
	}
	return nil
}

// post reads the agent's message and hands it to the server.
func (s *server) post(w http.ResponseWriter, r *http.Request) {
	b := wire.NewBuilder(s.g.hub.o.limits())
	limit := s.g.hub.o.MaxMessageBytes + 1
	n, err := io.Copy(b, io.LimitReader(r.Body, min(limit, wire.DefaultMemory)))
	if n == wire.DefaultMemory {
		select {
		case s.g.big <- struct{}{}:
			defer func() { <-s.g.big }()
			_, err = io.Copy(b, io.LimitReader(r.Body, limit-n))
		case <-r.Context().Done():
			err = r.Context().Err()
		}
	}
	m := b.Done()
	defer m.Release()
	switch {
	case err != nil:
		return // the agent went away in mid-message
	case errors.Is(m.Err, wire.ErrTooLarge) || m.Size > s.g.hub.o.MaxMessageBytes:
		http.Error(w, fmt.Sprintf("message over %d bytes", s.g.hub.o.MaxMessageBytes), http.StatusRequestEntityTooLarge)
		return
	case m.Err != nil || !m.IsRPC():
		s.g.log.text(s.cfg.Name, r.Header.Get(sessionHeader), fromAgent, "other", s.g.since(), m, s.g.hub.o.MaxRecordBytes)
		http.Error(w, "the body is no JSON-RPC message", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.contacted = true
	s.mu.Unlock()
	s.up.post(w, r, m)
}

// ServerState is what is known of one server of the trial.
type ServerState struct {
	Name string
	// Contacted says that the agent sent it anything, Connected that it answered
	// the agent's handshake, Sessions how many sessions the agent began.
	Contacted, Connected bool
	Sessions             int
	// Trouble says why there was no connection, or how it ended.
	Trouble string
	// Stderr is the end of what a server over stdio wrote there.
	Stderr string
}

// Servers are the states of the trial's servers, in their order.
func (g *Gateway) Servers() []ServerState {
	var list []ServerState
	for _, s := range g.servers {
		s.mu.Lock()
		st := ServerState{Name: s.cfg.Name, Contacted: s.contacted, Connected: s.connected, Sessions: s.sessions, Trouble: s.trouble}
		s.mu.Unlock()
		st.Stderr = s.up.stderr()
		list = append(list, st)
	}
	return list
}

// Fault is the infrastructure fault that the MCP side shows: a server that the
// agent spoke to and that never answered its handshake or never gave it a list of
// tools, or servers without any tool; nil where there is none. A server that the
// agent never spoke to is for the caller to judge, by [Gateway.Servers]. What is
// known of why is complete after [Gateway.Close].
func (g *Gateway) Fault() *eval.Fault {
	for _, st := range g.Servers() {
		if st.Contacted && !st.Connected {
			return mcpFault(st, "never answered the agent's handshake", st.Trouble)
		}
	}
	read, some := false, false
	for i, st := range g.Servers() {
		tools := &g.servers[i].tools
		if why := tools.fault(); why != "" {
			return mcpFault(st, "never gave the agent a list of its tools", cmp.Or(st.Trouble, why))
		}
		r, s := tools.offers()
		read, some = read || r, some || s
	}
	if read && !some {
		return &eval.Fault{Cause: eval.CauseMCP, Retry: eval.RetryTrial, Detail: "no MCP server offered the agent any tool"}
	}
	return nil
}

func mcpFault(st ServerState, what, why string) *eval.Fault {
	detail := fmt.Sprintf("MCP server %q %s", st.Name, what)
	if why != "" {
		detail += ": " + why
	}
	return &eval.Fault{Cause: eval.CauseMCP, Retry: eval.RetryTrial, Detail: detail}
}

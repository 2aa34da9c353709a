// Package gateway stands between an agent and what it talks to: one loopback
// endpoint for each MCP server of a trial ([Hub.Open]) and one for its model
// ([Hub.OpenModel]). It forwards messages as they are and records them, so that
// a trial's tool calls, tokens and faults are observed and not merely reported
// by the agent program.
//
// What an agent gets from it is the server's own, but for what a variant's tool
// changes ask for. Where a server cannot answer at all (it died, its answer
// passes the size limit) the gateway says so with the JSON-RPC error that the
// agent's own MCP client would have raised on a direct connection.
//
// An MCP server that speaks over stdio is started when the agent first talks to
// it and lives as long as the trial. All sessions of the trial share the one
// process, at the same time or one after the other, so that what the server
// holds in memory is the same for every turn: the first session's handshake is
// the process's, later ones are answered from it, whatever version they ask for.
// Ids stay as the agent chose them, but for one that another session's open
// request has too. What the server asks goes to the session with the latest open
// request, what it tells without naming a request to all sessions. A server that speaks HTTP
// gets each session of the agent as a session of its own.
//
// It does not judge what it sees: start at [Gateway.Calls], [Gateway.Findings]
// and [Facts].
package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// Options are a hub's settings. The zero Options are the defaults.
type Options struct {
	// Logger gets what is of use to the engine's developers; nil drops it.
	Logger *slog.Logger
	// MaxMessageBytes is the largest MCP message that passes, in either
	// direction; default 128 MiB. A larger one from a server is answered to the
	// agent with an error and noted as a finding, a larger one from the agent is
	// refused with status 413.
	MaxMessageBytes int64
	// MaxRecordBytes is how much of one message's arguments, result or text is
	// kept; default 1 MiB. What is cut keeps its original size.
	MaxRecordBytes int64
	// MaxRecordTotal is how much is kept of all calls of one trial; default 64
	// MiB. Past it each call keeps 4 KiB.
	MaxRecordTotal int64
	// StopGrace is how long a server may take to end after its input ended, and
	// again after SIGTERM; default 2 s.
	StopGrace time.Duration
	// ShimCommand is the engine's own command that speaks MCP over stdio; the
	// endpoint's URL is appended, the token comes by environment.
	ShimCommand []string
	// TempDir is where messages over 1 MiB lie while they pass; default the
	// system's temporary folder.
	TempDir string
}

// Defaults of [Options].
const (
	DefaultMaxRecordBytes = 1 << 20
	DefaultMaxRecordTotal = 64 << 20
)

func (o Options) filled() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MaxMessageBytes <= 0 {
		o.MaxMessageBytes = wire.DefaultMax
	}
	if o.MaxRecordBytes <= 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if o.MaxRecordTotal <= 0 {
		o.MaxRecordTotal = DefaultMaxRecordTotal
	}
	return o
}

func (o Options) limits() wire.Limits {
	return wire.Limits{Max: o.MaxMessageBytes, Dir: o.TempDir}
}

// Hub is the one loopback listener of a process, for all its trials. Its
// methods are safe for concurrent use.
type Hub struct {
	o      Options
	base   string
	server *http.Server
	served chan struct{}

	mu     sync.RWMutex
	rooms  map[string]room
	closed bool
}

// room is what lies below one random path segment.
type room interface {
	http.Handler
	Close() error
}

// ErrClosed is returned by [Hub.Open] and [Hub.OpenModel] after [Hub.Close].
var ErrClosed = errors.New("gateway: the hub is closed")

// Listen starts a hub on a free port of the loopback interface. The caller must
// call Close; ctx bounds the start alone.
func Listen(ctx context.Context, o Options) (*Hub, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	h := &Hub{o: o.filled(), base: "http://" + l.Addr().String(), served: make(chan struct{}), rooms: map[string]room{}}
	h.server = &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    256 << 10,
		ErrorLog:          slog.NewLogLogger(h.o.Logger.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(h.served)
		h.server.Serve(l)
	}()
	return h, nil
}

// Close ends the listener and every trial that is still open.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	rooms := h.rooms
	h.rooms = map[string]room{}
	h.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, len(rooms))
	i := 0
	for _, r := range rooms {
		at := i
		i++
		wg.Go(func() { errs[at] = r.Close() })
	}
	wg.Wait()
	err := h.server.Close()
	<-h.served
	return errors.Join(append(errs, err)...)
}

// enter gives a room a path of its own and returns it.
func (h *Hub) enter(path string, r room) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.rooms[path] = r
	return nil
}

func (h *Hub) leave(path string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.rooms, path)
}

// ServeHTTP sends a request to its room. It refuses what a web page could have
// made a browser send.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.Host) {
		http.Error(w, "host not allowed", http.StatusForbidden)
		return
	}
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || !loopback(u.Host) {
			http.Error(w, "origin not allowed", http.StatusForbidden)
			return
		}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	h.mu.RLock()
	to := h.rooms[name]
	h.mu.RUnlock()
	if to == nil {
		http.NotFound(w, r)
		return
	}
	to.ServeHTTP(w, r)
}

func loopback(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// random is n bytes of hex that nobody can guess.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// same compares secrets without telling by its time where they differ.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// newTransport goes to servers and models as the engine's surroundings say, and
// reads what comes as it is sent.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 20 * time.Second,
		DisableCompression:  true,
	}
}

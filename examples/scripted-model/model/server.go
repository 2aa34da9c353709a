package model

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// ErrNotLoopback is returned when the server is to listen on an address that
// other machines could reach. Use 127.0.0.1, [::1] or localhost.
var ErrNotLoopback = errors.New("not a loopback address")

// A Config is what a server needs. Its zero value is usable.
type Config struct {
	// Addr is the loopback address to listen on; empty: a free port of 127.0.0.1.
	Addr string
	// Script is what to answer with; nil: [Library].
	Script *Script
	// Log, if not nil, gets every request as a line of JSON, keys shortened.
	// The server serialises its writes and ignores their errors.
	Log io.Writer
	// Now is the clock; nil: [time.Now].
	Now func() time.Time
}

// A Server is a running scripted model. Its methods are safe for concurrent use.
type Server struct {
	script *Script
	url    string
	now    func() time.Time
	ids    ids
	hits   hits
	log    requestLog

	http    *http.Server
	cancel  context.CancelFunc
	running sync.WaitGroup // the accept loop and every connection
	close   sync.Once

	mu   sync.Mutex
	stop func() bool // ends the watch over the context that Listen was given
}

// Start serves a script, or [Library] if it is nil, on a free port of
// 127.0.0.1 until ctx is done or Close is called. The caller must call Close.
func Start(ctx context.Context, script *Script) (*Server, error) {
	return Listen(ctx, Config{Script: script})
}

// Listen is Start with everything that can be chosen.
func Listen(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.Script == nil {
		cfg.Script = Library()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	ln, err := listen(ctx, cfg.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{script: cfg.Script, url: "http://" + ln.Addr().String(), now: cfg.Now, log: requestLog{out: cfg.Log}}
	if _, err := rand.Read(s.ids.seed[:]); err != nil {
		ln.Close()
		return nil, err
	}
	s.serve(ctx, ln)
	return s, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", addr, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("address %q: %w", addr, ErrNotLoopback)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		ln.Close()
		return nil, fmt.Errorf("address %q is %v: %w", addr, ln.Addr(), ErrNotLoopback)
	}
	return ln, nil
}

func (s *Server) serve(ctx context.Context, ln net.Listener) {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState:         s.count,
		ReadHeaderTimeout: 30 * time.Second,
	}
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		s.http.Serve(ln) //nolint:errcheck // it always ends with ErrServerClosed
	}()
	s.mu.Lock() // ctx may be done already, and Close may read stop at once
	defer s.mu.Unlock()
	s.stop = context.AfterFunc(ctx, func() { s.Close() })
}

// count keeps running in step with the open connections. A hijacked connection
// is over when its handler, which closes it, returns.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.running.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.running.Done()
	}
}

// Close ends every request, the hanging ones too, and returns when none runs.
func (s *Server) Close() error {
	var err error
	s.close.Do(func() {
		s.mu.Lock()
		s.stop()
		s.mu.Unlock()
		s.cancel()
		err = s.http.Close()
	})
	s.running.Wait()
	return err
}

// URL is the base URL without a scenario: the prompt chooses it. It has no
// slash at its end. Anthropic clients take it as it is; OpenAI clients need
// "/v1" after it.
func (s *Server) URL() string { return s.url }

// ScenarioURL is the base URL of one scenario. A further path element is a
// token: faults that strike only the first so many requests count apart for
// each.
func (s *Server) ScenarioURL(name string) string { return s.url + "/" + name }

// Requests are the latest requests, oldest first: as many as fit into the
// bounds of the log.
func (s *Server) Requests() []Request { return s.log.all() }

// Dropped is how many older requests no longer are in the log.
func (s *Server) Dropped() int { return s.log.lost() }

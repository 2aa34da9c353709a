package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// relay stands between a target's servers and a backend of theirs and counts what
// they ask of it: one tool call can be several requests, when the server's own
// client tries again.
type relay struct {
	url      string // of the relay itself
	server   *http.Server
	listener net.Listener

	mu    sync.Mutex
	count traffic
}

// traffic is what servers asked of one backend: its part of the state.
type traffic struct {
	Requests int `json:"requests"`
	// Statuses count the answers by status. What had no answer is in Unanswered,
	// what is still to be answered in neither.
	Statuses   map[string]int `json:"statuses"`
	Unanswered int            `json:"unanswered"`
}

// newRelay serves on a loopback port of its own. The backend's address becomes
// known with [relay.serve], since it can hold placeholders.
func newRelay(ctx context.Context) (*relay, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &relay{url: "http://" + l.Addr().String(), listener: l}, nil
}

// serve begins to pass requests on to the backend at base.
func (r *relay) serve(base string) error {
	to, err := url.Parse(base)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return fmt.Errorf("%q is no http or https address", base)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Host = to.Host
		},
		// A stream is passed on as it comes.
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(resp *http.Response) error {
			r.note(func(c *traffic) { c.Statuses[strconv.Itoa(resp.StatusCode)]++ })
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			r.note(func(c *traffic) { c.Unanswered++ })
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	r.server = &http.Server{
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			r.note(func(c *traffic) { c.Requests++ })
			proxy.ServeHTTP(w, req)
		}),
	}
	go func() { _ = r.server.Serve(r.listener) }()
	return nil
}

func (r *relay) note(f func(*traffic)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count.Statuses == nil {
		r.count.Statuses = map[string]int{}
	}
	f(&r.count)
}

// traffic is the count so far.
func (r *relay) traffic() traffic {
	r.note(func(*traffic) {})
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.count
	c.Statuses = maps.Clone(c.Statuses)
	return c
}

// end frees the port and ends what goes through it.
func (r *relay) end() error {
	if r.server != nil {
		return r.server.Close()
	}
	return r.listener.Close()
}

// relay returns the relay of a backend, always the same.
func (t *target) relay(backends map[string]string, name string) (*relay, error) {
	if r := t.relays[name]; r != nil {
		return r, nil
	}
	if !has(backends, name) {
		return nil, fmt.Errorf("{backend:%s}: backends has no %q", name, name)
	}
	r, err := newRelay(t.ctx)
	if err != nil {
		return nil, fmt.Errorf("a port for backend %q: %w", name, err)
	}
	t.relays[name] = r
	return r, nil
}

// connect lets the relays serve. A backend that nothing asks for has none.
func (t *target) connect(backends map[string]string) error {
	for _, name := range sortedKeys(backends) {
		r := t.relays[name]
		if r == nil {
			return fmt.Errorf("backends.%s: nothing uses {backend:%s}, so nothing would be counted", name, name)
		}
		if err := r.serve(backends[name]); err != nil {
			return fmt.Errorf("backends.%s: %w", name, err)
		}
	}
	return nil
}

func (t *target) traffic() map[string]traffic {
	out := map[string]traffic{}
	for name, r := range t.relays {
		out[name] = r.traffic()
	}
	return out
}

func (t *target) endRelays() error {
	var errs []error
	for _, r := range t.relays {
		errs = append(errs, r.end())
	}
	t.relays = nil
	return errors.Join(errs...)
}

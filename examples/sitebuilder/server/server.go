// Package server runs one builder account as a service on the loopback interface: an MCP endpoint (streamable HTTP,
// bearer token) with the tools of the builder, the live site at /, and the draft at /preview/. [Start] gives each
// caller its own [Instance] with its own port and account; hundreds run side by side in one process. What the tools do
// is in package site, what pages look like in package render.
package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/examples/sitebuilder/site"
)

// Options say what an instance is made of. The zero value is a blank account in memory on a free port.
type Options struct {
	// Template is one of [site.Templates]; empty means blank.
	Template string
	// Token is what MCP clients present as bearer token; empty means a random one.
	Token string
	// Nonce is told at /_nonce and in the MCP handshake, so that whoever started the instance can prove that it is
	// the one that answers; empty means a random one.
	Nonce string
	// Addr is the loopback address to listen on; empty means 127.0.0.1:0.
	Addr string
	// File keeps the account between starts; empty means memory.
	File string
}

// An Instance is a running account. Its fields are read only.
type Instance struct {
	MCPURL  string
	SiteURL string // without a slash at the end
	Token   string
	Nonce   string

	store *site.Store
	http  http.Server
	// mcp and handler are made for the first client: many instances only serve pages and state.
	mcp     func() *mcp.Server
	handler func() http.Handler

	done     chan struct{} // closed when the listener's goroutine ends
	stop     func() bool   // detaches the instance from its context
	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup
}

// Start runs an instance until ctx ends or Close is called.
func Start(ctx context.Context, o Options) (*Instance, error) {
	store, err := open(o)
	if err != nil {
		return nil, err
	}
	addr := o.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	in := &Instance{
		SiteURL: "http://" + l.Addr().String(), Token: orRandom(o.Token), Nonce: orRandom(o.Nonce),
		store: store, done: make(chan struct{}),
	}
	in.MCPURL = in.SiteURL + "/mcp"
	in.mcp = sync.OnceValue(in.newMCP)
	in.handler = sync.OnceValue(in.newHandler)
	in.http = http.Server{
		Handler: in.routes(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(in.done)
		_ = in.http.Serve(l) // always http.ErrServerClosed: the listener is closed by Close only
	}()
	in.stop = context.AfterFunc(ctx, func() { _ = in.Close() })
	return in, nil
}

func open(o Options) (*site.Store, error) {
	if o.File == "" {
		return site.New(o.Template)
	}
	return site.Open(o.File, o.Template)
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen: %s is not a loopback address", addr)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", addr)
}

func orRandom(s string) string {
	if s != "" {
		return s
	}
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// State returns the account as it is now.
func (in *Instance) State() site.State { return in.store.State() }

// ServeMCP serves one more MCP client over t, for example stdio, until the client leaves or ctx ends.
func (in *Instance) ServeMCP(ctx context.Context, t mcp.Transport) error {
	err := in.mcp().Run(ctx, t)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Close stops serving and returns when no request is in work and the port is free. More calls do nothing.
func (in *Instance) Close() error {
	in.mu.Lock()
	first := !in.closed
	in.closed = true
	in.mu.Unlock()
	if !first {
		<-in.done
		return nil
	}
	in.stop()
	err := in.http.Close()
	in.endSessions()
	in.requests.Wait()
	in.endSessions() // one may have begun while the first were ended
	<-in.done
	return err
}

func (in *Instance) endSessions() {
	for s := range in.mcp().Sessions() {
		_ = s.Close()
	}
}

// admit counts a request in; false means that the instance is closing.
func (in *Instance) admit() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return false
	}
	in.requests.Add(1)
	return true
}

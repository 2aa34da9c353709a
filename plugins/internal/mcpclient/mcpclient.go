// Package mcpclient is the MCP side of the hosts that have no agent program: a
// connection to each of a session's servers, made at the first call, and the tool
// calls themselves as steps of a transcript.
package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/evalengine/evalengine/engine/eval"
)

const (
	// maxResult bounds one server event, and so one tool result.
	maxResult = 128 << 20
	// closeTimeout bounds the orderly end of the connections.
	closeTimeout = 2 * time.Second
)

// Call is one tool call.
type Call struct {
	// Server may be empty where the session has one server.
	Server string
	Tool   string
	// Arguments are one JSON object; absent is {}.
	Arguments eval.JSON
}

// Result is the MCP tool result, or {"error":{...}} for a JSON-RPC error.
type Result struct {
	JSON    eval.JSON
	IsError bool
	Seconds float64
}

// Client has a session's servers. Its methods are safe for concurrent use; Close
// comes last.
type Client struct {
	name      string
	endpoints map[string]eval.Endpoint

	mu      sync.Mutex
	servers map[string]*server
	calls   int
}

// server is a connection that is made once.
type server struct {
	once sync.Once
	http *http.Transport
	sess *mcp.ClientSession
	err  error

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// New returns a client that has connected to nothing yet. The name is what it
// calls itself to servers.
func New(name string, endpoints []eval.Endpoint) *Client {
	c := &Client{name: name, endpoints: map[string]eval.Endpoint{}, servers: map[string]*server{}}
	for _, e := range endpoints {
		c.endpoints[e.Name] = e
	}
	return c
}

// Resolve returns the server's name: the only one where name is empty.
func (c *Client) Resolve(name string) (string, error) {
	names := slices.Sorted(maps.Keys(c.endpoints))
	if _, ok := c.endpoints[name]; ok {
		return name, nil
	}
	switch {
	case len(names) == 0:
		return "", errors.New("the trial has no MCP server")
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", fmt.Errorf("say which server: there are %s", strings.Join(names, ", "))
	}
	return "", fmt.Errorf("no server %q: there are %s", name, strings.Join(names, ", "))
}

// Run makes the calls side by side and emits their steps: all calls, then all
// results, both in the order given. The error is a fault: no word of a server is
// one.
func (c *Client) Run(ctx context.Context, calls []Call, emit func(eval.Event)) ([]Result, error) {
	ids := make([]string, len(calls))
	for i, call := range calls {
		ids[i] = c.nextID()
		emit(eval.Event{Step: &eval.Step{
			Kind: eval.StepToolCall, CallID: ids[i], Server: call.Server, Tool: call.Tool,
			Arguments: call.Arguments,
		}})
	}
	results, errs := make([]Result, len(calls)), make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { results[i], errs[i] = c.call(ctx, call) })
	}
	wg.Wait()
	for i, r := range results {
		if errs[i] != nil {
			continue
		}
		ms := r.Seconds * 1000
		emit(eval.Event{Step: &eval.Step{
			Kind: eval.StepToolResult, CallID: ids[i], Server: calls[i].Server, Tool: calls[i].Tool,
			Result: r.JSON, IsError: r.IsError, Bytes: int64(len(r.JSON)), DurationMS: &ms,
		}})
	}
	return results, errors.Join(errs...)
}

func (c *Client) nextID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return "call_" + strconv.Itoa(c.calls)
}

func (c *Client) call(ctx context.Context, call Call) (Result, error) {
	s, err := c.connect(ctx, call.Server)
	if err != nil {
		return Result{}, c.fault(call, err)
	}
	args := json.RawMessage(call.Arguments)
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	begun := time.Now()
	res, err := s.sess.CallTool(ctx, &mcp.CallToolParams{Name: call.Tool, Arguments: args})
	took := time.Since(begun).Seconds()
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &wire):
		b, err := json.Marshal(map[string]any{"error": wire})
		return Result{JSON: b, IsError: true, Seconds: took}, err
	case err != nil:
		return Result{}, c.fault(call, err)
	}
	b, err := json.Marshal(res)
	return Result{JSON: b, IsError: res.IsError, Seconds: took}, err
}

func (c *Client) fault(call Call, err error) error {
	return &eval.Fault{
		Cause: eval.CauseMCP, Retry: eval.RetryTrial,
		Detail: fmt.Sprintf("server %q, tool %q: %v", call.Server, call.Tool, err),
	}
}

// connect returns the server's connection. It lists the tools first, as every
// agent does, so that a record says what there was to choose from.
func (c *Client) connect(ctx context.Context, name string) (*server, error) {
	e, ok := c.endpoints[name]
	if !ok {
		return nil, fmt.Errorf("no server %q", name)
	}
	c.mu.Lock()
	s := c.servers[name]
	if s == nil {
		s = &server{conns: map[net.Conn]bool{}}
		c.servers[name] = s
	}
	c.mu.Unlock()
	s.once.Do(func() { s.err = s.open(ctx, c.name, e) })
	return s, s.err
}

func (s *server) open(ctx context.Context, name string, e eval.Endpoint) (err error) {
	s.http = &http.Transport{DialContext: s.dial, DisableCompression: true}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	s.sess, err = client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: e.URL, HTTPClient: &http.Client{Transport: bearer{s.http, e.Token}},
		MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxResult,
	}, nil)
	if err != nil {
		return err
	}
	for _, err := range s.sess.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list of tools: %w", err)
		}
	}
	return nil
}

// dial remembers connections, so that Close can end those that a server keeps
// open.
func (s *server) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[conn] = true
	return conn, nil
}

// Close ends all connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range c.servers {
		wg.Go(s.close)
	}
	wg.Wait()
	c.servers = map[string]*server{}
}

func (s *server) close() {
	hard := time.AfterFunc(closeTimeout, s.cut)
	defer hard.Stop()
	if s.sess != nil {
		_ = s.sess.Close()
	}
	s.cut()
}

func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close()
	}
}

// bearer adds the endpoint's token.
type bearer struct {
	next  http.RoundTripper
	token string
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

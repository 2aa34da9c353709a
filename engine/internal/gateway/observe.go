package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// flight is a request of the agent's that has no answer yet.
type flight struct {
	s       *server
	session string
	id      string
	method  string
	tool    string
	cursor  bool
	call    int // place in the calls, -1 for other requests
	// digest is of the whole list of tools that the answer completed, tools how
	// many there are in it.
	digest string
	tools  int
}

// fromAgent records what the agent sent, before it goes on.
func (s *server) fromAgent(session string, m *wire.Message) {
	s.logged(session, fromAgent, m, nil)
}

func (s *server) logged(session, from string, m *wire.Message, delivered []byte) {
	s.g.log.message(s.entry(session, from, m), m, s.g.hub.o.MaxRecordBytes, delivered)
}

// loggedAnswer is logged for what may end flights: where it is the end of a list
// of tools, that list's digest stands beside it.
func (s *server) loggedAnswer(session string, m *wire.Message, delivered []byte, flights ...*flight) {
	e := s.entry(session, fromServer, m)
	for _, f := range flights {
		e.ToolsDigest, e.Tools = cmp.Or(e.ToolsDigest, f.digest), max(e.Tools, f.tools)
	}
	s.g.log.message(e, m, s.g.hub.o.MaxRecordBytes, delivered)
}

func (s *server) entry(session, from string, m *wire.Message) entry {
	e := entry{AtMS: ms(s.g.since()), Server: s.cfg.Name, Session: session, From: from, Kind: "batch"}
	if !m.Batch && len(m.List) == 1 {
		v := &m.List[0]
		e.Kind, e.Method = v.Kind(), v.Method
		if v.Method == "tools/call" {
			e.Tool = v.Name
		}
		if json.Valid([]byte(v.ID.Raw)) {
			e.ID = json.RawMessage(v.ID.Raw)
		}
	}
	return e
}

// request begins a flight.
func (s *server) request(session string, m *wire.Message, e *wire.Envelope) *flight {
	f := &flight{s: s, session: session, id: e.ID.Raw, method: e.Method, cursor: e.Cursor, call: -1}
	switch e.Method {
	case "tools/call":
		f.tool = e.Name
		f.call = s.g.calls.begin(Call{Server: s.cfg.Name, Tool: e.Name, Session: session, At: s.g.since()}, m, e)
	case "tools/list":
		s.tools.wanted()
	case "initialize":
		s.mu.Lock()
		s.sessions++
		s.mu.Unlock()
	}
	return f
}

// response ends a flight. It returns how long the answer is to be held back; m
// may have been edited.
func (f *flight) response(m *wire.Message, e *wire.Envelope) time.Duration {
	s := f.s
	if e.Result.Present() {
		s.reached()
	}
	switch f.method {
	case "tools/call":
		delay := s.latency(f.tool)
		if delay > 0 {
			f.mark("latency")
		}
		s.g.calls.finish(f.call, s.g.since()+delay, m, e)
		s.checkCall(f)
		return delay
	case "tools/list":
		s.listed(f, m, e)
	}
	return 0
}

// reached notes that the server answered something: it is there.
func (s *server) reached() {
	s.mu.Lock()
	s.connected = true
	s.mu.Unlock()
}

func (f *flight) mark(injected string) {
	if f.call >= 0 {
		f.s.g.calls.change(f.call, func(c *Call) { c.Injected = injected })
	}
}

func (f *flight) cancelled() {
	if f.call >= 0 {
		f.s.g.calls.change(f.call, func(c *Call) { c.Cancelled = true })
	}
}

// intercept answers a call in the server's place where a tool change asks for
// it; nil lets the call pass.
func (s *server) intercept(f *flight) *wire.Message {
	if f.method != "tools/call" {
		return nil
	}
	if s.g.calls.spent() {
		f.mark("limit")
		s.g.calls.refuse()
		text, _ := json.Marshal(fmt.Sprintf("the trial's limit of %d bytes of tool results is used up", s.g.o.MaxBytes))
		return s.instead(f, `{"jsonrpc":"2.0","id":`+f.id+`,"result":{"content":[{"type":"text","text":`+string(text)+`}],"isError":true}}`)
	}
	if s.hides(f.tool) {
		f.mark("hidden")
		return s.instead(f, rpcError(f.id, -32602, "Unknown tool: "+f.tool))
	}
	if text := s.fault(f.tool); text != "" {
		f.mark("fault")
		content, _ := json.Marshal(text)
		return s.instead(f, `{"jsonrpc":"2.0","id":`+f.id+`,"result":{"content":[{"type":"text","text":`+string(content)+`}],"isError":true}}`)
	}
	return nil
}

// instead records an answer of the gateway's own.
func (s *server) instead(f *flight, text string) *wire.Message {
	m := wire.Parse([]byte(text))
	if len(m.List) == 1 && f.call >= 0 {
		s.g.calls.finish(f.call, s.g.since(), m, &m.List[0])
	}
	s.logged(f.session, fromGateway, m, nil)
	return m
}

// lost answers a request that the server cannot: what the agent's own MCP client
// says when a server's connection ends.
func (f *flight) lost() *wire.Message {
	f.mark("died")
	return f.s.instead(f, rpcError(f.id, -32000, "Connection closed"))
}

// tooLarge answers a request in place of an answer that passes the limit.
func (f *flight) tooLarge(m *wire.Message) *wire.Message {
	f.s.tooLarge(m)
	f.mark("too_large")
	own := f.s.instead(f, rpcError(f.id, -32603, fmt.Sprintf("the server's answer of %d bytes passes the limit of %d", m.Size, f.s.g.hub.o.MaxMessageBytes)))
	if f.call >= 0 {
		f.s.g.calls.change(f.call, func(c *Call) { c.Bytes, c.Truncated = m.Size, true })
	}
	return own
}

// tooLarge notes a message of the server's that was not passed on.
func (s *server) tooLarge(m *wire.Message) {
	s.g.find(s.finding("mcp_message_too_large", eval.SeverityMajor,
		"a message of %d bytes passes the limit of %d and was not passed on", m.Size, s.g.hub.o.MaxMessageBytes))
}

func rpcError(id string, code int, message string) string {
	var e struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	e.JSONRPC, e.ID = "2.0", json.RawMessage(id)
	e.Error.Code, e.Error.Message = code, message
	b, err := json.Marshal(e)
	if err != nil {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}`
	}
	return string(b)
}

// find adds a finding of the engine's.
func (g *Gateway) find(f eval.Finding) {
	f.Source = "engine"
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.found) < maxFindings {
		g.found = append(g.found, f)
	}
}

// maxFindings bounds what one trial's servers can fill a record with.
const maxFindings = 200

package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
)

// Facts and Request are what the model proxy saw.
type (
	Facts   = model.Facts
	Request = model.Request
)

// ModelOptions are one trial's way to its model.
type ModelOptions struct {
	// API is the wire protocol, as in [eval.ModelUse].
	API string
	// BaseURL is where the provider is; the agent's paths are appended.
	BaseURL string
	// Key is the real key. It is put in the place of the stand-in and reaches
	// neither the agent nor a record.
	Key string
	// KeyHeader is the header that takes the key; empty is the one that the agent
	// used, x-api-key or Authorization.
	KeyHeader string
	// Limits are what the agent may use, of turns, tokens and, where there are
	// prices, USD; ToolBytes is [ModelOptions.Over]'s. The request past a limit is
	// refused with an error that agent programs do not retry.
	Limits eval.Limits
	// Over names another cap of the trial that is used up, empty while none is; it
	// may be nil.
	Over func() eval.Outcome
	// Asked is told of each request for an answer, Answered of its answer's status
	// and how long the provider asks to be left alone; they may be nil.
	Asked    func(first bool)
	Answered func(status int, retryAfter time.Duration)
	// HeaderTimeout bounds the wait for an answer's begin, IdleTimeout the wait
	// for its next byte; 0 is no limit.
	HeaderTimeout, IdleTimeout time.Duration
	// Log gets one JSON object a line for every request; it may be nil. Bodies
	// are part of it where Bodies is set, each at most [Options.MaxRecordBytes].
	Log    io.Writer
	Bodies bool
	// Origin is the agent's start, from which times count; default now.
	Origin time.Time
	// Price is what usage of a model costs, false where that is not known.
	Price func(model string, u eval.Usage) (usd float64, ok bool)
}

// Model is one trial's model proxy. Its methods are safe for concurrent use.
type Model struct {
	hub    *Hub
	path   string
	key    string
	o      ModelOptions
	base   *url.URL
	client *http.Transport
	visits *visits
	log    *log
	once   sync.Once

	mu       sync.Mutex
	origin   time.Time
	requests []*Request
	flying   int // requests that may become turns
	turns    int
}

// Mark is a moment in the life of a model proxy.
type Mark int

// OpenModel makes one trial's model endpoint. The caller must call Close; ctx is
// not kept.
func (h *Hub) OpenModel(ctx context.Context, o ModelOptions) (*Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("gateway: model base URL %q is no http or https URL", o.BaseURL)
	}
	switch o.API {
	case model.AnthropicMessages, model.OpenAIResponses, model.OpenAIChat:
	default:
		return nil, fmt.Errorf("gateway: model API %q is none of %s, %s, %s", o.API, model.AnthropicMessages, model.OpenAIResponses, model.OpenAIChat)
	}
	if o.Origin.IsZero() {
		o.Origin = time.Now()
	}
	m := &Model{hub: h, path: random(16), key: "sk-evalengine-" + random(24), o: o, base: base, client: newTransport(), visits: newVisits(), log: newLog(o.Log), origin: o.Origin}
	if err := h.enter(m.path, m); err != nil {
		m.log.close()
		return nil, err
	}
	return m, nil
}

// Endpoint is where the agent's model requests are to go.
func (m *Model) Endpoint() eval.ModelEndpoint {
	return eval.ModelEndpoint{BaseURL: m.hub.base + "/" + m.path, Key: m.key}
}

// SetOrigin moves the time from which requests count to the agent's start.
func (m *Model) SetOrigin(t time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.origin = t
}

// Mark is now; facts can be asked for since then.
func (m *Model) Mark() Mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Mark(len(m.requests))
}

// Facts are what the requests since the mark show, of the whole trial for the
// zero Mark.
func (m *Model) Facts(since Mark) Facts {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Request
	for _, r := range m.requests[min(int(since), len(m.requests)):] {
		list = append(list, m.priced(*r))
	}
	return model.Sum(list, m.o.Price != nil)
}

// priced is the request with its cost, where that is known.
func (m *Model) priced(r Request) Request {
	if p := m.o.Price; p != nil && r.Usage.InputTokens+r.Usage.OutputTokens > 0 {
		if usd, ok := p(r.Model, r.Usage); ok {
			r.CostUSD = &usd
		}
	}
	return r
}

func (m *Model) since() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.origin)
}

// minSecret is the shortest key that is hidden: a shorter one is no secret, and
// would take half of every text with it.
const minSecret = 8

func (m *Model) secret() string {
	if len(m.o.Key) < minSecret {
		return ""
	}
	return m.o.Key
}

// Close ends the endpoint and what is under way on it. Facts can still be asked
// for.
func (m *Model) Close() error {
	m.once.Do(func() {
		m.hub.leave(m.path)
		m.visits.close()
		m.client.CloseIdleConnections()
		m.log.close()
	})
	return m.log.err()
}

// ServeHTTP serves the endpoint.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header, ok := m.admitted(r)
	if !ok {
		m.refuse(w, http.StatusUnauthorized, "authentication_error", "invalid_api_key", "the key is not this trial's")
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || r.Method == http.MethodConnect {
		m.refuse(w, http.StatusUpgradeRequired, "invalid_request_error", "websocket_not_supported", "use HTTP: no other protocol passes here")
		return
	}
	r, end, err := m.visits.begin(w, r)
	switch {
	case errors.Is(err, errBusy):
		m.refuse(w, http.StatusServiceUnavailable, "overloaded_error", "too_many_requests", err.Error())
		return
	case err != nil:
		m.refuse(w, http.StatusGone, "invalid_request_error", "trial_ended", "the trial has ended")
		return
	}
	defer end()
	api := apiOf(r)
	x := &exchange{m: m, w: w, r: r, keyHeader: header, began: time.Now(), counts: api != "", reading: model.Reading{API: api}}
	x.run()
}

// admitted reports in which header the agent sent the stand-in key, if it did.
func (m *Model) admitted(r *http.Request) (string, bool) {
	if same(r.Header.Get("X-Api-Key"), m.key) {
		return "X-Api-Key", true
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return "Authorization", bearer && same(token, m.key)
}

// apiOf is the protocol of a request for an answer; empty for any other.
func apiOf(r *http.Request) string {
	if r.Method != http.MethodPost {
		return ""
	}
	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case strings.HasSuffix(path, "/chat/completions"):
		return model.OpenAIChat
	case strings.HasSuffix(path, "/responses"):
		return model.OpenAIResponses
	case strings.HasSuffix(path, "/messages"):
		return model.AnthropicMessages
	}
	return ""
}

// begin adds a request to the facts, or refuses it: a limit is used up.
func (m *Model) begin(r *Request) bool {
	over := m.over()
	m.mu.Lock()
	first := len(m.requests) == 0
	m.requests = append(m.requests, r)
	if over == "" {
		over = m.used()
	}
	if over != "" {
		r.StreamEnd, r.Status, r.Limit = model.Refused, http.StatusBadRequest, over
		m.mu.Unlock()
		return false
	}
	m.flying++
	m.mu.Unlock()
	if m.o.Asked != nil {
		m.o.Asked(first)
	}
	return true
}

func (m *Model) over() eval.Outcome {
	if m.o.Over == nil {
		return ""
	}
	return m.o.Over()
}

// used is the limit that the requests so far have used up; empty where none is.
func (m *Model) used() eval.Outcome {
	l := m.o.Limits
	if l.Turns > 0 && m.turns+m.flying >= l.Turns {
		return eval.MaxTurns
	}
	if l.Tokens <= 0 && l.USD <= 0 {
		return ""
	}
	var tokens int64
	var usd float64
	for _, r := range m.requests {
		tokens += r.Usage.InputTokens + r.Usage.OutputTokens
		if c := m.priced(*r).CostUSD; c != nil {
			usd += *c
		}
	}
	switch {
	case l.Tokens > 0 && tokens >= l.Tokens:
		return eval.MaxTokensTotal
	case l.USD > 0 && usd >= l.USD:
		return eval.MaxBudget
	}
	return ""
}

// refusal says to the agent which limit is used up.
func (m *Model) refusal(limit eval.Outcome) string {
	switch l := m.o.Limits; limit {
	case eval.MaxTurns:
		return fmt.Sprintf("the trial's limit of %d turns is used up", l.Turns)
	case eval.MaxTokensTotal:
		return fmt.Sprintf("the trial's limit of %d tokens is used up", l.Tokens)
	case eval.MaxBudget:
		return fmt.Sprintf("the trial's limit of $%g is used up", l.USD)
	}
	return fmt.Sprintf("the trial's limit is used up: %s", limit)
}

// refuse answers in the shape of the API's own errors.
func (m *Model) refuse(w http.ResponseWriter, status int, kind, code, text string) {
	var body any
	if m.o.API == model.AnthropicMessages {
		body = map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": text}}
	} else {
		body = map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": code}}
	}
	b, _ := json.Marshal(body)
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	w.Write(b)
}

// target is the provider's URL for the agent's.
func (m *Model) target(u *url.URL) (*url.URL, error) {
	rest := strings.TrimPrefix(u.EscapedPath(), "/"+m.path)
	t := *m.base
	t.RawQuery = u.RawQuery
	if m.base.RawQuery != "" {
		t.RawQuery = strings.TrimPrefix(m.base.RawQuery+"&"+u.RawQuery, "&")
	}
	path := strings.TrimSuffix(m.base.EscapedPath(), "/") + rest
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, err
	}
	t.Path, t.RawPath = plain, path
	return &t, nil
}

// hide takes the keys out of a text.
func (m *Model) hide(s string) string {
	for _, key := range []string{m.secret(), m.key} {
		if key != "" {
			s = strings.ReplaceAll(s, key, strings.Repeat("*", len(key)))
		}
	}
	return s
}

// record writes a finished request to the log.
func (m *Model) record(r Request, method, path string, request, response []byte) {
	if m.o.Log == nil {
		return
	}
	m.log.put(item{len(request) + len(response) + 500, func(b *bytes.Buffer) {
		line := struct {
			Method string  `json:"method"`
			Path   string  `json:"path"`
			AtMS   float64 `json:"at_ms"`
			MS     float64 `json:"duration_ms"`
			Request
		}{method, path, ms(r.At), ms(r.Duration), r}
		head, err := json.Marshal(line)
		if err != nil {
			return
		}
		b.Write(head[:len(head)-1])
		value(b, "request", []byte(m.hide(string(request))), false)
		value(b, "response", []byte(m.hide(string(response))), false)
		b.WriteString("}\n")
	}})
}

// errIdle and errHeaders are the causes for which a request is given up.
var (
	errIdle    = errors.New("the model's answer stopped coming")
	errHeaders = errors.New("the model did not answer in time")
)

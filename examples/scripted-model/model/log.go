package model

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The protocols, as [Request] names them.
const (
	APIMessages  = "anthropic-messages"
	APIResponses = "openai-responses"
	APIChat      = "openai-chat"
	APICount     = "anthropic-count-tokens"
	APIProbe     = "probe" // HEAD and GET requests
)

// Bounds of what is kept of the requests.
const (
	maxLogged      = 10000
	maxLoggedBytes = 128 << 20
)

// A Request is one request as the server saw it, recorded when its answer was
// decided and before it was written. The receiver must not change it.
type Request struct {
	Time     time.Time       `json:"time"`
	Method   string          `json:"method"`
	Path     string          `json:"path"`
	API      string          `json:"api"`
	Scenario string          `json:"scenario,omitempty"`
	Token    string          `json:"token,omitempty"`
	Model    string          `json:"model,omitempty"`
	Session  string          `json:"session,omitempty"` // what the host calls its session
	Stream   bool            `json:"stream,omitempty"`
	Turn     int             `json:"turn,omitempty"`    // from 1; 0: no scenario answered
	Step     int             `json:"step,omitempty"`    // from 1
	Fault    string          `json:"fault,omitempty"`   // its kind, if one struck
	Problem  string          `json:"problem,omitempty"` // why the script could not be followed
	Prompt   string          `json:"prompt,omitempty"`  // of the first turn
	Tools    []string        `json:"tools,omitempty"`   // offered, by their names on the wire
	Header   http.Header     `json:"header"`            // with the key
	Body     json.RawMessage `json:"body,omitempty"`    // decompressed; nil if it is not JSON
}

// Key is the API key that was sent, in either vendor's header.
func (r Request) Key() string { return keyOf(r.Header) }

// requestLog keeps the latest requests and writes all of them to out.
type requestLog struct {
	out io.Writer

	mu      sync.Mutex
	list    []Request
	bytes   int
	dropped int
}

func (l *requestLog) add(r Request) {
	if !json.Valid(r.Body) {
		r.Body = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r)
	l.bytes += len(r.Body)
	for len(l.list) > maxLogged || l.bytes > maxLoggedBytes && len(l.list) > 1 {
		l.bytes -= len(l.list[0].Body)
		l.list = l.list[1:]
		l.dropped++
	}
	if l.out != nil {
		r.Header = withoutKeys(r.Header)
		l.out.Write(append(compact(r), '\n')) //nolint:errcheck // Config says so
	}
}

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Request(nil), l.list...)
}

func (l *requestLog) lost() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// withoutKeys shortens keys: a file of requests gets passed around.
func withoutKeys(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range []string{"X-Api-Key", "Authorization", "Cookie"} {
		for i, v := range h[name] {
			scheme, key, two := strings.Cut(v, " ")
			if !two {
				scheme, key = "", v
			}
			h[name][i] = strings.TrimSpace(scheme + " ..." + key[max(0, len(key)-4, len(key)/2):])
		}
	}
	return h
}

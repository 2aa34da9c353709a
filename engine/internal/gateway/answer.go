package gateway

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/internal/gateway/sse"
	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// Headers of the MCP transport.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	jsonType      = "application/json"
	streamType    = "text/event-stream"
)

// Times of an event stream that has nothing to say: HTTP clients give up on an
// answer whose headers or next bytes do not come.
const (
	headersAfter  = 10 * time.Second
	commentsEvery = 15 * time.Second
)

// answer is what goes back for one POST of the agent: one JSON document where
// nothing but the response itself is to be said, else a stream of events.
type answer struct {
	w        http.ResponseWriter
	out      *bufio.Writer
	open     int // responses that are still to come
	noStream bool
	noJSON   bool
	streams  bool
}

func newAnswer(w http.ResponseWriter, r *http.Request, open int) *answer {
	a := &answer{w: w, open: open}
	if accept := strings.Join(r.Header.Values("Accept"), ","); accept != "" && !strings.Contains(accept, "*/*") {
		a.noStream = !strings.Contains(accept, streamType)
		a.noJSON = !a.noStream && !strings.Contains(accept, jsonType)
	}
	return a
}

// stream begins a stream of events.
func (a *answer) stream(status int) {
	if a.streams {
		return
	}
	a.streams = true
	h := a.w.Header()
	h.Set("Content-Type", streamType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	a.w.WriteHeader(status)
	a.out = bufio.NewWriterSize(a.w, 16<<10)
	a.flush()
}

// send passes one message on, with the event it came in.
func (a *answer) send(m *wire.Message, e sse.Event) error {
	responses := 0
	for i := range m.List {
		if m.List[i].IsResponse() {
			responses++
		}
	}
	last := responses >= a.open
	a.open -= responses
	if !a.streams && !a.noJSON && last && responses > 0 {
		return a.document(m)
	}
	if a.noStream {
		return nil
	}
	a.stream(http.StatusOK)
	if e.Name == "" {
		e.Name = "message"
	}
	if err := sse.Write(a.out, e, m); err != nil {
		return err
	}
	return a.flush()
}

func (a *answer) document(m *wire.Message) error {
	a.w.Header().Set("Content-Type", jsonType)
	a.w.Header().Set("Content-Length", strconv.FormatInt(m.Len(), 10))
	a.w.WriteHeader(http.StatusOK)
	_, err := m.WriteTo(a.w)
	return err
}

// comment keeps a stream alive that has nothing to say.
func (a *answer) comment() error {
	if a.noStream {
		return nil
	}
	a.stream(http.StatusOK)
	if err := sse.Comment(a.out); err != nil {
		return err
	}
	return a.flush()
}

func (a *answer) flush() error {
	if err := a.out.Flush(); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}

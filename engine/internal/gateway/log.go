package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/evalengine/evalengine/engine/internal/gateway/wire"
)

// Who sent a message.
const (
	fromAgent   = "agent"
	fromServer  = "server"
	fromGateway = "gateway" // in place of the server, as a tool change asks
)

// Bounds of the log's queue, of all that is logged, and of the wait for a log
// that hangs.
const (
	maxQueued = 32 << 20
	maxLogged = 512 << 20
	logWait   = 5 * time.Second
)

// entry is one line of gateway.jsonl but for the message itself.
type entry struct {
	AtMS    float64         `json:"at_ms"`
	Server  string          `json:"server"`
	Session string          `json:"session,omitempty"`
	From    string          `json:"from"`
	Kind    string          `json:"kind"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Status  int             `json:"status,omitempty"`
	// ToolsDigest is the digest of a list of tools that is complete with this
	// message, as the agent got it, Tools how many it has.
	ToolsDigest string `json:"tools_digest,omitempty"`
	Tools       int    `json:"tools,omitempty"`
	Bytes       int64  `json:"bytes"`
	// Truncated says that the message is not kept whole.
	Truncated bool `json:"truncated,omitempty"`
	// Altered says that the agent got Delivered instead.
	Altered bool `json:"altered,omitempty"`

	message, delivered []byte
}

// log writes entries on a goroutine of its own, so that no message waits for
// the disk.
type log struct {
	w    io.Writer
	wake chan struct{}
	done chan struct{}

	mu     sync.Mutex
	queue  []item
	bytes  int
	total  int
	lost   int
	closed bool
	failed error
}

// item is one line to be written: its size and how to make it.
type item struct {
	size int
	line func(*bytes.Buffer)
}

func newLog(w io.Writer) *log {
	l := &log{w: w, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if w == nil {
		close(l.done)
		l.closed = true
		return l
	}
	go l.run()
	return l
}

// message logs a message as it arrived, and as the agent got it where that was
// changed.
func (l *log) message(e entry, m *wire.Message, keep int64, delivered []byte) {
	if l.w == nil {
		return
	}
	e.Bytes = m.Size
	e.message = m.Slice(m.All(), keep)
	e.Truncated = int64(len(e.message)) < m.Size
	e.Altered, e.delivered = delivered != nil, delivered
	l.put(item{len(e.message) + len(delivered) + 200, func(b *bytes.Buffer) { line(b, &e) }})
}

// text logs bytes that are no message.
func (l *log) text(server, session, from, kind string, at time.Duration, m *wire.Message, keep int64) {
	l.message(entry{AtMS: ms(at), Server: server, Session: session, From: from, Kind: kind}, m, keep, nil)
}

func (l *log) put(i item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.failed != nil || l.bytes+i.size > maxQueued || l.total+i.size > maxLogged {
		l.lost++
		return
	}
	l.queue = append(l.queue, i)
	l.bytes += i.size
	l.total += i.size
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *log) run() {
	defer close(l.done)
	for range l.wake {
		for {
			l.mu.Lock()
			batch := l.queue
			l.queue, l.bytes = nil, 0
			closed := l.closed
			l.mu.Unlock()
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
			l.write(batch)
		}
	}
}

func (l *log) write(batch []item) {
	var b bytes.Buffer
	for i := range batch {
		b.Reset()
		batch[i].line(&b)
		if _, err := l.w.Write(b.Bytes()); err != nil {
			l.mu.Lock()
			l.failed = err
			l.lost += len(batch) - i
			l.mu.Unlock()
			return
		}
	}
}

// line appends the entry as one line of JSON. A message that can stand in a line
// of JSON stands there as it is.
func line(b *bytes.Buffer, e *entry) {
	head, err := json.Marshal(e)
	if err != nil {
		return
	}
	b.Write(head[:len(head)-1])
	value(b, "message", e.message, e.Truncated)
	if e.Altered {
		value(b, "delivered", e.delivered, false)
	}
	b.WriteString("}\n")
}

func value(b *bytes.Buffer, name string, raw []byte, cut bool) {
	if len(raw) == 0 {
		return
	}
	switch {
	case !cut && utf8.Valid(raw) && json.Valid(raw):
		b.WriteString(`,"` + name + `":`)
		for _, c := range raw {
			if c == '\n' || c == '\r' {
				c = ' '
			}
			b.WriteByte(c)
		}
		return
	case cut:
		name += "_prefix"
		raw = wholeRunes(raw)
	default:
		name += "_text"
	}
	if !utf8.Valid(raw) {
		text, _ := json.Marshal(base64.StdEncoding.EncodeToString(raw))
		b.WriteString(`,"` + name + `_base64":` + string(text))
		return
	}
	text, _ := json.Marshal(strings.TrimRight(string(raw), "\r\n"))
	b.WriteString(`,"` + name + `":` + string(text))
}

// wholeRunes is b without the half of a character at its end.
func wholeRunes(b []byte) []byte {
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRune(b); r != utf8.RuneError || n != 1 {
			break
		}
		b = b[:len(b)-1]
	}
	return b
}

// close writes what is queued. It gives up on a log that hangs.
func (l *log) close() {
	l.mu.Lock()
	if l.w == nil || l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	close(l.wake)
	l.mu.Unlock()
	t := time.NewTimer(logWait)
	defer t.Stop()
	select {
	case <-l.done:
	case <-t.C:
		l.mu.Lock()
		l.lost += len(l.queue)
		l.queue = nil
		l.mu.Unlock()
	}
}

func (l *log) dropped() int { l.mu.Lock(); defer l.mu.Unlock(); return l.lost }

func (l *log) err() error { l.mu.Lock(); defer l.mu.Unlock(); return l.failed }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package agentproc

import (
	"strings"
	"sync"
)

// tail keeps the end of a stream.
type tail struct {
	max  int
	done chan struct{} // closed by the writer at the stream's end

	mu  sync.Mutex
	buf []byte
	cut bool
}

func newTail(n int) *tail { return &tail{max: n, done: make(chan struct{})} }

func (t *tail) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*t.max {
		t.buf = append([]byte(nil), t.buf[len(t.buf)-t.max:]...)
		t.cut = true
	}
}

// String returns the last bytes; where they are cut, from the beginning of a line,
// or else of a word: half a secret would not be known for one.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, cut := t.buf, t.cut
	if extra := len(b) - t.max; extra > 0 {
		b, cut = b[extra:], true
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	if !cut {
		return s
	}
	for _, sep := range []string{"\n", " "} {
		if _, rest, ok := strings.Cut(s, sep); ok {
			return rest
		}
	}
	return ""
}

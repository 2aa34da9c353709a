package rpc

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// maxFirstLine is more than any handshake needs: a certificate is about 1 KB.
const maxFirstLine = 16 << 10

// firstLine remembers a plugin's first line of stdout.
type firstLine struct {
	over chan struct{} // closed when the line, or stdout, has ended

	mu   sync.Mutex
	text handshake
	eol  bool
}

// set ends the line; eol says whether the plugin did.
func (f *firstLine) set(b []byte, eol bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := strings.ToValidUTF8(strings.TrimSpace(string(b)), "\uFFFD")
	if len(text) > 200 && !strings.HasPrefix(text, "1|") {
		text = strings.ToValidUTF8(text[:200], "")
	}
	f.text, f.eol = handshake(text), eol
	close(f.over)
}

func (f *firstLine) get() handshake {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}

// ended says whether the plugin ended a line.
func (f *firstLine) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.eol
}

func (f *firstLine) blank() bool { return f.ended() && f.get() == "" }

// cut says whether stdout ended in the middle of a handshake.
func (f *firstLine) cut() bool { return !f.ended() && strings.HasPrefix(string(f.get()), "1|") }

// handshakeReader gives go-plugin the first line of stdout, cut at a bound, and
// sends everything after it to the log. go-plugin's own scanner stops reading at
// a line of 64 KiB, and then a plugin that goes on writing hangs.
type handshakeReader struct {
	r     io.Reader
	first *firstLine
	log   io.Writer

	pending []byte
	past    bool
}

func (h *handshakeReader) Read(b []byte) (int, error) {
	if !h.past {
		h.past = true
		h.pending = h.readFirst()
	}
	if len(h.pending) > 0 {
		n := copy(b, h.pending)
		h.pending = h.pending[n:]
		return n, nil
	}
	_, _ = io.Copy(h.log, h.r)
	return 0, io.EOF
}

// readFirst reads byte by byte: what follows the line is the log's.
func (h *handshakeReader) readFirst() []byte {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxFirstLine {
		if _, err := io.ReadFull(h.r, one); err != nil {
			h.first.set(line, false)
			if len(line) == 0 {
				return nil
			}
			return append(line, '\n')
		}
		if one[0] == '\n' {
			h.first.set(line, true)
			return append(line, '\n')
		}
		line = append(line, one[0])
	}
	h.first.set(line, true)
	return append(line, '\n')
}

// lastLine remembers the line that says most about an end: the first line of a
// panic, or else the last line that is not empty.
type lastLine struct {
	over chan struct{} // closed when stderr has ended

	mu    sync.Mutex
	part  []byte // of a line that has not ended, cut
	last  string
	panic bool
}

const keptOfLine = 300

func (l *lastLine) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	for {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), keptOfLine-min(len(l.part), keptOfLine))]...)
		if !ended {
			return n, nil
		}
		l.end()
		b = rest
	}
}

func (l *lastLine) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.over:
	default:
		close(l.over)
	}
}

func (l *lastLine) end() {
	line := bytes.TrimSpace(l.part)
	if len(line) > 0 && !l.panic {
		l.last = strings.ToValidUTF8(string(line), "\uFFFD")
		l.panic = bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))
	}
	l.part = l.part[:0]
}

func (l *lastLine) line() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	return l.last
}

// lastReader passes stderr on and remembers what matters of it. It is read by one
// goroutine.
type lastReader struct {
	r    io.Reader
	last *lastLine
}

func (l *lastReader) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	_, _ = l.last.Write(b[:n])
	if err != nil {
		l.last.finish()
	}
	return n, err
}

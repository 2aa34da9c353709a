package launch

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Bounds of one plugin process's log.
const (
	maxLogLine = 4 << 10
	maxLog     = 1 << 20
)

// logWriter turns what a plugin writes into log records, within bounds.
type logWriter struct {
	log *slog.Logger

	mu   sync.Mutex
	part []byte // of a line that has not ended, cut
	size int
	full bool
}

func (w *logWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(b)
	for {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		w.part = append(w.part, line[:min(len(line), maxLogLine-min(len(w.part), maxLogLine))]...)
		if !ended {
			return n, nil
		}
		w.end()
		b = rest
	}
}

func (w *logWriter) end() {
	line := strings.ToValidUTF8(strings.TrimSpace(string(w.part)), "\uFFFD")
	w.part = w.part[:0]
	if line == "" || w.full {
		return
	}
	w.size += len(line)
	w.full = w.size > maxLog
	if w.full {
		w.log.Warn("plugin's log is too long, the rest is dropped")
		return
	}
	w.log.Debug(line)
}

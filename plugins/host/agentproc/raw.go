package agentproc

import (
	"io"
	"os"
	"path/filepath"
	"sync"
)

// tee keeps what is read.
type tee struct {
	r io.Reader
	w *rawFile
}

func (t *tee) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.w.write(b[:n])
	return n, err
}

func rawName(name, stream string) string {
	if name == "" {
		name = "agent"
	}
	return name + "." + stream
}

// rawFile keeps a stream in a file that is made at the first byte. A file that
// cannot be written costs the raw output, not the trial.
type rawFile struct {
	dir, name string
	max       int64

	mu   sync.Mutex
	f    *os.File
	size int64
	dead bool
}

func (r *rawFile) write(b []byte) {
	if len(b) == 0 || r.dir == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead || !r.open() {
		return
	}
	if room := r.max - r.size; int64(len(b)) > room {
		b, r.dead = b[:max(room, 0)], true
	}
	n, err := r.f.Write(b)
	r.size += int64(n)
	r.dead = r.dead || err != nil
}

func (r *rawFile) open() bool {
	if r.f != nil {
		return true
	}
	err := os.MkdirAll(r.dir, 0o700)
	if err == nil {
		r.f, err = os.OpenFile(filepath.Join(r.dir, r.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	r.dead = err != nil
	return err == nil
}

func (r *rawFile) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = true
	if r.f != nil {
		r.f.Close()
		r.f = nil
	}
}

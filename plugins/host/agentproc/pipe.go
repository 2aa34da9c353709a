package agentproc

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// How long a stream whose program has ended may stay silent, and stay open,
// before it counts as ended: a process that escaped could hold it for ever.
const (
	silence  = 200 * time.Millisecond
	lastCall = 20 * time.Second
)

// pipe is the reading end of a stream. It ends with its last writer, or soon
// after its program did.
type pipe struct {
	f      *os.File
	exited <-chan struct{}
	once   sync.Once
	until  time.Time // set with once
	over   bool
}

func newPipe(f *os.File, exited <-chan struct{}) *pipe { return &pipe{f: f, exited: exited} }

// expire makes a blocked Read look whether its program has ended.
func (p *pipe) expire() { _ = p.f.SetReadDeadline(time.Now().Add(silence)) }

func (p *pipe) Read(b []byte) (int, error) {
	if p.over {
		return 0, io.EOF
	}
	n, err := p.f.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		if err != nil {
			p.over, err = true, io.EOF
		}
		return n, err
	}
	// The deadline may have passed while the reader was elsewhere: what is there
	// already is still read.
	p.once.Do(func() { p.until = time.Now().Add(lastCall) })
	p.expire()
	n, err = p.f.Read(b)
	if err != nil || time.Now().After(p.until) {
		p.over = true
		err = io.EOF
	}
	return n, err
}

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

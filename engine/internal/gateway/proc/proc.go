// Package proc runs a program that speaks over stdio under a keeper and ends it
// with everything it started, wherever that has moved. It does not read the
// program's output. Start at [Start].
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evalengine/evalengine/internal/proc"
)

// Spec is the program to run.
type Spec struct {
	Command string
	Args    []string
	// Env is the whole environment.
	Env map[string]string
	Dir string
	// Grace is how long the program may take to end after its input ended, and
	// again after SIGTERM; default 2 s.
	Grace time.Duration
	// Files are the program's file descriptors from 3 on. The caller closes its own
	// after Start.
	Files []*os.File
	// Stderr is how many of the last bytes written to stderr are kept; default
	// 64 KiB.
	Stderr int
}

// drain is how long output may still come after the program itself has ended.
const drain = time.Second

// Proc is a running program. Its methods are safe for concurrent use.
type Proc struct {
	// Stdin and Stdout are the program's, for one writer and one reader.
	Stdin, Stdout *os.File

	cmd    *exec.Cmd
	kept   *proc.Kept
	grace  time.Duration
	stderr *tail
	exited chan struct{} // the program has ended
	read   chan struct{} // nobody waits for more output
	done   chan struct{} // the whole session has ended
	err    error
	stop   sync.Once
	unread sync.Once
}

// Start runs the program. The caller must call Stop.
func Start(s Spec) (*Proc, error) {
	path, err := look(s.Command, s.Env["PATH"])
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, s.Args...)
	cmd.Args[0] = s.Command
	cmd.Dir = s.Dir
	cmd.Env = make([]string, 0, len(s.Env))
	for k, v := range s.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.ExtraFiles = s.Files
	p := &Proc{cmd: cmd, grace: s.Grace, exited: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{})}
	if p.grace <= 0 {
		p.grace = 2 * time.Second
	}
	if s.Stderr <= 0 {
		s.Stderr = 64 << 10
	}
	p.stderr = &tail{max: s.Stderr}
	if err := p.run(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Command, err)
	}
	return p, nil
}

// look finds the command in the program's own PATH, not in the engine's.
func look(command, path string) (string, error) {
	if strings.ContainsRune(command, filepath.Separator) {
		return command, nil
	}
	if path == "" {
		return exec.LookPath(command)
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, command)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}

// run uses pipes of its own: those of exec are closed by Wait, which may come
// before the last output is read.
func (p *Proc) run() error {
	var files []*os.File
	fail := func(err error) error {
		for _, f := range files {
			f.Close()
		}
		return err
	}
	var ends [3][2]*os.File
	for i := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		ends[i] = [2]*os.File{r, w}
		files = append(files, r, w)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = ends[0][0], ends[1][1], ends[2][1]
	p.Stdin, p.Stdout = ends[0][1], ends[1][0]
	started := make(chan error)
	go p.supervise(ends[2][0], started)
	if err := <-started; err != nil {
		return fail(err)
	}
	ends[0][0].Close()
	ends[1][1].Close()
	ends[2][1].Close()
	return nil
}

// supervise starts the program and waits for the end of all that it started. It
// keeps one thread for that, whose end would be the program's.
func (p *Proc) supervise(stderr *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	p.kept, err = proc.Keep(p.cmd, proc.Box{})
	started <- err
	if err != nil {
		return
	}
	var copied sync.WaitGroup
	copied.Go(func() { io.Copy(p.stderr, stderr) })
	p.err = proc.Failure(p.kept.Finish("", p.exited))
	t := time.NewTimer(drain)
	select {
	case <-t.C:
	case <-p.read:
	}
	t.Stop()
	p.Stdin.Close()
	p.Stdout.Close()
	// A process that left the session may hold the other end.
	stderr.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	copied.Wait()
	stderr.Close()
	close(p.done)
}

// OutputEnded says that nobody reads on: the output has ended.
func (p *Proc) OutputEnded() { p.unread.Do(func() { close(p.read) }) }

// Done is closed when the program and its whole session have ended.
func (p *Proc) Done() <-chan struct{} { return p.done }

// Err says how the program ended, nil for status 0. It waits for Done.
func (p *Proc) Err() error { <-p.done; return p.err }

// Stderr is the end of what the program wrote to stderr.
func (p *Proc) Stderr() string { return p.stderr.String() }

// PID is the process id of the program's keeper, whose end is the program's.
func (p *Proc) PID() int { return p.kept.Pid() }

// Stop ends the program: its input ends, after the grace time comes SIGTERM,
// after the grace time again SIGKILL, each to everything that it started. It
// returns when nothing of that is left.
func (p *Proc) Stop() error {
	p.stop.Do(func() {
		if !p.kept.Keeps() {
			// What left the session can be told while the program lives.
			seen := proc.KinOf(p.PID())
			defer seen.Kill()
		}
		p.Stdin.Close()
		if p.gone() {
			return
		}
		p.kept.SignalAll(syscall.SIGTERM)
		if p.gone() {
			return
		}
		p.kept.Kill()
	})
	<-p.exited
	p.OutputEnded()
	<-p.done
	var exit proc.ExitError
	if errors.As(p.err, &exit) {
		return nil
	}
	return p.err
}

func (p *Proc) gone() bool {
	t := time.NewTimer(p.grace)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

// tail keeps the last bytes written.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.max; over > t.max {
		t.buf, t.cut = append(t.buf[:0], t.buf[over:]...), true
	}
	return len(p), nil
}

// String returns the last bytes; where they are cut, from the beginning of a line,
// or else of a word: half a secret would not be known for one.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, cut := t.buf, t.cut
	if over := len(b) - t.max; over > 0 {
		b, cut = b[over:], true
	}
	if !cut {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	for _, sep := range []string{"\n", " "} {
		if _, rest, ok := bytes.Cut(b, []byte(sep)); ok {
			return strings.ToValidUTF8(string(rest), "\uFFFD")
		}
	}
	return ""
}

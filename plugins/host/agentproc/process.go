package agentproc

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
	"github.com/evalengine/evalengine/plugins/rpc"
)

const pluginMark = rpc.EnvMark

// Process is a running agent program with everything that it started.
type Process struct {
	cmd    *exec.Cmd
	kept   *proc.Kept
	mark   string
	grace  time.Duration
	stdin  *os.File
	stdout *proc.Pipe
	stderr *proc.Pipe
	tail   *tail
	lines  *lineReader
	raw    []*rawFile

	isolated eval.Isolated
	why      error // it is not isolated although it should be

	stopCtx  func() bool
	stopOnce sync.Once
	stopped  atomic.Bool
	exited   chan struct{} // closed when the program has ended, before the rest has
	done     chan struct{} // closed when nothing is left
	exit     Exit

	stdinMu sync.Mutex
}

// Exit is how a program ended.
type Exit struct {
	// Code is the exit code, -1 for a program that a signal ended.
	Code int
	// Signal is the signal's name, empty for a program that exited.
	Signal string
	// Stopped says that the program was told to end by Stop, Close or the context.
	Stopped bool
}

func (e Exit) String() string {
	if e.Signal != "" {
		return "ended by signal " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// Start starts the program in a session of its own. When ctx ends the program is
// stopped as by [Process.Stop]. The caller must call Close.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	path, err := c.lookPath()
	if err != nil {
		return nil, err
	}
	p := &Process{
		mark: rand.Text(), grace: c.Grace, tail: newTail(StderrTail),
		exited: make(chan struct{}), done: make(chan struct{}),
	}
	if p.grace == 0 {
		p.grace = DefaultGrace
	}
	p.cmd = &exec.Cmd{
		Path: path, Args: append([]string{c.Path}, c.Args...), Dir: cmp.Or(c.Dir, "/"), Env: c.environ(p.mark),
	}
	if err := p.run(&c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	p.stopCtx = context.AfterFunc(ctx, p.Stop)
	return p, nil
}

// run opens the pipes, starts the program and everything that watches it.
func (p *Process) run(c *Command) error {
	ends, err := p.open(c)
	if err != nil {
		return err
	}
	started := make(chan error)
	go p.supervise(c, started)
	err = <-started
	for _, f := range ends {
		f.Close()
	}
	if err != nil {
		p.closePipes()
		return err
	}
	stdout := &rawFile{dir: c.RawDir, name: rawName(c.RawName, "stdout"), max: MaxRaw}
	stderr := &rawFile{dir: c.RawDir, name: rawName(c.RawName, "stderr"), max: MaxRaw}
	p.raw = []*rawFile{stdout, stderr}
	p.lines = newLineReader(&tee{p.stdout, stdout}, c.MaxLine)
	go p.pumpStderr(&tee{p.stderr, stderr})
	return nil
}

// open makes the pipes and returns the child's ends, which the caller closes.
func (p *Process) open(c *Command) (ends []*os.File, err error) {
	defer func() {
		if err != nil {
			for _, f := range ends {
				f.Close()
			}
			p.closePipes()
		}
	}()
	var w *os.File
	if p.stdout, w, err = proc.NewPipe(); err != nil {
		return ends, err
	}
	p.cmd.Stdout, ends = w, append(ends, w)
	if p.stderr, w, err = proc.NewPipe(); err != nil {
		return ends, err
	}
	p.cmd.Stderr, ends = w, append(ends, w)
	if !c.Stdin {
		return ends, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return ends, err
	}
	p.stdin, p.cmd.Stdin, ends = w, r, append(ends, r)
	return ends, nil
}

func (p *Process) closePipes() {
	if p.stdout != nil {
		p.stdout.Close()
	}
	if p.stderr != nil {
		p.stderr.Close()
	}
	p.CloseStdin()
}

// supervise starts the program, waits for it and ends what it left. It keeps one
// thread for all of that: the kernel's parent-death signal, which ends the
// program when the plugin is killed, goes by thread.
func (p *Process) supervise(c *Command, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.start(c); err != nil {
		started <- err
		return
	}
	started <- nil
	status, err := p.kept.Finish(EnvMark+"="+p.mark, p.exited)
	p.exit = exitOf(status, err)
	p.exit.Stopped = p.stopped.Load()
	p.stderr.Expire()
	p.stdout.Expire()
	<-p.tail.done
	close(p.done)
}

// start starts the program in its box, or without one where there is none and the
// policy allows that.
func (p *Process) start(c *Command) (err error) {
	box := c.box()
	p.isolated = eval.NotIsolated
	p.kept, err = proc.Keep(p.cmd, box)
	if box.Namespaces && errors.Is(err, proc.ErrBox) && c.Isolation.Policy != eval.IsolationRequired {
		p.why = err
		p.kept, err = proc.Keep(p.cmd, proc.Box{})
	}
	switch {
	case err != nil:
		return err
	case p.kept.Boxed.OwnProc:
		p.isolated = eval.IsolatedFully
	case p.kept.Boxed.Namespaces:
		p.isolated = eval.IsolatedFiles
	}
	c.told.set(p.isolated, p.why)
	return nil
}

func exitOf(w syscall.WaitStatus, err error) Exit {
	switch {
	case err != nil:
		return Exit{Code: -1, Signal: err.Error()}
	case w.Signaled():
		return Exit{Code: -1, Signal: proc.SignalName(w.Signal())}
	}
	return Exit{Code: w.ExitStatus()}
}

func (p *Process) pumpStderr(r *tee) {
	defer close(p.tail.done)
	buf := make([]byte, 16<<10)
	for {
		n, err := r.Read(buf)
		p.tail.write(buf[:n])
		if err != nil {
			return
		}
	}
}

// Line returns the next line of stdout; the error is [io.EOF] at the end. It is
// not safe for concurrent use.
func (p *Process) Line() (Line, error) { return p.lines.next() }

// ErrNoStdin is returned by [Process.Write] when the command was started without
// Stdin, or after CloseStdin.
var ErrNoStdin = errors.New("stdin is closed")

// Write writes to the program's stdin. It returns when all is written or the
// program has closed its end.
func (p *Process) Write(b []byte) (int, error) {
	p.stdinMu.Lock()
	f := p.stdin
	p.stdinMu.Unlock()
	if f == nil {
		return 0, ErrNoStdin
	}
	return f.Write(b)
}

// CloseStdin ends the program's stdin.
func (p *Process) CloseStdin() {
	p.stdinMu.Lock()
	defer p.stdinMu.Unlock()
	if p.stdin != nil {
		p.stdin.Close()
		p.stdin = nil
	}
}

// Pid is the ID of the process that keeps the program and all that it starts.
func (p *Process) Pid() int { return p.kept.Pid() }

// Isolated says what the command's Isolation came to; the error is why it is less
// than it should be.
func (p *Process) Isolated() (eval.Isolated, error) { return p.isolated, p.why }

// Exited is closed when the program itself has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Stderr returns the end of what the program wrote to stderr so far.
func (p *Process) Stderr() string { return p.tail.String() }

// Stop ends the program softly, without waiting for it: SIGINT, after the grace
// SIGTERM, after another SIGKILL to everything that it started. Stop may be called
// more than once and from several goroutines.
func (p *Process) Stop() {
	p.stopOnce.Do(func() {
		p.stopped.Store(true)
		go p.escalate()
	})
}

func (p *Process) escalate() {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p.kept.Signal(sig)
		t := time.NewTimer(p.grace)
		select {
		case <-p.exited:
			t.Stop()
			return
		case <-t.C:
		}
	}
	p.Kill()
}

// Kill ends the program and everything that it started at once, without waiting.
func (p *Process) Kill() {
	p.stopped.Store(true)
	select {
	case <-p.exited: // supervise ends the rest
	default:
		p.kept.Kill()
	}
}

// Wait waits until the program and everything that it started has ended. It does
// not wait for lines to be read: they still can be.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// Close stops the program, waits for its end and frees what belongs to it. What
// is left of stdout is kept in RawDir, not returned. It may be called more than
// once, but not while Line is running.
func (p *Process) Close() Exit {
	p.CloseStdin()
	select {
	case <-p.exited:
	default:
		p.Stop()
	}
	e := p.Wait()
	p.stopCtx()
	p.lines.drain()
	p.stdout.Close()
	p.stderr.Close()
	for _, r := range p.raw {
		r.close()
	}
	return e
}

package main

import (
	"context"
	"crypto/rand"
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

// Marks in the environment of what is started: of one process with all that it
// starts, and of all processes of one target. What left its session is found by
// them.
const (
	envProcess = "EVALENGINE_SESSION_MARK"
	envTarget  = "EVALENGINE_TARGET_MARK"
)

// grace is how long each soft step of an end lasts.
const grace = 3 * time.Second

// tailSize is how much of what a process wrote is kept for errors.
const tailSize = 4 << 10

// program says what to start.
type program struct {
	argv []string
	dir  string
	// env is the whole environment.
	env map[string]string
	// stdout gets what the program writes; nil keeps the end of it with stderr's.
	stdout io.Writer
	// stdin keeps stdin open, and gives stdout to the caller to read.
	stdin bool
	// keep lets what the program leaves in the background live: it ends with the
	// target. Where there is no keeper, what wiped the target's mark from its
	// environment ends with the program.
	keep bool
}

// process is a running program in a session of its own.
type process struct {
	cmd  *exec.Cmd
	kept *proc.Kept
	mark string
	keep bool
	// in and out are set for a program with stdin.
	in    *os.File
	out   *proc.Pipe
	tail  tail
	pipes []*proc.Pipe
	pumps sync.WaitGroup

	exited chan struct{} // closed when the program has ended
	over   chan struct{} // of a program with keep, closed when the target ends
	done   chan struct{} // closed when nothing of it is left, and nothing is read any more
	err    error         // set with done
}

func start(p program) (*process, error) {
	path, err := look(p.argv[0], p.dir, p.env["PATH"])
	if err != nil {
		return nil, err
	}
	r := &process{mark: rand.Text(), keep: p.keep, exited: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{})}
	r.cmd = &exec.Cmd{Path: path, Args: p.argv, Dir: p.dir}
	r.cmd.Env = append(environ(p.env), envProcess+"="+r.mark)
	if err := r.run(p); err != nil {
		return nil, fmt.Errorf("%s: %w", p.argv[0], err)
	}
	return r, nil
}

// run opens the pipes, starts the program and what watches it.
func (r *process) run(p program) (err error) {
	var ends []*os.File
	defer func() {
		for _, f := range ends {
			f.Close()
		}
		if err == nil {
			return
		}
		for _, in := range r.pipes {
			in.Close()
		}
	}()
	open := func() (*proc.Pipe, *os.File, error) {
		in, w, err := proc.NewPipe()
		if err == nil {
			ends, r.pipes = append(ends, w), append(r.pipes, in)
		}
		return in, w, err
	}
	stderr, w, err := open()
	if err != nil {
		return err
	}
	r.cmd.Stdout, r.cmd.Stderr = w, w
	stdout := stderr
	if p.stdout != nil || p.stdin {
		if stdout, w, err = open(); err != nil {
			return err
		}
		r.cmd.Stdout = w
	}
	if p.stdin {
		in, w, err := os.Pipe()
		if err != nil {
			return err
		}
		ends = append(ends, in)
		r.cmd.Stdin, r.in, r.out = in, w, stdout
		defer func() {
			if err != nil {
				w.Close()
			}
		}()
	}
	r.pumps.Go(func() { _, _ = io.Copy(&r.tail, stderr) })
	if p.stdout != nil {
		r.pumps.Go(func() {
			_, _ = io.Copy(p.stdout, stdout)
			_, _ = io.Copy(io.Discard, stdout)
		})
	}
	started := make(chan error)
	go r.supervise(started)
	return <-started
}

// supervise keeps one thread as long as the program runs: the kernel's
// parent-death signal, which ends the program when this process is killed, goes
// by thread.
func (r *process) supervise(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	keep := func() (*proc.Kept, error) { return proc.Keep(r.cmd, proc.Box{}) }
	if r.keep {
		keep = func() (*proc.Kept, error) { return proc.KeepOn(r.cmd) }
	}
	var err error
	if r.kept, err = keep(); err != nil {
		started <- err
		return
	}
	started <- nil
	if r.keep {
		r.stay()
		return
	}
	r.drain(proc.Failure(r.kept.Finish(envProcess+"="+r.mark, r.exited)))
}

// stay waits for the end of a program that may leave others, and ends those with
// the target.
func (r *process) stay() {
	if !r.kept.Keeps() {
		r.err = leave(r.cmd)
		close(r.exited)
		<-r.over
	} else {
		r.err = proc.Failure(r.kept.Ended())
		close(r.exited)
		<-r.over
		r.kept.Kill()
		_, _ = r.kept.Finish("", make(chan struct{}))
	}
	r.drain(r.err)
}

// drain ends the reading of what a program that has ended wrote.
func (r *process) drain(err error) {
	for _, p := range r.pipes {
		p.Expire()
	}
	r.pumps.Wait()
	r.err = err
	for _, p := range r.pipes {
		if p != r.out {
			p.Close()
		}
	}
	close(r.done)
}

// endKept ends what a kept program left in the background, and the reading of what
// it wrote.
func (r *process) endKept() {
	close(r.over)
	<-r.done
}

func (r *process) closeStdin() {
	if r.in != nil {
		r.in.Close()
	}
}

// stop ends the program and everything that it started: a program with stdin is
// told by its end, then SIGTERM, then SIGKILL, each after the grace.
func (r *process) stop() {
	var kin proc.Kin
	select {
	case <-r.exited:
	default:
		kin = proc.KinOf(r.kept.Pid())
	}
	defer kin.Kill()
	if r.in != nil {
		r.closeStdin()
		r.wait(grace)
	}
	select {
	case <-r.exited:
	default:
		r.kept.Signal(syscall.SIGTERM)
		if !r.wait(grace) {
			r.kept.Kill()
		}
	}
	<-r.done
	if r.out != nil {
		r.out.Close()
	}
}

func (r *process) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.exited:
		return true
	case <-t.C:
		return false
	}
}

// said quotes the end of what the program wrote.
func (r *process) said() string {
	if s := r.tail.String(); s != "" {
		return fmt.Sprintf("; it said: %s", s)
	}
	return ""
}

// ended says how a program that has ended did so.
func (r *process) ended() string {
	<-r.done
	if r.err == nil {
		return "exit status 0"
	}
	return r.err.Error()
}

// run runs a program to its end. When ctx ends it is killed with everything that
// it started.
func run(ctx context.Context, p program) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	r, err := start(p)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, r.kept.Kill)
	defer stop()
	<-r.exited
	if r.keep && r.err == nil && ctx.Err() == nil {
		return r, nil
	}
	if r.keep {
		endMarked(envProcess + "=" + r.mark)
		r.endKept()
	}
	<-r.done
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w%s", strings.Join(p.argv, " "), context.Cause(ctx), r.said())
	case r.err != nil:
		return nil, fmt.Errorf("%s: %w%s", strings.Join(p.argv, " "), r.err, r.said())
	}
	return r, nil
}

// errNotFound is returned when a program is nowhere in PATH.
var errNotFound = errors.New("not found in PATH")

// look finds a program as a shell in dir with that PATH would.
func look(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	for _, d := range filepath.SplitList(path) {
		if p := filepath.Join(d, name); filepath.IsAbs(d) && executable(p) == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: %w (%s)", name, errNotFound, path)
}

func executable(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
		return fmt.Errorf("%s: not a program", path)
	}
	return nil
}

func environ(env map[string]string) []string {
	var list []string
	for _, k := range sortedKeys(env) {
		list = append(list, k+"="+env[k])
	}
	return list
}

package wasm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// errWorker is returned where a worker broke in a way that no module is to blame
// for.
var errWorker = errors.New("scorer worker")

// moduleError is the module's own fault, in a sentence for a person.
type moduleError struct {
	text string
	log  []byte
}

func (e *moduleError) Error() string { return e.text }

// process is a scorer worker as the engine sees it. It is used by one goroutine
// at a time.
type process struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	r      *bufio.Reader
	stderr tail
	loaded map[int64]bool
	// usable says that the process waits for its next frame.
	usable bool
	// dead is closed when the process has ended.
	dead chan struct{}
	// buf is reused from call to call.
	buf []byte
}

// spawner starts processes from one thread that lives as long as it does.
type spawner struct {
	jobs chan func()
	once sync.Once
}

func newSpawner() *spawner { return &spawner{jobs: make(chan func())} }

func (s *spawner) run() {
	runtime.LockOSThread() // Never unlocked: the thread ends with the goroutine.
	for job := range s.jobs {
		job()
	}
}

func (s *spawner) start(cmd *exec.Cmd) error {
	s.once.Do(func() { go s.run() })
	err := make(chan error)
	s.jobs <- func() { err <- cmd.Start() }
	return <-err
}

func (s *spawner) close() { close(s.jobs) }

func (rt *Runtime) startProcess() (*process, error) {
	p := &process{loaded: map[int64]bool{}, dead: make(chan struct{})}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	widen(in)
	p.in, p.out, p.r = in, out, bufio.NewReaderSize(out, 32<<10)
	p.cmd = exec.Command(rt.o.Command[0], rt.o.Command[1:]...)
	p.cmd.Env = append([]string{}, rt.o.Environ...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, &p.stderr
	p.cmd.SysProcAttr = ownSession()
	err = rt.spawn.start(p.cmd)
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.dead)
	}()
	hello := beginFrame(nil, frameHello)
	if rt.o.Interpret {
		hello = appendInt(hello, 1)
	} else {
		hello = appendInt(hello, 0)
	}
	hello = append(hello, rt.cacheDir...)
	endFrame(hello, 0)
	if _, err := in.Write(hello); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	p.usable = true
	return p, nil
}

// kill ends the process and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.in.Close()
	<-p.dead
	p.out.Close()
}

// close lets the process end by itself.
func (p *process) close() {
	p.in.Close()
	select {
	case <-p.dead:
		p.out.Close()
	case <-time.After(5 * time.Second):
		p.kill()
	}
}

// answer is what came back from a run.
type answer struct {
	code        int64
	log, output []byte
}

// exchange sends a frame in pieces and waits for the answer. A moduleError is the
// module's fault, any other error the worker's or the end of ctx. timeout is the
// worker's own time: what call takes does not count.
// What is longer than most was not sent by a worker in its senses.
func (p *process) exchange(ctx context.Context, timeout time.Duration, most int64, pieces [][]byte,
	call func(op string, request []byte) (int64, []byte)) (*answer, error) {
	stop := context.AfterFunc(ctx, func() {
		now := time.Now()
		_ = p.out.SetReadDeadline(now)
		_ = p.in.SetWriteDeadline(now)
	})
	defer stop()
	p.usable = false
	for left := timeout; ; {
		began := time.Now()
		kind, body, err := p.turn(ctx, began.Add(left), most, pieces)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, p.died(err, timeout)
		}
		f := fields{b: body}
		switch kind {
		case frameDone:
			a := &answer{code: f.int()}
			a.log = f.bytes(f.int())
			a.output = f.b
			p.usable = !f.bad
			return a, f.check()
		case frameFault:
			log := f.bytes(f.int())
			if err := f.check(); err != nil {
				return nil, err
			}
			p.usable = true
			return nil, &moduleError{string(f.b), log}
		case frameCall:
			if left -= time.Since(began); left <= 0 {
				return nil, p.died(os.ErrDeadlineExceeded, timeout)
			}
			op := string(f.bytes(f.int()))
			if err := f.check(); err != nil {
				return nil, err
			}
			code, response := call(op, f.b)
			reply := appendInt(beginFrame(nil, frameReply), code)
			endFrame(reply, len(response))
			pieces = [][]byte{reply, response}
		default:
			return nil, fmt.Errorf("%w: frame %q", errWorker, kind)
		}
	}
}

func (f *fields) check() error {
	if f.bad {
		return fmt.Errorf("%w: malformed frame", errWorker)
	}
	return nil
}

// turn writes one frame and reads the next.
func (p *process) turn(ctx context.Context, deadline time.Time, most int64, pieces [][]byte) (byte, []byte, error) {
	if err := p.in.SetWriteDeadline(deadline); err != nil {
		return 0, nil, err
	}
	if err := p.out.SetReadDeadline(deadline); err != nil {
		return 0, nil, err
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, err
	}
	for _, b := range pieces {
		if len(b) == 0 {
			continue
		}
		if _, err := p.in.Write(b); err != nil {
			return 0, nil, err
		}
	}
	kind, n, err := readHeader(p.r)
	if err != nil {
		return 0, nil, err
	}
	if int64(n) > most {
		return 0, nil, fmt.Errorf("%w: frame of %d bytes", errWorker, n)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(p.r, body)
	return kind, body, err
}

// died says why the process did not answer.
func (p *process) died(err error, timeout time.Duration) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &moduleError{text: fmt.Sprintf("ran longer than %v", timeout)}
	}
	p.kill()
	said := p.stderr.String()
	if strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory") {
		return &moduleError{text: "ran out of memory"}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line == "" {
		line = p.cmd.ProcessState.String()
	}
	return &moduleError{text: "ended its worker: " + line}
}

// tail keeps the first bytes written to it: a Go program's last words begin with
// what matters.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - len(t.b); room > 0 {
		t.b = append(t.b, b[:min(len(b), room)]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

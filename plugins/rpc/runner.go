package rpc

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/evalengine/evalengine/internal/proc"
)

var _ runner.Runner = (*process)(nil)

// dyingTimeout is how long a process that closed its stdout may take to end by
// itself, so that its exit status can be told.
const dyingTimeout = 500 * time.Millisecond

// process is a plugin's operating system process, as go-plugin's runner: in a
// session of its own, with a stdin that ends when the engine does, and with pipes
// that end when the process does, whoever else holds them. go-plugin's own runner
// has none of these.
type process struct {
	plug
	path  string
	file  *os.File
	cwd   string
	env   []string
	dir   string
	mark  string
	limit time.Duration
	log   io.Writer
	// majors are those of the protocol that the engine speaks.
	majors []int

	cmd            *exec.Cmd
	startErr       error
	stdin          *os.File
	stdout, stderr *proc.Pipe
	first          firstLine
	last           lastLine

	mu       sync.Mutex
	started  bool
	draining atomic.Bool
	timedOut atomic.Bool
	killed   atomic.Bool
	gone     chan struct{} // closed when the process itself has ended
	done     chan struct{} // closed when everything that it left has
	waitErr  error
}

func newProcess(c Command, dir string) *process {
	r := &process{
		plug: plug{c.Kind, c.Name}, path: c.Path, file: c.File, cwd: c.Dir, dir: dir, mark: rand.Text(), limit: c.StartTimeout,
		log: c.Log, majors: majors(c.Protocols), gone: make(chan struct{}), done: make(chan struct{}),
		first: firstLine{over: make(chan struct{})}, last: lastLine{over: make(chan struct{})},
	}
	r.env = append(append(r.env, c.Env...), EnvMark+"="+r.mark, EnvLifetime+"=stdin")
	return r
}

// Start implements [runner.Runner].
func (r *process) Start(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.startErr == nil {
		r.startErr = r.start()
	}
	r.started = r.startErr == nil
	return r.startErr
}

func (r *process) start() error {
	stdin, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	r.stdin = w
	var outW, errW *os.File
	if r.stdout, outW, err = proc.NewPipe(); err != nil {
		return err
	}
	defer outW.Close()
	if r.stderr, errW, err = proc.NewPipe(); err != nil {
		return err
	}
	defer errW.Close()
	path, err := r.program()
	if err != nil {
		return err
	}
	r.cmd = &exec.Cmd{
		Path: path, Args: []string{r.path}, Env: r.env, Dir: cmp.Or(r.cwd, r.dir),
		Stdin: stdin, Stdout: outW, Stderr: errW, SysProcAttr: proc.Attr(),
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go r.supervise()
	return nil
}

func (r *process) supervise() {
	r.waitErr = proc.Finish(r.cmd, EnvMark+"="+r.mark, r.gone)
	r.stdout.Expire()
	r.stderr.Expire()
	r.stdin.Close()
	close(r.done)
}

// Wait implements [runner.Runner].
func (r *process) Wait(context.Context) error {
	<-r.done
	return r.waitErr
}

// Kill implements [runner.Runner]. go-plugin calls it two seconds after it asked
// the plugin to end, which is too soon for one that has sessions to end.
func (r *process) Kill(context.Context) error {
	switch {
	case r.draining.Load():
		r.await(drainTimeout)
	case !r.first.ended(): // stdout ended before a line had: so does the process
		r.await(dyingTimeout)
	}
	r.kill()
	<-r.done
	return nil
}

func (r *process) await(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-r.gone:
	case <-t.C:
	}
}

// kill ends the process at once; supervise ends what it leaves.
func (r *process) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		r.startErr = context.Canceled // Start comes too late
		return
	}
	select {
	case <-r.gone:
	default:
		r.killed.Store(true)
		_ = r.cmd.Process.Kill()
	}
}

func (r *process) expireStart() {
	r.timedOut.Store(true)
	r.kill()
}

// drain lets Kill wait for the plugin's own end.
func (r *process) drain() { r.draining.Store(true) }

func (r *process) exited() bool {
	select {
	case <-r.done:
		return true
	case <-time.After(time.Second): // the connection's end can be seen before the process's
		return false
	}
}

func (r *process) ended() string {
	if r.waitErr == nil {
		return "exit status 0"
	}
	return r.waitErr.Error()
}

func (r *process) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return 0
	}
	return r.cmd.Process.Pid
}

// Stdout implements [runner.Runner].
func (r *process) Stdout() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{&handshakeReader{r: r.stdout, first: &r.first, log: r.log}, r.stdout}
}

// Stderr implements [runner.Runner].
func (r *process) Stderr() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{&lastReader{r.stderr, &r.last}, r.stderr}
}

// Name implements [runner.Runner].
func (r *process) Name() string { return r.path }

// ID implements [runner.Runner].
func (r *process) ID() string {
	if pid := r.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

// Diagnose implements [runner.Runner].
func (r *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements [runner.Runner].
func (r *process) PluginToHost(network, addr string) (string, string, error) {
	switch network {
	case "unix":
		return network, addr, nil
	case "tcp":
		a, err := netip.ParseAddrPort(addr)
		if err != nil || !a.Addr().IsLoopback() {
			return "", "", fmt.Errorf("its handshake has the address %q, which is not one of this machine's own", addr)
		}
		return network, addr, nil
	}
	return "", "", fmt.Errorf("its handshake has the unknown network %q", network)
}

// HostToPlugin implements [runner.Runner].
func (r *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

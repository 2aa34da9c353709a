package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeperName is the name under which a program's own binary is started again to
// keep another; see [Keeper].
const keeperName = "evalengine-keeper"

// ready says that this binary can be started as a keeper: [Keeper] is called at its
// start. One that does not call it would start itself for nothing, again and again.
var ready atomic.Bool

// startBound is how long a keeper may take to start a program.
const startBound = 30 * time.Second

// self is the binary that is running, whatever has become of its file.
const self = "/proc/self/exe"

// order is what a keeper is told, once, over its control pipe. The pipe's end
// tells it to end everything.
type order struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
	Box  Box      `json:"box"`
	// Files are how many descriptors of the keeper's, from filesFD on, are the
	// program's.
	Files int `json:"files,omitempty"`
	// Stay lets what the program leaves live until the pipe's end.
	Stay bool `json:"stay,omitempty"`
}

// word is what a keeper says, in lines: that the program was started, or why not,
// and later how it ended.
type word struct {
	Started bool `json:"started,omitempty"`
	OwnProc bool `json:"own_proc,omitempty"`
	// Errno is why the program could not be started; Setup is why there was nothing
	// to start it in.
	Errno  int    `json:"errno,omitempty"`
	Setup  string `json:"setup,omitempty"`
	Status *int   `json:"status,omitempty"`
}

// ErrBox is returned where the machine does not give a program its box.
var ErrBox = errors.New("namespaces")

// Kept is a program under a keeper: a process of this binary that is the parent of
// all that the program leaves behind, whatever session it moves to and whatever it
// does with its environment, and that ends all of it when the program ends, when
// it is told to, or when this process ends.
type Kept struct {
	Boxed   Boxed
	cmd     *exec.Cmd
	control *os.File
	words   *json.Decoder
	report  *os.File
	ended   sync.Once
	status  *int // set by Ended
}

// Keep starts cmd under a keeper in a session of its own; the box may be zero. A
// program that does not call [Keeper] has none: then what cmd starts is found by
// session and mark alone, and no box can be had.
//
// Path, Args, Env, Dir, the three streams and ExtraFiles of cmd are the program's. Its thread
// is locked by the caller until the program has ended.
//
// The error is [ErrBox] for a box that cannot be had, and what starting the program
// directly would give for everything else.
func Keep(cmd *exec.Cmd, b Box) (*Kept, error) { return start(cmd, b, false) }

// KeepOn is Keep, without a box, for a program that may leave others in the
// background: they live until [Kept.Kill]. [Kept.Ended] waits for the program's own
// end. Without a keeper, see [Kept.Keeps], all of that is the caller's.
func KeepOn(cmd *exec.Cmd) (*Kept, error) { return start(cmd, Box{}, true) }

func start(cmd *exec.Cmd, b Box, stay bool) (*Kept, error) {
	if !ready.Load() {
		return direct(cmd, b)
	}
	told, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer told.Close()
	report, says, err := os.Pipe()
	if err != nil {
		control.Close()
		return nil, err
	}
	defer says.Close()
	k := &Kept{control: control, report: report, words: json.NewDecoder(io.LimitReader(report, 1<<20))}
	o := order{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Box: b, Files: len(cmd.ExtraFiles), Stay: stay}
	k.cmd = &exec.Cmd{
		// With this process's own arguments and environment it comes the same way to
		// Keeper.
		Path: self, Args: append([]string{keeperName}, os.Args[1:]...), Dir: "/", Env: os.Environ(), Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		ExtraFiles: append([]*os.File{told, says}, cmd.ExtraFiles...), SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if b.Namespaces {
		if err := enclose(k.cmd.SysProcAttr); err != nil {
			k.close()
			return nil, fmt.Errorf("%w: %v", ErrBox, err)
		}
	}
	if err := k.cmd.Start(); err != nil {
		k.close()
		if b.Namespaces {
			return nil, fmt.Errorf("%w: %v", ErrBox, err)
		}
		return nil, err
	}
	says.Close()
	if err := k.begin(o); err != nil {
		k.close()
		_ = k.cmd.Process.Kill()
		_ = k.cmd.Wait()
		return nil, err
	}
	return k, nil
}

// Try makes namespaces for nothing, to see what the machine allows.
func Try() (Boxed, error) {
	type result struct {
		boxed Boxed
		err   error
	}
	tried := make(chan result)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		k, err := Keep(&exec.Cmd{Dir: "/"}, Box{Namespaces: true})
		if err != nil {
			tried <- result{err: err}
			return
		}
		_, _ = k.Finish("", make(chan struct{}))
		tried <- result{boxed: k.Boxed}
	}()
	r := <-tried
	return r.boxed, r.err
}

// direct starts cmd without a keeper.
func direct(cmd *exec.Cmd, b Box) (*Kept, error) {
	if b.Namespaces {
		return nil, fmt.Errorf("%w: this program has no keeper", ErrBox)
	}
	cmd.SysProcAttr = AttrDying()
	return &Kept{cmd: cmd}, cmd.Start()
}

// begin gives the keeper its order and waits for the program's start.
func (k *Kept) begin(o order) error {
	if err := json.NewEncoder(k.control).Encode(o); err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	// Only a machine that is stuck takes that long.
	_ = k.report.SetReadDeadline(time.Now().Add(startBound))
	defer k.report.SetReadDeadline(time.Time{})
	var w word
	if err := k.words.Decode(&w); err != nil {
		if o.Box.Namespaces {
			return fmt.Errorf("%w: the keeper ended", ErrBox)
		}
		return fmt.Errorf("keeper: %w", err)
	}
	switch {
	case w.Setup != "":
		return fmt.Errorf("%w: %s", ErrBox, w.Setup)
	case w.Errno != 0:
		return &os.PathError{Op: "fork/exec", Path: o.Path, Err: syscall.Errno(w.Errno)}
	}
	k.Boxed = Boxed{Namespaces: o.Box.Namespaces, OwnProc: w.OwnProc}
	return nil
}

func (k *Kept) close() {
	if k.control == nil {
		return
	}
	k.ended.Do(func() { k.control.Close() })
	k.report.Close()
}

// Keeps reports whether there is a keeper.
func (k *Kept) Keeps() bool { return k.control != nil }

// Ended waits for the end of a program that a keeper was started for by [KeepOn],
// and says how it ended.
func (k *Kept) Ended() (syscall.WaitStatus, error) {
	var w word
	if err := k.words.Decode(&w); err != nil || w.Status == nil {
		return 0, errLost
	}
	k.status = w.Status
	return syscall.WaitStatus(*w.Status), nil
}

var errLost = errors.New("the keeper lost sight of the program")

// SignalAll sends a signal to the program and everything that it has started.
func (k *Kept) SignalAll(s syscall.Signal) {
	kin := KinOf(k.Pid())
	if !k.Keeps() {
		k.Signal(s)
	}
	for pid := range kin {
		_ = syscall.Kill(pid, s)
	}
}

// Pid is the keeper's process ID, which is its session's.
func (k *Kept) Pid() int { return k.cmd.Process.Pid }

// Signal sends a signal to the program.
func (k *Kept) Signal(s syscall.Signal) { _ = k.cmd.Process.Signal(s) }

// Kill ends the program and everything that it started at once, without waiting.
func (k *Kept) Kill() {
	if k.control == nil || k.Boxed.Namespaces {
		_ = k.cmd.Process.Kill() // in namespaces the kernel ends all the rest
		return
	}
	k.ended.Do(func() { k.control.Close() })
	time.AfterFunc(2*endBound, func() { _ = k.cmd.Process.Kill() })
}

// Finish waits for the program's end and that of everything that it started, and
// says how the program ended. exited is closed when the program has ended. What is
// left without namespaces, because somebody killed the keeper, is looked for by the
// mark, which is NAME=value.
func (k *Kept) Finish(mark string, exited chan<- struct{}) (syscall.WaitStatus, error) {
	err := Finish(k.cmd, mark, exited)
	defer k.close()
	if k.status != nil {
		return syscall.WaitStatus(*k.status), nil
	}
	var w word
	if k.words != nil && k.words.Decode(&w) == nil && w.Status != nil {
		return syscall.WaitStatus(*w.Status), nil
	}
	if k.cmd.ProcessState == nil {
		return 0, err
	}
	ws, ok := k.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && (k.words == nil || ws.Signaled()) {
		return ws, nil
	}
	return 0, errLost
}

// enclose asks for namespaces in which every user and group that there is here is
// itself.
func enclose(a *syscall.SysProcAttr) error {
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	a.Pdeathsig = syscall.SIGKILL
	var err error
	if a.UidMappings, err = identity("/proc/self/uid_map", os.Geteuid()); err != nil {
		return err
	}
	if a.GidMappings, err = identity("/proc/self/gid_map", os.Getegid()); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		// An exec would take them away from anybody but root.
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	} else {
		a.GidMappingsEnableSetgroups = true
	}
	return nil
}

// identity maps the IDs that a map has to themselves; without the right to do so,
// the one ID alone.
func identity(path string, own int) ([]syscall.SysProcIDMap, error) {
	if os.Geteuid() != 0 {
		return []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []syscall.SysProcIDMap
	for line := range strings.Lines(string(b)) {
		var in, out, size int
		if _, err := fmt.Sscan(line, &in, &out, &size); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, syscall.SysProcIDMap{ContainerID: in, HostID: in, Size: size})
	}
	return list, nil
}

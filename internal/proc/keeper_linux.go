package proc

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors of a keeper, after the three streams.
const (
	controlFD = 3
	reportFD  = 4
	filesFD   = 5 // and on: the program's
)

// Keeper does the work of a keeper, and does not return, where this process was
// started as one by [Keep]; elsewhere it does nothing. A program that calls Keep
// calls it first thing in main.
func Keeper() {
	if os.Args[0] != keeperName {
		ready.Store(true)
		return
	}
	runtime.LockOSThread() // capabilities and the parent-death signal go by thread
	unix.CloseOnExec(controlFD)
	unix.CloseOnExec(reportFD)
	control := os.NewFile(controlFD, "control")
	k := &keeper{report: json.NewEncoder(os.NewFile(reportFD, "report"))}
	if err := json.NewDecoder(control).Decode(&k.order); err != nil {
		os.Exit(1)
	}
	os.Exit(k.run(control))
}

type keeper struct {
	order  order
	report *json.Encoder
}

func (k *keeper) say(w word) { _ = k.report.Encode(w) }

// run starts the program, waits for its end and ends what it left.
func (k *keeper) run(control *os.File) int {
	boxed := k.order.Box.Namespaces
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	attr := &syscall.SysProcAttr{Setsid: true}
	ownProc := false
	if boxed {
		var err error
		if ownProc, err = k.order.furnish(); err == nil {
			err = deprive(attr, ownProc)
		}
		if err != nil {
			k.say(word{Setup: err.Error()})
			return 1
		}
	} else {
		attr.Pdeathsig = syscall.SIGKILL
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			k.say(word{Errno: int(syscall.ENOSYS)})
			return 1
		}
	}
	if k.order.Path == "" { // it was but a try
		k.say(word{Started: true, OwnProc: ownProc})
		return 0
	}
	files := []uintptr{0, 1, 2}
	for i := range k.order.Files {
		unix.CloseOnExec(filesFD + i)
		files = append(files, uintptr(filesFD+i))
	}
	pid, err := syscall.ForkExec(k.order.Path, k.order.Args, &syscall.ProcAttr{
		Dir: k.order.Dir, Env: k.order.Env, Files: files, Sys: attr,
	})
	for i := range k.order.Files {
		unix.Close(filesFD + i)
	}
	if err != nil {
		errno, ok := errors.AsType[syscall.Errno](err)
		if !ok {
			errno = syscall.EIO
		}
		k.say(word{Errno: int(errno)})
		return 1
	}
	letGo()
	k.say(word{Started: true, OwnProc: ownProc})
	var reaped atomic.Bool
	go func() {
		for s := range signals {
			if !reaped.Load() {
				_ = syscall.Kill(pid, s.(syscall.Signal))
			}
		}
	}()
	told := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, control)
		if boxed {
			os.Exit(1) // and the kernel ends the rest
		}
		if !reaped.Load() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		close(told)
	}()
	status := int(await(pid))
	reaped.Store(true)
	if k.order.Stay {
		k.say(word{Status: &status})
		reapUntil(told)
		endChildren()
		return 0
	}
	if !boxed {
		endChildren()
	}
	k.say(word{Status: &status})
	return 0
}

// letGo closes the program's streams here: their end is the program's to bring
// about.
func letGo() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err == nil {
			_ = unix.Dup3(null, fd, unix.O_CLOEXEC)
		} else {
			_ = unix.Close(fd)
		}
	}
}

// await reaps whatever ends until pid does.
func await(pid int) unix.WaitStatus {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0
		case got == pid && (ws.Exited() || ws.Signaled()):
			return ws
		}
	}
}

// reapUntil reaps whatever ends until it is told to end.
func reapUntil(told <-chan struct{}) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	for {
		for {
			got, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err != unix.EINTR && got <= 0 {
				break
			}
		}
		select {
		case <-told:
			return
		case <-ended:
		}
	}
}

// endChildren kills what the program left until there is nothing: everything that
// loses its parent becomes a child of this process, and is killed in the next
// round.
func endChildren() {
	deadline := time.Now().Add(endBound)
	for wait := time.Millisecond; time.Now().Before(deadline); wait = min(2*wait, 20*time.Millisecond) {
		kin := KinOf(os.Getpid())
		for pid := range kin {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for {
			got, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return
			}
			if err != unix.EINTR && got <= 0 {
				break
			}
		}
		time.Sleep(wait)
	}
}

// deprive takes away what would let the program undo its box. Root gets a user
// namespace below the box's: it stays root, and the box's mounts are locked for it.
// Anybody else loses every capability by the exec.
func deprive(a *syscall.SysProcAttr, ownProc bool) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if os.Geteuid() == 0 && ownProc {
		a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS
		a.GidMappingsEnableSetgroups = true
		var err error
		if a.UidMappings, err = identity("/proc/self/uid_map", 0); err != nil {
			return err
		}
		a.GidMappings, err = identity("/proc/self/gid_map", 0)
		return err
	}
	for _, c := range []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return err
		}
	}
	return uninherit()
}

// uninherit empties the inheritable set of this thread.
func uninherit() error {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	if err := unix.Capget(&h, &d[0]); err != nil {
		return err
	}
	d[0].Inheritable, d[1].Inheritable = 0, 0
	return unix.Capset(&h, &d[0])
}

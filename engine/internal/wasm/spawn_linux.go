package wasm

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownSession lets a worker die with the thread that started it, which spawner
// keeps as long as the engine lives: a worker in an endless loop does not notice
// that its pipe was closed.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// widen gives a pipe room for large requests, as far as the system allows.
func widen(pipe *os.File) {
	c, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
}

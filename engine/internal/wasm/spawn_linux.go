package wasm

import "syscall"

// ownSession lets a worker die with the thread that started it, which spawner
// keeps as long as the engine lives: a worker in an endless loop does not notice
// that its pipe was closed.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

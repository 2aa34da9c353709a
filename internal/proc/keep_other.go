//go:build unix && !linux

package proc

import (
	"errors"
	"os/exec"
	"syscall"
)

// ErrBox is returned where the machine does not give a program its box.
var ErrBox = errors.New("namespaces")

// Keeper does nothing here.
func Keeper() {}

// Kept is a running program.
type Kept struct {
	Boxed Boxed
	cmd   *exec.Cmd
}

// Keep starts cmd in a session of its own. There are no boxes here.
func Keep(cmd *exec.Cmd, b Box) (*Kept, error) {
	if b.Namespaces {
		return nil, ErrBox
	}
	cmd.SysProcAttr = Attr()
	return &Kept{cmd: cmd}, cmd.Start()
}

// KeepOn is Keep: nothing stays.
func KeepOn(cmd *exec.Cmd) (*Kept, error) { return Keep(cmd, Box{}) }

// Keeps reports that there is no keeper.
func (k *Kept) Keeps() bool { return false }

// Ended is for programs with a keeper.
func (k *Kept) Ended() (syscall.WaitStatus, error) { return 0, ErrBox }

// SignalAll sends a signal to the program's process group.
func (k *Kept) SignalAll(s syscall.Signal) { _ = syscall.Kill(-k.Pid(), s) }

// Try finds that there are none.
func Try() (Boxed, error) { return Boxed{}, ErrBox }

// Pid is the program's process ID, which is its session's.
func (k *Kept) Pid() int { return k.cmd.Process.Pid }

// Signal sends a signal to the program.
func (k *Kept) Signal(s syscall.Signal) { _ = k.cmd.Process.Signal(s) }

// Kill ends the program; Finish ends what it left.
func (k *Kept) Kill() { _ = k.cmd.Process.Kill() }

// Finish is as the function of that name, and says how the program ended.
func (k *Kept) Finish(mark string, exited chan<- struct{}) (syscall.WaitStatus, error) {
	err := Finish(k.cmd, mark, exited)
	if k.cmd.ProcessState == nil {
		return 0, err
	}
	ws, _ := k.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ws, nil
}

//go:build unix && !linux

package proc

import (
	"os/exec"
	"syscall"
	"time"
)

// Attr puts a program into a session of its own.
func Attr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// AttrDying is Attr: there is no parent-death signal here.
func AttrDying() *syscall.SysProcAttr { return Attr() }

// SignalName returns a signal's name.
func SignalName(s syscall.Signal) string { return s.String() }

// Finish waits for the program's end, closes exited and kills the process group.
// Where there is no /proc, what moved to another group is not found.
func Finish(cmd *exec.Cmd, _ string, exited chan<- struct{}) error {
	err := cmd.Wait()
	close(exited)
	for range 100 {
		if syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// Members finds nothing where there is no /proc.
func Members(int, string) []int { return nil }

// Alive reports whether there is a process of that ID.
func Alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// Kin are processes by ID; none can be listed here.
type Kin map[int]uint64

// KinOf finds nothing where there is no /proc.
func KinOf(int) Kin { return nil }

// Kill ends nothing.
func (Kin) Kill() {}

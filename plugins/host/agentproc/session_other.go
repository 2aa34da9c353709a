//go:build unix && !linux

package agentproc

import (
	"os/exec"
	"syscall"
	"time"
)

// sysProcAttr puts the program into a session of its own.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func signalName(s syscall.Signal) string { return s.String() }

// finish waits for the program's end, closes exited and kills the process group.
// Where there is no /proc, what moved to another group is not found.
func finish(cmd *exec.Cmd, _ string, exited chan<- struct{}) error {
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

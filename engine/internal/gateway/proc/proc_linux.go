package proc

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// awaitExit returns when the program has ended, without reaping it.
func awaitExit(cmd *exec.Cmd) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// killSession kills until the session has nobody alive: a process may start
// another while the list is read.
func killSession(cmd *exec.Cmd) {
	for range 200 {
		if signalSession(cmd.Process.Pid, unix.SIGKILL) == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func terminateSession(cmd *exec.Cmd) { signalSession(cmd.Process.Pid, unix.SIGTERM) }

// signalSession returns how many processes of the session were alive.
func signalSession(session int, sig unix.Signal) int {
	n := 0
	for _, pid := range pids() {
		if alive, sid := status(pid); alive && sid == session {
			n++
			unix.Kill(pid, sig)
		}
	}
	return n
}

func pids() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var list []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// status reads a process's state and session. The program's name, in brackets,
// may hold anything.
func status(pid int) (alive bool, session int) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false, 0
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 4 {
		return false, 0
	}
	session, _ = strconv.Atoi(string(f[3]))
	state := f[0][0]
	return state != 'Z' && state != 'X', session
}

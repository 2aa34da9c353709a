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

// detach puts the program into a session of its own. The kernel kills it when
// the thread that started it ends: with the engine, however that ends.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

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

// killSession kills until nobody of the session is alive, nor of those that left
// it (kin), nor anybody whom one of them started: a process may start another
// while the list is read.
func killSession(cmd *exec.Cmd, kin kin) {
	for range 200 {
		if signalSession(cmd.Process.Pid, kin, unix.SIGKILL) == 0 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func terminateSession(cmd *exec.Cmd, kin kin) {
	signalSession(cmd.Process.Pid, kin, unix.SIGTERM)
}

// signalSession returns how many processes of the session were alive.
func signalSession(session int, kin kin, sig unix.Signal) int {
	list := members(session, kin)
	for pid := range list {
		unix.Kill(pid, sig)
	}
	return len(list)
}

// kin are processes by ID, with the time of their start: an ID may be given to
// another.
type kin map[int]uint64

// members lists the living processes of a session, those of kin, and what any of
// them started, whatever session that moved to.
func members(session int, known kin) kin {
	own, others := kin{}, map[int]stat{}
	for _, pid := range pids() {
		s := status(pid)
		if !s.alive {
			continue
		}
		if start, ok := known[pid]; s.session == session || ok && start == s.start {
			own[pid] = s.start
		} else {
			others[pid] = s
		}
	}
	for more := true; more; {
		more = false
		for pid, s := range others {
			if _, ok := own[s.parent]; ok {
				own[pid], more = s.start, true
				delete(others, pid)
			}
		}
	}
	return own
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

type stat struct {
	alive           bool
	parent, session int
	start           uint64 // since the machine's
}

// status reads a process's state, parent, session and start. The program's name, in
// brackets, may hold anything.
func status(pid int) stat {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return stat{}
	}
	parent, _ := strconv.Atoi(string(f[1]))
	session, _ := strconv.Atoi(string(f[3]))
	start, _ := strconv.ParseUint(string(f[19]), 10, 64)
	state := f[0][0]
	return stat{alive: state != 'Z' && state != 'X', parent: parent, session: session, start: start}
}

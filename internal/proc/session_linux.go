package proc

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endBound is how long ending a session may take before what is left is given
// up: a process in an uninterruptible wait.
const endBound = 5 * time.Second

// Attr puts a program into a session of its own, so that everything it starts can
// be found.
func Attr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// AttrDying is Attr for a program that the kernel kills when the thread that
// started it ends: the caller locks that thread until the program has ended.
func AttrDying() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// SignalName returns a signal's name, such as SIGKILL.
func SignalName(s syscall.Signal) string { return unix.SignalName(s) }

// Finish waits for the program's end, closes exited, ends what the program left
// and reaps it, in that order: until it is reaped its process ID, which is the
// session's, cannot be given to another. The mark is NAME=value.
func Finish(cmd *exec.Cmd, mark string, exited chan<- struct{}) error {
	awaitExit(cmd.Process.Pid)
	close(exited)
	end(cmd.Process.Pid, mark, procStat(cmd.Process.Pid).start)
	return cmd.Wait()
}

// awaitExit waits for the process's end without reaping it.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// end kills every process of the session and every process that carries the
// mark, until there is none: also those that moved to a process group or session
// of their own. It looks twice, because a process in the middle of exec has no
// environment for a moment.
func end(session int, mark string, born uint64) {
	deadline := time.Now().Add(endBound)
	none := 0
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		pids := members(session, mark, born)
		if none++; len(pids) > 0 {
			none = 0
		}
		if none == 2 || time.Now().After(deadline) {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(wait)
	}
}

// Members lists the living processes of a session, its leader left out, and
// those that carry the mark. Session 0 is none: it is the kernel's.
func Members(session int, mark string) []int { return members(session, mark, 0) }

// members leaves out processes born before the session.
func members(session int, mark string, born uint64) []int {
	var list []int
	for _, pid := range pids() {
		if pid == session || pid == os.Getpid() {
			continue
		}
		s := procStat(pid)
		if !s.alive || s.start < born {
			continue
		}
		if (session > 0 && s.session == session) || marked(pid, mark) {
			list = append(list, pid)
		}
	}
	return list
}

// pids lists all processes.
func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var list []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// Kin are processes by ID, with the time of their start: an ID may be given to
// another.
type Kin map[int]uint64

// KinOf lists what a living program has started, directly or not: also what left
// its session and wiped the mark from its environment, which nothing shows any
// more when its parents have ended.
func KinOf(pid int) Kin {
	all := map[int]stat{}
	for _, p := range pids() {
		if s := procStat(p); s.alive {
			all[p] = s
		}
	}
	kin := Kin{pid: all[pid].start}
	for more := true; more; {
		more = false
		for p, s := range all {
			_, known := kin[p]
			if _, child := kin[s.parent]; child && !known {
				kin[p], more = s.start, true
			}
		}
	}
	delete(kin, pid)
	return kin
}

// Kill ends those that are still there, and returns when they are gone.
func (k Kin) Kill() {
	deadline := time.Now().Add(endBound)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		left := 0
		for pid, start := range k {
			if s := procStat(pid); s.alive && s.start == start {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				left++
			}
		}
		if left == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(wait)
	}
}

// marked reports whether the process was started with the variable; one of
// another user never was.
func marked(pid int, mark string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || mark == "" {
		return false
	}
	return bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00"))
}

// Alive reports whether there is a process of that ID that is not a zombie.
func Alive(pid int) bool { return procStat(pid).alive }

type stat struct {
	alive           bool
	parent, session int
	start           uint64
}

func procStat(pid int) stat {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}
	}
	return parseStat(string(b))
}

// parseStat reads /proc/PID/stat. The program's name in it may hold anything, so
// fields are counted from the last parenthesis.
func parseStat(s string) stat {
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	const state, parent, session, start = 0, 1, 3, 19
	if len(f) <= start {
		return stat{}
	}
	ppid, err := strconv.Atoi(f[parent])
	sid, err1 := strconv.Atoi(f[session])
	t, err2 := strconv.ParseUint(f[start], 10, 64)
	if err != nil || err1 != nil || err2 != nil {
		return stat{}
	}
	return stat{alive: f[state] != "Z" && f[state] != "X", parent: ppid, session: sid, start: t}
}

package scratch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// own reports whether a folder is this user's.
func own(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// rounds bounds how often processes that were started in between are looked for.
const rounds = 10

// endProcesses kills every process that works in the folder: whose working
// folder is in it, or whose environment names it, as that of every agent and
// target does.
func endProcesses(dir string) []string {
	var ended []string
	for range rounds {
		found := false
		for _, p := range processes(dir) {
			found = true
			if line := p.kill(dir); line != "" {
				ended = append(ended, line)
			}
		}
		if !found {
			break
		}
	}
	return ended
}

type process struct{ pid int }

// processes lists those that work in the folder.
func processes(dir string) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !worksIn(pid, dir) {
			continue
		}
		list = append(list, process{pid: pid})
	}
	return list
}

func worksIn(pid int, dir string) bool {
	base := filepath.Join("/proc", strconv.Itoa(pid))
	if cwd, err := os.Readlink(filepath.Join(base, "cwd")); err == nil && strings.HasPrefix(cwd+"/", dir+"/") {
		return true
	}
	env, err := os.ReadFile(filepath.Join(base, "environ"))
	return err == nil && (bytes.Contains(env, []byte(dir+"/")) || bytes.Contains(env, []byte(dir+"\x00")))
}

// used reports whether any process works in the folder.
func used(dir string) bool { return len(processes(dir)) > 0 }

// kill ends the process if it still works in the folder, waits until it has
// ended, and returns its command line. It holds the process by a pidfd, so that no
// other of the same number can be meant.
func (p process) kill(dir string) string {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	if !worksIn(p.pid, dir) {
		return ""
	}
	line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "cmdline"))
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return ""
	}
	unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000)
	return strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
}

package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// listener reports whether somebody on this machine listens on the port, and
// whether that is one of the processes.
func listener(pids []int, port int) (found, own bool) {
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			if p, inode, ok := parseListener(s.Text()); ok && p == port {
				inodes["socket:["+inode+"]"] = true
			}
		}
		f.Close()
	}
	for _, pid := range pids {
		dir := "/proc/" + strconv.Itoa(pid) + "/fd"
		fds, _ := os.ReadDir(dir) // of a process that has ended
		for _, fd := range fds {
			if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && inodes[to] {
				return true, true
			}
		}
	}
	return len(inodes) > 0, false
}

// parseListener reads a line of /proc/net/tcp; ok is false for sockets that do not
// listen.
func parseListener(line string) (port int, inode string, ok bool) {
	const local, state, node, listening = 1, 3, 9, "0A"
	f := strings.Fields(line)
	if len(f) <= node || f[state] != listening {
		return 0, "", false
	}
	_, hex, ok := strings.Cut(f[local], ":")
	n, err := strconv.ParseUint(hex, 16, 16)
	return int(n), f[node], ok && err == nil
}

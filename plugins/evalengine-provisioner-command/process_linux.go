package main

import (
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evalengine/evalengine/internal/proc"
)

// leave waits for a program and lets what it left live, where it carries a mark by
// which it can be found later.
func leave(cmd *exec.Cmd) error {
	pid := cmd.Process.Pid
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	// Until it is reaped its process ID, which is the session's, is no other's.
	if left := proc.Members(pid, ""); len(left) > 0 {
		marked := proc.Members(nobody, markOf(cmd))
		for _, m := range left {
			if !slices.Contains(marked, m) {
				_ = syscall.Kill(m, syscall.SIGKILL)
			}
		}
	}
	return cmd.Wait()
}

// nobody is the session of no process.
const nobody = -1

func markOf(cmd *exec.Cmd) string {
	for _, v := range cmd.Env {
		if len(v) > len(envTarget) && v[:len(envTarget)+1] == envTarget+"=" {
			return v
		}
	}
	return ""
}

// endMarked kills every process that carries the mark, which is NAME=value.
func endMarked(mark string) {
	deadline := time.Now().Add(5 * time.Second)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		pids := proc.Members(nobody, mark)
		if len(pids) == 0 || time.Now().After(deadline) {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(wait)
	}
}

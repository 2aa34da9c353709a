//go:build !linux

package proc

import "os/exec"

// Where there is no list of a session's processes, the program alone is ended.

func detach(*exec.Cmd) {}

func awaitExit(cmd *exec.Cmd) { cmd.Process.Wait() }

func killSession(cmd *exec.Cmd, _ kin) { cmd.Process.Kill() }

func terminateSession(cmd *exec.Cmd, _ kin) { cmd.Process.Kill() }

// kin are processes by ID; none can be listed here.
type kin map[int]uint64

func members(int, kin) kin { return nil }

package wasm

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// processCPU returns the CPU time of a process in nanoseconds.
func processCPU(tb testing.TB, pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		tb.Fatal(err)
	}
	var total int64
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range tasks {
		if b, err = os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, t.Name())); err == nil {
			var n int64
			fmt.Sscan(string(b), &n)
			total += n
		}
	}
	return total
}

// peak returns the most memory that a process has had, in bytes.
func peak(tb testing.TB, pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kb int64
			fmt.Sscan(rest, &kb)
			return kb << 10
		}
	}
	return 0
}

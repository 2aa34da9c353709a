package wasm

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWorkerDiesWithItsEngine kills an engine whose worker is in an endless loop
// and can notice nothing by itself.
func TestWorkerDiesWithItsEngine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "loops.wasm")
	if err := os.WriteFile(file, asm{score: code(forever(), i32(0))}.build(), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	engine := exec.Command(exe, engineArg, file, filepath.Join(dir, "cache"))
	out, err := engine.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	worker, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(worker)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(environ) > 0 {
		t.Errorf("the worker's environment: %q, %v; want none", environ, err)
	}
	if sid, err := unix.Getsid(pid); err != nil || sid != pid {
		t.Errorf("the worker's session: %d, %v; want its own, %d", sid, err, pid)
	}
	if err := engine.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = engine.Wait()
	const minute = 60_000
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(worker), Events: unix.POLLIN}}, minute); n != 1 {
		t.Errorf("the worker lives on: %v", err)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

package scratch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killed makes a folder as a killed run leaves it.
func killed(t *testing.T, parent string) string {
	t.Helper()
	f, err := New(parent)
	if err != nil {
		t.Fatal(err)
	}
	f.lock.Close()
	return f.Path
}

func TestSweepLeavesLiveRunsAlone(t *testing.T) {
	parent := t.TempDir()
	live, err := New(parent)
	if err != nil {
		t.Fatal(err)
	}
	dead := killed(t, parent)
	young := filepath.Join(parent, prefix+"young") // being made: no lock yet
	if err := os.Mkdir(young, 0o700); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(parent, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	left, err := Sweep(parent)
	if err != nil || len(left) != 1 || left[0].Path != dead {
		t.Fatalf("Sweep = %+v, %v; want %s alone", left, err, dead)
	}
	for _, dir := range []string{live.Path, young, other} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s is gone", dir)
		}
	}
	old := time.Now().Add(-2 * settling)
	if err := os.Chtimes(young, old, old); err != nil {
		t.Fatal(err)
	}
	if left, err := Sweep(parent); err != nil || len(left) != 1 || left[0].Path != young {
		t.Errorf("Sweep = %+v, %v; want %s, which nobody is making any more", left, err, young)
	}
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(live.Path); err == nil {
		t.Error("a closed folder is still there")
	}
}

// Processes that still work in a killed run's folder are ended, whatever group
// or session they moved to.
func TestSweepEndsProcesses(t *testing.T) {
	dead := killed(t, t.TempDir())
	var cmds []*exec.Cmd
	for _, by := range []string{"folder", "environment"} {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if by == "folder" {
			cmd.Dir = dead
		} else {
			cmd.Env = append(cmd.Env, "HOME="+dead+"/t-1/home")
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	done := make(chan error, len(cmds))
	for _, cmd := range cmds {
		go func() { done <- cmd.Wait() }()
	}
	if err := os.Mkdir(filepath.Join(dead, "locked"), 0o000); err != nil {
		t.Fatal(err)
	}
	left, err := Sweep(filepath.Dir(dead))
	if err != nil || len(left) != 1 || len(left[0].Processes) != 2 || !strings.Contains(left[0].Processes[0], "sleep 1000") {
		t.Errorf("Sweep = %+v, %v", left, err)
	}
	for range cmds {
		if err := <-done; err == nil || err.Error() != "signal: killed" {
			t.Errorf("process ended with %v; want killed", err)
		}
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the folder is still there")
	}
}

func TestSweepSockets(t *testing.T) {
	parent := t.TempDir()
	var dirs []string
	for _, name := range []string{"used", "left", "young"} {
		dir := filepath.Join(parent, sockets+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	old := time.Now().Add(-2 * settling)
	for _, dir := range dirs[:2] {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{"PLUGIN_UNIX_SOCKET_DIR=" + dirs[0]}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	left, err := Sweep(parent)
	if err != nil || len(left) != 1 || left[0].Path != dirs[1] {
		t.Errorf("Sweep = %+v, %v; want %s alone", left, err, dirs[1])
	}
}

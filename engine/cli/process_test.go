package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/evalengine/evalengine/engine/eval"
)

// hangs is a suite whose first trial ends at once and whose second never does.
const hangs = `
suite "hangs" {}
host "one" {
  driver = "scripted"
  config {
    scripts = {
      first  = jsonencode({ turns = [{ steps = [{ say = "done" }] }] })
      second = jsonencode({ turns = [{ steps = [{ say = "and now" }, { hang = true }] }] })
    }
  }
}
story "first"  { prompt = "x" }
story "second" { prompt = "x" }
`

// command returns the program, in a folder of its own that has the suite.
func command(t *testing.T, suite string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "suite.hcl"), []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(programs(t), "evalengine"), args...)
	cmd.Dir = dir
	cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+filepath.Join(dir, "tmp"), "EVALENGINE_CACHE="+compiled(t, filepath.Join(dir, "cache")), "TERM=xterm")
	return cmd
}

func summaryOf(t *testing.T, dir string) eval.Summary {
	t.Helper()
	return summaryIn(t, filepath.Join(dir, ".evalengine"))
}

func summaryIn(t *testing.T, store string) eval.Summary {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(store, "runs", "*", "summary.json"))
	if len(files) != 1 {
		t.Fatalf("summaries: %v; want one", files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var s eval.Summary
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// children lists the processes whose environment names the folder: everything
// that a run in it could have left.
func children(dir string) []string {
	var left []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(dir)) {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			left = append(left, strings.ReplaceAll(string(cmdline), "\x00", " "))
		}
	}
	return left
}

// An interrupt stops the agents that are under way, keeps what was finished, and
// leaves nothing behind.
func TestInterrupt(t *testing.T) {
	cmd := command(t, hangs, "run", "suite.hcl", "-j", "1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "first.base.one.r1") {
			break
		}
	}
	// The second trial is under way, or about to be: both must end the same way.
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, stderr)
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit code %d (%v); want %d\n%s", code, err, exitInterrupted, stdout.String())
	}
	s := summaryOf(t, cmd.Dir)
	if s.Completion != eval.RunInterrupted || s.Trials.Passed != 1 || s.Trials.Total != 1 || s.Planned != 2 {
		t.Errorf("summary = %+v", s)
	}
	if left := children(cmd.Dir); len(left) > 0 {
		t.Errorf("processes left: %q", left)
	}
	if left, _ := os.ReadDir(filepath.Join(cmd.Dir, "tmp")); len(left) > 0 {
		t.Errorf("temporary folders left: %v", left)
	}
}

// On a terminal a run shows what each agent does now, and nothing of it stays.
func TestLiveView(t *testing.T) {
	cmd := command(t, hangs, "run", "suite.hcl", "-j", "1")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 90})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	live := regexp.MustCompile(`second\.base\.one\.r1 +[0-9.]+m?s +\S`)
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	deadline := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer deadline.Stop()
	interrupted := false
	for {
		n, err := f.Read(buf)
		seen.Write(buf[:n])
		if !interrupted && live.Match(seen.Bytes()) {
			interrupted = true
			cmd.Process.Signal(syscall.SIGINT)
		}
		if err != nil {
			break // a terminal whose program has ended
		}
	}
	cmd.Wait()
	text := seen.String()
	if !interrupted {
		t.Fatalf("the live view never showed the second trial:\n%q", text)
	}
	for _, want := range []string{"1/2 1 passed, 0 failed, 0 errored", "\x1b[J", "✓\x1b[0m first.base.one.r1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the terminal never showed %q:\n%q", want, text)
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d; want %d", code, exitInterrupted)
	}
}

// Colours are for terminals; NO_COLOR takes them away.
func TestNoColor(t *testing.T) {
	cmd := command(t, hangs, "run", "suite.hcl", "--story", "first")
	cmd.Env = append(cmd.Env, "NO_COLOR=1")
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, _ := io.ReadAll(f) // ends with an error when the terminal closes
	cmd.Wait()
	if bytes.Contains(text, []byte("\x1b[3")) || !bytes.Contains(text, []byte("1 of 1 trial: 1 passed")) {
		t.Errorf("terminal: %q", text)
	}
}

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// bench is a folder with a suite for the counted host, and a store that things
// happen to.
type bench struct {
	t                     *testing.T
	dir, store            string
	bin, plugins, modules string
	*audit
}

// storeSuite has as many stories as are named, each of one trial that passes.
func storeSuite(config string, stories ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "suite \"kept\" {}\nhost \"counted\" {\n  driver = \"counted\"\n  config {\n%s\n  }\n}\n", config)
	for _, name := range stories {
		fmt.Fprintf(&b, "story %q {\n  prompt = \"x\"\n  assert \"answer/matches\" { pattern = \"fine|xxx\" }\n}\n", name)
	}
	return b.String()
}

// newBench is a bench whose modules are compiled.
func newBench(t *testing.T, suite string) *bench {
	t.Helper()
	b := &bench{t: t, bin: filepath.Join(programs(t), "evalengine"), plugins: countedPlugins(t), modules: compiled(t, t.TempDir())}
	b.fresh(suite)
	if out, code := b.run("run", "suite.hcl"); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	b.fresh(suite)
	return b
}

// fresh takes another folder.
func (b *bench) fresh(suite string) {
	b.t.Helper()
	b.dir = b.t.TempDir()
	b.store = filepath.Join(b.dir, "store")
	b.audit = newAudit(b.t, b.dir, b.store)
	if err := os.WriteFile(filepath.Join(b.dir, "suite.hcl"), []byte(suite), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(b.dir, "tmp"), 0o700); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.bin, append(args, "--store", b.store)...)
	cmd.Dir = b.dir
	cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+b.dir, "TMPDIR="+filepath.Join(b.dir, "tmp"),
		"EVALENGINE_CACHE="+b.modules, "EVALENGINE_PLUGIN_PATH="+b.plugins)
	return cmd
}

// run runs the program to its end, of which nothing is left.
func (b *bench) run(args ...string) (string, int) {
	b.t.Helper()
	out, err := b.command(args...).CombinedOutput()
	b.clean(string(out))
	return string(out), exitCode(err)
}

// dump is what a Go program says that has lost control.
var dump = regexp.MustCompile(`(?m)^panic:|^goroutine \d+|^fatal error:|^unexpected fault address`)

func (b *bench) clean(out string) {
	b.t.Helper()
	if dump.MatchString(out) {
		b.t.Errorf("the program lost control:\n%s", out)
	}
	if left, _ := os.ReadDir(filepath.Join(b.dir, "tmp")); len(left) > 0 {
		b.t.Errorf("left in the temporary folder: %v", left)
	}
	if left := children(b.dir); len(left) > 0 {
		b.t.Errorf("processes left: %q", left)
	}
	scraps, _ := filepath.Glob(filepath.Join(b.store, "runs", "*", ".tmp-*"))
	if len(scraps) > 0 {
		b.t.Errorf("left in the store: %v", scraps)
	}
}

// says checks that the message names the store's folder and what to do.
func (b *bench) says(out, advice string) {
	b.t.Helper()
	line := regexp.MustCompile(`(?m)^evalengine: store: .*$`).FindString(out)
	if !strings.Contains(line, b.store) || !strings.Contains(line, advice) {
		b.t.Errorf("message %q; want one with %q and %q:\n%s", line, b.store, advice, out)
	}
}

// resumes finishes the run now that the store is well again.
func (b *bench) resumes(trials int) {
	b.t.Helper()
	out, code := b.run("resume", "latest")
	if code != exitOK {
		b.t.Fatalf("resume: exit code %d\n%s", code, out)
	}
	b.ended()
	b.finished(trials)
	files, _ := filepath.Glob(filepath.Join(b.store, "runs", "*", "summary.json"))
	if len(files) != 1 {
		b.t.Errorf("summaries: %v", files)
	}
	if left, _ := filepath.Glob(filepath.Join(b.store, "runs", "*", "drafts", "*")); len(left) > 0 {
		b.t.Errorf("drafts left: %v", left)
	}
}

// nothing checks that nothing was run, and that no half of a run is in the store.
func (b *bench) nothing(out string, code int) {
	b.t.Helper()
	if code != exitUsage || len(agentsOf(b.t, b.dir)) > 0 {
		b.t.Errorf("exit code %d after %v; want %d after no trial\n%s", code, agentsOf(b.t, b.dir), exitUsage, out)
	}
	if runs, _ := filepath.Glob(filepath.Join(b.store, "runs", "*")); len(runs) > 0 {
		b.t.Errorf("runs in the store: %v", runs)
	}
}

// during starts a run whose first trial ends by itself and whose others wait,
// does something to the store in between and waits for the end.
func (b *bench) during(do func()) (string, int) {
	b.t.Helper()
	return b.duringOf(b.command("run", "suite.hcl", "-j", "2"), do)
}

func (b *bench) duringOf(cmd *exec.Cmd, do func()) (string, int) {
	b.t.Helper()
	pipe, err := cmd.StderrPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	var seen bytes.Buffer
	buf := make([]byte, 4096)
	for done := false; err == nil; {
		var n int
		n, err = pipe.Read(buf)
		seen.Write(buf[:n])
		if !done && strings.Contains(seen.String(), "✓ first.base.counted.r1") {
			done = true
			do()
			if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
				b.t.Error(err)
			}
		}
	}
	if err != io.EOF {
		b.t.Fatal(err)
	}
	err = cmd.Wait()
	b.clean(seen.String())
	return seen.String(), exitCode(err)
}

// waiting is a suite whose trials wait for the file "go", but the first.
func waiting(t *testing.T) *bench {
	suite := storeSuite("waits = \"go\"", "first", "second", "third", "fourth")
	b := &bench{t: t, bin: filepath.Join(programs(t), "evalengine"), plugins: countedPlugins(t), modules: compiled(t, t.TempDir())}
	b.fresh(suite)
	return b
}

// A store below something that is a file is known before anything is run.
func TestStoreBelowFile(t *testing.T) {
	b := newBench(t, storeSuite("", "first"))
	file := filepath.Join(b.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{file, filepath.Join(file, "below")} {
		b.store = store
		out, code := b.run("run", "suite.hcl")
		b.nothing(out, code)
		b.says(out, "is a file")
		for _, args := range [][]string{{"resume", "latest"}, {"show", "latest"}} {
			if out, code := b.run(args...); code != exitUsage || !strings.Contains(out, store) {
				t.Errorf("%v: exit code %d\n%s", args, code, out)
			}
		}
	}
}

// A store that is removed in mid-run ends the run; it is not made anew, and once
// it is back the run is finished.
func TestStoreRemovedInMidRun(t *testing.T) {
	b := waiting(t)
	away := filepath.Join(b.dir, "away")
	out, code := b.during(func() {
		if err := os.Rename(b.store, away); err != nil {
			t.Error(err)
		}
	})
	if code != exitIncomplete {
		t.Errorf("exit code %d; want %d\n%s", code, exitIncomplete, out)
	}
	b.says(out, "is gone")
	if _, err := os.Stat(b.store); err == nil {
		t.Errorf("the store was made anew")
	}
	if out, code := b.run("resume", "latest"); code != exitUsage {
		t.Errorf("resume without a store: exit code %d\n%s", code, out)
	}
	if err := os.RemoveAll(b.store); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, b.store); err != nil {
		t.Fatal(err)
	}
	b.ended()
	if len(b.recorded) != 1 {
		t.Errorf("%d trials recorded; want the first alone", len(b.recorded))
	}
	b.resumes(4)
}

// limited runs the program under a limit on the size of files, in blocks of 512
// bytes: what is portable of a full disk.
func (b *bench) limited(blocks int, args ...string) (string, int) {
	b.t.Helper()
	cmd := b.command(args...)
	cmd.Args = append([]string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, blocks), cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	out, err := cmd.CombinedOutput()
	b.clean(string(out))
	return string(out), exitCode(err)
}

// Files that may not be as large as they have to be end the run like a full disk.
func TestStoreFileSizeLimit(t *testing.T) {
	b := newBench(t, storeSuite("bytes = 40000", "first", "long", "other"))
	out, code := b.limited(1, "run", "suite.hcl", "-j", "1")
	b.nothing(out, code)
	b.says(out, "ulimit -f")
	out, code = b.limited(40, "run", "suite.hcl", "-j", "1")
	if code != exitIncomplete {
		t.Errorf("exit code %d; want %d\n%s", code, exitIncomplete, out)
	}
	b.says(out, "ulimit -f")
	b.ended()
	if len(b.recorded) != 1 || b.started["other.base.counted.r1"] != 0 || b.lost != 1 {
		t.Errorf("recorded %d, agents %v", len(b.recorded), b.started)
	}
	if _, code := b.run("show", "latest"); code != exitOK {
		t.Errorf("show: exit code %d", code)
	}
	if s := summaryIn(t, b.store); s.Stopped != eval.StopStore || s.Trials.Passed != 1 || s.Completion != eval.RunIncomplete {
		t.Errorf("summary = %+v", s)
	}
	// A resume that meets the same changes nothing.
	if out, code := b.limited(40, "resume", "latest", "-j", "1"); code != exitIncomplete {
		t.Errorf("resume: exit code %d; want %d\n%s", code, exitIncomplete, out)
	}
	b.ended()
	b.resumes(3)
}

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evalengine/evalengine/engine/internal/detector"
)

// insideEnv says to a test that it runs in namespaces of its own.
const insideEnv = "EVALENGINE_TEST_INSIDE"

// inside runs the test again in a user and a mount namespace of its own, where
// it may mount, and reports whether this is there.
func inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.v", "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), insideEnv+"=1", "EVALENGINE_TEST_BIN="+programs(t))
	cmd.SysProcAttr = namespaces(syscall.CLONE_NEWUSER|syscall.CLONE_NEWNS, 0)
	out, err := cmd.CombinedOutput()
	if err != nil && forbidden(err) {
		t.Skipf("this system gives no user namespaces: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("in namespaces of its own:\n%s", out)
	return false
}

// namespaces lets this user be another one in new namespaces.
func namespaces(flags uintptr, as int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: flags, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: as, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: as, HostID: os.Getgid(), Size: 1}},
	}
}

func forbidden(err error) bool {
	var exit *exec.ExitError
	return !errors.As(err, &exit)
}

// tmpfs mounts a small file system as the bench's store.
func (b *bench) tmpfs(options string) {
	b.t.Helper()
	if err := os.Mkdir(b.store, 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", b.store, "tmpfs", 0, options); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remount(options string) {
	b.t.Helper()
	if err := unix.Mount("tmpfs", b.store, "tmpfs", unix.MS_REMOUNT, options); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) unmount() {
	b.t.Helper()
	if err := unix.Unmount(b.store, 0); err != nil {
		b.t.Fatal(err)
	}
}

// A disk that is full at any moment of a run: every count of files, and every
// size, that is too little for the whole run is tried.
func TestStoreFull(t *testing.T) {
	if !inside(t) {
		return
	}
	const trials = 4
	suite := storeSuite("", "one", "two", "three", "four")
	b := newBench(t, suite)
	all := map[string]int{}
	for _, disk := range []struct {
		name       string
		room, more string
		from, step int
	}{
		{"files", "size=4m,nr_inodes=%d", "nr_inodes=1000", 2, 1},
		{"pages", "size=%dk", "size=4m", 4, 4},
	} {
		ends := map[string]int{}
		for n := disk.from; ; n += disk.step {
			b.fresh(suite)
			b.tmpfs(fmt.Sprintf(disk.room, n))
			end := b.fill(disk.more, trials)
			b.unmount()
			ends[end]++
			all[end]++
			if end == "enough" || t.Failed() {
				break
			}
			if detector.On {
				n += 2 * disk.step
			}
		}
		t.Logf("%s: runs ended %v", disk.name, ends)
	}
	if detector.On {
		return // not every moment is met
	}
	for _, end := range []string{"before any trial", "at the first trial", "between agent and record", "between trials", "at the summary", "enough"} {
		if all[end] == 0 {
			t.Errorf("no run ended %s", end)
		}
	}
}

// fill runs the suite in a store that may be too small, makes room and finishes
// the run. It says when the store was full.
func (b *bench) fill(more string, trials int) (end string) {
	b.t.Helper()
	out, code := b.run("run", "suite.hcl", "-j", "2")
	if code == exitOK {
		b.ended()
		b.finished(trials)
		return "enough"
	}
	b.says(out, "make room for")
	if code == exitUsage {
		b.nothing(out, code)
		return "before any trial"
	}
	if code != exitIncomplete {
		b.t.Errorf("exit code %d; want %d\n%s", code, exitIncomplete, out)
	}
	b.ended()
	summaries, _ := filepath.Glob(filepath.Join(b.store, "runs", "*", "summary.json"))
	switch {
	case len(b.recorded) == trials && len(summaries) == 0:
		end = "at the summary"
	case len(b.settled) > 0:
		end = "between agent and record"
	case len(b.recorded) == 0:
		end = "at the first trial"
	default:
		end = "between trials"
	}
	if out, code := b.run("show", "latest"); code != exitOK {
		b.t.Errorf("show: exit code %d\n%s", code, out)
	}
	// While the disk is full a resume keeps what there is.
	if out, code := b.run("resume", "latest", "-j", "2"); code != exitIncomplete && code != exitUsage {
		b.t.Errorf("resume on a full disk: exit code %d\n%s", code, out)
	}
	b.ended()
	b.remount(more)
	b.resumes(trials)
	return end
}

// A store that becomes read-only in mid-run, as a disk with errors does.
func TestStoreReadOnlyInMidRun(t *testing.T) {
	if !inside(t) {
		return
	}
	b := waiting(t)
	out, code := b.during(func() {
		for _, flags := range []uintptr{unix.MS_BIND, unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY} {
			if err := unix.Mount(b.store, b.store, "", flags, ""); err != nil {
				t.Error(err)
			}
		}
	})
	if code != exitIncomplete {
		t.Errorf("exit code %d; want %d\n%s", code, exitIncomplete, out)
	}
	b.says(out, "writable")
	b.ended()
	if len(b.recorded) != 1 {
		t.Errorf("%d trials recorded; want the first alone", len(b.recorded))
	}
	if out, code := b.run("resume", "latest"); code != exitUsage {
		t.Errorf("resume in a read-only store: exit code %d; want %d\n%s", code, exitUsage, out)
	}
	b.unmount()
	b.resumes(4)
}

// A store that the user may not write to any more in mid-run.
func TestStoreForbiddenInMidRun(t *testing.T) {
	b := waiting(t)
	cmd := b.command("run", "suite.hcl", "-j", "2")
	if os.Getuid() == 0 {
		// As a user without the powers of root.
		cmd.SysProcAttr = namespaces(syscall.CLONE_NEWUSER, 1000)
		probe := exec.Command("true")
		probe.SysProcAttr = namespaces(syscall.CLONE_NEWUSER, 1000)
		if err := probe.Run(); err != nil {
			t.Skipf("this system gives no user namespaces, and root may write everywhere: %v", err)
		}
	}
	mode := func(m os.FileMode) {
		dirs, _ := filepath.Glob(filepath.Join(b.store, "runs", "*", "*"))
		more, _ := filepath.Glob(filepath.Join(b.store, "runs", "*"))
		for _, dir := range append(dirs, more...) {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			if err := os.Chmod(dir, m); err != nil {
				t.Error(err)
			}
		}
	}
	out, code := b.duringOf(cmd, func() { mode(0o500) })
	if code != exitIncomplete {
		t.Errorf("exit code %d; want %d\n%s", code, exitIncomplete, out)
	}
	b.says(out, "writable")
	b.ended()
	if len(b.recorded) != 1 {
		t.Errorf("%d trials recorded; want the first alone", len(b.recorded))
	}
	mode(0o700)
	b.resumes(4)
}

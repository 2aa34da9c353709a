package cli

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/detector"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// kills is how often the kill tests kill a run: EVALENGINE_KILLS, or 100 times.
func kills(t *testing.T) int {
	t.Helper()
	given := os.Getenv("EVALENGINE_KILLS")
	if given == "" {
		return 100 / detector.Slower
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 2 {
		t.Fatalf("EVALENGINE_KILLS=%q: want a number from 2", given)
	}
	return n
}

// outwait makes a folder whose run was killed before it could lock it as old as one
// must be to be taken for left: until then it may be one that is being made.
func outwait(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		return
	}
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(folder, old, old); err != nil {
		t.Error(err)
	}
}

// A run that is killed at any moment loses no finished trial and doubles none;
// resume, killed as well, finishes the rest.
func TestKillAndResume(t *testing.T) {
	bin := filepath.Join(programs(t), "evalengine")
	suite := filepath.Join(root(t), "examples", "quickstart", "suite.hcl")
	args := []string{"run", suite, "--story", "cms-collection", "--story", "headline-fix", "--story", "move-hero", "-k", "2", "-j", "3"}
	cache, seed := compiled(t, t.TempDir()), rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	inFolder(t, bin, cache, t.TempDir(), args...).Run() // compiles the modules
	whole := inFolder(t, bin, cache, t.TempDir(), args...)
	begun := time.Now()
	whole.Run()
	length := time.Since(begun)
	for range 3 { // the quickest of a few: a busy machine must not put the kills behind the end
		begun := time.Now()
		inFolder(t, bin, cache, t.TempDir(), args...).Run()
		length = min(length, time.Since(begun))
	}
	want := outcomes(t, whole.Dir)
	if len(want) != 12 {
		t.Fatalf("the whole run has %d trials; want 12", len(want))
	}
	var killed, resumed, kept, scored int
	for tries := 0; killed < kills(t) && tries < 3*kills(t); tries++ {
		dir := t.TempDir()
		k := kill(t, inFolder(t, bin, cache, dir, args...), time.Duration(random.Int64N(int64(length))))
		if k {
			killed++
		}
		runs, _ := filepath.Glob(filepath.Join(dir, ".evalengine", "runs", "*", "run.json"))
		if len(runs) == 0 {
			continue // killed before there was a run
		}
		before := records(t, dir)
		// The resume is killed as well, then another goes through.
		if kill(t, inFolder(t, bin, cache, dir, "resume", "latest", "-j", "3"), time.Duration(random.Int64N(int64(length)))) {
			resumed++
		}
		again := records(t, dir)
		settled, _ := filepath.Glob(filepath.Join(dir, ".evalengine", "runs", "*", "drafts", "*", "evidence.json"))
		scored += len(settled)
		last := inFolder(t, bin, cache, dir, "resume", "latest", "-j", "3")
		out, _ := last.CombinedOutput()
		if code := last.ProcessState.ExitCode(); code != exitFailed {
			t.Fatalf("the last resume ended with %d; want %d\n%s", code, exitFailed, out)
		}
		after := records(t, dir)
		for id, text := range before {
			kept++
			if again[id] != text || after[id] != text {
				t.Errorf("%s was recorded before the kill and changed", id)
			}
		}
		for id, text := range again {
			if after[id] != text {
				t.Errorf("%s was recorded by the killed resume and changed", id)
			}
		}
		if d := cmp.Diff(outcomes(t, dir), want); d != "" {
			t.Errorf("trials after resume: got -, want +:\n%s", d)
		}
		s := summaryOf(t, dir)
		if s.Completion != eval.RunComplete || s.Trials.Total != 12 || s.Trials.Passed != 8 || s.Trials.Failed != 4 {
			t.Errorf("summary = %+v", s)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".evalengine", "runs", "*", "drafts", "*")); len(left) > 0 {
			t.Errorf("drafts left: %v", left)
		}
		if left := children(dir); len(left) > 0 {
			t.Errorf("processes left: %q", left)
		}
		// What the killed ones left there was swept by the last, or is by the next sweep
		// where a process of theirs took its time to die.
		left, _ := filepath.Glob(filepath.Join(dir, "tmp", "evalengine-run-*"))
		for n := 0; len(left) > 0 && n < 20; n++ {
			t.Logf("swept later: %v", left)
			for _, l := range left {
				outwait(t, l)
			}
			if out, err := inFolder(t, bin, cache, dir, "doctor", "--sweep").CombinedOutput(); err != nil {
				t.Errorf("doctor --sweep: %v\n%s", err, out)
			}
			left, _ = filepath.Glob(filepath.Join(dir, "tmp", "evalengine-run-*"))
		}
		if len(left) > 0 {
			t.Errorf("temporary folders left: %v", left)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs and %d resumes killed, %d finished trials kept, %d trials scored from what they left", killed, resumed, kept, scored)
	if killed < kills(t)/2 || kept == 0 {
		t.Errorf("%d runs were killed; want %d, or half of them on a busy machine", killed, kills(t))
	}
}

func inFolder(t *testing.T, bin, cache, dir string, args ...string) *exec.Cmd {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+filepath.Join(dir, "tmp"), "EVALENGINE_CACHE="+cache)
	return cmd
}

// kill runs the program and kills it after a while; false where it had ended by
// itself.
func kill(t *testing.T, cmd *exec.Cmd, after time.Duration) bool {
	t.Helper()
	cmd.Stdout, cmd.Stderr = io.Discard, &bytes.Buffer{}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	cmd.Wait()
	return !cmd.ProcessState.Exited()
}

// records are the trial.json files of the latest run by trial.
func records(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(dir, ".evalengine", "runs", "*", "trials", "*", "trial.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(filepath.Dir(f))] = string(b)
	}
	return out
}

// outcomes are the statuses of the latest run's trials, each record verified.
func outcomes(t *testing.T, dir string) map[string]eval.Status {
	t.Helper()
	store, err := ledger.Open(filepath.Join(dir, ".evalengine"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]eval.Status{}
	for rec, err := range run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if err := ledger.Verify(run.TrialDir(rec.ID), rec); err != nil {
			t.Error(err)
		}
		out[rec.ID] = rec.Status
	}
	return out
}

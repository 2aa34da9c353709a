package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// spend runs the program in a folder of its own and returns the processor time
// of all its processes and the peak memory of the largest of them, in bytes.
func spend(b testing.TB, bin, cache string, args ...string) (time.Duration, int64) {
	b.Helper()
	cmd := exec.Command(filepath.Join(bin, "evalengine"), args...)
	cmd.Dir = b.TempDir()
	cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+cmd.Dir, "EVALENGINE_CACHE="+cache)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("evalengine %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), u.Maxrss << 10
}

// benchRun returns what runs n trials of examples/bench, with the modules
// compiled.
func benchRun(b *testing.B) func(n int) (time.Duration, int64) {
	bin, cache := programs(b), compiled(b, b.TempDir())
	suite := filepath.Join(root(b), "examples", "bench", "suite.hcl")
	run := func(n int) (time.Duration, int64) {
		return spend(b, bin, cache, "run", suite, "-k", strconv.Itoa(n), "--no-progress", "-j", "2")
	}
	run(1)
	return run
}

// BenchmarkTrials measures whole runs of examples/bench: the marginal cost of a
// trial is what 10,000 cost beyond 1,000, over the trials between. Each size is
// run once for each iteration.
func BenchmarkTrials(b *testing.B) {
	run := benchRun(b)
	for b.Loop() {
		small, smallMem := run(1000)
		large, largeMem := run(10000)
		b.ReportMetric(small.Seconds(), "cpu-s/1000")
		b.ReportMetric(large.Seconds(), "cpu-s/10000")
		b.ReportMetric(float64((large-small).Microseconds())/9000/1000, "cpu-ms/trial")
		b.ReportMetric(float64(smallMem>>20), "MB/1000")
		b.ReportMetric(float64(largeMem>>20), "MB/10000")
	}
}

// BenchmarkFirstScore measures a run of one trial from its start to its end,
// which is later than the first score by the record and the summary.
func BenchmarkFirstScore(b *testing.B) {
	run := benchRun(b)
	var total time.Duration
	for b.Loop() {
		d, _ := run(1)
		total += d
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "wall-ms/op")
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func BenchmarkVersion(b *testing.B) {
	bin, cache := programs(b), b.TempDir()
	var total time.Duration
	for b.Loop() {
		d, _ := spend(b, bin, cache, "version")
		total += d
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "cpu-ms/op")
	if fi, err := os.Stat(filepath.Join(bin, "evalengine")); err == nil {
		b.ReportMetric(float64(fi.Size()>>20), "MB-binary")
	}
}

package wasm

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// onProcs gives a worker its number of CPUs back, which [ServeWorker] sets to one
// before it reads.
type onProcs struct{ io.Reader }

func (r onProcs) Read(b []byte) (int, error) {
	if n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err == nil {
		runtime.GOMAXPROCS(n)
	}
	return r.Reader.Read(b)
}

// The same input has the same bytes as its answer: on modules that were compiled
// anew, on one CPU and on two, compiled and interpreted, whatever else the worker
// did before.
func TestSameInputSameBytes(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	module, err := plainModule()
	if err != nil {
		t.Fatal(err)
	}
	in := transcript(64 << 10)
	in.Uses = uses("count", "contains", "chance", "remembers", "fails")
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var want []byte
	for _, procs := range []int{1, 2} {
		for _, interpret := range []bool{false, true} {
			runtime.GOMAXPROCS(procs)
			rt, err := New(Options{
				CacheDir: t.TempDir(), Workers: procs, Interpret: interpret,
				Command: []string{env, "GOMAXPROCS=" + strconv.Itoa(procs), exe, workerArg},
			})
			if err != nil {
				t.Fatal(err)
			}
			m := load(t, rt, module, eval.Grants{})
			for n := range 4 {
				got, err := json.Marshal(scorePlain(t, m, in))
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !bytes.Equal(got, want) {
					t.Errorf("GOMAXPROCS=%d, interpreted %v, call %d: got\n%s\nwant\n%s", procs, interpret, n+1, got, want)
				}
				// Another trial in between.
				other := transcript(1 << 10)
				other.Uses = uses("remembers", "chance")
				scorePlain(t, m, other)
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if !bytes.Contains(want, []byte(`"State":"scored"`)) {
		t.Errorf("nothing was scored: %s", want)
	}
}

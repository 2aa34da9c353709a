package wasm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"go.uber.org/goleak"
)

// workerArg makes the test binary a scorer worker.
const workerArg = "scorer-worker"

// engineArg makes it an engine that scores without end: see runEngine.
const engineArg = "engine"

// runEngine scores with the module of a file that never answers, and prints the
// process ID of the worker.
func runEngine(file, cacheDir string) {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	rt, err := New(Options{Command: []string{exe, workerArg}, CacheDir: cacheDir, Workers: 1})
	if err != nil {
		panic(err)
	}
	start := rt.pure.start
	rt.pure.start = func() (*process, error) {
		p, err := start()
		if err == nil {
			fmt.Println(p.cmd.Process.Pid)
		}
		return p, err
	}
	module, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	m, err := rt.Load(context.Background(), "loops", module, "", eval.Grants{Timeout: time.Hour})
	if err != nil {
		panic(err)
	}
	_, err = m.Score(context.Background(), &eval.ScoreInput{Uses: uses("x")})
	panic(err)
}

var cacheDir, plainFile string

var startOfTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == engineArg {
		runEngine(os.Args[2], os.Args[3])
		return
	}
	if len(os.Args) == 2 && os.Args[1] == workerArg {
		if err := ServeWorker(context.Background(), onProcs{os.Stdin}, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "wasm-test-")
	if err != nil {
		panic(err)
	}
	cacheDir, plainFile = filepath.Join(dir, "cache"), filepath.Join(dir, "plain.wasm")
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// plain builds the module of testdata/plain once.
var plainModule = sync.OnceValues(func() ([]byte, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w",
		"-o", plainFile, "./testdata/plain")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return os.ReadFile(plainFile)
})

func loadPlain(tb testing.TB, rt *Runtime, g eval.Grants) *Module {
	tb.Helper()
	b, err := plainModule()
	if err != nil {
		tb.Fatal(err)
	}
	return load(tb, rt, b, g)
}

func load(tb testing.TB, rt *Runtime, module []byte, g eval.Grants) *Module {
	tb.Helper()
	m, err := rt.Load(tb.Context(), "plain", module, "", g)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func newRuntime(tb testing.TB, o Options) *Runtime {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	o.Command = []string{exe, workerArg}
	if o.CacheDir == "" {
		o.CacheDir = cacheDir
	}
	rt, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := rt.Close(); err != nil {
			tb.Error(err)
		}
	})
	return rt
}

// seconds gives scorers that end little time to prove that they do not.
func seconds(n float64) eval.Grants {
	return eval.Grants{Timeout: time.Duration(n * float64(time.Second))}
}

func uses(scorers ...string) []eval.Use {
	var list []eval.Use
	for _, s := range scorers {
		list = append(list, eval.Use{Name: s, Scorer: s})
	}
	return list
}

// transcript returns an input of about size bytes, in calls of 4 KB.
func transcript(size int) *eval.ScoreInput {
	in := &eval.ScoreInput{
		Trial: eval.Trial{Story: "s", Host: "h", Repeat: 1}, Outcome: eval.Completed, Uses: uses("count"), Answer: "done",
	}
	const each = 4096
	result := eval.JSON(`{"content":[{"type":"text","text":"` + strings.Repeat("x", each-100) + `"}]}`)
	for n := range max(size/each, 1) {
		if size < each {
			result = eval.JSON(`{"content":[{"type":"text","text":"` + strings.Repeat("x", max(size-300, 1)) + `"}]}`)
		}
		id := fmt.Sprint("c", n)
		in.Steps = append(in.Steps,
			eval.Step{ID: fmt.Sprint("s", 2*n+1), Turn: 1, Kind: eval.StepToolCall, CallID: id, Server: "site",
				Tool: "page_create", Arguments: eval.JSON(`{"name":"home"}`), Observed: eval.Confirmed},
			eval.Step{ID: fmt.Sprint("s", 2*n+2), Turn: 1, Kind: eval.StepToolResult, CallID: id, Server: "site",
				Tool: "page_create", Result: result, Bytes: int64(len(result)), Observed: eval.Confirmed},
		)
	}
	return in
}

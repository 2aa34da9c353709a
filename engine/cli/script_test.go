package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evalengine/evalengine/engine/internal/detector"
	"github.com/evalengine/evalengine/plugins/host"
)

// built builds every program once for all tests of the package.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "evalengine-test-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-race="+strconv.FormatBool(detector.On), "-o", dir+string(filepath.Separator), ".", "./plugins/evalengine-...", "./examples/scripted-model", "./examples/sitebuilder")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("building the programs: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == countedProgram {
		host.Serve(counted{})
		return
	}
	code := m.Run()
	if detector.On {
		if dir, err := shared(); err == nil {
			os.RemoveAll(dir)
		}
	}
	if os.Getenv("EVALENGINE_TEST_BIN") == "" {
		if dir, _ := built(); dir != "" {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// programs returns the folder of the built programs: what EVALENGINE_TEST_BIN
// names, or a fresh build of them all.
func programs(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("EVALENGINE_TEST_BIN"); dir != "" {
		return dir
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shared is the one cache of all tests under the race detector, where compiling
// the modules takes a minute.
var shared = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "evalengine-test-cache-") })

// compiled returns the folder of compiled modules for a test: its own, which is
// empty, where that takes no time.
func compiled(t testing.TB, own string) string {
	t.Helper()
	if !detector.On {
		return own
	}
	dir, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// environ is what a program under test sees: what it is given, and what the race
// detector needs where the tests are built with it.
func environ(given ...string) []string {
	return append(given, detector.Environ(os.Environ())...)
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestScript runs testdata/script/*.txtar: one topic a file, the failing cases
// beside the passing. Beside testscript's own commands there are
//
//	code N COMMAND...   runs the command and wants its exit code
//	match FILE REGEXP   wants a file to match, with the glob of a run's folder
func TestScript(t *testing.T) {
	bin, cache := programs(t), compiled(t, t.TempDir())
	judge := httptest.NewServer(&fakeJudge{})
	t.Cleanup(judge.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home, temp := filepath.Join(env.WorkDir, ".home"), filepath.Join(env.WorkDir, ".tmp")
			for _, dir := range []string{home, temp} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			env.Setenv("TMPDIR", temp)
			// Whatever a script does, no temporary folder outlives it.
			env.Defer(func() {
				if left, _ := os.ReadDir(temp); len(left) > 0 {
					t.Errorf("%s left in its temporary folder: %v", filepath.Base(env.WorkDir), left)
				}
			})
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("HOME", home)
			env.Setenv("EVALENGINE_CACHE", cache)
			env.Setenv("EVALENGINE_VAR_judge", judge.URL+"/v1")
			env.Setenv("JUDGE", judge.URL+"/v1")
			for _, kv := range environ() {
				name, value, _ := strings.Cut(kv, "=")
				env.Setenv(name, value)
			}
			env.Setenv("EXAMPLES", filepath.Join(root(t), "examples"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "match": match},
	})
}

func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if exit, ok := err.(*exec.ExitError); ok {
		got = fmt.Sprint(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != args[0] {
		ts.Fatalf("exit code %s; want %s", got, args[0])
	}
}

func match(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: match glob regexp")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) == 0 && !neg {
		ts.Fatalf("no file is named %s", args[0])
	}
	re := regexp.MustCompile("(?m)" + args[1])
	for _, f := range files {
		b, err := os.ReadFile(f)
		ts.Check(err)
		if re.Match(b) == neg {
			ts.Fatalf("%s: matching %q is %v:\n%s", f, args[1], !neg, strings.ToValidUTF8(string(b[:min(len(b), 4000)]), "?"))
		}
	}
}

package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/hosttest"
)

// buildCustomHost builds the example as a third party would: a module of its own.
func buildCustomHost(t *testing.T) (dir, binary string) {
	t.Helper()
	dir = t.TempDir()
	binary = filepath.Join(dir, "evalengine-host-shell")
	cmd := exec.Command("go", "build", "-o", binary, ".")
	cmd.Dir = "../../../examples/custom-host"
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return dir, binary
}

func TestCustomHost(t *testing.T) {
	dir, binary := buildCustomHost(t)
	t.Run("conformance", func(t *testing.T) {
		hosttest.Kit{
			Binary: binary, Env: []string{"PATH=" + os.Getenv("PATH")},
			Spec: func(_ testing.TB, s *eval.SessionSpec) { s.Config = eval.JSON(`{"program":"sh"}`) },
			Turns: []hosttest.Turn{
				{Prompt: "echo text >note; echo written", Answer: "written"},
				{Prompt: "cat note", Answer: "text"},
			},
			Long: "echo up; setsid sleep 1000 & sleep 1000",
			BrokenSpec: func(_ testing.TB, s *eval.SessionSpec) {
				s.Config = eval.JSON(`{"program":"no-such-shell"}`)
			},
		}.Run(t)
	})
	t.Run("found by name", func(t *testing.T) {
		p := New(Options{Finder: Finder{Path: []string{dir}}, Environ: os.Environ()})
		defer p.Close()
		h, err := p.Host(t.Context(), "shell", "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.Start(t.Context(), eval.SessionSpec{
			Home: t.TempDir(), WorkDir: t.TempDir(), Config: eval.JSON(`{"program":"sh"}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		res, err := s.Turn(t.Context(), "echo $HOME; exit 3", func(eval.Event) {})
		if err != nil || res.Outcome != eval.GaveUp || !strings.HasPrefix(res.Detail, "exit code 3") {
			t.Errorf("Turn = %+v, %v; want gave_up with exit code 3", res, err)
		}
	})
}

// A host is under 100 lines.
func TestCustomHostIsShort(t *testing.T) {
	b, err := os.ReadFile("../../../examples/custom-host/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n >= 100 {
		t.Errorf("examples/custom-host/main.go has %d lines; want less than 100", n)
	}
}

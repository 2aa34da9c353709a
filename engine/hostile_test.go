package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/launch"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/plugins/host"
)

// hostile is a host plugin that does in a turn what the prompt says.
type hostile struct{}

func (hostile) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "hostile", Version: "1", Capabilities: []string{eval.CapMultiTurn, eval.CapNoFolders}}, nil
}

func (hostile) Start(context.Context, eval.SessionSpec) (eval.Session, error) { return hostile{}, nil }

func (hostile) Turn(_ context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: "pid " + strconv.Itoa(os.Getpid())}})
	switch prompt {
	case "hang":
		// A child that left the session, and a turn that heeds no one.
		child := exec.Command("setsid", "sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return eval.TurnResult{}, err
		}
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: "pid " + strconv.Itoa(child.Process.Pid)}})
		select {}
	case "talk on":
		for {
			emit(eval.Event{Progress: "at work"})
		}
	case "flood":
		flood()
	case "flood on":
		go func() {
			for {
				flood()
			}
		}()
	}
	return eval.TurnResult{Outcome: eval.Completed, Answer: "done"}, nil
}

func (hostile) Close() error { return nil }

// flood writes 64 MiB to stdout and as much to stderr, with lines and without.
func flood() {
	line := bytes.Repeat([]byte("x"), 1<<20)
	var wg sync.WaitGroup
	for i, w := range []*os.File{os.Stdout, os.Stderr} {
		wg.Go(func() {
			for n := range 64 {
				if (n+i)%2 == 0 {
					line := append(bytes.Clone(line), '\n')
					w.Write(line)
					continue
				}
				w.Write(line)
			}
		})
	}
	wg.Wait()
}

// counter counts what is logged.
type counter struct {
	mu   sync.Mutex
	size int
}

func (c *counter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += len(b)
	return len(b), nil
}

// ran is what a story of hostileRun came to.
type ran struct {
	rec   *eval.Record
	steps []eval.Step
}

// hostileRun runs a suite of stories, each named by its prompt, on the hostile host,
// and gives the records and how much was logged.
func hostileRun(t *testing.T, settings string, prompts ...string) (map[string]ran, int) {
	t.Helper()
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(exe, filepath.Join(dir, "evalengine-host-hostile")); err != nil {
		t.Fatal(err)
	}
	text := "suite \"s\" {\n" + settings + "\n}\nhost \"h\" { driver = \"hostile\" }\n"
	for i, p := range prompts {
		text += "story \"s" + strconv.Itoa(i) + "\" {\n  prompt = " + strconv.Quote(p) + "\n  check \"done\" { condition = answer == \"done\" }\n}\n"
	}
	file := filepath.Join(dir, "suite.hcl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var log counter
	e := New(Options{
		Plugins: launch.Finder{Path: []string{dir}}, Cache: filepath.Join(dir, "cache"), Dir: dir,
		Environ: func(string) (string, bool) { return "", false }, Environment: os.Environ(),
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	s, diags := e.Load(t.Context(), []string{file}, LoadOptions{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	store := t.TempDir()
	if _, err := runIn(t, e, s, store); err != nil {
		t.Error(err)
	}
	closed(t, e)
	got := map[string]ran{}
	kept, err := ledger.Open(store)
	if err != nil {
		t.Fatal(err)
	}
	run, err := kept.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	for rec, err := range run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		i, _ := strconv.Atoi(strings.TrimPrefix(rec.Story, "s"))
		steps, err := ledger.ReadSteps(run.TrialDir(rec.ID))
		if err != nil {
			t.Fatal(err)
		}
		got[prompts[i]] = ran{rec, steps}
	}
	return got, log.size
}

// A plugin that hangs in the middle of a turn, or never stops talking, costs its trial
// its time and nothing else: the trial is a timeout, told with the plugin's name, the
// plugin is ended with all that it started, and the next trial has a new one.
func TestHostHangsInMidStream(t *testing.T) {
	for _, prompt := range []string{"hang", "talk on"} {
		t.Run(prompt, func(t *testing.T) {
			t.Parallel()
			got, _ := hostileRun(t, `timeout = "2s"`, prompt, "next")
			hung, next := got[prompt], got["next"]
			if hung.rec == nil || next.rec == nil {
				t.Fatalf("records = %v; want two", got)
			}
			if hung.rec.Status != eval.StatusFailed || hung.rec.Cause != "timeout" {
				t.Errorf("the trial is %s, %s: %s; want a timeout", hung.rec.Status, hung.rec.Cause, hung.rec.Reason)
			}
			told := ""
			for _, f := range hung.rec.Findings {
				if f.Kind == "host_warning" {
					told += f.Text
				}
			}
			if want := `host plugin "hostile": did not end its session`; !strings.Contains(told, want) {
				t.Errorf("findings = %q; want %q", told, want)
			}
			if next.rec.Status != eval.StatusPassed {
				t.Errorf("the next trial is %s: %s", next.rec.Status, next.rec.Reason)
			}
			pids := pidsOf(hung.steps)
			if want := map[string]int{"hang": 2, "talk on": 1}[prompt]; len(pids) != want {
				t.Errorf("processes of the trial: %v; want %d", pids, want)
			}
			for _, pid := range append(pids, pidsOf(next.steps)...) {
				if running(t, pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

// What a plugin writes to its stdout and stderr during a turn, however much, is no
// part of what it answers, stops nobody, and is logged within bounds.
func TestHostFloodsDuringATurn(t *testing.T) {
	got, logged := hostileRun(t, "", "flood", "flood on", "next")
	for _, prompt := range []string{"flood", "flood on", "next"} {
		if r := got[prompt]; r.rec == nil || r.rec.Status != eval.StatusPassed {
			t.Errorf("%s: record = %+v; want one that passed", prompt, r.rec)
		}
	}
	if logged < 1<<10 || logged > 4<<20 {
		t.Errorf("%d bytes are logged; want some, and at most 4 MiB", logged)
	}
}

// running reports whether a process runs: one that has ended and that nobody has yet
// waited for does not.
func running(t *testing.T, pid int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	var none *exec.ExitError
	if err != nil && !errors.As(err, &none) {
		t.Fatal(err)
	}
	state := strings.TrimSpace(string(out))
	return state != "" && !strings.HasPrefix(state, "Z")
}

func pidsOf(steps []eval.Step) []int {
	var pids []int
	for _, s := range steps {
		if text, ok := strings.CutPrefix(s.Text, "pid "); ok {
			n, _ := strconv.Atoi(text)
			pids = append(pids, n)
		}
	}
	return pids
}

func serveHostile() { host.Serve(hostile{}) }

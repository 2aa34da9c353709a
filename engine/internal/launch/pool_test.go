package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// TestMain makes the test binary a plugin where it is started under a plugin's
// name.
func TestMain(m *testing.M) {
	switch base := filepath.Base(os.Args[0]); {
	case base == "evalengine-host-dead":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case strings.HasPrefix(base, "evalengine-host-"):
		rpc.ServeHost(testHost{})
		return
	case strings.HasPrefix(base, "evalengine-provisioner-"):
		rpc.ServeProvisioner(testProvisioner{})
		return
	case strings.HasPrefix(base, "evalengine-model-"):
		rpc.ServeModel(testModel{})
		return
	}
	goleak.VerifyTestMain(m)
}

// testHost does in a turn what the prompt says.
type testHost struct{}

func (testHost) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake", Version: "1.2.3"}, nil
}

func (testHost) Start(context.Context, eval.SessionSpec) (eval.Session, error) {
	return testSession{}, nil
}

type testSession struct{}

func (testSession) Close() error { return nil }

func (testSession) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	emit(eval.Event{Progress: "up"})
	answer := ""
	switch prompt {
	case "pid":
		answer = fmt.Sprint(os.Getpid())
	case "env":
		answer = strings.Join(os.Environ(), "\n")
	case "log":
		fmt.Fprintln(os.Stderr, "a line of the log")
	case "crash":
		os.Exit(4)
	case "wait":
		<-ctx.Done()
		return eval.TurnResult{}, ctx.Err()
	}
	return eval.TurnResult{Outcome: eval.Completed, Answer: answer}, nil
}

type testProvisioner struct{}

func (testProvisioner) Describe(context.Context) (eval.Description, error) {
	return eval.Description{Name: "fake", Version: "1"}, nil
}

func (testProvisioner) Provision(_ context.Context, r eval.ProvisionRequest) (eval.Target, error) {
	return eval.Target{ID: r.Nonce}, nil
}

func (testProvisioner) Snapshot(_ context.Context, id string) (eval.JSON, error) {
	if id == "crash" {
		os.Exit(5)
	}
	return eval.JSON(`{"id":"` + id + `"}`), nil
}

func (testProvisioner) Destroy(context.Context, string) error { return nil }

// pool returns a pool whose plugins are this test binary under the given names.
func pool(t testing.TB, change func(*Options), files ...string) *Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range files {
		if err := os.Symlink(self, filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Finder: Finder{Beside: dir}, StartTimeout: time.Minute, Environ: os.Environ()}
	if change != nil {
		change(&o)
	}
	p := New(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func turn(t testing.TB, h eval.Host, prompt string) (string, error) {
	t.Helper()
	s, err := h.Start(t.Context(), eval.SessionSpec{})
	if err != nil {
		return "", err
	}
	defer s.Close()
	res, err := s.Turn(t.Context(), prompt, func(eval.Event) {})
	return res.Answer, err
}

func TestPoolSharesOneProcess(t *testing.T) {
	p := pool(t, nil, "evalengine-host-fake")
	var mu sync.Mutex
	pids := map[string]int{}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			h, err := p.Host(t.Context(), "fake", "")
			if err != nil {
				t.Error(err)
				return
			}
			pid, err := turn(t, h, "pid")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			pids[pid]++
		})
	}
	wg.Wait()
	if len(pids) != 1 {
		t.Errorf("sessions by process: %v; want one process", pids)
	}
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := h.Describe(t.Context()); d.Version != "1.2.3" || err != nil {
		t.Errorf("Describe = %+v, %v", d, err)
	}
	c := p.Component("host", "fake")
	if c.Version != "1.2.3" || len(c.SHA256) != 64 {
		t.Errorf("Component = %+v", c)
	}
}

func TestPoolEnvironment(t *testing.T) {
	p := pool(t, func(o *Options) {
		o.Environ = []string{"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=secret", "MINE=1"}
		o.Pass = []string{"MINE"}
	}, "evalengine-host-fake")
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := turn(t, h, "env")
	if err != nil || strings.Contains(got, "ANTHROPIC_API_KEY") || !strings.Contains(got, "MINE=1") {
		t.Errorf("environment, %v:\n%s", err, got)
	}
}

func TestPoolRestartsAfterCrash(t *testing.T) {
	p := pool(t, nil, "evalengine-host-fake")
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	first, err := turn(t, h, "pid")
	if err != nil {
		t.Fatal(err)
	}
	_, err = turn(t, h, "crash")
	f := eval.AsFault(err)
	if f.Cause != eval.CausePlugin || f.Retry != eval.RetryTrial ||
		!strings.HasPrefix(f.Detail, `host plugin "fake": `) || !strings.HasSuffix(f.Detail, "exit status 4") {
		t.Errorf("fault = %+v; want one of the plugin with its name and its exit status", f)
	}
	second, err := turn(t, h, "pid")
	if err != nil || second == first {
		t.Errorf("after the crash: process %s, %v; want another than %s", second, err, first)
	}
}

func TestPoolGivesUpAPluginThatOnlyCrashes(t *testing.T) {
	p := pool(t, nil, "evalengine-host-fake")
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	for range maxCrashes - 1 {
		if _, err := turn(t, h, "crash"); eval.AsFault(err).Cause != eval.CausePlugin {
			t.Fatalf("crash: %v", err)
		}
	}
	if _, err := turn(t, h, "pid"); err != nil { // one that goes well starts the count again
		t.Fatal(err)
	}
	for range maxCrashes {
		if _, err := turn(t, h, "crash"); eval.AsFault(err).Cause != eval.CausePlugin {
			t.Fatalf("crash: %v", err)
		}
	}
	_, err = turn(t, h, "pid")
	if f := eval.AsFault(err); f.Cause != eval.CauseCircuitOpen || f.Retry != eval.RetryStop || !strings.Contains(f.Detail, "exit status 4") {
		t.Errorf("fault = %+v; want an open circuit that stops the host", f)
	}
}

// A process killed between trials costs no trial.
func TestPoolKilledBetweenTrials(t *testing.T) {
	p := pool(t, nil, "evalengine-host-fake")
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := turn(t, h, "pid")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	fmt.Sscan(pid, &n)
	if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if again, err := turn(t, h, "pid"); err != nil || again == pid {
		t.Errorf("turn after the kill = %s, %v; want another process than %s", again, err, pid)
	}
}

func TestPoolErrors(t *testing.T) {
	p := pool(t, nil, "evalengine-host-fake", "evalengine-host-dead")
	if _, err := p.Host(t.Context(), "gemini", ""); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := p.Host(t.Context(), "../fake", ""); !errors.Is(err, ErrName) {
		t.Errorf("path: %v", err)
	}
	if _, err := p.Host(t.Context(), "fake", strings.Repeat("0", 64)); !errors.Is(err, ErrDigest) {
		t.Errorf("digest: %v", err)
	}
	_, err := p.Host(t.Context(), "dead", "")
	if err == nil || !strings.Contains(err.Error(), `host plugin "dead": ended at its start: exit status 3; it said "no licence found"`) {
		t.Errorf("dead: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Host(ctx, "fake", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Host(t.Context(), "fake", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The pin is checked before anything of the binary runs.
func TestPinnedBinaryDoesNotRun(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	script := "#!/bin/sh\necho >" + ran + "\n"
	if err := os.WriteFile(filepath.Join(dir, "evalengine-host-evil"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := pool(t, func(o *Options) { o.Finder.Beside = dir })
	if _, err := p.Host(t.Context(), "evil", strings.Repeat("0", 64)); !errors.Is(err, ErrDigest) {
		t.Errorf("error = %v; want ErrDigest", err)
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the binary ran: %v", err)
	}
}

func TestReplacedBinaryIsNotStarted(t *testing.T) {
	var dir string
	p := pool(t, func(o *Options) { dir = o.Finder.Beside }, "evalengine-host-fake")
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "evalengine-host-fake")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := turn(t, h, "crash"); eval.AsFault(err).Cause != eval.CausePlugin {
		t.Fatal(err)
	}
	if _, err := turn(t, h, "pid"); !errors.Is(err, ErrDigest) {
		t.Errorf("error = %v; want ErrDigest", err)
	}
}

func TestPoolProvisioner(t *testing.T) {
	p := pool(t, nil, "evalengine-provisioner-site")
	v, err := p.Provisioner(t.Context(), "site", "")
	if err != nil {
		t.Fatal(err)
	}
	target, err := v.Provision(t.Context(), eval.ProvisionRequest{Nonce: "n"})
	if err != nil || target.ID != "n" {
		t.Errorf("Provision = %+v, %v", target, err)
	}
	_, err = v.Snapshot(t.Context(), "crash")
	if f := eval.AsFault(err); f.Cause != eval.CausePlugin || !strings.HasSuffix(f.Detail, "exit status 5") {
		t.Errorf("fault = %+v; want one of the plugin with its exit status", f)
	}
	if state, err := v.Snapshot(t.Context(), "x"); string(state) != `{"id":"x"}` || err != nil {
		t.Errorf("Snapshot after the crash = %s, %v", state, err)
	}
	if err := v.Destroy(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	if d, err := v.Describe(t.Context()); d.Name != "fake" || err != nil {
		t.Errorf("Describe = %+v, %v", d, err)
	}
}

func TestPoolLog(t *testing.T) {
	seen := make(chan struct{})
	var once sync.Once
	w := writerFunc(func(b []byte) (int, error) {
		if bytes.Contains(b, []byte("a line of the log")) && bytes.Contains(b, []byte("plugin=host/fake")) {
			once.Do(func() { close(seen) })
		}
		return len(b), nil
	})
	p := pool(t, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, "evalengine-host-fake")
	h, err := p.Host(t.Context(), "fake", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn(t, h, "log"); err != nil {
		t.Fatal(err)
	}
	<-seen
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestLogIsBounded(t *testing.T) {
	var n, size int
	w := &logWriter{log: slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		n++
		size += len(b)
		return len(b), nil
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))}
	long := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	for range 2000 {
		if k, err := w.Write(long); k != len(long) || err != nil {
			t.Fatalf("Write = %d, %v", k, err)
		}
	}
	if size > 2*maxLog || n < 100 {
		t.Errorf("%d records of %d bytes; want at most %d bytes", n, size, 2*maxLog)
	}
}

func BenchmarkPoolSession(b *testing.B) {
	p := pool(b, nil, "evalengine-host-fake")
	h, err := p.Host(b.Context(), "fake", "")
	if err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := turn(b, h, ""); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

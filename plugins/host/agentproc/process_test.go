//go:build linux

package agentproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
)

// sh starts a shell script with a small environment.
func sh(t *testing.T, script string, change ...func(*Command)) *Process {
	t.Helper()
	return shCtx(t, t.Context(), script, change...)
}

func shCtx(t *testing.T, ctx context.Context, script string, change ...func(*Command)) *Process {
	t.Helper()
	c := Command{
		Path: "sh", Args: []string{"-c", script}, Dir: t.TempDir(),
		Env: map[string]string{"PATH": os.Getenv("PATH")}, Grace: 50 * time.Millisecond,
	}
	for _, f := range change {
		f(&c)
	}
	p, err := Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if left := proc.Members(p.Pid(), EnvMark+"="+p.mark); len(left) != 0 {
			t.Errorf("processes left after Close: %v", left)
		}
	})
	return p
}

func line(t *testing.T, p *Process) string {
	t.Helper()
	l, err := p.Line()
	if err != nil {
		t.Fatalf("Line() error = %v", err)
	}
	return string(l.Text)
}

// rest reads the remaining lines.
func rest(t *testing.T, p *Process) []string {
	t.Helper()
	var all []string
	for {
		l, err := p.Line()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(l.Text))
	}
}

func TestExits(t *testing.T) {
	for _, tt := range []struct {
		script string
		want   Exit
	}{
		{"exit 0", Exit{Code: 0}},
		{"exit 7", Exit{Code: 7}},
		{"kill -SEGV $$", Exit{Code: -1, Signal: "SIGSEGV"}},
	} {
		p := sh(t, tt.script)
		if got := p.Wait(); got != tt.want {
			t.Errorf("%s: exit = %+v; want %+v", tt.script, got, tt.want)
		}
	}
}

func TestEnvironmentIsExplicit(t *testing.T) {
	t.Setenv("AMBIENT_SECRET", "s3cret")
	p := sh(t, "env", func(c *Command) { c.Env["GIVEN"] = "yes" })
	var names []string
	for _, l := range rest(t, p) {
		name, _, _ := strings.Cut(l, "=")
		names = append(names, name)
	}
	got := strings.Join(names, " ")
	for _, name := range []string{"GIVEN", "PATH", EnvMark} {
		if !strings.Contains(got, name) {
			t.Errorf("environment %q lacks %s", got, name)
		}
	}
	if strings.Contains(got, "AMBIENT_SECRET") {
		t.Errorf("environment %q holds the plugin's own variables", got)
	}
}

func TestEnv(t *testing.T) {
	home := t.TempDir()
	env, err := Env(eval.SessionSpec{Home: home, Env: map[string]string{"A": "1", "B": "1"}}, map[string]string{"B": "2"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"HOME": home, "TMPDIR": filepath.Join(home, "tmp"), "A": "1", "B": "2", "LANG": "C.UTF-8"}
	for k, v := range want {
		if env[k] != v {
			t.Errorf("%s = %q; want %q", k, env[k], v)
		}
	}
	if fi, err := os.Stat(env["TMPDIR"]); err != nil || !fi.IsDir() {
		t.Errorf("TMPDIR: %v, %v; want a folder", fi, err)
	}
}

func TestNotFound(t *testing.T) {
	_, err := Start(t.Context(), Command{Path: "no-such-agent", Env: map[string]string{"PATH": "/usr/bin"}})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("error = %v; want ErrNotFound", err)
	}
	_, err = Start(t.Context(), Command{Path: "/no/such/agent"})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v; want ErrNotExist", err)
	}
}

func TestStdin(t *testing.T) {
	p := sh(t, `while read l; do echo "got $l"; done; echo end`, func(c *Command) { c.Stdin = true })
	for _, s := range []string{"a", "b"} {
		if _, err := p.Write([]byte(s + "\n")); err != nil {
			t.Fatal(err)
		}
		if got, want := line(t, p), "got "+s; got != want {
			t.Errorf("line = %q; want %q", got, want)
		}
	}
	p.CloseStdin()
	if got := rest(t, p); len(got) != 1 || got[0] != "end" {
		t.Errorf("rest = %q; want [end]", got)
	}
	if _, err := p.Write([]byte("x")); !errors.Is(err, ErrNoStdin) {
		t.Errorf("Write after CloseStdin = %v; want ErrNoStdin", err)
	}
}

func TestWithoutStdinReadsEnd(t *testing.T) {
	p := sh(t, "cat; echo end")
	if got := rest(t, p); len(got) != 1 || got[0] != "end" {
		t.Errorf("lines = %q; want [end]", got)
	}
}

// A child that ignores signals, one in a process group of its own, one in a
// session of its own and one that was orphaned all hold stdout open.
func TestNothingIsLeft(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"ignores signals", `sh -c 'trap "" INT TERM HUP; echo $$; while :; do sleep 1; done' & sleep 100`},
		{"own group", `set -m; sh -c 'echo $$; exec sleep 100' & sleep 100`},
		{"own session", `setsid sh -c 'echo $$; exec sleep 100' & sleep 100`},
		{"orphan", `(setsid sh -c 'echo $$; exec sleep 100' &) ; sleep 100`},
		{"own session, no environment", `env -i $(command -v setsid) sh -c 'echo $$; exec sleep 100' & sleep 100`},
		{"after the program's end", `setsid sleep 100 & echo $!; exit 0`},
		{"ignores signals itself", `trap "" INT TERM HUP; echo $$; while :; do sleep 1; done`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := shCtx(t, ctx, tt.script)
			pid, err := strconv.Atoi(line(t, p))
			if err != nil {
				t.Fatal(err)
			}
			cancel()
			p.Wait()
			if proc.Alive(pid) {
				t.Errorf("process %d is alive after Wait", pid)
			}
			rest(t, p)
		})
	}
}

// A process that scrubbed its environment and left the session cannot be found
// once the program has ended by itself, but keeps nobody waiting.
func TestEscapedHolderOfStdout(t *testing.T) {
	p := sh(t, `env -i setsid sleep 30 & echo $!; echo data; exit 3`)
	pid, err := strconv.Atoi(line(t, p))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if got, want := p.Wait(), (Exit{Code: 3}); got != want {
		t.Errorf("exit = %+v; want %+v", got, want)
	}
	if got := rest(t, p); len(got) != 1 || got[0] != "data" {
		t.Errorf("lines = %q; want [data]", got)
	}
}

// What the program wrote before its end is read however late the reader comes.
func TestLateReader(t *testing.T) {
	p := sh(t, `i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done`)
	p.Wait()
	got := rest(t, p)
	if len(got) != 2000 || got[1999] != "line 1999" {
		t.Errorf("%d lines, last %q; want 2000, last %q", len(got), got[len(got)-1], "line 1999")
	}
}

func TestSoftStop(t *testing.T) {
	for _, tt := range []struct {
		name   string
		grace  time.Duration
		script string
		want   []string
		exit   Exit
	}{
		{
			"at the first signal", time.Minute, `trap 'echo int; exit 4' INT; echo up; while :; do sleep 0.01; done`,
			[]string{"int"}, Exit{Code: 4, Stopped: true},
		},
		{
			"at the second", 2 * time.Second, `trap 'echo int' INT; trap 'echo term; exit 5' TERM; echo up; while :; do sleep 0.01; done`,
			[]string{"int", "term"}, Exit{Code: 5, Stopped: true},
		},
		{
			"killed", 50 * time.Millisecond, `trap '' INT TERM; echo up; while :; do sleep 0.01; done`,
			nil, Exit{Code: -1, Signal: "SIGKILL", Stopped: true},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := sh(t, tt.script, func(c *Command) { c.Grace = tt.grace })
			line(t, p)
			p.Stop()
			p.Stop()
			if got := p.Wait(); got != tt.exit {
				t.Errorf("exit = %+v; want %+v", got, tt.exit)
			}
			if got := rest(t, p); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("lines = %q; want %q", got, tt.want)
			}
		})
	}
}

func TestStderrTail(t *testing.T) {
	p := sh(t, `i=0; while [ $i -lt 20000 ]; do echo "error number $i" >&2; i=$((i+1)); done`)
	p.Wait()
	got := p.Stderr()
	if len(got) > StderrTail {
		t.Errorf("tail has %d bytes; want at most %d", len(got), StderrTail)
	}
	if !strings.HasSuffix(got, "\nerror number 19999\n") || !strings.HasPrefix(got, "error number ") {
		t.Errorf("tail = %.40q ... %q; want whole lines up to the last", got, got[max(0, len(got)-40):])
	}
}

func TestRawOutput(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "host")
	quiet := sh(t, `read x || true`, func(c *Command) { c.RawDir = raw })
	quiet.Close()
	if _, err := os.Stat(raw); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("RawDir of a silent program: %v; want none", err)
	}
	p := sh(t, `printf 'one\r\ntwo\nthree'; echo oops >&2`, func(c *Command) { c.RawDir, c.RawName = raw, "turn1" })
	if got, want := line(t, p), "one"; got != want {
		t.Errorf("line = %q; want %q", got, want)
	}
	p.Wait()
	p.Close() // lines that nobody read are kept too
	for name, want := range map[string]string{"turn1.stdout": "one\r\ntwo\nthree", "turn1.stderr": "oops\n"} {
		got, err := os.ReadFile(filepath.Join(raw, name))
		if err != nil || string(got) != want {
			t.Errorf("%s = %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestStartAfterContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("out of time")
	cancel(why)
	if _, err := Start(ctx, Command{Path: "sh"}); !errors.Is(err, why) {
		t.Errorf("error = %v; want %v", err, why)
	}
}

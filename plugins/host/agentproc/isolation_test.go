//go:build linux

package agentproc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// world is a machine with a suite, runs and two trials on it.
type world struct {
	dir   string
	trial string
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{dir: t.TempDir()}
	w.trial = filepath.Join(w.dir, "run", "t-1")
	for name, text := range map[string]string{
		"evals/suite.hcl": "suite", "evals/rubrics/cms.md": "rubric", "evals/gold/cms.json": "gold", ".git/HEAD": "history",
		".evalengine/runs/1/trials/a/trial.json": "earlier", "home/.claude/CLAUDE.md": "the answer is 42", "home/.netrc": "password",
		"run/lock": "", "run/t-1/raw/agent.stdout": "raw", "run/t-2/home/memory": "another", "run/t-2/work/x": "another",
		"shared/readme": "shared",
	} {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"home/tmp", "work"} {
		if err := os.MkdirAll(filepath.Join(w.trial, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w world) at(name string) string { return filepath.Join(w.dir, name) }

// isolate puts a command into the first of the trials.
func (w world) isolate(c *Command) {
	c.Dir = filepath.Join(w.trial, "work")
	c.Env["HOME"], c.Env["TMPDIR"] = filepath.Join(w.trial, "home"), filepath.Join(w.trial, "home", "tmp")
	c.Isolation = eval.Isolation{
		Policy:   eval.IsolationRequired,
		Hidden:   []string{w.at("evals"), w.at(".git"), w.at(".evalengine"), w.at("home/.claude"), w.at("home/.netrc"), w.at("run")},
		Writable: []string{c.Env["HOME"], c.Dir},
	}
}

// boxed starts a script as the agent of the first trial, and fails where there is
// no isolation.
func (w world) boxed(t *testing.T, script string, change ...func(*Command)) *Process {
	t.Helper()
	p := sh(t, script, append([]func(*Command){w.isolate}, change...)...)
	if got, err := p.Isolated(); got != eval.IsolatedFully {
		t.Fatalf("isolated = %q, %v; want %q", got, err, eval.IsolatedFully)
	}
	return p
}

func output(t *testing.T, p *Process) string {
	t.Helper()
	return strings.Join(rest(t, p), "\n")
}

// An agent with a shell finds nothing of the suite, of runs, of other trials and of
// its user's configuration, whatever it tries; its own folders work.
func TestIsolatedAgentReadsNothing(t *testing.T) {
	w := newWorld(t)
	other := sh(t, `echo ready; exec sleep 100`, w.isolate, func(c *Command) {
		c.Env["MEMORY"] = "memory-of-another"
		c.Isolation = eval.Isolation{}
		c.Dir = w.at("run/t-2/work")
	})
	line(t, other)
	for _, file := range []string{
		"evals/suite.hcl", "evals/rubrics/cms.md", "evals/gold/cms.json", ".git/HEAD", ".evalengine/runs/1/trials/a/trial.json",
		"home/.claude/CLAUDE.md", "home/.netrc", "run/t-2/home/memory", "run/t-2/work/x", "run/t-1/raw/agent.stdout",
	} {
		t.Run(file, func(t *testing.T) {
			if b, err := os.ReadFile(w.at(file)); err != nil || len(b) == 0 {
				t.Fatalf("the file is not there at all: %q, %v", b, err)
			}
			p := w.boxed(t, "cat "+w.at(file))
			if got := output(t, p); got != "" {
				t.Errorf("the agent read %q", got)
			}
		})
	}
	engine, neighbour := strconv.Itoa(os.Getpid()), strconv.Itoa(other.Pid())
	for name, script := range map[string]string{
		"environ":           `cat /proc/*/environ | tr '\0' '\n'`,
		"environ by number": `cat /proc/` + engine + `/environ /proc/` + neighbour + `/environ`,
		"root":              `cat /proc/*/root` + w.at("evals/suite.hcl"),
		"root by number":    `cat /proc/` + engine + `/root` + w.at("evals/suite.hcl"),
		"working folder":    `cat /proc/*/cwd/x`,
		"memory":            `head -c 1 /proc/` + engine + `/mem /proc/1/mem`,
		"keeper's root":     `ls /proc/1/root /proc/1/cwd /proc/1/fd/`,
		"unmount":           `for i in 1 2 3; do umount ` + w.at("evals") + `; umount /tmp; done; cat ` + w.at("evals/suite.hcl"),
		"remount":           `mount -o remount,rw / && echo rw; mount -o remount,bind,rw / && echo rw`,
		"below a bind":      `mkdir -p $HOME/m && mount --bind / $HOME/m && cat $HOME/m` + w.at("evals/suite.hcl"),
		"namespaces":        `unshare -Urm sh -c 'umount -l /tmp; cat ` + w.at("evals/suite.hcl") + `'`,
		"keeper's mounts":   `nsenter -t 1 -m cat ` + w.at("evals/suite.hcl"),
		"another process":   `kill -0 ` + neighbour + ` && echo reached; kill -9 ` + engine,
		"keeper":            `kill -9 1; sleep 0.1; kill -0 1 || echo killed`,
		"writing":           `touch ` + w.at("shared/x") + ` && echo wrote; touch /usr/x /etc/x && echo wrote`,
	} {
		t.Run(name, func(t *testing.T) {
			p := w.boxed(t, script)
			got := output(t, p)
			for _, what := range []string{"memory-of-another", "suite", "another", "rw", "reached", "killed", "wrote"} {
				if strings.Contains(got, what) {
					t.Errorf("the agent came by %q:\n%s", what, got)
				}
			}
		})
	}
	t.Run("own", func(t *testing.T) {
		p := w.boxed(t, `echo 1 >$HOME/a && echo 2 >b && echo 3 >$TMPDIR/c && echo 4 >/tmp/d && echo 5 >/dev/shm/e && echo 6 >/var/tmp/f && cat $HOME/a $PWD/b /tmp/c $TMPDIR/d /dev/shm/e /tmp/f && id -u && cat /proc/self/comm && echo end >/dev/null`)
		want := "1\n2\n3\n4\n5\n6\n" + strconv.Itoa(os.Getuid()) + "\ncat"
		if got := output(t, p); got != want {
			t.Errorf("output = %q, %s; want %q", got, p.Stderr(), want)
		}
		if b, err := os.ReadFile(filepath.Join(w.trial, "work", "b")); string(b) != "2\n" {
			t.Errorf("the working folder has %q, %v", b, err)
		}
	})
}

// What is readable elsewhere stays readable, and a program in a hidden folder runs.
func TestProgramInAHiddenFolder(t *testing.T) {
	w := newWorld(t)
	dir := w.at("evals/node_modules/agent/bin")
	for name, text := range map[string]string{
		dir + "/agent":                        "#!/bin/sh\n. " + w.at("evals/node_modules/lib/lib.sh") + "\ncat " + w.at("evals/suite.hcl") + "\n",
		w.at("evals/node_modules/lib/lib.sh"): "echo from the library\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := w.at("shared/agent")
	if err := os.Symlink(dir+"/agent", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir + "/agent", link} {
		p := w.boxed(t, "", func(c *Command) { c.Path, c.Args = path, nil })
		if got := output(t, p); got != "from the library" {
			t.Errorf("%s: output = %q, %s", path, got, p.Stderr())
		}
	}
}

func TestIsolatedExits(t *testing.T) {
	w := newWorld(t)
	for script, want := range map[string]Exit{
		"exit 0":         {},
		"exit 7":         {Code: 7},
		"kill -SEGV $$":  {Code: -1, Signal: "SIGSEGV"},
		"kill -KILL $$":  {Code: -1, Signal: "SIGKILL"},
		"kill -TERM $$":  {Code: -1, Signal: "SIGTERM"},
		"kill -9 0":      {Code: -1, Signal: "SIGKILL"},
		"sleep 1000& :":  {},
		"exec /bin/true": {},
	} {
		if got := w.boxed(t, script).Wait(); got != want {
			t.Errorf("%s: exit = %+v; want %+v", script, got, want)
		}
	}
	soft := w.boxed(t, `trap 'exit 9' INT; echo up; while :; do sleep 0.01; done`, func(c *Command) { c.Grace = time.Minute })
	line(t, soft)
	soft.Stop()
	if got, want := soft.Wait(), (Exit{Code: 9, Stopped: true}); got != want {
		t.Errorf("after Stop: exit = %+v; want %+v", got, want)
	}
	c := Command{Path: "/no/such/agent", Dir: "/", Env: map[string]string{}}
	w.isolate(&c)
	if _, err := Start(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v; want os.ErrNotExist", err)
	}
}

// leftBehind start what nothing but its ancestry tells of: each prints nothing, and
// sleeps under a name of its own.
var leftBehind = map[string]string{
	"daemon without environment": `env -i setsid sh -c '(setsid SLEEP &) ; exit' & wait; echo up; exit 0`,
	"two hundred children":       `i=0; while [ $i -lt 200 ]; do env -i setsid SLEEP & i=$((i+1)); done; echo up; exit 0`,
	"ignores signals":            `env -i setsid sh -c 'trap "" INT TERM HUP; SLEEP; SLEEP' & echo up; exit 0`,
	"of a stopped agent":         `env -i setsid sh -c '(setsid SLEEP &) ; exit' & wait; echo up; sleep 1000`,
}

// Nothing is left of an agent, with namespaces and without.
func TestNothingIsLeftOfADaemon(t *testing.T) {
	w := newWorld(t)
	for name, script := range leftBehind {
		for _, policy := range []eval.IsolationPolicy{eval.IsolationRequired, eval.IsolationOff} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				mark := strconv.Itoa(100000 + os.Getpid()%10000*10 + len(name)%10)
				p := sh(t, strings.ReplaceAll(script, "SLEEP", "/bin/sleep "+mark), w.isolate, func(c *Command) { c.Isolation.Policy = policy })
				if got := line(t, p); got != "up" {
					t.Fatalf("line = %q", got)
				}
				if strings.Contains(name, "stopped") {
					p.Stop()
				}
				p.Wait()
				if left := sleeping(t, mark); left > 0 {
					t.Errorf("%d processes left", left)
				}
			})
		}
	}
}

// sleeping counts the processes of /bin/sleep with that argument.
func sleeping(t *testing.T, arg string) int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if b, _ := os.ReadFile(f); string(b) == "/bin/sleep\x00"+arg+"\x00" {
			n++
		}
	}
	return n
}

// Where there is no isolation the policy decides.
func TestWithoutNamespaces(t *testing.T) {
	w := newWorld(t)
	impossible := func(policy eval.IsolationPolicy) func(*Command) {
		return func(c *Command) {
			w.isolate(c)
			c.Isolation.Policy = policy
			c.Isolation.Writable = append(c.Isolation.Writable, w.at("not there"))
		}
	}
	c := Command{Path: "sh", Args: []string{"-c", "echo ran"}, Env: map[string]string{"PATH": os.Getenv("PATH")}}
	impossible(eval.IsolationRequired)(&c)
	if _, err := Start(t.Context(), c); err != nil && !errors.Is(err, ErrIsolation) || err == nil {
		t.Errorf("required: %v; want ErrIsolation", err)
	}
	p := sh(t, "cat "+w.at("evals/suite.hcl"), impossible(eval.IsolationAuto))
	got, why := p.Isolated()
	if out := output(t, p); got != eval.NotIsolated || !errors.Is(why, ErrIsolation) || out != "suite" {
		t.Errorf("auto: isolated = %q, %v, output %q; want none, a reason and the suite", got, why, out)
	}
}

func BenchmarkStart(b *testing.B) {
	for _, policy := range []eval.IsolationPolicy{eval.IsolationRequired, eval.IsolationOff} {
		b.Run(string(policy), func(b *testing.B) {
			dir := b.TempDir()
			for b.Loop() {
				p, err := Start(b.Context(), Command{
					Path: "/bin/true", Dir: dir, Env: map[string]string{},
					Isolation: eval.Isolation{Policy: policy, Writable: []string{dir}, Hidden: []string{"/root", "/home", "/run/user", "/srv", "/opt"}},
				})
				if err != nil {
					b.Fatal(err)
				}
				p.Close()
			}
		})
	}
}

package proc

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/evalengine/evalengine/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Keeper()
	switch os.Getenv("PROC_TEST") {
	case "":
		goleak.VerifyTestMain(m)
	case "stubborn":
		stubborn()
	case "sleep":
		time.Sleep(time.Hour)
	}
}

// stubborn ignores the end of its input and SIGTERM, and has a child in a
// process group of its own that does the same.
func stubborn() {
	signal.Ignore(syscall.SIGTERM)
	self, _ := os.Executable()
	child := exec.Command(self)
	child.Env = []string{"PROC_TEST=sleep"}
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		os.Exit(3)
	}
	os.Stdout.WriteString(strconv.Itoa(child.Process.Pid) + "\n")
	time.Sleep(time.Hour)
}

func alivePID(pid int) bool { return proc.Alive(pid) }

func TestStopKillsTheWholeSession(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Fatal("the session's processes are listed on Linux alone")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Spec{Command: self, Env: map[string]string{"PROC_TEST": "stubborn"}, Grace: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(strings.TrimSpace(line))
	if !alivePID(child) {
		t.Fatalf("child %d is not alive", child)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop = %v", err)
	}
	if alivePID(p.PID()) || alivePID(child) {
		t.Errorf("left: server %v, child %v", alivePID(p.PID()), alivePID(child))
	}
}

func TestStopAtEndOfInput(t *testing.T) {
	p, err := Start(Spec{Command: "sh", Args: []string{"-c", `echo "$A $B"; echo oops >&2; cat`}, Env: map[string]string{"A": "1", "PATH": os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil || line != "1 \n" {
		t.Errorf("environment = %q, %v; want only what was given", line, err)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop = %v", err)
	}
	if err := p.Err(); err != nil {
		t.Errorf("Err = %v; want status 0", err)
	}
	if p.Stderr() != "oops\n" {
		t.Errorf("Stderr = %q", p.Stderr())
	}
}

func TestCrashTakesTheChildren(t *testing.T) {
	p, err := Start(Spec{Command: "sh", Args: []string{"-c", `sleep 1000 & echo $!; exit 7`}, Env: map[string]string{"PATH": os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(p.Stdout)
	line, _ := r.ReadString('\n')
	child, _ := strconv.Atoi(strings.TrimSpace(line))
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Logf("output ended: %v", err)
	}
	p.OutputEnded()
	if err := p.Err(); err == nil || err.Error() != "exit status 7" {
		t.Errorf("Err = %v; want exit status 7", err)
	}
	if alivePID(child) {
		t.Errorf("child %d is left", child)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop = %v", err)
	}
}

func TestStartFails(t *testing.T) {
	for _, s := range []Spec{
		{Command: "no-such-program-at-all"},
		{Command: "/no/such/program"},
		{Command: "sh", Env: map[string]string{"PATH": "/no/such/folder"}},
	} {
		if p, err := Start(s); err == nil {
			p.Stop()
			t.Errorf("Start(%q) = nil error", s.Command)
		} else if !strings.Contains(err.Error(), s.Command) {
			t.Errorf("Start(%q) = %v; want the command named", s.Command, err)
		}
	}
}

// A tail that is cut begins with a line, or with a word: the second half of a
// secret is not known for one.
func TestTail(t *testing.T) {
	for _, tt := range []struct {
		writes []string
		want   string
	}{
		{[]string{"abc", "", "d"}, "abcd"},
		{[]string{"token: ", "hunter22", "\n", "gone"}, "gone"},
		{[]string{"token: hunter22 is", " bad"}, "is bad"},
		{[]string{"token:", "hunter22hunter22"}, ""},
		{[]string{"a\nb\n", strings.Repeat("x", 40), "\nend\n"}, "end\n"},
		{[]string{strings.Repeat("x", 40), "\n12345678\n"}, "12345678\n"},
	} {
		b := &tail{max: 10}
		for _, s := range tt.writes {
			b.Write([]byte(s))
		}
		if got := b.String(); got != tt.want {
			t.Errorf("tail of %q = %q; want %q", tt.writes, got, tt.want)
		}
	}
}

// Children that left for a session of their own end with the server, however
// deep they are and whether or not it ends by itself.
func TestStopFindsThoseThatLeft(t *testing.T) {
	const script = `setsid sleep 1000 & echo $!
sh -c 'env -i "$(command -v setsid)" "$(command -v sleep)" 1000 & echo $!; trap "" TERM; while :; do sleep 1; done' &
cat`
	p, err := Start(Spec{Command: "sh", Args: []string{"-c", script}, Env: map[string]string{"PATH": os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(p.Stdout)
	var left []int
	for range 2 {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(line))
		left = append(left, pid)
		for sid, err := unix.Getsid(pid); err == nil && sid != pid; sid, err = unix.Getsid(pid) {
			runtime.Gosched() // until setsid has done its work
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("Stop = %v", err)
	}
	for _, pid := range left {
		if alivePID(pid) {
			t.Errorf("child %d is left", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

//go:build linux

package proc

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	got := parseStat("12 (a) ) R (b)) S 1 2 33 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 1")
	if want := (stat{alive: true, parent: 1, session: 33, start: 99}); got != want {
		t.Errorf("parseStat = %+v; want %+v", got, want)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 99 1")
	f.Fuzz(func(t *testing.T, in string) { parseStat(in) })
}

// A mark is a whole variable, not a part of one.
func TestMarkIsWhole(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	cmd.Env = []string{"A=1", "MARK=abc"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for !marked(cmd.Process.Pid, "A=1") { // not before its exec is done
		runtime.Gosched()
	}
	for mark, want := range map[string]bool{"MARK=abc": true, "MARK=ab": false, "ARK=abc": false, "A=1": true, "": false} {
		if got := marked(cmd.Process.Pid, mark); got != want {
			t.Errorf("marked(%q) = %v; want %v", mark, got, want)
		}
	}
}

// What was written before Expire is read after it, and then the pipe ends though
// a writer is still there.
func TestPipeExpires(t *testing.T) {
	r, w, err := NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := strings.Repeat("x", 60<<10)
	if _, err := io.WriteString(w, want); err != nil {
		t.Fatal(err)
	}
	if err := r.f.SetReadDeadline(longAgo); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if string(got) != want || err != nil {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, len(want))
	}
}

func TestFinishEndsTheSession(t *testing.T) {
	cmd := exec.Command("sh", "-c", `sleep 100 & setsid sleep 100 & exit 3`)
	cmd.Env = append(os.Environ(), "MARK="+t.Name())
	cmd.SysProcAttr = Attr()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	err := Finish(cmd, "MARK="+t.Name(), exited)
	<-exited
	if err == nil || err.Error() != "exit status 3" {
		t.Errorf("Finish = %v; want exit status 3", err)
	}
	if left := Members(cmd.Process.Pid, "MARK="+t.Name()); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
}

var longAgo = time.Unix(1, 0)

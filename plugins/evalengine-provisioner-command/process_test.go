package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/internal/proc"
)

// What a process started ends with it, though it left the session and kept
// nothing of the environment.
func TestStopFindsThoseThatLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	r, err := start(program{
		argv: []string{"sh", "-c", `env -i "$(command -v setsid)" sh -c 'echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000' "$0" & sleep 1000`, file},
		env:  map[string]string{"PATH": os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	for pid == 0 && !t.Failed() {
		if b, err := os.ReadFile(file); err == nil {
			if pid, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Millisecond)
	}
	r.stop()
	if proc.Alive(pid) {
		t.Errorf("process %d is left", pid)
	}
}

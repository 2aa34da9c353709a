package proc

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/internal/proc"
)

// A daemon that has a session of its own, an empty environment and no parent any
// more ends with the server, whether that is told to end or ends by itself.
func TestNoDaemonIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Fatal("the keeper adopts on Linux alone")
	}
	const daemon = `env -i "$(command -v setsid)" "$(command -v sh)" -c '"$1" 1000 & echo $!' sh "$(command -v sleep)"
echo started
`
	for name, rest := range map[string]string{"told": "cat", "by itself": "exit 3"} {
		p, err := Start(Spec{Command: "sh", Args: []string{"-c", daemon + rest}, Env: map[string]string{"PATH": os.Getenv("PATH")}})
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(p.Stdout)
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(line))
		if name == "told" {
			if _, err := r.ReadString('\n'); err != nil || !proc.Alive(pid) {
				t.Errorf("daemon %d lives: %v, %v", pid, proc.Alive(pid), err)
			}
		}
		if err := p.Stop(); err != nil {
			t.Errorf("%s: Stop = %v", name, err)
		}
		if proc.Alive(pid) {
			t.Errorf("%s: daemon %d is left", name, pid)
		}
	}
}

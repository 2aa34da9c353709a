//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// An agent with a shell, run by the whole program as anybody runs it, finds nothing
// of the suite, of an earlier run, of a trial beside it, of the user's and of other
// processes, and leaves no process. One that is not isolated finds it all, so the
// looking is no show.
func TestAgentsAreIsolated(t *testing.T) {
	plugins := t.TempDir()
	inExample(t, "custom-host", nil, "build", "-o", filepath.Join(plugins, "evalengine-host-shell"), ".")
	sleeper := fmt.Sprintf("/bin/sleep\x00%d\x00", 90000+os.Getpid()%10000)
	res := startIn(t, plugins, os.Getenv("PATH"), map[string]string{
		"evals/rubrics/cms.md": "canary-rubric\n", "evals/gold/cms.json": "canary-gold\n",
		".evalengine/runs/20200101T000000Z-000000/trials/x/note": "canary-earlier\n",
		"evals/suite.hcl": `
suite "s" {
  hosts   = [host.kept, host.free]
  repeats = 2
  retries = 0
}
host "kept" {
  driver    = "shell"
  isolation = "require"
}
host "free" {
  driver    = "shell"
  isolation = "none"
}
story "look" {
  prompt = <<-EOT
    # canary-suite, so to speak
    dir=$${TMPDIR%%/tmp/evalengine-run-*}
    echo canary-memory >"$HOME/memory"
    i=0
    while [ $i -lt 20 ]; do
      for f in "$dir"/evals/*.hcl "$dir"/evals/*/* "$dir"/.evalengine/runs/2020*/trials/x/note "$dir"/tmp/evalengine-run-*/t-*/home/memory; do
        [ "$f" = "$HOME/memory" ] || cat "$f"
      done
      sleep 0.05
      i=$((i+1))
    done 2>/dev/null | grep -ao 'canary-[a-z][a-z]*' | sort -u
    cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -ao 'sk-canary' | sort -u
    env -i setsid sh -c '(setsid /bin/sleep ` + strings.Split(sleeper, "\x00")[1] + ` &); exit'
    exit 0
  EOT
}
`,
	}, "run", "evals/suite.hcl", "-j", "4")
	if res.code != exitOK {
		t.Errorf("exit code %d; want %d\n%s", res.code, exitOK, res.output)
	}
	for host, want := range map[string]struct {
		isolation eval.Isolated
		found     string
	}{
		"kept": {eval.IsolatedFully, ""},
		"free": {eval.NotIsolated, "canary-earlier canary-gold canary-memory canary-rubric canary-suite sk-canary"},
	} {
		for i := range 2 {
			rec, err := res.run.Record(fmt.Sprintf("look.base.%s.r%d", host, i+1))
			if err != nil {
				t.Fatal(err)
			}
			found := strings.Fields(rec.Answer)
			slices.Sort(found)
			if got := strings.Join(found, " "); rec.Isolation != want.isolation || got != want.found {
				t.Errorf("%s: isolation %q, found %q; want %q, %q", rec.ID, rec.Isolation, got, want.isolation, want.found)
			}
		}
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range lines {
		if b, _ := os.ReadFile(f); string(b) == sleeper {
			t.Errorf("%s: a process that an agent started is left", f)
		}
	}
}

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/npmtest"
)

// Two MCP servers from npm are asked for their tools, and no trial is run.
func TestCoverageOfServersFromNPM(t *testing.T) {
	memCommand, memArgs := npmtest.Server(t, "@modelcontextprotocol/server-memory")
	allCommand, allArgs := npmtest.Server(t, "@modelcontextprotocol/server-everything")
	dir := t.TempDir()
	list := func(command string, args []string) string {
		b, _ := json.Marshal(append([]string{command}, args...))
		return string(b)
	}
	suite := `
suite "npm" { hosts = [host.scripted] }
host "scripted" {
  driver = "scripted"
  config { scripts = { remember = jsonencode({ turns = [{ steps = [{ say = "x" }] }] }) } }
}
target "memory" {
  provisioner = "command"
  config {
    command = ` + list(memCommand, memArgs) + `
    env     = { MEMORY_FILE_PATH = "{workdir}/memory.jsonl" }
  }
}
target "everything" {
  provisioner = "command"
  config { command = ` + list(allCommand, allArgs) + ` }
}
story "remember" {
  target = target.memory
  prompt = "Remember that Ada wrote the first program."
  assert "tools/called" { tool = "create_entities" }
  check "kept" { condition = anytrue([for c in calls : c.tool == "read_graph"]) }
}
`
	if err := os.WriteFile(filepath.Join(dir, "suite.hcl"), []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(programs(t), "evalengine"), "coverage", "suite.hcl", "--live", "--json")
	cmd.Dir = dir
	cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+dir, "EVALENGINE_CACHE="+compiled(t, t.TempDir()), "TMPDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var c eval.Coverage
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatal(err)
	}
	for _, target := range c.Targets {
		if target.Source != "live" || target.Tools < 5 {
			t.Errorf("target %+v", target)
		}
	}
	var asserted []string
	for _, l := range c.List {
		if l.Status == eval.Asserted {
			asserted = append(asserted, l.Tool)
		} else if l.Status != eval.Uncovered {
			t.Errorf("%s is %s", l.Tool, l.Status)
		}
	}
	if want := []string{"create_entities", "read_graph"}; !slices.Equal(asserted, want) || len(c.Lost) != 0 {
		t.Errorf("asserted %q, lost %+v; want %q", asserted, c.Lost, want)
	}
}

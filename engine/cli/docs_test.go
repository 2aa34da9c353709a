package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

var update = flag.Bool("update", false, "write the tables of docs/hosts.md anew")

// TestHostsReference keeps the tables of docs/hosts.md as the plugins describe
// themselves.
func TestHostsReference(t *testing.T) {
	cmd := exec.Command(filepath.Join(programs(t), "evalengine"), "plugin", "list", "--json")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "XDG_CONFIG_HOME="+cmd.Dir, "EVALENGINE_PLUGIN_PATH=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var plugins []pluginInfo
	if err := json.Unmarshal(out, &plugins); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root(t), "docs", "hosts.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, found := string(b), 0
	for _, p := range plugins {
		if p.Kind != "host" {
			continue
		}
		if p.Description == nil {
			t.Errorf("host %s: %s", p.Name, p.Error)
			continue
		}
		found++
		before, rest, ok := strings.Cut(text, "<!-- config of "+p.Name+" -->\n")
		_, after, ended := strings.Cut(rest, "<!-- end -->\n")
		if !ok || !ended {
			t.Errorf("docs/hosts.md has no table of %s", p.Name)
			continue
		}
		text = before + "<!-- config of " + p.Name + " -->\n" + configTable(p.Description.Schema) + "<!-- end -->\n" + after
	}
	if found < 4 {
		t.Errorf("found %d hosts; want 4", found)
	}
	if text == string(b) {
		return
	}
	if !*update {
		t.Fatal("docs/hosts.md differs from what the plugins describe; go test ./engine/cli -run HostsReference -update")
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func configTable(s eval.Schema) string {
	var b strings.Builder
	b.WriteString("\n| attribute | type | default | meaning |\n|---|---|---|---|\n")
	for _, a := range s.Attributes {
		def := ""
		switch {
		case a.Required:
			def = "required"
		case len(a.Default) > 0:
			def = "`" + string(a.Default) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", a.Name, a.Type, def, strings.ReplaceAll(a.Doc, "|", `\|`))
	}
	b.WriteString("\n")
	return b.String()
}

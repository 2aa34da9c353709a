package cli

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
)

// What one trial leaves for agents to remember, no other trial finds, nor what the
// user has; and the user's HOME is as it was, to the byte.
func TestTrialsShareNoHome(t *testing.T) {
	plugins, dir := t.TempDir(), t.TempDir()
	inExample(t, "custom-host", nil, "build", "-o", filepath.Join(plugins, "evalengine-host-shell"), ".")
	home := filepath.Join(dir, "home")
	for name, text := range map[string]string{
		"home/.claude/CLAUDE.md": "the user's answer is 42", "home/.claude.json": `{"mcpServers":{"mine":{"command":"answer-42"}}}`,
		"home/.codex/AGENTS.md": "the user's answer is 42", "home/.config/x": "42", "tmp/x": "", "suite.hcl": `
suite "memory" { repeats = 3 }
host "shell" { driver = "shell" }
story "ask" {
  prompt = <<-EOT
    cat "$HOME"/.claude/* "$HOME"/.claude.json "$HOME"/.codex/* "$HOME"/.config/* "$TMPDIR"/memory ./memory 2>/dev/null
    mkdir -p "$HOME/.claude" "$HOME/.codex" "$HOME/.config"
    for f in "$HOME/.claude/CLAUDE.md" "$HOME/.codex/AGENTS.md" "$HOME/.config/x" "$TMPDIR/memory" ./memory; do echo the answer is 42 >"$f" || exit 9; done
    echo written
  EOT
  assert "answer/matches" { pattern = "^written\\s*$" }
}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := sums(t, home)
	cmd := exec.Command(filepath.Join(programs(t), "evalengine"), "run", "suite.hcl", "-j", "1")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + filepath.Join(dir, "tmp"),
		"EVALENGINE_CACHE=" + filepath.Join(dir, "cache"), "EVALENGINE_PLUGIN_PATH=" + plugins}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if d := cmp.Diff(sums(t, home), before); d != "" {
		t.Errorf("the user's HOME changed: %s", d)
	}
	store, err := engine.OpenStore(filepath.Join(dir, ".evalengine"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rec, err := range run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; rec.Status != eval.StatusPassed || strings.Contains(rec.Answer, "42") {
			t.Errorf("%s: %s, %s; answer %q", rec.ID, rec.Status, rec.Reason, rec.Answer)
		}
	}
	if n != 3 {
		t.Errorf("%d records; want 3", n)
	}
}

// sums are of every file below dir, by path.
func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = sha256.Sum256(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

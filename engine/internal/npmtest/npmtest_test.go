package npmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestMissingNamesTheCommand(t *testing.T) {
	for name, find := range map[string]func(string) error{
		"modules": func(dir string) error { _, err := modules(dir); return err },
		"native":  func(dir string) error { _, err := native(dir, "claude", "linux", "amd64"); return err },
		"script":  func(dir string) error { _, err := script(dir, "@x/y"); return err },
		"suite":   func(dir string) error { _, _, err := conformance(dir); return err },
	} {
		err := find(t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "npm ci --prefix engine/internal/npmtest") {
			t.Errorf("%s: error = %v; want the command that installs", name, err)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	claude := filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-linux-x64", "claude")
	codex := filepath.Join(dir, "node_modules", "@openai", "codex-linux-arm64", "vendor", "any-triple", "bin", "codex")
	write(t, claude, "")
	write(t, codex, "")
	write(t, filepath.Join(dir, "node_modules", "@x", "y", "package.json"), `{"bin":{"y":"dist/index.js"}}`)
	got, err := modules(dir)
	if want := filepath.Join(dir, "node_modules"); err != nil || got != want {
		t.Fatalf("modules = %q, %v; want %q", got, err, want)
	}
	if p, err := native(got, "claude", "linux", "amd64"); err != nil || p != claude {
		t.Errorf("claude = %q, %v; want %q", p, err, claude)
	}
	if p, err := native(got, "codex", "linux", "arm64"); err != nil || p != codex {
		t.Errorf("codex = %q, %v; want %q", p, err, codex)
	}
	if p, err := script(got, "@x/y"); err != nil || p != filepath.Join(got, "@x", "y", "dist", "index.js") {
		t.Errorf("script = %q, %v", p, err)
	}
	if _, err := native(got, "other", "linux", "amd64"); err == nil {
		t.Error("an unknown program was found")
	}
}

func TestLockFileNamesNoRegistry(t *testing.T) {
	b, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), `"resolved"`) {
		t.Error("package-lock.json holds addresses of a registry; install with omit-lockfile-registry-resolved")
	}
}

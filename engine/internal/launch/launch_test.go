package launch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// put makes an executable file.
func put(t *testing.T, dir, name string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// folders makes four folders with plugins and a finder for them.
func folders(t *testing.T) (Finder, string) {
	t.Helper()
	dir := t.TempDir()
	f := Finder{
		Path:    []string{filepath.Join(dir, "path1"), filepath.Join(dir, "missing"), ""},
		Project: filepath.Join(dir, "project"), User: filepath.Join(dir, "user"), Beside: filepath.Join(dir, "bin"),
	}
	put(t, f.Path[0], "evalengine-host-codex", 0o755)
	put(t, f.Project, "evalengine-host-codex", 0o755)
	put(t, f.Project, "evalengine-provisioner-site", 0o755)
	put(t, f.User, "evalengine-host-notes", 0o644)
	put(t, f.Beside, "evalengine-host-codex", 0o755)
	put(t, f.Beside, "evalengine-host-claude-code", 0o755)
	put(t, f.Beside, "evalengine-host-UPPER", 0o755)
	put(t, f.Beside, "evalengine-judge-x", 0o755)
	put(t, f.Beside, "evalengine", 0o755)
	return f, dir
}

func TestList(t *testing.T) {
	f, dir := folders(t)
	at := func(p string) string { return filepath.Join(dir, p) }
	want := []Binary{
		{"host", "claude-code", at("bin/evalengine-host-claude-code"), "engine", ""},
		{"host", "codex", at("path1/evalengine-host-codex"), "path", ""},
		{"host", "codex", at("project/evalengine-host-codex"), "project", at("path1/evalengine-host-codex")},
		{"host", "codex", at("bin/evalengine-host-codex"), "engine", at("path1/evalengine-host-codex")},
		{"provisioner", "site", at("project/evalengine-provisioner-site"), "project", ""},
	}
	if diff := cmp.Diff(want, f.List()); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	f, dir := folders(t)
	for _, tt := range []struct {
		kind, name, want string
		err              error
		text             string
	}{
		{"host", "codex", "path1/evalengine-host-codex", nil, ""},
		{"host", "claude-code", "bin/evalengine-host-claude-code", nil, ""},
		{"provisioner", "site", "project/evalengine-provisioner-site", nil, ""},
		{"provisioner", "codex", "", ErrUnknown, `provisioner plugin "codex": unknown plugin: there are site`},
		{"host", "gemini", "", ErrUnknown, `host plugin "gemini": unknown plugin: there are claude-code, codex`},
		{"host", "notes", "", ErrUnfit, `host plugin "notes": not a program: `},
		{"host", "notes", "", ErrUnfit, `evalengine-host-notes is not executable; chmod +x it`},
		{"exporter", "x", "", ErrUnknown, `there is no kind "exporter"`},
		{"host", "../codex", "", ErrName, "EVALENGINE_PLUGIN_PATH"},
		{"host", "/bin/sh", "", ErrName, `host plugin "/bin/sh": not a plugin name`},
		{"host", "a/b", "", ErrName, ""},
		{"host", "", "", ErrName, ""},
		{"host", "-x", "", ErrName, ""},
		{"host", "codex\n", "", ErrName, ""},
		{"host", ".", "", ErrName, ""},
		{"host", "..", "", ErrName, ""},
		{"host", "/etc/passwd", "", ErrName, `host plugin "/etc/passwd": not a plugin name`},
		{"host", `a\b`, "", ErrName, ""},
		{"host", "codex\x00", "", ErrName, `host plugin "codex\x00": not a plugin name`},
		{"host", "\ncodex", "", ErrName, ""},
		{"host", "codex --help", "", ErrName, ""},
		{"host", "~", "", ErrName, ""},
		{"host", "$HOME", "", ErrName, ""},
		{"host", "cod\u0435x", "", ErrName, ""}, // a Cyrillic letter
		{"host", "Codex", "", ErrName, ""},
		{"host", strings.Repeat("a", 65), "", ErrName, ""},
	} {
		b, err := f.Find(tt.kind, tt.name)
		if !errors.Is(err, tt.err) || (err != nil && !strings.Contains(err.Error(), tt.text)) {
			t.Errorf("Find(%q, %q) error = %v; want %v with %q", tt.kind, tt.name, err, tt.err, tt.text)
		}
		if want := filepath.Join(dir, tt.want); err == nil && b.Path != want {
			t.Errorf("Find(%q, %q) = %s; want %s", tt.kind, tt.name, b.Path, want)
		}
	}
	if _, err := (Finder{}).Find("host", "x"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "no host plugin was found") {
		t.Errorf("Find without folders = %v", err)
	}
}

func TestVerify(t *testing.T) {
	dir := t.TempDir()
	b := Binary{Kind: "host", Name: "x", Path: put(t, dir, "evalengine-host-x", 0o755)}
	const sum = "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf" // of "#!/bin/sh\n"
	for _, pin := range []string{"", sum, strings.ToUpper(sum)} {
		if got, err := Verify(b, pin); got != sum || err != nil {
			t.Errorf("Verify(%q) = %s, %v; want %s", pin, got, err, sum)
		}
	}
	if _, err := Verify(b, "00"+sum[2:]); !errors.Is(err, ErrDigest) || !strings.Contains(err.Error(), sum) {
		t.Errorf("Verify with another pin = %v; want ErrDigest and both sums", err)
	}
	link := filepath.Join(t.TempDir(), "evalengine-host-x")
	if err := os.Symlink(b.Path, link); err != nil {
		t.Fatal(err)
	}
	for _, open := range []struct {
		path       string
		mode, back os.FileMode
	}{{b.Path, 0o757, 0o755}, {dir, 0o777, 0o755}} {
		if err := os.Chmod(open.path, open.mode); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{b.Path, link} {
			if _, err := Verify(Binary{Kind: "host", Name: "x", Path: path}, ""); !errors.Is(err, ErrUnsafe) {
				t.Errorf("Verify(%s) with %s open to all = %v; want ErrUnsafe", path, open.path, err)
			}
		}
		if err := os.Chmod(open.path, open.back); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(b, ""); err != nil {
		t.Errorf("Verify in a sticky folder = %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "ANTHROPIC_API_KEY=k", "AWS_SECRET_ACCESS_KEY=s", "MINE=1", "HOME=/h", "bad"}, []string{"MINE"})
	if diff := cmp.Diff([]string{"PATH=/bin", "MINE=1", "HOME=/h"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("host", "codex")
	f.Add("host", "../../bin/sh")
	finder := Finder{Beside: f.TempDir()}
	f.Fuzz(func(t *testing.T, kind, name string) {
		if b, err := finder.Find(kind, name); err == nil {
			t.Errorf("Find(%q, %q) = %+v in an empty folder", kind, name, b)
		}
	})
}

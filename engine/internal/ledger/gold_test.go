package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func evidence(t *testing.T, text string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "pages"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trial.json", "pages/home.html"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{GoldDir: dir}
}

func TestKeepGold(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ReadGold("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a gold: %v", err)
	}
	keep := func(text string) {
		t.Helper()
		if err := s.KeepGold(eval.GoldInfo{Story: "a", Gold: text}, evidence(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	keep("first")
	if err := s.KeepGrades(eval.GoldGrades{Story: "a", Gold: "first", Samples: 2}, []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if g, err := s.ReadGrades("a"); err != nil || g.Gold != "first" || g.Samples != 2 || g.Schema != SchemaVersion {
		t.Errorf("grades %+v, %v", g, err)
	}
	keep("second")
	if _, err := s.ReadGrades("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("grades of the earlier gold stay: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(s.Gold("a"), GoldDir, "pages", "home.html"))
	if err != nil || string(b) != "second" {
		t.Errorf("page %q, %v", b, err)
	}
	// One that cannot be copied changes nothing and leaves nothing.
	if err := s.KeepGold(eval.GoldInfo{Story: "a"}, map[string]string{GoldDir: filepath.Join(t.TempDir(), "nope")}); err == nil {
		t.Error("a gold without evidence was kept")
	}
	if info, err := s.ReadGold("a"); err != nil || info.Gold != "second" {
		t.Errorf("gold %+v, %v", info, err)
	}
	entries, err := os.ReadDir(filepath.Dir(s.Gold("a")))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder of golds has %v, %v", entries, err)
	}
}

// What a killed process left of a gold goes with the next one, and a gold that it
// had moved away comes back.
func TestSweepGolds(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "trial.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := func(story string) {
		t.Helper()
		if err := s.KeepGold(eval.GoldInfo{Story: story}, map[string]string{GoldDir: from}); err != nil {
			t.Fatal(err)
		}
	}
	keep("a")
	keep("b")
	root := filepath.Dir(s.Gold("a"))
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(root, ".new-*"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(list, " ")
	}
	// Killed between the two steps of a replacement, and while it copied.
	move(s.Gold("a"), ".new-1.old")
	if err := os.MkdirAll(filepath.Join(root, ".new-1", GoldDir), 0o700); err != nil {
		t.Fatal(err)
	}
	swept, err := s.SweepGolds()
	if err != nil || len(swept) != 2 || left() != "" {
		t.Errorf("swept %q, %v; left %s", swept, err, left())
	}
	if info, err := s.ReadGold("a"); err != nil || info.Story != "a" {
		t.Errorf("the gold that was moved away: %+v, %v", info, err)
	}
	// Killed after the replacement: the new one stays. The next gold sweeps.
	if err := os.CopyFS(filepath.Join(root, ".new-2.old"), os.DirFS(s.Gold("a"))); err != nil {
		t.Fatal(err)
	}
	keep("c")
	if left() != "" {
		t.Errorf("left after the next gold: %s", left())
	}
	for _, story := range []string{"a", "b", "c"} {
		if _, err := s.ReadGold(story); err != nil {
			t.Error(err)
		}
	}
}

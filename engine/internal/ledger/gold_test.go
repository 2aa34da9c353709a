package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

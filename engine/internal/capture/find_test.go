package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if path, err := Find(eval.BrowserConfig{}); err == nil || !strings.Contains(err.Error(), "no browser found; install") {
		t.Errorf("Find with none installed = %q, %v", path, err)
	}
	b := New(Options{Temp: dir})
	p := take(t, b, job("none", "http://127.0.0.1:1/"))
	if !strings.Contains(p.Error, "no browser found") {
		t.Errorf("error %q", p.Error)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"google-chrome", "chromium"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho broken >&2; exit 3\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(dir, "google-chrome")
	for _, c := range []struct {
		cfg  eval.BrowserConfig
		want string
	}{{eval.BrowserConfig{}, filepath.Join(dir, "chromium")}, {eval.BrowserConfig{Path: own}, own}, {eval.BrowserConfig{URL: "http://127.0.0.1:9222"}, ""}} {
		if got, err := Find(c.cfg); err != nil || got != c.want {
			t.Errorf("Find(%+v) = %q, %v; want %q", c.cfg, got, err, c.want)
		}
	}
	if _, err := Find(eval.BrowserConfig{Path: filepath.Join(dir, "nope")}); err == nil {
		t.Error("Find of a program that is not there has no error")
	}
	b = New(Options{Temp: dir})
	defer b.Close()
	if p := take(t, b, job("broken", "http://127.0.0.1:1/")); !strings.Contains(p.Error, "does not answer") || !strings.Contains(p.Error, "broken") {
		t.Errorf("error %q", p.Error)
	}
	left, err := filepath.Glob(filepath.Join(dir, "b-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

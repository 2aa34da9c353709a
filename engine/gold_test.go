package engine

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGoldScript(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "gold.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := `{"turns": [{"steps": [{"say": "done"}]}], "answer": "yes"}`
	for _, tt := range []struct {
		name, path  string
		turns       int
		script, err string
	}{
		{"none", "", 2, `{"turns":[{"steps":[]},{"steps":[]}]}`, ""},
		{"as written", file(one), 1, one, ""},
		{"fewer turns", file(`{"turns": [{"steps": [{"say": "done"}]}]}`), 2, `{"turns":[{"steps":[{"say":"done"}]},{"steps":[]}]}`, ""},
		{"more turns", file(`{"turns": [{}, {}]}`), 1, "", "has 2 turns, the story has 1"},
		{"no JSON", file(`{`), 1, "", "unexpected end of JSON input"},
		{"not there", filepath.Join(t.TempDir(), "nope"), 1, "", "no such file"},
	} {
		got, err := goldScript(tt.path, tt.turns)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v; want %q", tt.name, err, tt.err)
			}
		case err != nil || got != tt.script:
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.script)
		}
	}
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{filepath.Join(dir, "index.html"): "<h1>Gold</h1>", secret: "secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	url, stop, err := serve(dir)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, string) {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	if status, body := get("/"); status != http.StatusOK || body != "<h1>Gold</h1>" {
		t.Errorf("/ = %d %q", status, body)
	}
	if status, body := get("/out"); status == http.StatusOK || strings.Contains(body, "secret") {
		t.Errorf("a link that leads out of the folder = %d %q", status, body)
	}
	stop()
	if _, err := http.Get(url); err == nil {
		t.Error("it is served after stop")
	}
}

func TestDiffer(t *testing.T) {
	a := map[string]string{partStory: "1", partGold: "2", partFloor: "3"}
	if parts := differ(a, a); len(parts) > 0 {
		t.Errorf("the same differs in %v", parts)
	}
	got := inWords(differ(a, map[string]string{partStory: "9", partGold: "2", partModels: "4"}))
	if want := "what the floor is built from and the judge's model and the story's text"; got != want {
		t.Errorf("differ = %q; want %q", got, want)
	}
}

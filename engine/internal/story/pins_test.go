package story

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// pinning is a catalog in which nothing is what a suite pins.
type pinning struct{ fakeCatalog }

func (c *pinning) Host(ctx context.Context, driver, sha256 string) (eval.Description, error) {
	if sha256 != "" {
		return eval.Description{}, fmt.Errorf("host: %w", ErrDigest)
	}
	return c.fakeCatalog.Host(ctx, driver, sha256)
}

func (c *pinning) Module(context.Context, *eval.ModuleConfig, string) (*eval.Manifest, error) {
	return nil, fmt.Errorf("module: %w", ErrDigest)
}

const pinned = `suite "s" {}
host "kept" { driver = "scripted" }
host "other" {
  driver = "codex"
  sha256 = "1111111111111111111111111111111111111111111111111111111111111111"
}
host "unreadable" {
  driver = "replay"
  sha256 = "11"
}
target "t" {
  provisioner = "sitebuilder"
  sha256      = "x"
}
scorer "mine" {
  source = "mine.wasm"
  sha256 = "2222222222222222222222222222222222222222222222222222222222222222"
}
scorer "unreadable" {
  source = "mine.wasm"
  sha256 = "sha256:22"
}
story "a" {
  target = target.t
  prompt = "x"
  assert "mine/x" {}
  assert "unreadable/x" {}
}
`

// A pin that is not kept is what an error points at, and where nobody can read one,
// what it is for is not asked: asking would start it.
func TestPins(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"suite.hcl": pinned, "mine.wasm": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &pinning{}
	s, diags := Load(t.Context(), []string{filepath.Join(dir, "suite.hcl")}, Options{Catalog: c})
	if s != nil {
		t.Error("Load gave a suite")
	}
	var got []string
	for _, d := range diags {
		got = append(got, fmt.Sprintf("%d: %s", d.Subject.Start.Line, d.Summary))
	}
	slices.Sort(got)
	want := []string{
		"13: unreadable digest", "17: scorer module is not the pinned one", "21: unreadable digest",
		"5: driver is not the pinned one", "9: unreadable digest",
	}
	if !slices.Equal(got, want) {
		t.Errorf("diagnostics = %q; want %q", got, want)
	}
	if got, want := c.sorted(), []string{"host scripted"}; !slices.Equal(got, want) {
		t.Errorf("asked for %q; want %q", got, want)
	}
}

package story

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// thousand is a suite of 1,000 stories in ten files.
func thousand(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	write("suite.hcl", header)
	write("rubric.md", "Be fair.")
	for f := range 10 {
		var s strings.Builder
		for i := range 100 {
			fmt.Fprintf(&s, `story "s-%d-%d" {
  tags   = ["cms"]
  target = target.site
  prompt = <<-EOT
    On ${target.url}, create a CMS collection "Recipes %d" with three fields and add one entry.
  EOT
  turn "publish" { prompt = "Now publish the site." }
  variant "original" {}
  variant "hardened" { append = "Do not use Designer canvas tools." }
  check "collection exists" {
    condition     = contains([for c in state.collections : c.name], "Recipes")
    error_message = "no collection named Recipes"
  }
  assert "tools/called" {
    tool = "collections_create"
    min  = 1
  }
  assert "tools/not_called" { tool = "*_delete" }
  measure "path/effort" {}
  judge "judge/transcript" { rubric = file("rubric.md") }
}
`, f, i, i)
		}
		write(fmt.Sprintf("f%d.story.hcl", f), s.String())
	}
	return dir
}

func BenchmarkLoad1000(b *testing.B) {
	dir := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		s, list := Load(context.Background(), []string{dir}, Options{Catalog: &fakeCatalog{}})
		if s == nil || len(s.Stories) != 1000 {
			b.Fatal(list)
		}
	}
}

func BenchmarkPrompt(b *testing.B) {
	s := benchStory(b)
	for b.Loop() {
		if _, err := s.Turns[0].Prompt.Value(trialVars); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s := benchStory(b)
	f := facts()
	for b.Loop() {
		if ok, _, err := s.Checks[0].Condition.Eval(f); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func benchStory(b *testing.B) *eval.Story {
	b.Helper()
	s, list := Load(context.Background(), []string{"testdata/valid/design.hcl"}, Options{Catalog: &fakeCatalog{}})
	if s == nil {
		b.Fatal(list)
	}
	return &s.Stories[0]
}

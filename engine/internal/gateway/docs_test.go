package gateway

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever reads a record looks up there what a finding means.
func TestFindingsAreDocumented(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "records.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	kind, found := regexp.MustCompile(`"(mcp_[a-z_]+)"`), map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kind.FindAllStringSubmatch(string(b), -1) {
			found[m[1]] = true
		}
	}
	if len(found) < 14 {
		t.Errorf("only %d kinds of findings in the source", len(found))
	}
	for k := range found {
		if !strings.Contains(string(docs), "| `"+k+"` |") {
			t.Errorf("docs/records.md does not say what %s is", k)
		}
	}
}

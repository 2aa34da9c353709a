package story

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func reference(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "suite-language.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReferenceIsComplete keeps the reference and the language together.
func TestReferenceIsComplete(t *testing.T) {
	text := reference(t)
	var words []string
	for name := range newFunctions(nil) {
		words = append(words, name)
	}
	for _, b := range append(allBodies, &validationBody, &ruleBody, &grantsBody, &turnBody, &changeBody, &checkBody, &captureBody, &goldBody, &floorBody, &browserBody) {
		words = append(words, b.required...)
		words = append(words, b.optional...)
		words = append(words, b.blockNames()...)
	}
	words = append(words, factNames...)
	for name := range usageType {
		words = append(words, name)
	}
	for _, ty := range []map[string]struct{}{names(callType.AttributeTypes()), names(toolType.AttributeTypes()), names(pageType.AttributeTypes())} {
		for name := range ty {
			words = append(words, name)
		}
	}
	for _, w := range words {
		if !strings.Contains(text, "`"+w+"`") && !strings.Contains(text, "`"+w+" ") && !strings.Contains(text, "`"+w+".") && !strings.Contains(text, "`"+w+"(") {
			t.Errorf("docs/suite-language.md does not name `%s`", w)
		}
	}
}

func names[V any](m map[string]V) map[string]struct{} {
	out := map[string]struct{}{}
	for n := range m {
		out[n] = struct{}{}
	}
	return out
}

func TestReferenceExamplesLoad(t *testing.T) {
	const around = "suite \"s\" {}\nhost \"a\" { driver = \"codex\" }\ntarget \"site\" { provisioner = \"sitebuilder\" }\n"
	n := 0
	for part := range strings.SplitSeq(reference(t), "```hcl\n") {
		code, _, ok := strings.Cut(part, "```")
		if !ok || strings.HasPrefix(part, "# Suite language") {
			continue
		}
		n++
		if !strings.HasPrefix(code, "suite ") {
			code = around + code
		}
		if !strings.Contains(code, "story ") {
			code += "story \"x\" { prompt = \"x\" }\n"
		}
		dir := t.TempDir()
		for name, text := range map[string]string{"suite.hcl": code, "languages.yaml": "en: { language: English }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, list := Load(context.Background(), []string{dir}, Options{Catalog: &fakeCatalog{}}); list.HasErrors() {
			t.Errorf("example %d: %v\n%s", n, list, code)
		}
	}
	if n < 4 {
		t.Errorf("found %d examples; want 4 or more", n)
	}
}

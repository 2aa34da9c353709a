package story

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// marker is an expected diagnostic: a comment on its line, or with @LINE on
// another one; line 0 is a problem in no file.
var marker = regexp.MustCompile(`# (ERROR|WARNING)(?:@(\d+))?: (.*)$`)

type expected struct {
	line     int
	severity string
	text     string
}

func expectations(t *testing.T, path string) []expected {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []expected
	for i, line := range strings.Split(string(data), "\n") {
		for _, part := range strings.Split(line, " ;; ") {
			m := marker.FindStringSubmatch(part)
			if m == nil {
				continue
			}
			e := expected{line: i + 1, severity: strings.ToLower(m[1]), text: strings.TrimSuffix(m[3], "\r")}
			if m[2] != "" {
				e.line, _ = strconv.Atoi(m[2])
			}
			list = append(list, e)
		}
	}
	return list
}

func hclFiles(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in testdata/%s: %v", folder, err)
	}
	return files
}

func TestValid(t *testing.T) {
	for _, path := range hclFiles(t, "valid") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, list := Load(context.Background(), []string{path}, Options{Catalog: &fakeCatalog{}, Vars: testVars(path)})
			if s == nil {
				t.Errorf("Load(%q) = no suite", path)
			}
			compare(t, path, list)
		})
	}
}

func TestInvalid(t *testing.T) {
	for _, path := range hclFiles(t, "invalid") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, list := Load(context.Background(), []string{path}, Options{Catalog: &fakeCatalog{}, Vars: testVars(path)})
			if s != nil {
				t.Errorf("Load(%q) = a suite; want none", path)
			}
			compare(t, path, list)
		})
	}
}

// testVars are read from a comment: # VAR name=value.
func testVars(path string) map[string]string {
	data, _ := os.ReadFile(path)
	vars := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "# VAR "); ok {
			k, v, _ := strings.Cut(strings.TrimSpace(rest), "=")
			vars[k] = v
		}
	}
	return vars
}

func compare(t *testing.T, path string, list diag.List) {
	t.Helper()
	want := expectations(t, path)
	used := make([]bool, len(want))
next:
	for _, d := range list {
		text := d.Summary + ": " + d.Detail
		says := func(e string) bool {
			summary, detail, ok := strings.Cut(e, ": ")
			return strings.Contains(text, e) || ok && strings.HasPrefix(d.Summary, summary) && strings.Contains(d.Detail, detail)
		}
		for i, e := range want {
			if !used[i] && e.line == d.Subject.Start.Line && e.severity == d.Severity.String() && says(e.text) {
				used[i] = true
				continue next
			}
		}
		t.Errorf("unexpected %v at line %d: %s", d.Severity, d.Subject.Start.Line, text)
	}
	for i, e := range want {
		if !used[i] {
			t.Errorf("missing %s at line %d: %s", e.severity, e.line, e.text)
		}
	}
}

// load loads a suite that is written in the test, beside other files.
func load(t *testing.T, files map[string]string, o Options) (*eval.Suite, diag.List) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o.Catalog == nil {
		o.Catalog = &fakeCatalog{}
	}
	return Load(context.Background(), []string{dir}, o)
}

// mustLoad is load for a suite without errors.
func mustLoad(t *testing.T, files map[string]string, o Options) *eval.Suite {
	t.Helper()
	s, list := load(t, files, o)
	if list.HasErrors() {
		t.Fatalf("Load: %v", list)
	}
	return s
}

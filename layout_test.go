package main

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/evalengine/evalengine"

// layers say what each part of the project may import of the project. A part is
// named by the start of its path; the longest start counts. docs/architecture.md
// says the same in words.
var layers = []struct {
	part string
	may  []string
}{
	{"main", []string{"engine/cli", "internal/proc"}},
	{"engine/eval", nil},
	{"engine/diag", nil},
	{"engine/cli", []string{"engine", "engine/eval", "engine/diag", "engine/internal/", "scorers"}},
	{"engine/scorerbuild", []string{"engine/eval", "engine/internal/wasm"}},
	{"engine/internal/wasm", []string{"engine/eval", "engine/internal/wasm/", "engine/internal/detector", "scorers/wire"}},
	{"engine/internal/launch", []string{"engine/eval", "plugins/rpc"}},
	{"engine/internal/model", []string{"engine/eval", "engine/internal/", "scorers/wire"}},
	{"engine/internal/gateway/proc", []string{"internal/proc"}},
	{"engine/internal/", []string{"engine/eval", "engine/diag", "engine/internal/"}},
	{"engine", []string{"engine/eval", "engine/diag", "engine/internal/", "scorers"}},
	{"internal/proc", nil},
	{"plugins/internal/agenttest", []string{"plugins/", "engine/eval", "examples/"}},
	{"plugins/internal/", []string{"plugins/", "internal/proc", "engine/eval"}},
	{"plugins/rpc", []string{"internal/proc", "engine/eval", "proto/"}},
	{"plugins/host", []string{"plugins/host", "plugins/rpc", "plugins/internal/", "internal/proc", "engine/eval"}},
	{"plugins/provisioner", []string{"plugins/provisioner", "plugins/rpc", "plugins/internal/", "internal/proc", "engine/eval"}},
	{"plugins/model", []string{"plugins/model", "plugins/rpc", "plugins/internal/", "internal/proc", "engine/eval"}},
	{"plugins/evalengine-", []string{"plugins/", "internal/proc", "engine/eval", "examples/sitebuilder"}},
	{"scorers/wire", []string{"engine/eval"}},
	{"scorers/build", []string{"engine/scorerbuild"}},
	{"scorers/", []string{"scorers/", "engine/eval"}},
	{"scorers", nil},
	{"proto/", []string{"proto/"}},
	{"examples/", []string{"examples/"}},
}

// only says which dependency is imported by which part alone.
var only = map[string][]string{
	"github.com/hashicorp/hcl/v2":                      {"engine/internal/story"},
	"github.com/tetratelabs/wazero":                    {"engine/internal/wasm"},
	"modernc.org/":                                     {"engine/internal/index"},
	"github.com/chromedp/":                             {"engine/internal/capture"},
	"github.com/DataDog/datadog-api-client-go":         {"plugins/evalengine-exporter-datadog"},
	"github.com/anthropics/anthropic-sdk-go":           {"engine/internal/model/anthropic"},
	"github.com/openai/openai-go":                      {"engine/internal/model/openai"},
	"github.com/hashicorp/go-plugin":                   {"plugins/rpc"},
	"github.com/modelcontextprotocol/go-sdk/":          {"plugins/internal/", "plugins/evalengine-provisioner-command", "examples/sitebuilder"},
	"github.com/evalengine/evalengine/engine/internal": {"engine"},
}

type goFile struct {
	part    string // folder relative to the module, "main" for the root
	path    string
	imports []string
	doc     bool
	name    string
}

func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	err := filepath.WalkDir(".", func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			name := e.Name()
			_, own := os.Stat(filepath.Join(path, "go.mod"))
			if path != "." && (own == nil || strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		g := goFile{part: filepath.ToSlash(filepath.Dir(path)), path: path, doc: f.Doc != nil, name: f.Name.Name}
		if g.part == "." {
			g.part = "main"
		}
		for _, i := range f.Imports {
			g.imports = append(g.imports, strings.Trim(i.Path.Value, `"`))
		}
		files = append(files, g)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func within(part, start string) bool {
	return part == start || strings.HasPrefix(part, start+"/") || strings.HasSuffix(start, "/") && strings.HasPrefix(part, start) || strings.HasSuffix(start, "-") && strings.HasPrefix(part, start)
}

func TestImportsPointOneWay(t *testing.T) {
	for _, f := range goFiles(t) {
		i := slices.IndexFunc(layers, func(l struct {
			part string
			may  []string
		}) bool {
			return within(f.part, l.part)
		})
		if i < 0 {
			t.Errorf("%s: no layer has this folder; add it to layout_test.go and docs/architecture.md", f.path)
			continue
		}
		for _, imp := range f.imports {
			rel, ours := strings.CutPrefix(imp, module+"/")
			if !ours || within(rel, f.part) {
				continue
			}
			if !slices.ContainsFunc(layers[i].may, func(m string) bool {
				return within(rel, m) && !(m == "engine" && rel != "engine") && !(m == "scorers" && rel != "scorers")
			}) {
				t.Errorf("%s imports %s; %s may import %v", f.path, rel, layers[i].part, layers[i].may)
			}
		}
	}
}

func TestDependenciesHaveOneDoor(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, imp := range f.imports {
			for dep, parts := range only {
				if strings.HasPrefix(imp, dep) && !slices.ContainsFunc(parts, func(p string) bool { return within(f.part, p) }) {
					t.Errorf("%s imports %s; only %v may", f.path, imp, parts)
				}
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	docs := map[string]int{}
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f.path, ".pb.go") {
			continue
		}
		if f.doc {
			docs[f.part]++
		} else {
			docs[f.part] += 0
		}
	}
	for part, n := range docs {
		if n != 1 {
			t.Errorf("%s has %d package comments; want one", part, n)
		}
	}
}

func TestGoModHasNoReplace(t *testing.T) {
	b, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "replace") {
		t.Error("go.mod has a replace; a module that requires this one would not see it")
	}
}

// The engine must not carry what only a plugin needs.
func TestBinaryHasNoPluginDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range []string{"github.com/modelcontextprotocol/go-sdk/mcp", "github.com/DataDog/datadog-api-client-go", module + "/examples/"} {
		if strings.Contains(string(out), dep) {
			t.Errorf("the engine's binary links %s", dep)
		}
	}
}

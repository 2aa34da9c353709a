package scorerbuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

const workerArg = "scorer-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArg {
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const source = `package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("mine", "1.0.0", "")
	scorer.Register(scorer.Spec{Name: "always", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome},
		func(*scorer.Input, scorer.Params) (scorer.Result, error) { return scorer.Pass("yes"), nil })
}

func main() {}
`

// project writes a Go module with one scorer module and a program that is none.
func project(t *testing.T) *Builder {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{Dir: t.TempDir(), Worker: []string{self, workerArg}}
	put(t, b, "go.mod", "module example.com/mine\n\ngo 1.26.0\n\nrequire github.com/evalengine/evalengine v0.0.0\n\n"+
		"replace github.com/evalengine/evalengine => "+root+"\n")
	put(t, b, "mine/main.go", source)
	put(t, b, "other/main.go", "package main\n\nfunc main() {}\n")
	return b
}

func put(t *testing.T, b *Builder, name, content string) {
	t.Helper()
	file := filepath.Join(b.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func build(t *testing.T, b *Builder, file string) (*Module, []byte) {
	t.Helper()
	m, err := b.Build(t.Context(), "./mine", file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return m, content
}

func TestBuild(t *testing.T) {
	b := project(t)
	packages, err := b.Packages(t.Context(), "./...")
	if err != nil || len(packages) != 1 || packages[0] != "example.com/mine/mine" {
		t.Errorf("Packages = %q, %v; want mine alone", packages, err)
	}
	dir := t.TempDir()
	first, one := build(t, b, filepath.Join(dir, "one.wasm"))
	if !first.Fresh || first.Size != len(one) || first.Manifest.Module != "mine" {
		t.Errorf("got %+v; want module mine, built", first)
	}
	if s := first.Manifest.Scorer("always"); s == nil || s.Role != eval.RoleAssert {
		t.Errorf("scorer always: %+v", s)
	}
	if again, same := build(t, b, filepath.Join(dir, "one.wasm")); again.Fresh || again.SHA256 != first.SHA256 || !bytes.Equal(one, same) {
		t.Errorf("a second time: %+v; want the file left alone", again)
	}
	// Another place, the same sources.
	other, two := build(t, project(t), filepath.Join(dir, "two.wasm"))
	if !bytes.Equal(one, two) || other.SHA256 != first.SHA256 {
		t.Error("the same sources made two different files")
	}
	put(t, b, "mine/main.go", strings.Replace(source, "1.0.0", "1.0.1", 1))
	if changed, _ := build(t, b, filepath.Join(dir, "one.wasm")); !changed.Fresh || changed.Manifest.Version != "1.0.1" {
		t.Errorf("after a change: %+v; want version 1.0.1, built", changed)
	}
}

func TestBuildSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"does not compile", `"yes"`, `yes`, "undefined: yes"},
		{"no module", `scorer.Module("mine", "1.0.0", "")`, "", "scorer.Module was not called"},
		{"bad spec", `Name: "always"`, `Name: "Always"`, `scorer: "Always": the name is not in snake_case`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := project(t)
			put(t, b, "mine/main.go", strings.Replace(source, test.old, test.new, 1))
			file := filepath.Join(t.TempDir(), "mine.wasm")
			if _, err := b.Build(t.Context(), "./mine", file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want %q", err, test.want)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("it left a file")
			}
		})
	}
}

// Package scorerbuild builds scorer modules written in Go: it compiles a package
// to WebAssembly, asks the module for its manifest and stores that in the file, so
// that a suite can be checked without running the module. The built-in modules
// are built by it as well as everybody else's.
//
// What it writes depends on the sources and the Go version alone. Modules are not
// initialised ahead of time (as Wizer does): the engine keeps an image of every
// module after its initialisation, which makes an instance of any module, built
// by whatever tool, cheaper than a file could.
package scorerbuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// Builder builds modules one after another.
type Builder struct {
	// Dir is where the go command runs: a folder of the Go module that has the
	// packages.
	Dir string
	// Worker starts a scorer worker; see [Serve].
	Worker []string
}

// Module is one module that was built.
type Module struct {
	Manifest *eval.Manifest
	SHA256   string
	Size     int
	// Fresh is false where the file was already there, made of the same sources.
	Fresh bool
}

// Serve makes the process a scorer worker, until in ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return wasm.ServeWorker(ctx, in, out)
}

// Packages are the import paths of the packages that match the patterns and are
// scorer modules: programs that import the SDK.
func (b *Builder) Packages(ctx context.Context, patterns ...string) ([]string, error) {
	out, err := b.goTool(ctx, append([]string{"list", "-e", "-f",
		`{{if eq .Name "main"}}{{.ImportPath}} {{join .Deps " "}}{{end}}`}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) > 1 && slices.Contains(words[1:], sdk) {
			found = append(found, words[0])
		}
	}
	slices.Sort(found)
	return found, nil
}

const sdk = "github.com/evalengine/evalengine/scorers/scorer"

// Build builds pkg (an import path or a folder) into file, unless file is already
// made of the same sources.
func (b *Builder) Build(ctx context.Context, pkg, file string) (*Module, error) {
	sources, err := b.sources(ctx, pkg)
	if err != nil {
		return nil, err
	}
	if old, err := os.ReadFile(file); err == nil && wasm.Source(old) == sources {
		if m, ok, err := wasm.Manifest(old); err == nil && ok {
			return module(old, m, false), nil
		}
	}
	temp, err := os.MkdirTemp("", "evalengine-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	raw := filepath.Join(temp, "module.wasm")
	if _, err := b.goTool(ctx, append(append([]string{"build"}, flags...), "-o", raw, pkg)...); err != nil {
		return nil, err
	}
	built, err := os.ReadFile(raw)
	if err != nil {
		return nil, err
	}
	m, err := b.describe(ctx, pkg, built)
	if err != nil {
		return nil, err
	}
	if built, err = wasm.AddManifest(built, m); err != nil {
		return nil, err
	}
	if built, err = wasm.AddSource(built, sources); err != nil {
		return nil, err
	}
	return module(built, m, true), write(file, built)
}

var flags = []string{"-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w -buildid="}

func module(b []byte, m *eval.Manifest, fresh bool) *Module {
	sum := sha256.Sum256(b)
	return &Module{Manifest: m, SHA256: hex.EncodeToString(sum[:]), Size: len(b), Fresh: fresh}
}

// describe runs the module's eval_describe.
func (b *Builder) describe(ctx context.Context, name string, built []byte) (*eval.Manifest, error) {
	rt, err := wasm.New(wasm.Options{Command: b.Worker, Workers: 1, Interpret: true})
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	m, err := rt.Load(ctx, name, built, "", eval.Grants{})
	if err != nil {
		return nil, err
	}
	return m.Manifest(), nil
}

// write puts the file into place, whole or not at all.
func write(file string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".*.wasm")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// sources is a digest of all that a module is made of.
func (b *Builder) sources(ctx context.Context, pkg string) (string, error) {
	version, err := b.goTool(ctx, "env", "GOVERSION", "GOEXPERIMENT", "GOWASM")
	if err != nil {
		return "", err
	}
	out, err := b.goTool(ctx, "list", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,EmbedFiles,SFiles", pkg)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", version, flags)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir             string
			Standard                    bool
			GoFiles, EmbedFiles, SFiles []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		} else if err != nil {
			return "", fmt.Errorf("go list: %w", err)
		}
		if p.Standard {
			continue
		}
		for _, name := range slices.Concat(p.GoFiles, p.SFiles, p.EmbedFiles) {
			content, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %s %d\n", p.ImportPath, name, len(content))
			h.Write(content)
		}
	}
}

func (b *Builder) goTool(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// Program build builds the built-in scorer modules into scorers/dist. A module
// whose sources are those of the file that is there is left alone.
//
//	go run ./scorers/build
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"

	"github.com/evalengine/evalengine/engine/scorerbuild"
)

const workerArg = "scorer-worker"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if slices.Equal(args, []string{workerArg}) {
		return scorerbuild.Serve(ctx, os.Stdin, os.Stdout)
	}
	if len(args) > 0 {
		return fmt.Errorf("it takes no arguments")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := &scorerbuild.Builder{Dir: ".", Worker: []string{self, workerArg}}
	packages, err := b.Packages(ctx, "./scorers/...")
	if err != nil {
		return err
	}
	var files []string
	for _, pkg := range packages {
		file := filepath.Join("scorers", "dist", path.Base(pkg)+".wasm")
		m, err := b.Build(ctx, pkg, file)
		if err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
		if name := path.Base(pkg); m.Manifest.Module != name {
			return fmt.Errorf("%s: the module calls itself %q", pkg, m.Manifest.Module)
		}
		state := "unchanged"
		if m.Fresh {
			state = "built"
		}
		fmt.Printf("%s %s (%d scorers, %d KB, sha256 %s)\n", file, state, len(m.Manifest.Scorers), m.Size>>10, m.SHA256)
		files = append(files, file)
	}
	return removeOthers(files)
}

// removeOthers removes modules that have no sources any more.
func removeOthers(files []string) error {
	old, err := filepath.Glob("scorers/dist/*.wasm")
	if err != nil {
		return err
	}
	for _, f := range old {
		if !slices.Contains(files, f) {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	return nil
}

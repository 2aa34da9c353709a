package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

const (
	program = "claude"
	install = "npm install -g @anthropic-ai/claude-code"
)

// versionBound is how long the program may take to say its version.
const versionBound = 700 * time.Millisecond

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

// findProgram looks for the program in PATH.
func findProgram(ctx context.Context) eval.Need {
	n := eval.Need{Name: program, Install: install}
	path, err := exec.LookPath(program)
	if err != nil {
		return n
	}
	n.Path, n.Version = path, "unknown"
	if v := packageVersion(path); v != "" {
		n.Version = v
	} else if v := askVersion(ctx, path); v != "" {
		n.Version = v
	}
	return n
}

// packageVersion reads the version from the npm package that the program lies in,
// which is far quicker than to ask the program.
func packageVersion(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(path)
	for range 3 {
		b, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err == nil {
			var p struct{ Name, Version string }
			if json.Unmarshal(b, &p) == nil && regexp.MustCompile(`^@anthropic-ai/claude-code\b`).MatchString(p.Name) {
				return versionNumber.FindString(p.Version)
			}
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func askVersion(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, versionBound)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = 100 * time.Millisecond
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionNumber.FindString(string(out))
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// notAProgram reports whether another attempt at starting the same file must fail
// the same way.
func notAProgram(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOEXEC) || errors.Is(err, syscall.ENOTDIR)
}

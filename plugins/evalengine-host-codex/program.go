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
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

const (
	program = "codex"
	install = "npm install -g @openai/codex"
)

// versionBound is how long the program may take to say its version.
const versionBound = 700 * time.Millisecond

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

// findProgram looks for the program in PATH.
func findProgram(ctx context.Context) eval.Need {
	n := eval.Need{Name: program, Install: install}
	n.Path = native(os.Getenv("PATH"))
	if n.Path == "" {
		return n
	}
	n.Version = "unknown"
	if v := packageVersion(n.Path); v != "" {
		n.Version = v
	} else if v := askVersion(ctx, n.Path); v != "" {
		n.Version = v
	}
	return n
}

// native finds the program in a PATH. Where that is npm's wrapper it is the
// program behind it: a killed wrapper leaves its child behind, and costs memory.
func native(path string) string {
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(dir, program)
		if !filepath.IsAbs(dir) || !executable(p) {
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil && filepath.Base(real) == "codex.js" {
			if behind := behindWrapper(real); behind != "" {
				return behind
			}
		}
		return p
	}
	return ""
}

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}

// behindWrapper looks where npm puts the platform's package.
func behindWrapper(wrapper string) string {
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	platform := "codex-" + runtime.GOOS + "-" + cpu
	root := filepath.Dir(filepath.Dir(wrapper)) // of the package @openai/codex
	for _, base := range []string{
		filepath.Join(filepath.Dir(root), platform),
		filepath.Join(root, "node_modules", "@openai", platform),
		root,
	} {
		found, _ := filepath.Glob(filepath.Join(base, "vendor", "*", "bin", program))
		for _, p := range found {
			if executable(p) && (base != root || ofThisCPU(p)) {
				return p
			}
		}
	}
	return ""
}

// ofThisCPU reads the target from the folder's name.
func ofThisCPU(path string) bool {
	target := filepath.Base(filepath.Dir(filepath.Dir(path)))
	cpu := map[string]string{"amd64": "x86_64-", "arm64": "aarch64-"}[runtime.GOARCH]
	return cpu != "" && strings.HasPrefix(target, cpu)
}

// packageVersion reads the version from the npm package that the program lies in.
func packageVersion(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(path)
	for range 4 {
		b, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err == nil {
			var p struct{ Name, Version string }
			if json.Unmarshal(b, &p) == nil && strings.HasPrefix(p.Name, "@openai/codex") {
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

// startFault says why the program could not be started.
func startFault(path string, err error) *eval.Fault {
	retry, hint := eval.RetryTrial, ""
	switch {
	case errors.Is(err, agentproc.ErrIsolation):
		retry = eval.RetryStop
	case errors.Is(err, agentproc.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		retry, hint = eval.RetryStop, "; install it with: "+install
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.ENOTDIR):
		retry = eval.RetryStop
	}
	return agentout.Fault(eval.CauseHost, retry, "starting "+path+": "+err.Error()+hint)
}

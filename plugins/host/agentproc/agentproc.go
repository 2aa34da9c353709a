// Package agentproc runs an agent's command line for a host plugin: in a session
// of its own, with an environment of its own, its output read line by line within
// bounds, and with nothing left when it ends, whatever it started.
//
// It knows no agent: what the lines mean is the plugin's. Start at [Command] and
// [Start]; read with [Process.Line]; end with [Process.Close].
package agentproc

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Defaults and limits.
const (
	// DefaultMaxLine is the longest line that is kept whole.
	DefaultMaxLine = 64 << 20
	// DefaultGrace is how long each step of a soft stop lasts.
	DefaultGrace = 3 * time.Second
	// StderrTail is how much of stderr [Process.Stderr] keeps.
	StderrTail = 64 << 10
	// MaxRaw is how much of each stream is kept in RawDir.
	MaxRaw = 512 << 20
)

// EnvMark is a variable that every process of one [Process] inherits. It is how
// those that left the session are found.
const EnvMark = "EVALENGINE_SESSION_MARK"

// Command says how to run an agent program.
type Command struct {
	// Path is the program. A name without a slash is looked up in the PATH of Env.
	Path string
	Args []string
	// Dir is the working folder, absolute; empty is the root, never the plugin's own.
	Dir string
	// Env is the whole environment; see [Env].
	Env map[string]string
	// Stdin keeps stdin open for [Process.Write]; without it stdin is /dev/null.
	Stdin bool
	// RawDir keeps stdout and stderr as they came, in RawName.stdout and
	// RawName.stderr, made at the first byte; empty keeps nothing. RawName is
	// "agent" by default. An existing file is appended to.
	RawDir, RawName string
	// MaxLine and Grace are the defaults where 0.
	MaxLine int
	Grace   time.Duration
	// Isolation is the session's; see [Process.Isolated] for what it came to.
	// [Isolate] sets it.
	Isolation eval.Isolation

	told *told
}

// Env returns a session's whole environment: HOME and TMPDIR in the trial's own
// folders, PATH and LANG, then the suite's allow-list, then more. TMPDIR is made
// if there is none.
func Env(spec eval.SessionSpec, more map[string]string) (map[string]string, error) {
	env := map[string]string{"PATH": os.Getenv("PATH"), "LANG": "C.UTF-8"}
	if spec.Home != "" {
		tmp := filepath.Join(spec.Home, "tmp")
		if err := os.MkdirAll(tmp, 0o700); err != nil {
			return nil, fmt.Errorf("temporary folder of the session: %w", err)
		}
		env["HOME"], env["TMPDIR"] = spec.Home, tmp
	}
	maps.Copy(env, spec.Env)
	maps.Copy(env, more)
	return env, nil
}

// environ is Env as the system takes it, with the marks added.
func (c *Command) environ(mark string) []string {
	env := maps.Clone(c.Env)
	if env == nil {
		env = map[string]string{}
	}
	env[EnvMark] = mark
	if v := os.Getenv(pluginMark); v != "" {
		env[pluginMark] = v
	}
	var list []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		list = append(list, k+"="+env[k])
	}
	return list
}

// ErrNotFound is returned when the program is nowhere in PATH.
var ErrNotFound = errors.New("program not found in PATH")

// lookPath finds the program as a shell with that environment would.
func (c *Command) lookPath() (string, error) {
	if strings.Contains(c.Path, "/") {
		return c.Path, nil
	}
	for _, dir := range filepath.SplitList(c.Env["PATH"]) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, c.Path)
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%q: %w", c.Path, ErrNotFound)
}

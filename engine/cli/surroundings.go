package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/internal/launch"
	"github.com/evalengine/evalengine/engine/internal/story"
)

// engine returns an engine for this call's surroundings. The caller must call
// Close.
func (a *app) engine(workers int) (*engine.Engine, error) {
	cache, err := a.cacheDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return engine.New(engine.Options{
		Dir:        dir,
		Executable: a.exe, Plugins: a.finder(), Cache: cache, Environ: a.environ, Environment: a.environment,
		Logger: a.logger(), Secrets: a.secrets, Workers: workers, Version: version(),
	}), nil
}

// finder looks for plugins in the project's folder, the user's, those of
// EVALENGINE_PLUGIN_PATH and beside the binary.
func (a *app) finder() launch.Finder {
	var path []string
	if v, ok := a.environ("EVALENGINE_PLUGIN_PATH"); ok {
		path = filepath.SplitList(v)
	}
	user := ""
	if dir, err := os.UserConfigDir(); err == nil {
		user = filepath.Join(dir, "evalengine", "plugins")
	}
	return launch.Finder{
		Path: path, Project: filepath.Join(".evalengine", "plugins"), User: user, Beside: filepath.Dir(a.exe),
	}
}

func (a *app) cacheDir() (string, error) {
	if v, ok := a.environ("EVALENGINE_CACHE"); ok && v != "" {
		return filepath.Abs(v)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w; set EVALENGINE_CACHE", err)
	}
	return filepath.Join(dir, "evalengine"), nil
}

// parseVars reads name=value pairs.
func parseVars(pairs []string) (map[string]string, error) {
	vars := make(map[string]string, len(pairs))
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--var %q: write name=value", p)
		}
		vars[name] = value
	}
	return vars, nil
}

// showDiags writes diagnostics for people to stderr, or with --json for machines
// to stdout.
func (a *app) showDiags(list diag.List) {
	if a.json {
		diag.WriteJSON(a.out, list, story.Sources(nil))
		return
	}
	a.tellDiags(list)
}

// maxDiags bounds how many diagnostics people are shown: one slip in a locals
// block or a generated suite makes thousands.
const maxDiags = 30

// tellDiags writes diagnostics for people to stderr.
func (a *app) tellDiags(list diag.List) {
	if n := len(list) - maxDiags; n > 0 {
		defer func() { fmt.Fprintf(a.err, "\n%d more problems are not shown; --json has them all.\n", n) }()
		list = list[:maxDiags]
	}
	st := a.style(a.errFile)
	width := st.Width
	if width == 0 {
		width = 100
	}
	diag.Write(a.err, list, story.Sources(nil), width, st.Color)
}

func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

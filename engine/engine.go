// Package engine runs suites: the Go API for embedding evalengine. It ties the
// parts together and decides nothing that a part decides: the suite language is
// in internal/story, the life of a trial in internal/trial, the files of a run in
// internal/ledger.
//
// Start at [New], then [Engine.Load], [Engine.Plan] and [Engine.Run].
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/detector"
	"github.com/evalengine/evalengine/engine/internal/launch"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/redact"
	"github.com/evalengine/evalengine/engine/internal/story"
	"github.com/evalengine/evalengine/engine/internal/trial"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// Names of the hidden commands that the engine starts its own binary with.
const (
	CommandScorerWorker = "scorer-worker"
	CommandShim         = "mcp-shim"
)

// Options are what an engine needs of its surroundings. Nothing in this package
// looks at the environment, the standard streams or the working folder itself.
type Options struct {
	// Executable is the binary whose hidden commands serve scorer workers and
	// stdio shims.
	Executable string
	// Plugins says where plugins are looked for.
	Plugins launch.Finder
	// Cache is the folder of compiled scorer modules, for this user alone.
	Cache string
	// Environ looks up the environment, for allow-lists, keys and variables.
	Environ func(string) (string, bool)
	// Environment is the whole of it as name=value, of which plugins see a short
	// allow-list.
	Environment []string
	// Secrets takes in every secret value that the engine gets to know, for whoever
	// shows what it says; nil where nobody else has to know.
	Secrets *redact.Set
	// Dir is the folder that relative paths in a plugin's config start from.
	Dir    string
	Logger *slog.Logger
	// Workers is how many scorer workers run at once; 0 lets the engine choose.
	Workers int
	Version string
}

// Engine holds what loads and runs share: started plugins, loaded modules. It is
// safe for concurrent use. The caller must call Close.
type Engine struct {
	o    Options
	pool *launch.Pool

	mu      sync.Mutex
	runtime *wasm.Runtime
	modules map[string]*wasm.Module
}

// New returns an engine. It starts nothing yet.
func New(o Options) *Engine {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Secrets == nil {
		o.Secrets = &redact.Set{}
	}
	return &Engine{
		o:       o,
		pool:    launch.New(launch.Options{Finder: o.Plugins, Logger: o.Logger, Environ: o.Environment, Pass: detector.Variables(), Dir: o.Dir}),
		modules: map[string]*wasm.Module{},
	}
}

// Close ends every process that the engine started and waits for them.
func (e *Engine) Close() error {
	e.mu.Lock()
	runtime := e.runtime
	e.mu.Unlock()
	err := e.pool.Close()
	if runtime != nil {
		err = errors.Join(err, runtime.Close())
	}
	return err
}

// Load parses, evaluates and checks a suite: files, or folders of *.hcl. Plugins
// and modules that it uses are asked for their schemas. The suite is nil where
// the diagnostics have errors.
func (e *Engine) Load(ctx context.Context, paths []string, o LoadOptions) (*eval.Suite, diag.List) {
	return e.loadWith(ctx, paths, story.Options{Vars: o.Vars, VarFiles: o.VarFiles, Hosts: o.Hosts, Environ: e.o.Environ})
}

func (e *Engine) loadWith(ctx context.Context, paths []string, o story.Options) (*eval.Suite, diag.List) {
	o.Catalog = catalog{e}
	s, diags := story.Load(ctx, paths, o)
	if s != nil {
		for i, v := range s.Secrets {
			// A value that is too short is among the diagnostics.
			if err := e.o.Secrets.Add(fmt.Sprintf("secret value %d of the suite", i+1), v); err != nil && !errors.Is(err, redact.ErrShort) {
				return nil, diag.Errors("secret", err.Error())
			}
		}
	}
	if diags.HasErrors() {
		return s, diags
	}
	diags = append(diags, e.addCeilings(ctx, s)...)
	return s, append(diags, notScored(s)...)
}

// notScored warns of stories that nothing is asked about: their trials pass
// whatever the agent does.
func notScored(s *eval.Suite) diag.List {
	var list diag.List
	seen := map[eval.Source]bool{}
	for _, st := range s.Stories {
		if len(st.Checks)+len(st.Uses) > 0 || seen[st.Source] {
			continue
		}
		seen[st.Source] = true
		list = append(list, diag.Diagnostic{
			Severity: diag.Warning, Summary: "story without checks", Subject: word(st.Source, "story"),
			Detail: fmt.Sprintf("Nothing is asked about %q, so its trials pass whatever the agent does. Add a check, an assert or a measure.", st.Name),
		})
	}
	return list
}

// word is the range of a word in a suite file.
func word(at eval.Source, text string) diag.Range {
	start := diag.Pos{Line: at.Line, Column: at.Column, Byte: -1}
	end := start
	end.Column += len(text)
	return diag.Range{File: at.File, Start: start, End: end}
}

// LoadOptions say what a suite is loaded with.
type LoadOptions struct {
	// Vars are values of variables; VarFiles are files of them.
	Vars     map[string]string
	VarFiles []string
	// Hosts are globs that choose among all hosts declared; empty takes those that
	// the suite runs on by itself.
	Hosts []string
}

// Selection narrows a plan.
type Selection = plan.Selection

// Plan is what a run will do.
type Plan = plan.Plan

// Plan orders the selected trials of a loaded suite. It starts nothing.
func (e *Engine) Plan(s *eval.Suite, sel Selection) (*Plan, diag.List) {
	return plan.Make(s, sel)
}

// Store is a folder of runs.
type Store = ledger.Store

// OpenStore returns the store at a file:// URL or path.
func OpenStore(url string) (*Store, error) { return ledger.Open(url) }

// scorers returns the runtime of scorer modules, started at its first use.
func (e *Engine) scorers() (*wasm.Runtime, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runtime != nil {
		return e.runtime, nil
	}
	if err := os.MkdirAll(e.o.Cache, 0o700); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	r, err := wasm.New(wasm.Options{
		CacheDir: filepath.Join(e.o.Cache, "wasm"),
		Command:  []string{e.o.Executable, CommandScorerWorker},
		Environ:  detector.Environ(e.o.Environment),
		Workers:  e.o.Workers, Logger: e.o.Logger, Call: trial.Capability,
	})
	if err != nil {
		return nil, fmt.Errorf("scorer modules: %w", err)
	}
	e.runtime = r
	return r, nil
}

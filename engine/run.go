package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/capture"
	"github.com/evalengine/evalengine/engine/internal/gateway"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/redact"
	"github.com/evalengine/evalengine/engine/internal/scratch"
	"github.com/evalengine/evalengine/engine/internal/summary"
	"github.com/evalengine/evalengine/engine/internal/trial"
	"github.com/evalengine/evalengine/engine/internal/wasm"
)

// Event is something that happened to a trial, for whoever watches.
type Event = trial.Event

// Kinds of events.
const (
	TrialStarted  = trial.Started
	TrialPhase    = trial.Phase
	TrialProgress = trial.Progress
	TrialRetrying = trial.Retrying
	TrialFinished = trial.Finished
)

// RunOptions say how a plan is run.
type RunOptions struct {
	Store *Store
	// Paths are what the suite was loaded from, for a later resume.
	Paths []string
	// TimeoutForAll says that the suite's timeout was set over the stories' own.
	TimeoutForAll bool
	// Concurrency is how many trials run at once.
	Concurrency int
	Experiment  string
	// Args is the command line for run.json.
	Args []string
	// BudgetUSD and MaxTrials go before those that a resumed run was begun with,
	// where not zero. They are for [Engine.Resume] alone.
	BudgetUSD float64
	MaxTrials int
	// PassK is the k of pass@k and pass^k; 0 stands for the suite's repeats.
	PassK int
	// FailFast ends the run at the first failed trial.
	FailFast bool
	// Bodies keeps model requests and answers whole.
	Bodies bool
	// NoPreflight leaves out the look at the targets' tools before the first trial.
	NoPreflight bool
	// Started is told the run's folder before the first trial; it may be nil.
	Started func(run eval.Run, dir string)
	// Warn is told what is doubtful about the suite now that its targets are known,
	// before the first trial; it may be nil.
	Warn func(diag.List)
	// Observe is told what happens to trials, from many goroutines at once; it
	// must not block. It may be nil.
	Observe func(Event)
}

// Result is a run that has ended.
type Result struct {
	Run     eval.Run
	Dir     string
	Summary *eval.Summary
}

// Run runs a plan of the suite and records it. When ctx ends, agents under way
// are stopped, what was finished is recorded, and the summary says interrupted.
// An error that is a diag.List is about the suite; any other means that the run
// could not be kept.
func (e *Engine) Run(ctx context.Context, s *eval.Suite, p *Plan, o RunOptions) (*Result, error) {
	r, err := e.begin(ctx, s, p, o)
	if err != nil {
		return nil, err
	}
	defer r.end()
	if !o.NoPreflight {
		if err := r.preflight(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.create(); err != nil {
		return nil, err
	}
	return r.execute(ctx)
}

// run is one run under way.
type run struct {
	e       *Engine
	s       *eval.Suite
	p       *Plan
	o       RunOptions
	hub     *gateway.Hub
	temp    *scratch.Folder
	secrets *redact.Set
	modules map[string]*wasm.Module
	info    eval.Run
	// browser and models are nil where no trial has a use for them.
	browser *capture.Browser
	models  *model.Broker
	golds   map[string]*trial.Gold
	ledger  *ledger.Run
	runner  *trial.Runner
	budget  judgeBudget
	fold    summary.Fold
	// spent is what trials have cost, most the most expensive of them; unpriced says
	// that one's cost was not known.
	spent, most float64
	unpriced    bool
	// failedFast is the trial that ended the run by failing.
	failedFast string
	started    time.Time
}

func newRun(e *Engine, s *eval.Suite, p *Plan, o RunOptions) *run {
	return &run{e: e, s: s, p: p, o: o, secrets: e.o.Secrets, modules: map[string]*wasm.Module{}, started: time.Now()}
}

// begin makes ready everything that the trials share.
func (e *Engine) begin(ctx context.Context, s *eval.Suite, p *Plan, o RunOptions) (*run, error) {
	r := newRun(e, s, p, o)
	if err := r.knowSecrets(); err != nil {
		return nil, err
	}
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	var err error
	for _, left := range e.Sweep() {
		e.o.Logger.Warn("swept what a killed run left", "path", left.Path, "processes", left.Processes)
	}
	if r.temp, err = scratch.New(os.TempDir()); err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	r.hub, err = gateway.Listen(context.WithoutCancel(ctx), r.gatewayOptions())
	if err != nil {
		r.temp.Close()
		return nil, fmt.Errorf("gateway: %w", err)
	}
	r.openPages()
	if err := r.openModels(); err != nil {
		r.end()
		return nil, err
	}
	return r, nil
}

func (r *run) gatewayOptions() gateway.Options {
	return gateway.Options{Logger: r.e.o.Logger, ShimCommand: []string{r.e.o.Executable, CommandShim}}
}

func (r *run) end() {
	if r.ledger != nil {
		r.ledger.Unlock()
	}
	r.closeJudges()
	if err := r.hub.Close(); err != nil {
		r.e.o.Logger.Warn("gateway", "error", err)
	}
	if err := r.temp.Close(); err != nil {
		r.e.o.Logger.Warn("temporary folder stays", "path", r.temp.Path, "error", err)
	}
}

// knowSecrets takes in every secret value that is known before a target is.
func (r *run) knowSecrets() error {
	for i, v := range r.s.Secrets {
		if err := r.secrets.Add(fmt.Sprintf("secret value %d of the suite", i+1), v); err != nil {
			return err
		}
	}
	var names []string
	for _, h := range r.s.Hosts {
		names = append(names, h.Env...)
		if name := keyName(h.Config); name != "" {
			names = append(names, name)
		}
	}
	for _, t := range r.s.Targets {
		names = append(names, t.Env...)
	}
	names = append(names, r.keyNames()...)
	for _, name := range names {
		v, _ := r.e.o.Environ(name)
		// A short value of an allow-listed variable is no key and stays readable.
		if err := r.secrets.Add(name, v); err != nil && !errors.Is(err, redact.ErrShort) {
			return err
		}
	}
	return nil
}

// load loads the scorer modules of the plan.
func (r *run) load(ctx context.Context) error {
	for _, name := range r.p.Needs.Modules {
		i := slices.IndexFunc(r.s.Modules, func(m eval.ModuleConfig) bool { return m.Name == name })
		var cfg *eval.ModuleConfig
		if i >= 0 {
			cfg = &r.s.Modules[i]
		}
		m, err := r.e.module(ctx, cfg, name)
		if err != nil {
			return err
		}
		r.modules[name] = m
	}
	return nil
}

// create writes the run's folder and makes the runner of its trials.
func (r *run) create() error {
	commit, dirty := git(r.s.Dir)
	r.info = eval.Run{
		ID: ledger.NewID(r.started), Suite: r.s.Name, Experiment: r.o.Experiment, StartedAt: r.started.UTC(),
		Dir: r.s.Dir, Paths: relativeTo(r.s.Dir, r.o.Paths), TimeoutForAll: r.o.TimeoutForAll,
		Args: r.cleanArgs(), GitCommit: commit, GitDirty: dirty, Files: r.cleanFiles(),
		Plugins: r.components(), Modules: r.moduleComponents(), Trials: r.p.Trials,
		Timeout: r.s.Timeout, Retries: r.s.Retries, Concurrency: r.o.Concurrency, BudgetUSD: r.s.BudgetUSD, MaxTrials: r.s.MaxTrials, Vars: r.cleanVars(),
		PassK: r.o.PassK,
	}
	var err error
	if r.ledger, err = r.o.Store.Create(r.info); err != nil {
		return &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	if err := r.ledger.Lock(); err != nil {
		return &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: err.Error()}
	}
	r.ready()
	return nil
}

// ready makes the runner of the trials, once there is a folder for them.
func (r *run) ready() {
	for _, t := range r.info.Trials {
		r.fold.Expect(t)
	}
	r.readGolds(r.o.Store)
	r.runner = &trial.Runner{
		Suite: r.s, Ledger: r.ledger, Plugins: r.e.pool, Hub: r.hub, Modules: r.modules, Secrets: r.secrets,
		Environ: r.e.o.Environ, Temp: r.temp.Path, Versions: r.versions(), Logger: r.e.o.Logger,
		Observe: r.o.Observe, Bodies: r.o.Bodies,
		Hidden: r.hidden(), Readable: []string{r.e.o.Executable}, Models: r.models,
	}
	if r.browser != nil {
		r.runner.Pages = r.browser
	}
	if r.o.Started != nil {
		r.o.Started(r.info, r.ledger.Dir())
	}
	r.runner.Golds = r.golds
}

// relativeTo makes paths relative to the suite's folder, as far as they lie in
// it.
func relativeTo(dir string, paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(dir, abs); err == nil {
			out[i] = rel
		}
	}
	return out
}

func (r *run) cleanArgs() []string {
	args := make([]string, len(r.o.Args))
	for i, a := range r.o.Args {
		args[i] = r.secrets.String(a)
	}
	return args
}

// cleanVars are the suite's variables; one that holds a secret has to be given
// again to a resume.
func (r *run) cleanVars() map[string]string {
	vars := make(map[string]string, len(r.s.Vars))
	for name, v := range r.s.Vars {
		vars[name] = r.secrets.String(v)
	}
	return vars
}

// cleanFiles are the suite's files to be kept with the run. Their sums are those
// of what was run.
func (r *run) cleanFiles() []eval.File {
	files := slices.Clone(r.s.Files)
	for i := range files {
		if files[i].Content != nil {
			files[i].Content = r.secrets.Bytes(files[i].Content)
		}
	}
	return files
}

func (r *run) components() []eval.Component {
	var out []eval.Component
	for _, name := range r.p.Needs.Drivers {
		out = append(out, r.e.pool.Component("host", name))
	}
	for _, name := range r.p.Needs.Provisioners {
		out = append(out, r.e.pool.Component("provisioner", name))
	}
	return out
}

func (r *run) moduleComponents() []eval.Component {
	out := []eval.Component{}
	for _, name := range slices.Sorted(maps.Keys(r.modules)) {
		m := r.modules[name]
		out = append(out, eval.Component{Kind: "scorer", Name: name, Version: m.Manifest().Version, SHA256: m.SHA256()})
	}
	return out
}

// versions are what every record says of the parts that made it.
func (r *run) versions() map[string]string {
	v := map[string]string{"engine": r.e.o.Version}
	for _, c := range append(r.info.Plugins, r.info.Modules...) {
		v[c.Kind+"/"+c.Name] = c.Version + "+" + c.SHA256[:min(12, len(c.SHA256))]
	}
	return v
}

// git tells the commit of a suite's folder, empty where it is in none.
func git(dir string) (commit string, dirty bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if !inRepository(dir) {
		return "", false
	}
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false
	}
	changes, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(out)), err == nil && len(changes) > 0
}

// inRepository saves starting git where there is nothing to ask it about.
func inRepository(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

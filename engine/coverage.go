package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/coverage"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/scratch"
	"github.com/evalengine/evalengine/engine/internal/story"
)

// ErrNoTools is returned where no target's tools are known: there is nothing that
// could be covered.
var ErrNoTools = errors.New("the tools of the suite's targets are not known: run the suite first, give --tools FILE, or ask the targets with --live")

// CoverageOptions say what a suite's stories are held against.
type CoverageOptions struct {
	// Store has the runs; nil looks at none.
	Store *Store
	// Runs are those whose trials are looked at, the newest first; empty takes the
	// latest run of the suite, where there is one.
	Runs []string
	// Against is an earlier run whose tools are compared; empty takes the one before
	// the first of Runs, where there is one.
	Against string
	// Tools are lists of tools, for a target or one of its servers.
	Tools []ToolsFile
	// Live makes each target once and asks it for its tools.
	Live bool
	// Usage is a file of tool calls from production; none where its path is empty.
	Usage UsageFile
}

// ToolsFile is a file with the tools of a target, or of one of its servers.
type ToolsFile struct {
	// Target is empty where the suite has one target alone, Server where the file
	// says it, or nobody does.
	Target, Server string
	Path           string
}

// Coverage holds what the selected stories ask for, and what trials called, against
// the tools of all the suite's targets.
func (e *Engine) Coverage(ctx context.Context, s *eval.Suite, sel Selection, o CoverageOptions) (*eval.Coverage, error) {
	p, diags := e.Plan(s, sel)
	err := diags.Err()
	if err != nil {
		return nil, err
	}
	c := &coverer{e: e, s: s, p: p, o: o, targets: map[string]*coverage.Target{}}
	if c.use, err = readUsage(ctx, o.Usage); err != nil {
		return nil, err
	}
	if err = c.openRuns(); err != nil {
		return nil, err
	}
	if err = c.files(); err != nil {
		return nil, err
	}
	if o.Live {
		if err = c.live(ctx); err != nil {
			return nil, err
		}
	}
	return c.coverage(ctx)
}

// coverer is one look at a suite's coverage.
type coverer struct {
	e       *Engine
	s       *eval.Suite
	p       *Plan
	o       CoverageOptions
	runs    []*ledger.Run
	against *ledger.Run
	targets map[string]*coverage.Target
	use     *coverage.Usage
	said    []string
}

func (c *coverer) problem(format string, args ...any) {
	c.said = append(c.said, c.e.o.Secrets.String(fmt.Sprintf(format, args...)))
}

// openRuns opens the runs that are asked for, or the latest two of the suite.
func (c *coverer) openRuns() error {
	if c.o.Store == nil {
		return nil
	}
	for _, name := range c.o.Runs {
		r, err := c.o.Store.Run(name)
		if err != nil {
			return err
		}
		c.runs = append(c.runs, r)
	}
	if c.o.Against != "" {
		r, err := c.o.Store.Run(c.o.Against)
		if err != nil {
			return err
		}
		c.against = r
	}
	if len(c.runs) > 0 && c.against != nil {
		return nil
	}
	last, err := runsOf(c.o.Store, c.s.Name)
	if err != nil {
		return err
	}
	if len(c.runs) == 0 && len(last) > 0 {
		c.runs = last[:1]
	}
	if c.against == nil && len(c.runs) > 0 {
		i := slices.IndexFunc(last, func(r *ledger.Run) bool { return r.Info.StartedAt.Before(c.runs[0].Info.StartedAt) })
		if i >= 0 {
			c.against = last[i]
		}
	}
	return nil
}

// runsOf opens the runs of a suite, the newest first. A folder that is no run is
// passed over.
func runsOf(store *Store, suite string) ([]*ledger.Run, error) {
	ids, err := store.Runs()
	if err != nil {
		return nil, err
	}
	var runs []*ledger.Run
	for _, id := range slices.Backward(ids) {
		if r, err := store.Run(id); err == nil && r.Info.Suite == suite {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(a, b *ledger.Run) int {
		return cmp.Or(b.Info.StartedAt.Compare(a.Info.StartedAt), cmp.Compare(b.Info.ID, a.Info.ID))
	})
	return runs, nil
}

// files reads the lists of tools that are given.
func (c *coverer) files() error {
	for _, f := range c.o.Tools {
		if f.Target == "" {
			if len(c.s.Targets) != 1 {
				return fmt.Errorf("--tools %s: the suite has %d targets; say whose tools they are: --tools TARGET=FILE", f.Path, len(c.s.Targets))
			}
			f.Target = c.s.Targets[0].Name
		}
		if c.s.Target(f.Target) == nil {
			return fmt.Errorf("--tools %s=%s: the suite has no target %q", f.Target, f.Path, f.Target)
		}
		tools, err := coverage.ReadTools(f.Path, f.Server)
		if err != nil {
			return fmt.Errorf("--tools: %w", err)
		}
		c.offer(f.Target, "file", filepath.Base(f.Path), tools)
	}
	return nil
}

// offer adds tools to those of a target.
func (c *coverer) offer(name, source, from string, tools []eval.Tool) {
	t := c.targets[name]
	if t == nil {
		t = &coverage.Target{Name: name, Source: source, From: from}
		c.targets[name] = t
	}
	t.Tools = append(t.Tools, tools...)
}

// live makes each target that has no list yet, once, and asks for its tools.
func (c *coverer) live(ctx context.Context) error {
	r := newRun(c.e, c.s, c.p, RunOptions{})
	if err := r.knowSecrets(); err != nil {
		return err
	}
	temp, err := scratch.New(os.TempDir())
	if err != nil {
		return fmt.Errorf("temporary folder: %w", err)
	}
	r.temp = temp
	defer func() {
		if err := temp.Close(); err != nil {
			c.e.o.Logger.Warn("temporary folder stays", "path", temp.Path, "error", err)
		}
	}()
	for _, t := range c.s.Targets {
		if c.targets[t.Name] != nil {
			continue
		}
		tools, err := r.listTools(ctx, t.Name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.problem("target.%s could not be asked for its tools: %v", t.Name, err)
			continue
		}
		c.offer(t.Name, "live", "", tools)
	}
	return nil
}

// coverage reads the runs and folds all of it.
func (c *coverer) coverage(ctx context.Context) (*eval.Coverage, error) {
	for _, r := range c.runs {
		tools, err := c.toolsOf(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, t := range c.s.Targets {
			if c.targets[t.Name] == nil && tools[t.Name] != nil {
				c.offer(t.Name, "run", r.Info.ID, tools[t.Name])
			}
		}
	}
	var targets []coverage.Target
	known := 0
	for _, t := range c.s.Targets {
		one := c.targets[t.Name]
		if one == nil {
			one = &coverage.Target{Name: t.Name}
			c.problem("the tools of target.%s are not known: no recorded trial that counts saw them, and no list is given", t.Name)
		}
		known += len(one.Tools)
		targets = append(targets, *one)
	}
	if known == 0 {
		if len(c.said) > 0 {
			return nil, fmt.Errorf("%w (%s)", ErrNoTools, c.said[0])
		}
		return nil, ErrNoTools
	}
	m := coverage.New(c.s.Name, targets, c.stories())
	for _, r := range c.runs {
		if err := c.trials(ctx, m, r); err != nil {
			return nil, err
		}
	}
	if err := c.drift(ctx, m); err != nil {
		return nil, err
	}
	for _, text := range c.said {
		m.Problem("%s", text)
	}
	return m.Coverage(c.use), nil
}

// stories are the selected stories with what they ask for.
func (c *coverer) stories() []coverage.Story {
	var list []coverage.Story
	for _, st := range c.s.Stories {
		if !c.selected(st.Name) {
			continue
		}
		one := coverage.Story{Name: st.Name, Target: st.Target}
		for _, u := range st.Uses {
			one.Asks = append(one.Asks, coverage.AsksOf(coverage.Use{Name: u.Name, Scorer: u.Scorer, Role: u.Role, Params: story.Known(u.Params)})...)
		}
		for _, ch := range st.Checks {
			if texts, asks := story.CallTexts(ch); asks && len(texts) > 0 {
				one.Asks = append(one.Asks, coverage.Ask{Use: "check/" + ch.Name, Tools: texts, Texts: true})
			}
		}
		list = append(list, one)
	}
	return list
}

func (c *coverer) selected(name string) bool {
	return slices.ContainsFunc(c.p.Arms, func(a plan.Arm) bool { return a.Story == name })
}

// ParseToolsFile reads FILE, TARGET=FILE or TARGET/SERVER=FILE.
func ParseToolsFile(arg string) (ToolsFile, error) {
	whose, path, ok := strings.Cut(arg, "=")
	if !ok {
		whose, path = "", arg
	}
	f := ToolsFile{Path: path}
	f.Target, f.Server, _ = strings.Cut(whose, "/")
	if path == "" || ok && f.Target == "" {
		return f, diag.Errors("--tools "+arg, "Write FILE, TARGET=FILE or TARGET/SERVER=FILE.")
	}
	return f, nil
}

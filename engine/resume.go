package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/model"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/redact"
)

// Resume finishes a run: trials without a record, and those that were errored or
// skipped, are run; a trial whose agent was done when the run was killed is scored
// from what it left, and no agent is started for it. Passed and failed trials stay
// as they are, and so does the run's start. A run that another process is at work
// on is refused with [ledger.ErrBusy].
//
// The suite is the one that was run: its files as they are in its folder where
// they have not changed since, or the run's own copies, which is told through
// Options.Logger.
func (e *Engine) Resume(ctx context.Context, name string, o RunOptions) (*Result, error) {
	kept, err := o.Store.Run(name)
	if err != nil {
		return nil, err
	}
	if err := kept.Lock(); err != nil {
		return nil, err
	}
	defer kept.Unlock()
	s, err := e.reload(ctx, kept)
	if err != nil {
		return nil, err
	}
	if o.BudgetUSD > 0 {
		s.BudgetUSD = o.BudgetUSD
	}
	if o.MaxTrials > 0 {
		s.MaxTrials = o.MaxTrials
	}
	rest, err := kept.Unfinished()
	if err != nil {
		return nil, err
	}
	p, diags := plan.Of(s, rest)
	if err := diags.Err(); err != nil {
		return nil, err
	}
	if o.Concurrency == 0 {
		o.Concurrency = kept.Info.Concurrency
	}
	r, err := e.begin(ctx, s, p, o)
	if err != nil {
		return nil, err
	}
	defer r.end()
	r.ledger, r.info = kept, kept.Info
	r.ready()
	if err := r.keepFinished(); err != nil {
		return nil, err
	}
	r.budget.set(model.NewPurse(s.BudgetUSD, r.spent))
	if err := r.scoreSettled(ctx); isStore(err) {
		return r.conclude(ctx, "", "", err)
	} else if err != nil {
		return nil, err
	}
	return r.execute(ctx)
}

// scoreSettled scores the trials whose agents were done, and takes them out of
// the plan.
func (r *run) scoreSettled(ctx context.Context) error {
	var rest []eval.Trial
	for _, t := range r.p.Trials {
		rec, ok, err := r.runner.Settled(ctx, t)
		if err != nil {
			return err
		}
		if !ok {
			rest = append(rest, t)
			continue
		}
		r.fold.Add(rec)
		r.spend(rec)
	}
	r.p.Trials = rest
	if err := r.ledger.SweepDrafts(); err != nil {
		r.e.o.Logger.Warn("drafts stay", "error", err)
	}
	return nil
}

// keepFinished folds the records that stay and puts those aside that do not.
func (r *run) keepFinished() error {
	for rec, err := range r.ledger.Records() {
		if err != nil {
			r.e.o.Logger.Warn("unreadable record: its trial is run again", "error", err)
			continue
		}
		if ledger.Finished(rec) {
			r.fold.Add(rec)
			r.spend(rec)
		}
	}
	for _, t := range r.p.Trials {
		if err := r.ledger.Supersede(t.ID()); err != nil {
			return storeFault(err)
		}
	}
	return nil
}

// reload loads the suite of a recorded run with the settings it was run with.
func (e *Engine) reload(ctx context.Context, kept *ledger.Run) (*eval.Suite, error) {
	info := kept.Info
	dir, err := e.suiteDir(kept)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range info.Paths {
		paths = append(paths, filepath.Join(dir, p))
	}
	vars := map[string]string{}
	for name, v := range info.Vars {
		// One that held a secret is to be given again, by the environment.
		if v != "" && !strings.Contains(v, redact.Mark) {
			vars[name] = v
		}
	}
	s, diags := e.Load(ctx, paths, LoadOptions{Vars: vars, Hosts: hostsOf(info.Trials)})
	if err := diags.Err(); err != nil {
		return nil, err
	}
	s.Timeout, s.Retries, s.BudgetUSD, s.MaxTrials = info.Timeout, info.Retries, info.BudgetUSD, info.MaxTrials
	for i := range s.Stories {
		if info.TimeoutForAll {
			s.Stories[i].Timeout = 0
		}
	}
	return s, nil
}

// hostsOf are the hosts of trials.
func hostsOf(trials []eval.Trial) []string {
	var hosts []string
	for _, t := range trials {
		if !slices.Contains(hosts, t.Host) {
			hosts = append(hosts, t.Host)
		}
	}
	return hosts
}

// suiteDir is where the suite's files are as they were when the run began.
func (e *Engine) suiteDir(kept *ledger.Run) (string, error) {
	info := kept.Info
	if len(info.Paths) == 0 {
		return "", diag.Errors("run "+info.ID+" cannot be resumed", "It does not say which files its suite was loaded from.")
	}
	for _, f := range info.Files {
		b, err := os.ReadFile(filepath.Join(info.Dir, filepath.FromSlash(f.Path)))
		sum := sha256.Sum256(b)
		if err == nil && hex.EncodeToString(sum[:]) == f.SHA256 {
			continue
		}
		copies := filepath.Join(kept.Dir(), "suite")
		if _, err := os.Stat(copies); err != nil {
			return "", fmt.Errorf("run %s: the suite changed and its copies are gone: %w", info.ID, err)
		}
		if err := wholeCopies(info, copies); err != nil {
			return "", err
		}
		e.o.Logger.Warn("the suite changed since the run began; the run's own copies are used", "file", f.Path, "copies", copies)
		return copies, nil
	}
	return info.Dir, nil
}

// wholeCopies refuses copies that are not what was run: secrets are left out of
// them, and a suite with a mark in a secret's place is another suite.
func wholeCopies(info eval.Run, copies string) error {
	for _, f := range info.Files {
		name := filepath.FromSlash(f.Path)
		if !filepath.IsLocal(name) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(copies, name))
		if err != nil {
			continue // it was not kept, and is missed if it is read
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != f.SHA256 {
			return diag.Errors("the suite of run "+info.ID+" changed since", fmt.Sprintf(
				"The run's own copy of %s cannot stand in: it is not what was run, because it held a secret or was edited. Restore the suite in %s as it was.", f.Path, info.Dir))
		}
	}
	return nil
}

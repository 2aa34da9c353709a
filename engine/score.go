package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/delta"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/plan"
	"github.com/evalengine/evalengine/engine/internal/redact"
	"github.com/evalengine/evalengine/engine/internal/story"
	"github.com/evalengine/evalengine/engine/internal/summary"
	"github.com/evalengine/evalengine/engine/internal/trial"
)

// ScoreOptions say how stored trials are scored again.
type ScoreOptions struct {
	Store *Store
	// Paths are those of a suite to score by; empty takes the run's own.
	Paths []string
	// Vars and VarFiles are of that suite's variables; those that they leave out
	// have the values that the run had, where the suite has variables of that name.
	Vars     map[string]string
	VarFiles []string
	// Replay answers judges from what the trials' records say that models answered:
	// no model is asked.
	Replay bool
	// Against has judges compare each trial with another one, in place of its story's
	// gold.
	Against Against
	// Concurrency is how many trials are scored at once; 0 is one.
	Concurrency int
	// Started is told the run's folder before the first trial; it may be nil.
	Started func(run eval.Run, dir string)
	// Warn is told what is doubtful about the suite; it may be nil.
	Warn func(diag.List)
	// Observe is told what happens to trials, from many goroutines at once; it
	// must not block. It may be nil.
	Observe func(Event)
}

// Scoring is what became of a run's trials when they were scored again.
type Scoring struct {
	Result
	// ID is that of the new verdicts.
	ID string
	// Scored are the records with their new verdicts, in the order of the plan.
	Scored []Rescored
	// Deltas say what became of each score, and why.
	Deltas []eval.ScoreDelta
	// Left are the trials whose verdicts stay as they were, and why.
	Left []Unscored
	// Unpaired are the trials that were to be compared and have no other, and why;
	// Alone the IDs of others that no trial was compared with.
	Unpaired []Unscored
	Alone    []string
}

// Rescored is a trial that was scored again.
type Rescored struct {
	Record *eval.Record
	// Replaced is the verdict that counted before.
	Replaced eval.Verdict
}

// Unscored is a trial that was not scored again, or not compared.
type Unscored struct {
	Trial string
	Why   error
}

// Score scores the trials of a run again, from what they left and by the run's own
// suite or another. No agent and no target is started, and no record is changed:
// each new verdict is kept beside its record, says which one it replaces, and counts
// from then on. A run that another process is at work on is refused with
// [ledger.ErrBusy].
func (e *Engine) Score(ctx context.Context, name string, o ScoreOptions) (*Scoring, error) {
	kept, err := o.Store.Run(name)
	if err != nil {
		return nil, err
	}
	if err := kept.Lock(); err != nil {
		return nil, err
	}
	defer kept.Unlock()
	s, err := e.scoringSuite(ctx, kept, o)
	if err != nil {
		return nil, err
	}
	sc := &scoring{e: e, o: o, kept: kept, trials: kept.Info.Trials, out: &Scoring{ID: ledger.NewID(time.Now())}}
	if err := sc.begin(ctx, s); err != nil {
		return nil, err
	}
	defer sc.r.closeJudges()
	failed := sc.run(ctx)
	sum, err := sc.summary()
	if failed == nil {
		failed = err
	}
	sc.out.Result = Result{Run: kept.Info, Dir: kept.Dir(), Summary: sum}
	return sc.out, failed
}

// scoringSuite loads the suite that the trials are scored by.
func (e *Engine) scoringSuite(ctx context.Context, kept *ledger.Run, o ScoreOptions) (*eval.Suite, error) {
	if len(o.Paths) == 0 {
		return e.reload(ctx, kept)
	}
	environ := func(name string) (string, bool) {
		if v, ok := strings.CutPrefix(name, "EVALENGINE_VAR_"); ok {
			if s := kept.Info.Vars[v]; s != "" && !strings.Contains(s, redact.Mark) {
				return s, true
			}
		}
		return e.o.Environ(name)
	}
	s, diags := e.loadWith(ctx, o.Paths, story.Options{Vars: o.Vars, VarFiles: o.VarFiles, Hosts: hostsOf(kept.Info.Trials), Environ: environ})
	if err := diags.Err(); err != nil {
		return nil, err
	}
	if len(diags) > 0 && o.Warn != nil {
		o.Warn(diags)
	}
	return s, nil
}

// scoring is one Score under way.
type scoring struct {
	e      *Engine
	o      ScoreOptions
	kept   *ledger.Run
	trials []eval.Trial
	// r is a run that starts nothing: what the trials are scored with.
	r      *run
	runner *trial.Runner
	others *others
	out    *Scoring
}

// begin makes ready what the trials are scored with. A trial that the suite does
// not have is left as it is.
func (sc *scoring) begin(ctx context.Context, s *eval.Suite) error {
	known := slices.DeleteFunc(slices.Clone(sc.trials), func(t eval.Trial) bool { return s.Story(t.Story) == nil || s.Host(t.Host) == nil })
	p, diags := plan.Of(s, known)
	if err := diags.Err(); err != nil {
		return err
	}
	r := newRun(sc.e, s, p, RunOptions{})
	if err := r.knowSecrets(); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if err := r.openModels(); err != nil {
		return err
	}
	sc.r = r
	r.readGolds(sc.o.Store)
	r.info.Modules = r.moduleComponents()
	sc.runner = &trial.Runner{
		Suite: s, Ledger: sc.kept, Modules: r.modules, Secrets: r.secrets, Environ: sc.e.o.Environ,
		Versions: r.versions(), Logger: sc.e.o.Logger, Observe: sc.o.Observe, Models: r.models, Replay: sc.o.Replay,
		Golds: r.golds,
	}
	if err := sc.compareWith(); err != nil {
		return err
	}
	if sc.o.Started != nil {
		sc.o.Started(sc.kept.Info, sc.kept.Dir())
	}
	return nil
}

// run scores the trials, as many at once as the options say.
func (sc *scoring) run(ctx context.Context) error {
	type result struct {
		rec, was *eval.Record
		err      error
	}
	results := make([]result, len(sc.trials))
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, sc.o.Concurrency))
	for i, t := range sc.trials {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if _, err := os.Lstat(sc.kept.TrialDir(t.ID())); errors.Is(err, fs.ErrNotExist) {
				return
			}
			results[i].rec, results[i].was, results[i].err = sc.score(ctx, t)
		})
	}
	wg.Wait()
	deltas := delta.Fold{Sources: sc.source, Reads: sc.reads}
	for i, res := range results {
		var f *eval.Fault
		switch {
		case errors.As(res.err, &f):
			return res.err
		case res.err != nil && ctx.Err() == nil:
			sc.out.Left = append(sc.out.Left, Unscored{Trial: sc.trials[i].ID(), Why: res.err})
		case res.rec != nil:
			sc.out.Scored = append(sc.out.Scored, Rescored{Record: res.rec, Replaced: res.was.Verdict()})
			deltas.Add(delta.Side{Record: res.was, Files: sc.files(res.was)}, delta.Side{Record: res.rec, Files: sc.r.s.Files})
		}
	}
	sc.out.Deltas = deltas.Deltas()
	if sc.others != nil {
		sc.out.Unpaired, sc.out.Alone = sc.others.left(sc.trials)
	}
	return ctx.Err()
}

// score scores one trial and returns its record as it is now and as it was.
func (sc *scoring) score(ctx context.Context, t eval.Trial) (now, was *eval.Record, err error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if was, err = sc.kept.Record(t.ID()); err != nil {
		return nil, nil, err
	}
	now, err = sc.runner.Rescore(ctx, t, sc.out.ID)
	return now, was, err
}

// files are those of the suite that a record's verdict was made by.
func (sc *scoring) files(rec *eval.Record) []eval.File {
	if rec.Rescored == nil {
		return sc.kept.Info.Files
	}
	list, err := ledger.ReadRescores(sc.kept.TrialDir(rec.ID))
	if err != nil {
		return nil
	}
	for _, s := range list {
		if s.ID == rec.Rescored.ID {
			return s.Files
		}
	}
	return nil
}

// source is the suite file that a score of a story is written in.
func (sc *scoring) source(name, score string) string {
	st := sc.r.s.Story(name)
	if st == nil {
		return ""
	}
	for _, c := range st.Checks {
		if "check/"+c.Name == score {
			return c.Source.File
		}
	}
	for _, u := range st.Uses {
		if u.Name == score {
			return u.Source.File
		}
	}
	return ""
}

// reads reports whether a score is made of others.
func (sc *scoring) reads(name, score string) bool {
	st := sc.r.s.Story(name)
	if st == nil {
		return false
	}
	for _, u := range st.Uses {
		module, scorer, _ := strings.Cut(u.Scorer, "/")
		if m := sc.r.modules[module]; u.Name == score && m != nil {
			spec := m.Manifest().Scorer(scorer)
			return spec != nil && slices.Contains(spec.Needs, eval.PartScores)
		}
	}
	return false
}

// summary folds the records anew. When and why the run ended stays.
func (sc *scoring) summary() (*eval.Summary, error) {
	var fold summary.Fold
	for _, t := range sc.trials {
		fold.Expect(t)
	}
	finished := sc.kept.Info.StartedAt
	for rec, err := range sc.kept.Records() {
		if err != nil {
			sc.e.o.Logger.Warn("unreadable record", "error", err)
			continue
		}
		fold.Add(rec)
		if rec.Timings.FinishedAt.After(finished) {
			finished = rec.Timings.FinishedAt
		}
	}
	old, err := sc.kept.Summary()
	if err != nil {
		// A run that was killed has none; what it has not run is told by its counts.
		old = &eval.Summary{FinishedAt: finished}
	}
	s := fold.Summary(&sc.kept.Info, old.FinishedAt, old.Completion == eval.RunInterrupted)
	s.Stopped, s.StopReason = old.Stopped, old.StopReason
	if err := sc.kept.WriteSummary(s); err != nil {
		return s, &eval.Fault{Cause: eval.CauseStore, Retry: eval.RetryNever, Detail: fmt.Sprintf("summary: %v", err)}
	}
	return s, nil
}

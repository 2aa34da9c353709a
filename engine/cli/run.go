package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// suiteFlags are of every command that loads a suite and selects from it.
type suiteFlags struct {
	vars     []string
	varFiles []string
	sel      engine.Selection
}

func (f *suiteFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vars, "var", nil, "set a variable of the suite: name=value (repeatable)")
	fl.StringArrayVar(&f.varFiles, "var-file", nil, "read variables from this file of NAME = VALUE lines (repeatable)")
	fl.StringArrayVar(&f.sel.Stories, "story", nil, "only stories that match this glob (repeatable)")
	fl.StringArrayVar(&f.sel.Hosts, "host", nil, "hosts that match this glob, of all that the suite declares (repeatable)")
	fl.StringArrayVar(&f.sel.Variants, "variant", nil, "only variants that match this glob (repeatable)")
	fl.StringArrayVar(&f.sel.Tags, "tag", nil, "only stories with a tag that matches this glob (repeatable)")
	fl.IntVarP(&f.sel.Repeats, "repeats", "k", 0, "trials of each story x variant x host (default: what the suite says)")
}

// load loads the suite of the arguments and shows its warnings.
func (f *suiteFlags) load(a *app, cmd *cobra.Command, e *engine.Engine, paths []string) (*eval.Suite, error) {
	vars, err := parseVars(f.vars)
	if err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("repeats") && f.sel.Repeats < 1 {
		return nil, fmt.Errorf("--repeats %d: give a number from 1", f.sel.Repeats)
	}
	s, diags := e.Load(cmd.Context(), paths, engine.LoadOptions{Vars: vars, VarFiles: f.varFiles, Hosts: f.sel.Hosts})
	if err := diags.Err(); err != nil {
		return nil, err
	}
	if len(diags) > 0 {
		// Also with --json: stdout is the command's own answer, one document.
		a.tellDiags(diags)
	}
	return s, nil
}

// maxRetries is the bound of the suite's own attribute.
const maxRetries = 100

type runFlags struct {
	suiteFlags
	jobs        int
	experiment  string
	budget      float64
	maxTrials   int
	timeout     time.Duration
	retries     int
	failFast    bool
	dryRun      bool
	bodies      bool
	noPreflight bool
	output      string
	passK       int
}

// passKUsage is of the flag that chooses k.
const passKUsage = "k of pass@k and pass^k: the chance that one of k trials passes, and that all do (default: the repeats that most arms have)"

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run SUITE...",
		Short: "Run a suite: every story x variant x host x repeat, each on a fresh target",
		Long: `Run a suite and record every trial.

Exit codes: 0 every gate held, 1 a trial failed, 2 usage or configuration error,
3 incomplete and no trial failed, 130 interrupted.`,
		Example: "  evalengine run suite.hcl --story 'cms-*' --host claude -k 3 -j 4",
		Args:    suiteArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	f.suiteFlags.add(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.jobs, "jobs", "j", max(2, runtime.NumCPU()), "how many trials run at once")
	fl.StringVar(&f.experiment, "experiment", "", "name that groups runs which are to be compared")
	fl.Float64Var(&f.budget, "budget", 0, "end the run before it costs more, in USD (default: what the suite says)")
	fl.IntVar(&f.maxTrials, "max-trials", 0, "start no more trials than this (default: what the suite says)")
	fl.DurationVar(&f.timeout, "timeout", 0, "time of one trial (default: what the suite says)")
	fl.IntVar(&f.retries, "retries", -1, "attempts beyond the first, for infrastructure faults (default: what the suite says)")
	fl.BoolVar(&f.failFast, "fail-fast", false, "start no further trial after one has failed")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the plan and run nothing")
	fl.BoolVar(&f.bodies, "bodies", false, "keep the agents' model requests and answers whole in model.jsonl")
	fl.BoolVar(&f.noPreflight, "no-preflight", false, "do not hold the suite's tool names against the targets before the first trial")
	fl.IntVar(&f.passK, "pass-k", 0, passKUsage)
	fl.StringVarP(&f.output, "output", "o", "", "also write the report to this file; the ending chooses the format: "+endings)
	return cmd
}

// check refuses values that say nothing, rather than running with another one.
func (f *runFlags) check(given func(flag string) bool) error {
	switch {
	case f.jobs < 1:
		return fmt.Errorf("--jobs %d: give a number from 1", f.jobs)
	case given("budget") && !(f.budget > 0 && f.budget <= math.MaxFloat64):
		return fmt.Errorf("--budget %v: give an amount above 0", f.budget)
	case given("max-trials") && f.maxTrials < 1:
		return fmt.Errorf("--max-trials %d: give a number from 1", f.maxTrials)
	case given("timeout") && f.timeout <= 0:
		return fmt.Errorf("--timeout %v: give a duration above 0", f.timeout)
	case given("pass-k") && f.passK < 1:
		return fmt.Errorf("--pass-k %d: give a number from 1", f.passK)
	case given("retries") && (f.retries < 0 || f.retries > maxRetries):
		return fmt.Errorf("--retries %d: give a number from 0 to %d", f.retries, maxRetries)
	case len(f.experiment) > 200 || strings.ContainsFunc(f.experiment, unicode.IsControl) || strings.TrimSpace(f.experiment) != f.experiment:
		return fmt.Errorf("--experiment %q: give one line of at most 200 characters without spaces around it", f.experiment)
	}
	return nil
}

// apply overrides what the suite says with what the flags say.
func (f *runFlags) apply(s *eval.Suite) {
	if f.budget > 0 {
		s.BudgetUSD = f.budget
	}
	if f.maxTrials > 0 {
		s.MaxTrials = f.maxTrials
	}
	if f.retries >= 0 {
		s.Retries = f.retries
	}
	if f.timeout > 0 {
		s.Timeout = f.timeout
		for i := range s.Stories {
			s.Stories[i].Timeout = 0
		}
	}
}

func (f *runFlags) run(a *app, cmd *cobra.Command, args []string) error {
	if err := f.check(cmd.Flags().Changed); err != nil {
		return err
	}
	out, err := newOutput(f.output, "")
	if err != nil {
		return err
	}
	store, err := engine.OpenStore(a.store)
	if err != nil {
		return err
	}
	e, err := a.engine(min(f.jobs, runtime.NumCPU()))
	if err != nil {
		return err
	}
	defer e.Close()
	s, err := f.load(a, cmd, e, args)
	if err != nil {
		return err
	}
	f.apply(s)
	p, diags := e.Plan(s, f.sel)
	if err := diags.Err(); err != nil {
		return err
	}
	if f.dryRun {
		return a.showPlan(p)
	}
	w := a.watch(len(p.Trials), f.jobs)
	res, err := e.Run(cmd.Context(), s, p, engine.RunOptions{
		Store: store, Paths: args, TimeoutForAll: f.timeout > 0, Concurrency: f.jobs, Experiment: f.experiment, Args: os.Args[1:],
		FailFast: f.failFast, PassK: f.passK, Bodies: f.bodies, NoPreflight: f.noPreflight,
		Started: w.start, Warn: a.tellDiags, Observe: w.observe,
	})
	w.stop()
	if res == nil {
		return nothingRun(err)
	}
	if werr := a.showRun(store, res, res.Summary, w.problems(), out); err == nil {
		err = werr
	}
	if err != nil {
		return err
	}
	return verdict(res.Summary)
}

// nothingRun makes a store that no run can be begun in what it is, a matter of
// configuration: no trial was run.
func nothingRun(err error) error {
	var f *eval.Fault
	if errors.As(err, &f) && f.Cause == eval.CauseStore {
		return &exitError{code: exitUsage, err: err}
	}
	return err
}

// showRun writes the summary: to stdout, and the report to a file where one is asked
// for. The file cannot keep the summary from being shown. Machines read what is
// given for them.
func (a *app) showRun(store *engine.Store, res *engine.Result, machines any, problems []report.Problem, out *output) error {
	if a.json {
		if err := a.writeJSON(machines); err != nil {
			return &exitError{code: exitIncomplete, err: err}
		}
	} else {
		report.Terminal(a.out, res.Summary, problems, a.style(a.outFile))
		fmt.Fprintf(a.out, "records in %s\n", relative(res.Dir))
	}
	if out.file == "" {
		return nil
	}
	if err := out.writeRun(store, res.Summary, problems); err != nil {
		return &exitError{code: exitIncomplete, err: err}
	}
	return nil
}

// verdict is the exit code of a run.
func verdict(s *eval.Summary) error {
	switch {
	case s.Completion == eval.RunInterrupted:
		return &exitError{code: exitInterrupted}
	case s.Trials.Failed > 0:
		return &exitError{code: exitFailed}
	case s.Completion != eval.RunComplete:
		return &exitError{code: exitIncomplete}
	}
	return nil
}

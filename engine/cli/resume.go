package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
)

func (a *app) resumeCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Finish what a killed, interrupted or errored run left",
		Long: `Finish a run: trials without a record and those that errored or were skipped are
run, trials whose agent was done are scored from what it left. Passed and failed
trials stay as they are.

Exit codes are those of run.`,
		Example: "  evalengine resume latest",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.resume(a, cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.IntVarP(&f.jobs, "jobs", "j", max(2, runtime.NumCPU()), "how many trials run at once")
	fl.Float64Var(&f.budget, "budget", 0, "end the run before it costs more, in USD, what it has cost included (default: as the run was begun with)")
	fl.IntVar(&f.maxTrials, "max-trials", 0, "start no more trials than this (default: as the run was begun with)")
	fl.BoolVar(&f.failFast, "fail-fast", false, "start no further trial after one has failed")
	fl.BoolVar(&f.bodies, "bodies", false, "keep the agents' model requests and answers whole in model.jsonl")
	fl.StringVarP(&f.output, "output", "o", "", "also write the report to this file; the ending chooses the format: "+endings)
	return cmd
}

func (f *runFlags) resume(a *app, cmd *cobra.Command, name string) error {
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
	w := a.watch(0, f.jobs)
	res, err := e.Resume(cmd.Context(), name, engine.RunOptions{
		Store: store, Concurrency: f.jobs, BudgetUSD: f.budget, MaxTrials: f.maxTrials, FailFast: f.failFast, Bodies: f.bodies,
		Started: w.start, Observe: w.observe,
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

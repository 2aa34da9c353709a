package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/index"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/report"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

func (a *app) showCommand() *cobra.Command {
	passK := 0
	cmd := &cobra.Command{
		Use:   "show [RUN|TRIAL] [TRIAL]",
		Short: "Show a run, or one trial step by step",
		Long: `Show a recorded run, or one trial of it.

A run is named by its ID, a start of it that fits one run, "latest", or the path
of its folder; a trial by its ID, story.variant.host.rN, or a start of it, in the
latest run unless a run is named first.`,
		Example: "  evalengine show latest\n  evalengine show cms-collection.original.claude.r1",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("pass-k") && passK < 1 {
				return fmt.Errorf("--pass-k %d: give a number from 1", passK)
			}
			return a.show(cmd.Context(), args, passK)
		},
	}
	cmd.Flags().IntVar(&passK, "pass-k", 0, passKUsage)
	return cmd
}

func (a *app) show(ctx context.Context, args []string, passK int) error {
	store, err := engine.OpenStore(a.store)
	if err != nil {
		return err
	}
	if slices.Contains(args, "") {
		return errors.New("show: a name is empty; leave it out for the latest run")
	}
	name := "latest"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	if dir, ok := trialFolder(name); ok && len(args) == 0 {
		return a.showTrial(dir)
	}
	run, err := store.Run(name)
	if errors.Is(err, ledger.ErrNoRun) && len(args) == 0 {
		return a.showNamed(store, name, err)
	}
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return a.showRecorded(ctx, store, run, passK)
	}
	id, err := run.FindTrial(args[0])
	if err != nil {
		return err
	}
	return a.showTrial(run.TrialDir(id))
}

// trialFolder reports whether name is the path of a recorded trial's folder.
func trialFolder(name string) (string, bool) {
	if !strings.ContainsRune(name, filepath.Separator) {
		return "", false
	}
	_, err := os.Stat(filepath.Join(name, "trial.json"))
	return name, err == nil
}

// showNamed takes a name that is no run for a trial of the latest one.
func (a *app) showNamed(store *engine.Store, name string, noRun error) error {
	run, err := store.Run("latest")
	if err != nil {
		return noRun
	}
	id, err := run.FindTrial(name)
	if err != nil {
		return fmt.Errorf("%w; nor is there one trial of that name in run %s", noRun, run.Info.ID)
	}
	return a.showTrial(run.TrialDir(id))
}

func (a *app) showTrial(dir string) error {
	rec, err := ledger.ReadRecord(dir)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(rec)
	}
	steps, err := ledger.ReadSteps(dir)
	if err != nil {
		return err
	}
	report.Trial(a.out, rec, steps, a.style(a.outFile))
	return nil
}

// showRecorded folds a run's records again: what is shown is what is there.
func (a *app) showRecorded(ctx context.Context, store *engine.Store, run *ledger.Run, passK int) error {
	ix := index.Open(ctx, store)
	defer ix.Close()
	fold := summary.Fold{K: passK}
	for _, t := range run.Info.Trials {
		fold.Expect(t)
	}
	var problems []report.Problem
	finished := run.Info.StartedAt
	unreadable := 0
	for rec, err := range ix.Records(ctx, run) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			unreadable++
			fmt.Fprintln(a.err, "evalengine: unreadable record:", report.Line(err.Error(), 500))
			continue
		}
		fold.Add(rec)
		if rec.Timings.FinishedAt.After(finished) {
			finished = rec.Timings.FinishedAt
		}
		if p, ok := report.ProblemOf(rec); ok && len(problems) < maxProblems {
			problems = append(problems, p)
		}
	}
	s := fold.Summary(&run.Info, finishedAt(run, finished), interrupted(run))
	s.Schema = ledger.SchemaVersion
	if a.json {
		if err := a.writeJSON(s); err != nil {
			return err
		}
	} else {
		report.Terminal(a.out, s, problems, a.style(a.outFile))
	}
	if unreadable > 0 {
		return &exitError{code: exitIncomplete, err: fmt.Errorf("%s of run %s cannot be read and %s not counted",
			report.Count(unreadable, "record", "records"), run.Info.ID, map[bool]string{true: "is", false: "are"}[unreadable == 1])}
	}
	return nil
}

func finishedAt(run *ledger.Run, last time.Time) time.Time {
	if s, err := run.Summary(); err == nil {
		return s.FinishedAt
	}
	return last
}

func interrupted(run *ledger.Run) bool {
	s, err := run.Summary()
	return err == nil && s.Completion == eval.RunInterrupted
}

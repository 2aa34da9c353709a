package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// maxSplits bounds how often a run is split.
const maxSplits = 100000

type aaFlags struct {
	compareFlags
	run    runFlags
	splits int
}

func (a *app) aaCommand() *cobra.Command {
	f := &aaFlags{}
	cmd := &cobra.Command{
		Use:   "aa SUITE...|RUN",
		Short: "Hold a run against itself: how often a comparison cries wolf",
		Long: `Hold the same arm against itself: split the trials of each story in two halves at
random, again and again, compare the halves, and count how often the gate says regressed
or improved although nothing changed. For each quantity it says how large differences by
chance alone are. A SUITE is run first; a RUN is taken from the store. The answer is kept
beside the run as noise.json.

Each story needs 4 finished trials on a host and variant: run it with -k 4 or more.
With fewer the exit code is 3.`,
		Example: "  evalengine aa suite.hcl -k 10",
		Args:    suiteArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.aa(a, cmd, args) },
	}
	f.compareFlags.add(cmd)
	f.run.suiteFlags.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.splits, "splits", engine.DefaultSplits, "how often the trials are split")
	fl.IntVarP(&f.run.jobs, "jobs", "j", max(2, runtime.NumCPU()), "with SUITE: how many trials run at once")
	return cmd
}

func (f *aaFlags) aa(a *app, cmd *cobra.Command, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	switch {
	case f.splits < 1 || f.splits > maxSplits:
		return fmt.Errorf("--splits %d: give a number from 1 to %d", f.splits, maxSplits)
	case f.run.jobs < 1:
		return fmt.Errorf("--jobs %d: give a number from 1", f.run.jobs)
	}
	write, err := fileWriter(f.output, noiseFormats)
	if err != nil {
		return err
	}
	if f.Store, err = engine.OpenStore(a.store); err != nil {
		return err
	}
	name := args[0]
	if isSuite(name) {
		if name, err = f.runFirst(a, cmd, args); err != nil {
			return err
		}
	} else if err := f.onlyRun(cmd, args); err != nil {
		return err
	}
	f.Selection = f.run.sel
	n, dir, err := engine.Noise(cmd.Context(), name, engine.NoiseOptions{CompareOptions: f.CompareOptions, Splits: f.splits})
	if n == nil {
		return comparisonError(err)
	}
	if werr := a.showNoise(n, write); err == nil {
		err = werr
	}
	if err != nil {
		return &exitError{code: exitIncomplete, err: err}
	}
	fmt.Fprintf(a.err, "kept as %s\n", relative(filepath.Join(dir, engine.NoiseFile)))
	return nil
}

func (a *app) showNoise(n *eval.Noise, write func(*eval.Noise) error) error {
	if a.json {
		if err := a.writeJSON(n); err != nil {
			return err
		}
	} else {
		report.NoiseFloor(a.out, n, a.style(a.outFile))
	}
	return write(n)
}

var noiseFormats = map[string]func(io.Writer, *eval.Noise) error{
	".json": indented[*eval.Noise],
	".txt": func(w io.Writer, n *eval.Noise) error {
		report.NoiseFloor(w, n, report.Style{})
		return nil
	},
	".md": func(w io.Writer, n *eval.Noise) error {
		report.NoiseMarkdown(w, n)
		return nil
	},
}

// isSuite reports whether a name is of files on disk and not of a run's folder.
func isSuite(name string) bool {
	if _, err := os.Stat(name); err != nil {
		return filepath.Ext(name) == ".hcl"
	}
	_, err := os.Stat(filepath.Join(name, "run.json"))
	return err != nil
}

// onlyRun refuses what says something of a suite alone.
func (f *aaFlags) onlyRun(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("one run is held against itself, and %d are given", len(args))
	}
	for _, name := range []string{"var", "var-file", "tag", "repeats", "jobs"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for a SUITE, and %q is a run: its trials are there already", name, args[0])
		}
	}
	return nil
}

// runFirst runs the suite and returns the run. Failed trials are as good as others
// here: what counts is how much they vary.
func (f *aaFlags) runFirst(a *app, cmd *cobra.Command, args []string) (string, error) {
	e, err := a.engine(min(f.run.jobs, runtime.NumCPU()))
	if err != nil {
		return "", err
	}
	defer e.Close()
	s, err := f.run.load(a, cmd, e, args)
	if err != nil {
		return "", err
	}
	p, diags := e.Plan(s, f.run.sel)
	if err := diags.Err(); err != nil {
		return "", err
	}
	if !repeated(p.Trials) {
		return "", &exitError{code: exitIncomplete, err: fmt.Errorf("%w: the plan has fewer than 4 trials of each story on a host and variant; nothing was run: give -k 4 or more", engine.ErrTooFew)}
	}
	w := a.watch(len(p.Trials), f.run.jobs)
	res, err := e.Run(cmd.Context(), s, p, engine.RunOptions{
		Store: f.Store, Paths: args, Concurrency: f.run.jobs, Args: os.Args[1:], Started: w.start, Warn: a.tellDiags, Observe: w.observe,
	})
	w.stop()
	switch {
	case res == nil:
		return "", nothingRun(err)
	case errors.Is(err, context.Canceled) || res.Summary != nil && res.Summary.Completion == eval.RunInterrupted:
		return "", &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; run %s can be resumed, and then held against itself", res.Run.ID)}
	case err != nil:
		return "", err
	}
	return res.Run.ID, nil
}

// repeated reports whether a plan has an arm that can be split.
func repeated(trials []eval.Trial) bool {
	n := map[eval.Trial]int{}
	for _, t := range trials {
		if n[t.Arm()]++; n[t.Arm()] == 4 {
			return true
		}
	}
	return false
}

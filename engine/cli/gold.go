package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

type goldFlags struct {
	suiteFlags
	samples int
}

// maxGoldSamples is the bound of the gold's own attribute.
const maxGoldSamples = 100

func (a *app) goldCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gold",
		Short: "Build and grade the ideal results that trials are held against",
		Long: `Build and grade the golds of stories: ideal results made by hand, which the story's own
judges grade. Later scores are shown raw and held against what the gold got.`,
		Example: "  evalengine gold record suite.hcl && evalengine gold score suite.hcl",
		Args:    a.commandArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.goldRecordCommand(), a.goldScoreCommand())
	return cmd
}

func (f *goldFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vars, "var", nil, "set a variable of the suite: name=value (repeatable)")
	fl.StringArrayVar(&f.varFiles, "var-file", nil, "read variables from this file of NAME = VALUE lines (repeatable)")
	fl.StringArrayVar(&f.sel.Stories, "story", nil, "only stories that match this glob (repeatable)")
}

func (a *app) goldRecordCommand() *cobra.Command {
	f := &goldFlags{}
	cmd := &cobra.Command{
		Use:   "record SUITE...",
		Short: "Build the golds of stories and keep what they leave",
		Long: `Build the golds of stories, and their floors: make the written tool calls on a fresh target,
or serve the files in its place, take the story's pages and look up the state. What they
leave is kept in the store, in place of earlier golds; grades go with the earlier ones.`,
		Example: "  evalengine gold record suite.hcl --story landing-page",
		Args:    suiteArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.record(a, cmd, args) },
	}
	f.add(cmd)
	return cmd
}

func (a *app) goldScoreCommand() *cobra.Command {
	f := &goldFlags{}
	cmd := &cobra.Command{
		Use:   "score SUITE...",
		Short: "Have the stories' judges grade their recorded golds",
		Long: `Have the judges of each story grade its recorded gold, and its floor, several times: with the
same parameters and models as they grade trials.`,
		Example: "  evalengine gold score suite.hcl --samples 10",
		Args:    suiteArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.score(a, cmd, args) },
	}
	f.add(cmd)
	cmd.Flags().IntVar(&f.samples, "samples", 0, "how often each gold is graded (default: what the gold says, or 5)")
	return cmd
}

// begin opens what both commands need.
func (f *goldFlags) begin(a *app, cmd *cobra.Command, paths []string) (*engine.Engine, *eval.Suite, engine.GoldOptions, error) {
	o := engine.GoldOptions{Stories: f.sel.Stories, Samples: f.samples}
	var err error
	if o.Store, err = engine.OpenStore(a.store); err != nil {
		return nil, nil, o, err
	}
	e, err := a.engine(1)
	if err != nil {
		return nil, nil, o, err
	}
	load := f.suiteFlags
	load.sel = engine.Selection{}
	s, err := load.load(a, cmd, e, paths)
	if err != nil {
		return nil, nil, o, errors.Join(err, e.Close())
	}
	return e, s, o, nil
}

func (f *goldFlags) record(a *app, cmd *cobra.Command, paths []string) error {
	e, s, o, err := f.begin(a, cmd, paths)
	if err != nil {
		return err
	}
	defer e.Close()
	golds, err := e.RecordGolds(cmd.Context(), s, o)
	if a.json {
		if werr := a.writeJSON(golds); err == nil {
			err = werr
		}
		return err
	}
	for _, g := range golds {
		with := ""
		if g.Floor != "" {
			with = " with its floor"
		}
		fmt.Fprintf(a.out, "%s  gold recorded%s in %s\n", g.Story, with, o.Store.Gold(g.Story))
	}
	return err
}

func (f *goldFlags) score(a *app, cmd *cobra.Command, paths []string) error {
	if cmd.Flags().Changed("samples") && (f.samples < 1 || f.samples > maxGoldSamples) {
		return fmt.Errorf("--samples %d: give a number from 1 to %d", f.samples, maxGoldSamples)
	}
	e, s, o, err := f.begin(a, cmd, paths)
	if err != nil {
		return err
	}
	defer e.Close()
	grades, err := e.GradeGolds(cmd.Context(), s, o)
	if a.json {
		if werr := a.writeJSON(grades); err == nil {
			err = werr
		}
	} else {
		report.Grades(a.out, grades, a.style(a.outFile))
	}
	if err != nil {
		return err
	}
	for _, g := range grades {
		for _, j := range g.Judges {
			if j.Problem != "" {
				return &exitError{code: exitIncomplete, err: errors.New("not every sample has a grade")}
			}
		}
	}
	return nil
}

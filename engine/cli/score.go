package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

type scoreFlags struct {
	suiteFlags
	jobs   int
	output string
	replay bool

	against engine.Against
}

func (a *app) scoreCommand() *cobra.Command {
	f := &scoreFlags{}
	cmd := &cobra.Command{
		Use:   "score RUN [SUITE...]",
		Short: "Score the trials of a run again, from what they left",
		Long: `Score stored trials again, by the run's own suite or by a changed one: no agent and
no target is started. Records are never changed; each new verdict is kept beside its
record as scores/<id>.json, says which one it replaces, and counts from then on.

With --against, --against-variant or --against-host, judges that compare two results
(judge/pairwise) are shown another trial in place of the story's gold: the one of the
same story and repeat.

Exit codes are those of run.`,
		Example: "  evalengine score latest suite.hcl\n  evalengine score latest --against-host claude",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.score(a, cmd, args[0], args[1:]) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vars, "var", nil, "set a variable of SUITE: name=value (repeatable; default: as the run had it)")
	fl.StringArrayVar(&f.varFiles, "var-file", nil, "read variables of SUITE from this file of NAME = VALUE lines (repeatable)")
	fl.IntVarP(&f.jobs, "jobs", "j", max(2, runtime.NumCPU()), "how many trials are scored at once")
	fl.BoolVar(&f.replay, "replay", false, "answer judges with what models answered before; no model is asked")
	fl.StringVar(&f.against.Run, "against", "", "have judge/pairwise compare each trial with that of the same name in this other RUN")
	fl.StringVar(&f.against.Variant, "against-variant", "", "the same, with the trial of this variant ("+eval.NoVariant+" is the one without a name)")
	fl.StringVar(&f.against.Host, "against-host", "", "the same, with the trial on this host")
	fl.StringVarP(&f.output, "output", "o", "", "also write the report to this file; the ending chooses the format: "+endings)
	return cmd
}

func (f *scoreFlags) score(a *app, cmd *cobra.Command, name string, paths []string) error {
	switch {
	case f.jobs < 1:
		return fmt.Errorf("--jobs %d: give a number from 1", f.jobs)
	case len(paths) == 0 && (len(f.vars) > 0 || len(f.varFiles) > 0):
		return errors.New("--var and --var-file are for a SUITE; the run's own has the values that it was run with")
	}
	vars, err := parseVars(f.vars)
	if err != nil {
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
	sc, err := e.Score(cmd.Context(), name, engine.ScoreOptions{
		Store: store, Paths: paths, Vars: vars, VarFiles: f.varFiles, Concurrency: f.jobs, Replay: f.replay, Against: f.against,
		Started: w.start, Warn: a.tellDiags, Observe: w.observe,
	})
	w.stop()
	if sc == nil {
		return err
	}
	if werr := a.showRun(store, &sc.Result, scored(sc), w.problems(), out); err == nil {
		err = werr
	}
	a.showScoring(sc)
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitInterrupted, err: errors.New("interrupted; the other trials keep their verdicts")}
	}
	if err != nil {
		return err
	}
	return verdict(sc.Summary)
}

// scored is the summary with the deltas, for machines.
func scored(sc *engine.Scoring) any {
	return struct {
		*eval.Summary
		Scoring string            `json:"scoring"`
		Deltas  []eval.ScoreDelta `json:"deltas"`
	}{sc.Summary, sc.ID, sc.Deltas}
}

// showScoring says what became of the verdicts.
func (a *app) showScoring(sc *engine.Scoring) {
	w, st := a.out, a.style(a.outFile)
	if a.json {
		w, st = a.err, a.style(a.errFile)
	}
	changed := 0
	for _, r := range sc.Scored {
		if r.Replaced.Status != r.Record.Status {
			changed++
		}
	}
	fmt.Fprintf(w, "%s scored again as %s, %s\n", report.Count(len(sc.Scored), "trial", "trials"), sc.ID, report.Count(changed, "verdict changed", "verdicts changed"))
	for _, r := range sc.Scored {
		if r.Replaced.Status != r.Record.Status {
			showChange(w, r.Record, r.Replaced, st)
		}
	}
	report.Deltas(w, sc.Deltas)
	showUnpaired(w, sc)
	for _, l := range sc.Left {
		fmt.Fprintf(w, "  %s  stays as it was: %s\n", l.Trial, report.Line(l.Why.Error(), 200))
	}
}

// maxAlone bounds how many trials are named that have no counterpart.
const maxAlone = 10

// showUnpaired says which trials were compared with none.
func showUnpaired(w io.Writer, sc *engine.Scoring) {
	for i, u := range sc.Unpaired {
		if i == maxAlone {
			fmt.Fprintf(w, "  … %d more that were not compared\n", len(sc.Unpaired)-i)
			break
		}
		fmt.Fprintf(w, "  %s  not compared: %s\n", u.Trial, report.Line(u.Why.Error(), 200))
	}
	if n := len(sc.Alone); n > 0 {
		names := strings.Join(sc.Alone[:min(n, maxAlone)], ", ")
		if n > maxAlone {
			names += ", …"
		}
		fmt.Fprintf(w, "  %s that no trial was compared with: %s\n", report.Count(n, "other trial", "other trials"), names)
	}
}

func showChange(w io.Writer, rec *eval.Record, was eval.Verdict, st report.Style) {
	fmt.Fprintf(w, "  was %s: %s\n", was.Status, report.TrialLine(rec, st))
}

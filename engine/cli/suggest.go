package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

type suggestFlags struct {
	suiteFlags
	suite []string
	o     engine.SuggestOptions
}

func (a *app) suggestCommand() *cobra.Command {
	f := &suggestFlags{}
	cmd := &cobra.Command{
		Use:   "suggest USAGE",
		Short: "Draft stories from what production calls",
		Long: `Draft stories from usage: sequences of tools that many sessions have in common and that no
story of the suite asks for. USAGE is a file of tool calls, *.csv, *.tsv or *.jsonl, also with
.gz or .zst behind it. Columns that are not mapped are passed over unread, and nothing is
told that fewer than --min-sessions sessions have in common.

Exit codes: 0 done, 2 usage error, or too many broken lines, 3 no pattern has enough sessions,
or a model was asked and a prompt is unfinished.`,
		Example: "  evalengine suggest usage.csv.gz --map session=conversation_id --suite suite.hcl -o drafts",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.o.Mapping, "map", nil, "which column is the session, time, tool, action, ok or latency: session=conversation_id; time= for none (repeatable)")
	fl.StringVar(&f.o.Format, "format", "", "csv, tsv or jsonl (default: as the file's ending says)")
	fl.IntVar(&f.o.MinSessions, "min-sessions", 20, "fewest sessions that a pattern has")
	fl.IntVar(&f.o.MaxGap, "max-gap", 1, "how many other calls may lie between two of a pattern")
	fl.IntVar(&f.o.MaxLength, "max-length", 6, "most calls of a pattern")
	fl.Float64Var(&f.o.MaxBroken, "max-broken", 0.5, "largest share of broken lines")
	fl.IntVar(&f.o.Limit, "limit", 10, "how many stories are drafted")
	fl.Float64Var(&f.o.HeldOut, "held-out", 0.2, "share of the patterns that is marked as held out")
	fl.StringArrayVar(&f.suite, "suite", nil, "the suite whose stories there are already: a file or folder (repeatable)")
	fl.StringArrayVar(&f.vars, "var", nil, "set a variable of the suite: name=value (repeatable)")
	fl.StringArrayVar(&f.varFiles, "var-file", nil, "read variables from this file of NAME = VALUE lines (repeatable)")
	fl.StringVar(&f.o.Target, "target", "", "the drafts' target (default: the suite's only one)")
	fl.StringArrayVar(&f.o.Runs, "run", nil, "a stored run: what its trials called is covered (repeatable)")
	fl.StringVar(&f.o.Model, "model", "", "the suite's model that writes the prompts (default: its only one)")
	fl.BoolVar(&f.o.NoModel, "no-model", false, "ask no model: leave the prompts unfinished")
	fl.StringVar(&f.o.Tools, "tools", "", "a file with the answer to tools/list, whose descriptions the model is told")
	fl.StringVarP(&f.o.Dir, "output", "o", "", "write a *.story.hcl file for each draft into this folder")
	fl.BoolVar(&f.o.Force, "force", false, "write over drafts that are there and whose prompt is unfinished")
	fl.StringArrayVar(&f.o.Overwrite, "overwrite", nil, "write over the draft of this story, whatever its file holds (repeatable)")
	return cmd
}

func (f *suggestFlags) run(a *app, cmd *cobra.Command, file string) error {
	e, err := a.engine(1)
	if err != nil {
		return err
	}
	defer e.Close()
	f.o.Usage = file
	if len(f.suite) > 0 {
		if f.o.Suite, err = f.load(a, cmd, e, f.suite); err != nil {
			return err
		}
	}
	if f.o.Store, err = engine.OpenStore(a.store); err != nil {
		return err
	}
	s, err := e.Suggest(cmd.Context(), f.o)
	if s == nil {
		return err
	}
	if a.json {
		if jerr := a.writeJSON(s); jerr != nil {
			return jerr
		}
	} else {
		report.Suggestions(a.out, s, a.style(a.outFile))
	}
	if errors.Is(err, engine.ErrNoPatterns) {
		return &exitError{code: exitIncomplete, err: fmt.Errorf("no sequence of calls is in %d sessions or more", s.MinSessions)}
	}
	return unfinished(s)
}

// unfinished says where a model was asked for prompts and did not write all.
func unfinished(s *eval.Suggestions) error {
	for _, d := range s.Drafts {
		if d.PromptProblem != "" {
			return &exitError{code: exitIncomplete, err: fmt.Errorf("%s has no prompt: %s", d.Story, report.Line(d.PromptProblem, 300))}
		}
	}
	return nil
}

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

type coverageFlags struct {
	suiteFlags
	o         engine.CoverageOptions
	tools     []string
	output    string
	failUnder float64
}

func (a *app) coverageCommand() *cobra.Command {
	f := &coverageFlags{}
	cmd := &cobra.Command{
		Use:   "coverage SUITE...",
		Short: "Show which tools and actions the stories ask for, and which trials called",
		Long: `Hold what the stories of a suite ask for, and what its trials called, against every tool
that its targets offer and every action of multi-action tools: tools without a story, stories
that no longer reach the tool they were written for, tools that always fail, and how the
lists of tools differ from those of an earlier run. The tools are those that the latest
run saw, those of a file, or with --live those that each target lists just now; only
--live starts anything.

Coverage is an answer, so the exit code is 0 whatever it says. With --fail-under PCT it is
1 where less is covered, and 3 where that is not defined. Where no tools are known it is 3.`,
		Example: "  evalengine coverage suite.hcl --usage usage.csv.gz --fail-under 80",
		Args:    suiteArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(a, cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.vars, "var", nil, "set a variable of the suite: name=value (repeatable)")
	fl.StringArrayVar(&f.varFiles, "var-file", nil, "read variables from this file of NAME = VALUE lines (repeatable)")
	fl.StringArrayVar(&f.sel.Stories, "story", nil, "only stories that match this glob (repeatable)")
	fl.StringArrayVar(&f.sel.Tags, "tag", nil, "only stories with a tag that matches this glob (repeatable)")
	fl.StringArrayVar(&f.o.Runs, "run", nil, "a stored run whose trials count (repeatable; default: the suite's latest)")
	fl.StringVar(&f.o.Against, "against", "", "the run whose tools are compared with (default: the suite's one before)")
	fl.StringArrayVar(&f.tools, "tools", nil, "the tools of a target, or of one of its servers: [TARGET[/SERVER]=]FILE with an answer to tools/list (repeatable)")
	fl.BoolVar(&f.o.Live, "live", false, "make each target that has no list from --tools once, and ask it for its tools")
	fl.StringVar(&f.o.Usage.Path, "usage", "", "a file of tool calls from production, as suggest takes it: weighs tools by their share")
	fl.StringArrayVar(&f.o.Usage.Mapping, "map", nil, "with --usage: which column is the session, time, tool or action: tool=tool_name (repeatable)")
	fl.StringVar(&f.o.Usage.Format, "format", "", "with --usage: csv, tsv or jsonl (default: as the file's ending says)")
	fl.Float64Var(&f.failUnder, "fail-under", 0, "end with 1 where less than this percentage is covered, by use where --usage is given")
	fl.StringVarP(&f.output, "output", "o", "", "also write the answer to this file; the ending chooses the format (.md, .json, .txt)")
	return cmd
}

func (f *coverageFlags) run(a *app, cmd *cobra.Command, args []string) error {
	if !(f.failUnder >= 0 && f.failUnder <= 100) {
		return fmt.Errorf("--fail-under %v: give a percentage from 0 to 100", f.failUnder)
	}
	write, err := fileWriter(f.output, a.coverageFormats())
	if err != nil {
		return err
	}
	for _, arg := range f.tools {
		file, err := engine.ParseToolsFile(arg)
		if err != nil {
			return err
		}
		f.o.Tools = append(f.o.Tools, file)
	}
	if f.o.Store, err = engine.OpenStore(a.store); err != nil {
		return err
	}
	e, err := a.engine(1)
	if err != nil {
		return err
	}
	defer e.Close()
	s, err := f.load(a, cmd, e, args)
	if err != nil {
		return err
	}
	c, err := e.Coverage(cmd.Context(), s, f.sel, f.o)
	switch {
	case errors.Is(err, engine.ErrNoTools), errors.Is(err, engine.ErrNoUse):
		return &exitError{code: exitIncomplete, err: err}
	case err != nil:
		return err
	}
	if a.json {
		err = a.writeJSON(c)
	} else {
		report.Coverage(a.out, c, a.style(a.outFile))
	}
	if err == nil {
		err = write(c)
	}
	if err != nil {
		return &exitError{code: exitIncomplete, err: err}
	}
	if cmd.Flags().Changed("fail-under") || f.failUnder > 0 {
		return underLimit(c, f.failUnder)
	}
	return nil
}

// underLimit ends with 1 where less is covered than is wanted.
func underLimit(c *eval.Coverage, percentage float64) error {
	share, what := c.Parts.Share, "tools and actions"
	if c.Use != nil {
		share, what = c.Use.Share, "the use of offered tools"
	}
	switch {
	case share == nil:
		return &exitError{code: exitIncomplete, err: fmt.Errorf("--fail-under: how much of %s is covered is undefined", what)}
	case 100**share < percentage:
		return &exitError{code: exitFailed, err: fmt.Errorf("%.2f %% of %s are covered, less than %v %%", 100**share, what, percentage)}
	}
	return nil
}

// coverageFormats write coverage by the ending of a file's name, without secrets.
func (a *app) coverageFormats() map[string]func(io.Writer, *eval.Coverage) error {
	return map[string]func(io.Writer, *eval.Coverage) error{
		".json": func(w io.Writer, c *eval.Coverage) error { return indented(a.secrets.Writer(w), c) },
		".md": func(w io.Writer, c *eval.Coverage) error {
			return report.CoverageMarkdown(a.secrets.Writer(w), c)
		},
		".txt": func(w io.Writer, c *eval.Coverage) error {
			report.Coverage(a.secrets.Writer(w), c, report.Style{})
			return nil
		},
	}
}

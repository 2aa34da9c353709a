package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/internal/report"
)

func (a *app) validateCommand() *cobra.Command {
	f := &suiteFlags{}
	cmd := &cobra.Command{
		Use:     "validate SUITE...",
		Short:   "Check a suite and the parameters of its plugins and scorers; run nothing",
		Example: "  evalengine validate suite.hcl",
		Args:    suiteArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.engine(1)
			if err != nil {
				return err
			}
			defer e.Close()
			s, err := f.load(a, cmd, e, args)
			if err != nil {
				return err
			}
			p, diags := e.Plan(s, f.sel)
			if err := diags.Err(); err != nil {
				return err
			}
			if a.json {
				return a.writeJSON(map[string]any{"valid": true, "suite": s.Name, "stories": len(s.Stories), "trials": len(p.Trials)})
			}
			_, err = fmt.Fprintf(a.out, "%s is valid: %s, %s, %s\n", s.Name,
				report.Count(len(s.Stories), "story", "stories"), report.Count(len(s.Hosts), "host", "hosts"), report.Count(len(p.Trials), "trial", "trials"))
			return err
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) planCommand() *cobra.Command {
	f := &suiteFlags{}
	cmd := &cobra.Command{
		Use:     "plan SUITE...",
		Short:   "Show the trials that a run would have, what they need and the worst it can cost",
		Example: "  evalengine plan suite.hcl --tag cms --json",
		Args:    suiteArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.engine(1)
			if err != nil {
				return err
			}
			defer e.Close()
			s, err := f.load(a, cmd, e, args)
			if err != nil {
				return err
			}
			p, diags := e.Plan(s, f.sel)
			if err := diags.Err(); err != nil {
				return err
			}
			return a.showPlan(p)
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) showPlan(p *engine.Plan) error {
	if a.json {
		return a.writeJSON(p)
	}
	report.Plan(a.out, p, a.style(a.outFile))
	return nil
}

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
)

func (a *app) baselineCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "baseline",
		Short:   "Say which run later ones of a suite are compared with",
		Example: "  evalengine baseline set latest",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:     "set RUN",
		Short:   "Make a run the baseline of its suite",
		Long:    "Make a stored run the baseline of its suite, in the place of an earlier one. A run of which\na file cannot be read is refused: 3.",
		Example: "  evalengine baseline set latest",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.baseline(func(s *engine.Store) (*eval.Baseline, error) { return engine.SetBaseline(s, args[0]) })
		},
	}, &cobra.Command{
		Use:     "show [SUITE]",
		Short:   "Show the baseline of a suite, by its name",
		Long:    "Show the baseline of a suite, by its name (default: the suite of the newest run). Where none\nis set the exit code is 3.",
		Example: "  evalengine baseline show site-builder",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			suite := ""
			if len(args) > 0 {
				suite = args[0]
			}
			return a.baseline(func(s *engine.Store) (*eval.Baseline, error) { return engine.ReadBaseline(s, suite) })
		},
	})
	return cmd
}

// baseline shows what get gives.
func (a *app) baseline(get func(*engine.Store) (*eval.Baseline, error)) error {
	store, err := engine.OpenStore(a.store)
	if err != nil {
		return err
	}
	b, err := get(store)
	switch {
	case errors.Is(err, engine.ErrNoBaseline):
		return &exitError{code: exitIncomplete, err: err}
	case err != nil:
		return comparisonError(err)
	}
	if a.json {
		return a.writeJSON(b)
	}
	_, err = fmt.Fprintf(a.out, "baseline of %s: %s, set %s\n", b.Suite, b.Run, b.SetAt.Format("2006-01-02 15:04"))
	return err
}

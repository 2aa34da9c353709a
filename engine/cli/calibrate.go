package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/internal/report"
)

type calibrateFlags struct {
	labels       string
	levels, pass int
}

func (a *app) calibrateCommand() *cobra.Command {
	f := &calibrateFlags{}
	cmd := &cobra.Command{
		Use:   "calibrate RUN --labels FILE.csv",
		Short: "Hold a run's judges against labels of people",
		Long: `Hold the judges of a stored run against labels of people: agreement, Cohen's kappa,
Krippendorff's alpha among several labellers, confusion, bias and corrected rates, for
each story and over all. The file's columns are trial, score, labeller and value; values
are whole numbers from 0. Nothing is run and nothing is changed.`,
		Example: "  evalengine calibrate latest --labels labels.csv --levels 5",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return f.calibrate(a, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.labels, "labels", "", "the CSV file of labels")
	fl.IntVar(&f.levels, "levels", 5, "how many levels the labels' scale has, from 0 up")
	fl.IntVar(&f.pass, "pass", 0, "the lowest level that is a pass (default: the lowest of the upper half)")
	return cmd
}

func (f *calibrateFlags) calibrate(a *app, run string) error {
	if f.labels == "" {
		return errors.New("--labels is missing: give a CSV file with the columns trial, score, labeller and value")
	}
	store, err := engine.OpenStore(a.store)
	if err != nil {
		return err
	}
	file, err := os.Open(f.labels)
	if err != nil {
		return err
	}
	defer file.Close()
	c, err := engine.Calibrate(run, engine.CalibrateOptions{Store: store, Labels: file, Levels: f.levels, Pass: f.pass})
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(c)
	}
	report.Calibration(a.out, c, a.style(a.outFile))
	return nil
}

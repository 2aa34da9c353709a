package engine

import (
	"fmt"
	"io"

	"github.com/evalengine/evalengine/engine/internal/calibrate"
)

// Calibration is how a run's judges agree with people.
type Calibration = calibrate.Calibration

// CalibrateOptions say what a run's judges are held against.
type CalibrateOptions struct {
	Store *Store
	// Labels is a CSV file.
	Labels io.Reader
	// Levels are those of the labels' scale, Pass the lowest level that is a pass; 0
	// is the lowest of the upper half.
	Levels, Pass int
}

// Calibrate holds the scores of a run against labels of people. It asks nobody and
// changes nothing.
func Calibrate(run string, o CalibrateOptions) (*Calibration, error) {
	kept, err := o.Store.Run(run)
	if err != nil {
		return nil, err
	}
	labels, err := calibrate.ReadLabels(o.Labels, o.Levels)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	if o.Pass == 0 {
		o.Pass = calibrate.Pass(o.Levels)
	}
	if o.Pass < 1 || o.Pass >= o.Levels {
		return nil, fmt.Errorf("the lowest pass is a level from 1 to %d, not %d", o.Levels-1, o.Pass)
	}
	var judged []calibrate.Judged
	for rec, err := range kept.Records() {
		if err != nil {
			return nil, err
		}
		judged = append(judged, calibrate.JudgedOf(rec)...)
	}
	c := calibrate.Compare(judged, labels, o.Levels, o.Pass)
	c.Run = kept.Info.ID
	return c, nil
}

package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/compare"
)

// NoiseFile is where [Noise] keeps what it found, in the run's folder.
const NoiseFile = "noise.json"

// DefaultSplits is how often [Noise] splits a run's trials where it is not said.
const DefaultSplits = compare.DefaultSplits

// NoiseOptions say how a run is held against itself.
type NoiseOptions struct {
	CompareOptions
	// Splits is how often its trials are split; 0 is [DefaultSplits].
	Splits int
}

// Noise holds a run against itself: the trials of each arm are split in two halves
// again and again, and compared. What comes out is kept beside the run as
// [NoiseFile].
func Noise(ctx context.Context, run string, o NoiseOptions) (*eval.Noise, string, error) {
	kept, err := openWhole(o.Store, run)
	if err != nil {
		return nil, "", err
	}
	var s compare.Sample
	for rec, err := range wholeRecords(kept) {
		if err != nil {
			return nil, "", err
		}
		if o.keeps(rec.Trial) {
			s.Add(rec)
		}
	}
	if o.Splits == 0 {
		o.Splits = DefaultSplits
	}
	n, err := s.Noise(ctx, o.Splits, o.options())
	if err != nil {
		return nil, "", fmt.Errorf("run %s: %w", kept.Info.ID, err)
	}
	n.Run, n.Suite, n.MadeAt = kept.Info.ID, kept.Info.Suite, time.Now().UTC()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(n); err != nil {
		return nil, "", err
	}
	if err := kept.WriteFile(NoiseFile, b.Bytes()); err != nil {
		return n, kept.Dir(), fmt.Errorf("run %s: %w", kept.Info.ID, err)
	}
	return n, kept.Dir(), nil
}

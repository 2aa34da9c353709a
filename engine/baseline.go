package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// ErrNoBaseline is returned for a suite without a baseline.
var ErrNoBaseline = ledger.ErrNoBaseline

// SetBaseline makes a run the one that later runs of its suite are compared with. A
// run in which no trial passed or failed is refused: nothing can be held against it.
func SetBaseline(store *Store, run string) (*eval.Baseline, error) {
	kept, err := openWhole(store, run)
	if err != nil {
		return nil, err
	}
	evidence := false
	for rec, err := range wholeRecords(kept) {
		if err != nil {
			return nil, err
		}
		evidence = evidence || rec.Status == eval.StatusPassed || rec.Status == eval.StatusFailed
	}
	if !evidence {
		return nil, fmt.Errorf("run %s: no trial passed or failed, so nothing can be held against it", kept.Info.ID)
	}
	b := eval.Baseline{Schema: ledger.SchemaVersion, Suite: kept.Info.Suite, Run: kept.Info.ID, SetAt: time.Now().UTC().Truncate(time.Second)}
	before, err := store.ReadBaseline(b.Suite)
	switch {
	case err == nil && before.Run == b.Run:
		return before, nil
	case err == nil:
		b.Replaces = before.Run
	case !errors.Is(err, ledger.ErrNoBaseline) && !errors.Is(err, ledger.ErrUnsound):
		return nil, err
	}
	return &b, store.KeepBaseline(b)
}

// ReadBaseline returns the baseline of a suite; an empty name is the suite of the
// newest run.
func ReadBaseline(store *Store, suite string) (*eval.Baseline, error) {
	if suite == "" {
		kept, err := store.Run("latest")
		if err != nil {
			return nil, err
		}
		suite = kept.Info.Suite
	}
	return store.ReadBaseline(suite)
}

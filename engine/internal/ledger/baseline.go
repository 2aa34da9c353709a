package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/evalengine/evalengine/engine/eval"
)

// baselinesDir is the store's folder with the baseline of each suite.
const baselinesDir = "baselines"

// ErrNoBaseline is returned for a suite that has none.
var ErrNoBaseline = errors.New("no baseline is set")

func (s *Store) baseline(suite string) string {
	return filepath.Join(s.root, baselinesDir, url.PathEscape(suite)+".json")
}

// KeepBaseline makes a run the baseline of its suite, in an earlier one's place.
func (s *Store) KeepBaseline(b eval.Baseline) error {
	b.Schema = SchemaVersion
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	path := s.baseline(b.Suite)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("baseline of suite %q: %w", b.Suite, advised(s.root, err))
	}
	if err := putFile(path, append(text, '\n')); err != nil {
		return fmt.Errorf("baseline of suite %q: %w", b.Suite, advised(s.root, err))
	}
	return nil
}

// ReadBaseline returns the baseline of a suite, or [ErrNoBaseline].
func (s *Store) ReadBaseline(suite string) (*eval.Baseline, error) {
	path := s.baseline(suite)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("suite %q: %w: evalengine baseline set RUN", suite, ErrNoBaseline)
	}
	if err != nil {
		return nil, err
	}
	var b eval.Baseline
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("%w: %s: %w; set it again: evalengine baseline set RUN", ErrUnsound, path, err)
	}
	switch {
	case b.Schema != SchemaVersion:
		return nil, fmt.Errorf("%w: %s: schema %d; this evalengine reads %d: set it again", ErrUnsound, path, b.Schema, SchemaVersion)
	case b.Suite != suite || b.Run == "":
		return nil, fmt.Errorf("%w: %s: it is not of suite %q, or names no run: set it again", ErrUnsound, path, suite)
	}
	return &b, nil
}

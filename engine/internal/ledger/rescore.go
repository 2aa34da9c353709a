package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// scoresDir has the later verdicts on a trial, in its folder.
const scoresDir = "scores"

// Rescore keeps a later verdict beside a trial's record, whole or not at all. The
// caller must have the run's lock. It fails with [ErrExists] where there is one of
// that ID.
func (r *Run) Rescore(s *eval.Rescore, red Redactor) error {
	prepareRescore(s)
	name := filepath.Join("trials", s.Trial, scoresDir, s.ID+".json")
	if _, err := os.Lstat(filepath.Join(r.dir, name)); err == nil {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	clean := b.Bytes()
	if red != nil {
		clean = red.Bytes(clean)
	}
	return r.WriteFile(name, clean)
}

func prepareRescore(s *eval.Rescore) { s.Schema, s.Files = SchemaVersion, some(s.Files) }

// ReadRescores reads the later verdicts of a trial folder, in no order.
func ReadRescores(dir string) ([]eval.Rescore, error) {
	entries, err := os.ReadDir(filepath.Join(dir, scoresDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []eval.Rescore
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".json") {
			continue // what a crash left of a write
		}
		path := filepath.Join(dir, scoresDir, e.Name())
		var s eval.Rescore
		if err := readFile(path, &s); err != nil {
			return nil, err
		}
		if s.ID+".json" != e.Name() || s.Status == "" {
			return nil, unsound(path, fmt.Sprintf("it is of rescore %q with status %q", s.ID, s.Status))
		}
		out = append(out, s)
	}
	return out, nil
}

// newest is the rescore that none replaces. Clocks can go backwards, so times
// decide only where that leaves several.
func newest(list []eval.Rescore) *eval.Rescore {
	replaced := map[string]bool{}
	for _, s := range list {
		replaced[s.Replaces.ID] = true
	}
	var last *eval.Rescore
	for i := range list {
		if s := &list[i]; !replaced[s.ID] && (last == nil || s.ScoredAt.After(last.ScoredAt)) {
			last = s
		}
	}
	return last
}

// rescored puts the newest verdict of a trial folder into its record.
func rescored(dir string, rec *eval.Record) error {
	list, err := ReadRescores(dir)
	if err != nil {
		return err
	}
	s := newest(list)
	if s == nil {
		return nil
	}
	rec.Rescored = &eval.Rescored{ID: s.ID, ScoredAt: s.ScoredAt, Times: len(list), First: rec.Verdict()}
	rec.Status, rec.Cause, rec.Reason = s.Status, s.Cause, s.Reason
	rec.Scores, rec.Findings, rec.Definitions = s.Scores, s.Findings, s.Definitions
	return nil
}

package ledger

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

const draftsDir = "drafts"

// Run is one run's folder. Its methods are safe for concurrent use.
type Run struct {
	Info eval.Run
	dir  string
	lock *os.File
}

// Dir is the run's folder.
func (r *Run) Dir() string { return r.dir }

// keep copies a suite file into the run. A file from outside the suite's folder
// is kept under its base name.
func (r *Run) keep(f eval.File) error {
	if f.Content == nil {
		return nil
	}
	name := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(name) {
		name = filepath.Join("outside", f.SHA256[:12]+"-"+filepath.Base(name))
	}
	return r.WriteFile(filepath.Join("suite", name), f.Content)
}

// WriteFile writes one file of the run, whole or not at all. The run's own folder
// has to be there.
func (r *Run) WriteFile(name string, content []byte) error {
	if err := r.writeFile(name, content); err != nil {
		return fmt.Errorf("%s: %w", name, advised(r.dir, err))
	}
	return nil
}

func (r *Run) writeFile(name string, content []byte) error {
	path := filepath.Join(r.dir, name)
	if dir := filepath.Dir(path); dir != r.dir {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return putFile(path, content)
}

// WriteSummary writes summary.json.
func (r *Run) WriteSummary(s *eval.Summary) error {
	prepareSummary(s)
	return r.writeJSON("summary.json", s)
}

// Summary reads summary.json; an error that is os.ErrNotExist means that the run
// has not ended.
func (r *Run) Summary() (*eval.Summary, error) {
	var s eval.Summary
	if err := readFile(filepath.Join(r.dir, "summary.json"), &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// TrialIDs lists the recorded trials, sorted.
func (r *Run) TrialIDs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, "trials"))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Recorded reports whether the trial has a record.
func (r *Run) Recorded(id string) bool {
	_, err := os.Stat(filepath.Join(r.dir, "trials", id, "trial.json"))
	return err == nil
}

// Records reads the trial records in the order of the plan, then any that the
// plan does not have; trials that left nothing are passed over. A record that
// cannot be read, or that is missing from its trial's folder, is yielded as an error
// and reading goes on.
func (r *Run) Records() iter.Seq2[*eval.Record, error] {
	return func(yield func(*eval.Record, error) bool) {
		planned := map[string]bool{}
		for _, t := range r.Info.Trials {
			id := t.ID()
			planned[id] = true
			rec, err := r.Record(id)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if !yield(rec, err) {
				return
			}
		}
		ids, err := r.TrialIDs()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, id := range ids {
			if planned[id] {
				continue
			}
			rec, err := r.Record(id)
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Record reads one trial's record. An error that is os.ErrNotExist means that the
// trial left nothing; a folder without a record is [ErrUnsound].
func (r *Run) Record(id string) (*eval.Record, error) {
	dir := r.TrialDir(id)
	rec, err := ReadRecord(dir)
	if errors.Is(err, os.ErrNotExist) {
		if _, derr := os.Stat(dir); derr == nil {
			return nil, unsound(filepath.Join(dir, "trial.json"), "it is missing from its trial's folder")
		}
	}
	if err == nil && rec.ID != id {
		return nil, unsound(filepath.Join(dir, "trial.json"), fmt.Sprintf("it is the record of %q", rec.ID))
	}
	if err != nil {
		return nil, err
	}
	return rec, nil
}

// TrialDir is the folder of a recorded trial.
func (r *Run) TrialDir(id string) string { return filepath.Join(r.dir, "trials", id) }

// FindTrial returns the ID of the one recorded trial that name is, or is a start
// of.
func (r *Run) FindTrial(name string) (string, error) {
	ids, err := r.TrialIDs()
	if err != nil {
		return "", err
	}
	var fits []string
	for _, id := range ids {
		if id == name {
			return id, nil
		}
		if strings.HasPrefix(id, name) {
			fits = append(fits, id)
		}
	}
	if len(fits) == 1 {
		return fits[0], nil
	}
	if len(fits) == 0 {
		return "", fmt.Errorf("%w: run %s has none named %q", ErrNoTrial, r.Info.ID, name)
	}
	return "", fmt.Errorf("%w: %q fits %d of run %s: %s", ErrNoTrial, name, len(fits), r.Info.ID, few(fits))
}

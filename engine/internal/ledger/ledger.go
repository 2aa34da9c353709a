// Package ledger keeps runs on disk: the run folder with its plan, its trial
// records and its summary. A trial is written to a draft folder and renamed into
// place, whole or not at all, and is never changed after. The package knows
// files; what a trial is and how it is scored is decided elsewhere.
//
// Start at [Open], then [Store.Create] for a new run or [Store.Run] for one that
// is there.
package ledger

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// SchemaVersion is written into run.json, trial.json and summary.json.
const SchemaVersion = 1

// ErrNoRun is returned when no run, or more than one, fits a name.
var ErrNoRun = errors.New("no such run")

// ErrNoTrial is returned when no recorded trial of a run, or more than one, fits
// a name.
var ErrNoTrial = errors.New("no such trial")

// ErrExists is returned when a trial is already recorded: a record is never
// changed.
var ErrExists = errors.New("the trial is already recorded")

// Store is a folder of runs.
type Store struct {
	root string
}

// Open returns the store at a file:// URL or a plain path. The folder is made
// when the first run is.
func Open(url string) (*Store, error) {
	path, ok := strings.CutPrefix(url, "file://")
	if !ok && strings.Contains(url, "://") {
		scheme, _, _ := strings.Cut(url, "://")
		return nil, fmt.Errorf("store %q: scheme %q is not supported; use file:// or a path", url, scheme)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", url, err)
	}
	return &Store{root: abs}, nil
}

// Root is the store's folder.
func (s *Store) Root() string { return s.root }

// NewID returns a run ID for a start time: sortable, and unique without asking.
func NewID(start time.Time) string {
	var b [3]byte
	rand.Read(b[:])
	return start.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
}

// Create makes the folder of a new run and writes run.json and the copies of the
// suite files. Where it fails it leaves nothing of the run.
func (s *Store) Create(info eval.Run) (*Run, error) {
	prepareRun(&info)
	r := &Run{Info: info, dir: filepath.Join(s.root, "runs", info.ID)}
	if err := r.create(); err != nil {
		os.RemoveAll(r.dir)
		return nil, fmt.Errorf("run %s: %w", info.ID, err)
	}
	return r, nil
}

func (r *Run) create() error {
	for _, dir := range []string{"trials", "suite", draftsDir} {
		if err := os.MkdirAll(filepath.Join(r.dir, dir), 0o700); err != nil {
			return advised(r.dir, err)
		}
	}
	for _, f := range r.Info.Files {
		if err := r.keep(f); err != nil {
			return err
		}
	}
	// With run.json it is a run, which can be locked also where no file can be made.
	if err := os.WriteFile(filepath.Join(r.dir, lockFile), nil, 0o600); err != nil {
		return advised(r.dir, err)
	}
	return r.writeJSON("run.json", r.Info)
}

// prepareRun, prepareRecord and prepareSummary fill in what every file of that
// kind has: its version, and lists that are empty rather than absent.
func prepareRun(r *eval.Run) {
	r.Schema = SchemaVersion
	r.Files, r.Plugins, r.Modules, r.Trials = some(r.Files), some(r.Plugins), some(r.Modules), some(r.Trials)
}

func prepareRecord(r *eval.Record) {
	r.Schema, r.Attempts = SchemaVersion, some(r.Attempts)
}

func prepareSummary(s *eval.Summary) {
	s.Schema, s.Arms = SchemaVersion, some(s.Arms)
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Runs lists the IDs of the runs, oldest first.
func (s *Store) Runs() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.root, "runs"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
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

// Run opens a run by its ID, a start of it that only one run has, "latest", or
// the path of a run folder.
func (s *Store) Run(name string) (*Run, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return openDir(filepath.Clean(name))
	}
	ids, err := s.Runs()
	if err != nil {
		return nil, err
	}
	if name == "latest" && len(ids) > 0 {
		return s.latest(ids)
	}
	var fits []string
	for _, id := range ids {
		if id == name {
			return openDir(filepath.Join(s.root, "runs", id))
		}
		if strings.HasPrefix(id, name) {
			fits = append(fits, id)
		}
	}
	switch len(fits) {
	case 1:
		return openDir(filepath.Join(s.root, "runs", fits[0]))
	case 0:
		return nil, fmt.Errorf("%w: %q in %s (%d runs there)", ErrNoRun, name, s.root, len(ids))
	}
	return nil, fmt.Errorf("%w: %q fits %d runs: %s", ErrNoRun, name, len(fits), few(fits))
}

// few is a list of names, cut where it is long.
func few(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// latest opens the run that began last. IDs tell runs apart by the second; those
// of one second are told apart by what they say of their start. A folder that a
// killed engine left without a run.json is no run.
func (s *Store) latest(ids []string) (*Run, error) {
	var last *Run
	for _, id := range slices.Backward(ids) {
		if last != nil && second(id) != second(last.Info.ID) {
			break
		}
		r, err := openDir(filepath.Join(s.root, "runs", id))
		if err == nil && (last == nil || r.Info.StartedAt.After(last.Info.StartedAt)) {
			last = r
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%w: none of the %d folders in %s is whole", ErrNoRun, len(ids), s.root)
	}
	return last, nil
}

// second is the part of a run's ID that is its time.
func second(id string) string {
	at, _, _ := strings.Cut(id, "-")
	return at
}

func openDir(dir string) (*Run, error) {
	r := &Run{dir: dir}
	err := readFile(filepath.Join(dir, "run.json"), &r.Info)
	switch {
	case errors.Is(err, ErrUnsound):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	return r, nil
}

// writeJSON writes v, indented, whole or not at all.
func (r *Run) writeJSON(name string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return r.WriteFile(name, b.Bytes())
}

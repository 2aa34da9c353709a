package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// evidenceFile is in a draft whose files are whole and whose trial is still to be
// scored.
const evidenceFile = "evidence.json"

// settled is the content of evidenceFile.
type settled struct {
	// Files has the SHA-256 of every other file of the draft.
	Files    map[string]string `json:"files"`
	Evidence json.RawMessage   `json:"evidence"`
}

// Settle writes everything that a trial left but its scores and verdict, so that
// it can be scored also when this process ends: [Run.Settled] finds it. Commit
// then writes the record alone and takes no bundle.
func (d *Draft) Settle(evidence any, b Bundle, red Redactor) error {
	w := &writer{dir: d.dir, red: red}
	err := d.gather(w, b)
	if serr := w.sync(); err == nil {
		err = serr
	}
	if err != nil {
		return fmt.Errorf("trial %s: %w", d.id, advised(d.run.dir, err))
	}
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	err = enc.Encode(evidence)
	if err == nil {
		var whole []byte
		if whole, err = json.Marshal(settled{Files: d.sums, Evidence: w.clean(raw.Bytes())}); err == nil {
			// Neither synced nor renamed: evidence that a crash left half is known by
			// its form, and costs an agent's run, not a record.
			err = os.WriteFile(filepath.Join(d.dir, evidenceFile), whole, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("trial %s: %s: %w", d.id, evidenceFile, advised(d.run.dir, err))
	}
	d.kept = true
	return nil
}

// Dir is the draft's folder. It may not exist.
func (d *Draft) Dir() string { return d.dir }

// Settled returns the latest draft of a trial that was settled and never
// committed, with its evidence; not ok where there is none whose files are all
// as they were written.
func (r *Run) Settled(id string) (d *Draft, evidence []byte, ok bool) {
	dirs := r.drafts(id)
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(dirs))) {
		dir := dirs[n]
		b, err := os.ReadFile(filepath.Join(dir, evidenceFile))
		if err != nil {
			continue
		}
		var s settled
		if json.Unmarshal(b, &s) != nil || Verify(dir, &eval.Record{Files: s.Files}) != nil {
			continue
		}
		if s.Files == nil {
			s.Files = map[string]string{}
		}
		// A crash may have come between the record and its place.
		os.Remove(filepath.Join(dir, "trial.json"))
		return &Draft{run: r, id: id, dir: dir, made: true, sums: s.Files, kept: true}, s.Evidence, true
	}
	return nil, nil, false
}

// drafts are the folders of a trial's drafts by attempt.
func (r *Run) drafts(id string) map[int]string {
	out := map[int]string{}
	entries, _ := os.ReadDir(filepath.Join(r.dir, draftsDir))
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), id+".")
		if n, err := strconv.Atoi(name); ok && err == nil && e.IsDir() {
			out[n] = filepath.Join(r.dir, draftsDir, e.Name())
		}
	}
	return out
}

// SweepDrafts removes what attempts left that came to no record. The caller must
// have the run's lock.
func (r *Run) SweepDrafts() error {
	entries, err := os.ReadDir(filepath.Join(r.dir, draftsDir))
	for _, e := range entries {
		if rerr := os.RemoveAll(filepath.Join(r.dir, draftsDir, e.Name())); err == nil {
			err = rerr
		}
	}
	return err
}

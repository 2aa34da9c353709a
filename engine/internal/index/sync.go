package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// batch is how many trials one transaction takes: a process that is killed loses no
// more than that.
const batch = 500

// row is one trial of a run in the order in which records are read: as the plan has
// them, then any that it does not have by name.
type row struct {
	seq int
	id  string
}

func (a row) after(b row) bool { return a.seq > b.seq || a.seq == b.seq && a.id > b.id }

// rows calls f with the trials of a run that are planned or recorded, until it
// returns false.
func rows(run *ledger.Run, f func(row) bool) error {
	planned := make(map[string]bool, len(run.Info.Trials))
	for i, t := range run.Info.Trials {
		id := t.ID()
		if planned[id] {
			continue
		}
		planned[id] = true
		if !f(row{i, id}) {
			return nil
		}
	}
	ids, err := run.TrialIDs()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, id := range ids {
		if !planned[id] && !f(row{len(run.Info.Trials), id}) {
			return nil
		}
	}
	return nil
}

// Sync takes what is new of a run into the index: trials, later verdicts, and what
// is no longer there. Where nothing changed it looks at names and times alone. An
// error is of ctx; where the index cannot be used, [Index.Bypassed] says why.
func (ix *Index) Sync(ctx context.Context, run *ledger.Run) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.sync(ctx, run)
	return ctx.Err()
}

// sync reports whether the index has all of the run. The caller holds the mutex.
func (ix *Index) sync(ctx context.Context, run *ledger.Run) bool {
	if ix.db == nil || !ix.has(run) {
		return false
	}
	s := &syncing{ix: ix, ctx: ctx, run: run}
	changes, err := s.compare()
	if err == nil && len(changes) > 0 {
		err = ix.locked(func() error { return s.apply(changes) })
	}
	if err != nil && ctx.Err() == nil {
		ix.failed(err)
	}
	return err == nil
}

// has reports whether a run is one of the store's: a run can also be opened by the
// path of a folder that is somewhere else.
func (ix *Index) has(run *ledger.Run) bool {
	return run.Dir() == filepath.Join(ix.store.Root(), "runs", run.Info.ID)
}

// syncing is one Sync under way.
type syncing struct {
	ix  *Index
	ctx context.Context
	run *ledger.Run
	// n is the run's number.
	n int64
}

// change is a trial whose row is not as its folder is. A stamp that is empty means
// that the trial has no folder.
type change struct {
	row
	stamp string
}

// compare finds the trials whose rows are not as their folders are.
func (s *syncing) compare() ([]change, error) {
	was, err := s.stamps()
	if err != nil {
		return nil, err
	}
	var changes []change
	var failed error
	err = rows(s.run, func(r row) bool {
		stamp, err := trialStamp(s.run.TrialDir(r.id))
		if err != nil {
			failed = err
			return false
		}
		old, there := was[r.id]
		delete(was, r.id)
		if there != (stamp != "") || there && (old.stamp != stamp || old.seq != r.seq) {
			changes = append(changes, change{row: r, stamp: stamp})
		}
		return s.ctx.Err() == nil
	})
	if failed != nil || err != nil || s.ctx.Err() != nil {
		return nil, errors.Join(failed, err, s.ctx.Err())
	}
	for id := range was {
		changes = append(changes, change{row: row{id: id}})
	}
	return changes, nil
}

type stamped struct {
	seq   int
	stamp string
}

// stamps are those of the run's rows by trial.
func (s *syncing) stamps() (map[string]stamped, error) {
	was := map[string]stamped{}
	q, err := s.ix.db.QueryContext(s.ctx, "SELECT t.id, t.seq, t.stamp FROM trials t JOIN runs r ON r.n = t.run WHERE r.id = ?", s.run.Info.ID)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	for q.Next() {
		var id string
		var st stamped
		if err := q.Scan(&id, &st.seq, &st.stamp); err != nil {
			return nil, err
		}
		was[id] = st
	}
	return was, q.Err()
}

// apply writes the changes, some at a time. The caller has the lock.
func (s *syncing) apply(changes []change) error {
	for len(changes) > 0 {
		part := changes[:min(batch, len(changes))]
		changes = changes[len(part):]
		tx, err := s.ix.db.BeginTx(s.ctx, nil)
		if err != nil {
			return err
		}
		err = s.applyIn(tx, part)
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			tx.Rollback()
			return err
		}
	}
	return nil
}

func (s *syncing) applyIn(tx *sql.Tx, changes []change) error {
	// A run that no list has asked for has no facts of its own yet.
	if _, err := tx.ExecContext(s.ctx, "INSERT INTO runs (id, stamp, info) VALUES (?, '', '') ON CONFLICT DO NOTHING", s.run.Info.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(s.ctx, "UPDATE runs SET turn = turn + 1 WHERE id = ?", s.run.Info.ID); err != nil {
		return err
	}
	if err := tx.QueryRowContext(s.ctx, "SELECT n FROM runs WHERE id = ?", s.run.Info.ID).Scan(&s.n); err != nil {
		return err
	}
	put, err := tx.PrepareContext(s.ctx, "INSERT INTO trials (run, seq, id, stamp, problem, missing, definitions, sum, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer put.Close()
	drop, err := tx.PrepareContext(s.ctx, "DELETE FROM trials WHERE run = ? AND id = ?")
	if err != nil {
		return err
	}
	defer drop.Close()
	for _, c := range changes {
		if _, err := drop.ExecContext(s.ctx, s.n, c.id); err != nil {
			return err
		}
		if c.stamp == "" {
			continue
		}
		if err := s.put(tx, put, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *syncing) put(tx *sql.Tx, put *sql.Stmt, c change) error {
	var problem, missing string
	var b []byte
	var sum, defs int64
	rec, err := s.run.Record(c.id)
	if err == nil {
		var text string
		if b, sum, text, err = encode(Light(rec)); err == nil {
			if defs, err = number(s.ctx, tx, text); err != nil {
				return err
			}
			missing = joined(ledger.Missing(s.run.TrialDir(c.id), rec))
		}
	}
	if err != nil {
		problem, b = err.Error(), nil
	}
	_, err = put.ExecContext(s.ctx, s.n, c.seq, c.id, c.stamp, problem, missing, defs, sum, b)
	return err
}

// joined is a list of names as one text, empty for none.
func joined(names []string) string {
	if len(names) == 0 {
		return ""
	}
	b, err := json.Marshal(names)
	if err != nil {
		return strings.Join(names, " ")
	}
	return string(b)
}

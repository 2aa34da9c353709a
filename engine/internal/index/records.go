package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// page is how many records are read at a time. In between the file is free for
// others.
const page = 100

// problemError is what was wrong with a record when it was read.
type problemError string

func (e problemError) Error() string { return string(e) }

// Is makes a problem that was kept the error that the ledger gave.
func (e problemError) Is(target error) bool { return target == ledger.ErrUnsound }

// Records yields the records of a run, newest verdicts in them and made light by
// [Light], in the order of the plan and then any that the plan does not have. A
// record that cannot be read is yielded as an error that names the file, and reading
// goes on. What changed since the last time is taken in first. Records share their
// definitions, which must not be changed.
func (ix *Index) Records(ctx context.Context, run *ledger.Run) iter.Seq2[*eval.Record, error] {
	return func(yield func(*eval.Record, error) bool) {
		last := row{seq: -1}
		ix.mu.Lock()
		usable := ix.sync(ctx, run)
		ix.mu.Unlock()
		for usable {
			items, err := ix.page(ctx, run, last)
			if err != nil {
				break
			}
			if len(items) == 0 {
				return
			}
			for _, it := range items {
				if !yield(it.rec, it.err) {
					return
				}
				last = it.row
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		fromLedger(ctx, run, last, yield)
	}
}

type item struct {
	row
	rec *eval.Record
	err error
}

// page reads the records behind one. Where it fails the index is no longer used.
func (ix *Index) page(ctx context.Context, run *ledger.Run, last row) ([]item, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.db == nil {
		return nil, ix.why
	}
	items, err := ix.readPage(ctx, run.Info.ID, last)
	if err != nil && ctx.Err() == nil {
		ix.failed(err)
	}
	return items, err
}

func (ix *Index) readPage(ctx context.Context, id string, last row) ([]item, error) {
	q, err := ix.db.QueryContext(ctx, `SELECT t.seq, t.id, t.problem, t.definitions, t.sum, t.record FROM trials t
		WHERE t.run = (SELECT n FROM runs WHERE id = ?) AND (t.seq, t.id) > (?, ?) ORDER BY t.seq, t.id LIMIT ?`, id, last.seq, last.id, page)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	var items []item
	var numbers []int64
	for q.Next() {
		var it item
		var problem string
		var defs, sum int64
		var b sql.RawBytes
		if err := q.Scan(&it.seq, &it.id, &problem, &defs, &sum, &b); err != nil {
			return nil, err
		}
		if problem != "" {
			it.err = problemError(problem)
		} else if it.rec, err = decode(b, sum); err != nil {
			return nil, err
		}
		items, numbers = append(items, it), append(numbers, defs)
	}
	if err := errors.Join(q.Err(), q.Close()); err != nil {
		return nil, err
	}
	if ix.defs == nil {
		ix.defs = definitions{}
	}
	for i := range items {
		if items[i].rec != nil {
			if err := ix.defs.fill(ctx, ix.db, items[i].rec, numbers[i]); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// fromLedger yields the records behind one from their own files.
func fromLedger(ctx context.Context, run *ledger.Run, last row, yield func(*eval.Record, error) bool) {
	stopped := false
	err := rows(run, func(r row) bool {
		if !r.after(last) {
			return true
		}
		rec, err := run.Record(r.id)
		switch {
		case ctx.Err() != nil:
			return false
		case errors.Is(err, fs.ErrNotExist):
			return true
		case err == nil:
			rec = Light(rec)
		}
		stopped = !yield(rec, err)
		return !stopped
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil && !stopped {
		yield(nil, err)
	}
}

// Problem is what is wrong with a recorded trial.
type Problem struct {
	Trial string
	// File is the file that is missing; empty where the record itself could not be
	// read, which Err says.
	File string
	Err  error
}

func (p Problem) String() string { return p.Err.Error() }

// Problems lists what is wrong with the recorded trials of a run: records that
// cannot be read, which [Index.Records] yields as errors, and files that a record
// names and its folder does not have. What the files hold is not looked at.
func (ix *Index) Problems(ctx context.Context, run *ledger.Run) ([]Problem, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.sync(ctx, run) {
		list, err := ix.problems(ctx, run)
		if err == nil {
			return list, nil
		}
		if ctx.Err() == nil {
			ix.failed(err)
		}
	}
	var list []Problem
	err := rows(run, func(r row) bool {
		rec, err := run.Record(r.id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			list = append(list, Problem{Trial: r.id, Err: err})
		default:
			list = appendMissing(list, run, r.id, ledger.Missing(run.TrialDir(r.id), rec))
		}
		return ctx.Err() == nil
	})
	return list, errors.Join(err, ctx.Err())
}

func (ix *Index) problems(ctx context.Context, run *ledger.Run) ([]Problem, error) {
	q, err := ix.db.QueryContext(ctx, `SELECT id, problem, missing FROM trials
		WHERE run = (SELECT n FROM runs WHERE id = ?) AND (problem <> '' OR missing <> '') ORDER BY seq, id`, run.Info.ID)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	var list []Problem
	for q.Next() {
		var id, problem, missing string
		if err := q.Scan(&id, &problem, &missing); err != nil {
			return nil, err
		}
		var names []string
		if missing != "" && json.Unmarshal([]byte(missing), &names) != nil {
			return nil, errDamaged
		}
		if problem != "" {
			list = append(list, Problem{Trial: id, Err: problemError(problem)})
		}
		list = appendMissing(list, run, id, names)
	}
	return list, q.Err()
}

func appendMissing(list []Problem, run *ledger.Run, id string, names []string) []Problem {
	for _, name := range names {
		list = append(list, Problem{Trial: id, File: name, Err: fmt.Errorf("%s: the record names it, and it is missing",
			filepath.Join(run.TrialDir(id), filepath.FromSlash(name)))})
	}
	return list
}

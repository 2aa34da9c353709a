package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// Run is what is known of a run without its trials.
type Run struct {
	ID         string    `json:"id"`
	Suite      string    `json:"suite"`
	Experiment string    `json:"experiment,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	// FinishedAt and Completion are absent where the run has not ended, or was
	// killed.
	FinishedAt time.Time       `json:"finished_at,omitzero"`
	Completion eval.Completion `json:"completion,omitempty"`
	GitCommit  string          `json:"git_commit,omitempty"`
	GitDirty   bool            `json:"git_dirty,omitempty"`
	Planned    int             `json:"planned"`
	Trials     eval.Tally      `json:"trials"`
	// Problem says why the folder cannot be read as a run, or its summary not be
	// read; the facts that would stand there are absent.
	Problem string `json:"problem,omitempty"`
}

// Filter selects runs. The zero Filter selects all.
type Filter struct {
	// Suite and Experiment are names, empty for any.
	Suite, Experiment string
	// Since and Before bound the start; zero is open.
	Since, Before time.Time
	// Last is how many of the latest are wanted; 0 is all.
	Last int
}

func (f Filter) fits(r *Run) bool {
	return (f.Suite == "" || r.Suite == f.Suite) && (f.Experiment == "" || r.Experiment == f.Experiment) &&
		(f.Since.IsZero() || !r.StartedAt.Before(f.Since)) && (f.Before.IsZero() || r.StartedAt.Before(f.Before))
}

// Runs lists the runs that fit, in the order of their starts. A folder that is no
// whole run is listed with its problem where the filter is the zero one but for
// Last: nobody knows which suite it was of.
func (ix *Index) Runs(ctx context.Context, f Filter) ([]Run, error) {
	ids, err := ix.store.Runs()
	if err != nil {
		return nil, err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	known := ix.knownRuns(ctx)
	var out []Run
	fresh := map[string]knownRun{}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, changed := ix.runInfo(id, known)
		if changed && k.stamp != "" {
			fresh[id] = k
		}
		if f.fits(&k.info) {
			out = append(out, k.info)
		}
	}
	ix.keepRuns(ctx, fresh)
	slices.SortStableFunc(out, func(a, b Run) int { return a.StartedAt.Compare(b.StartedAt) })
	if f.Last > 0 && len(out) > f.Last {
		out = out[len(out)-f.Last:]
	}
	return out, nil
}

type knownRun struct {
	stamp string
	info  Run
}

// runInfo is a run as it is known, or as its files say where they changed.
func (ix *Index) runInfo(id string, known map[string]knownRun) (k knownRun, changed bool) {
	dir := filepath.Join(ix.store.Root(), "runs", id)
	stamp, err := runStamp(dir)
	if old, ok := known[id]; ok && err == nil && old.stamp == stamp {
		return old, false
	}
	k = knownRun{stamp: stamp, info: Run{ID: id}}
	if err != nil {
		k.info.Problem = err.Error()
		return k, false
	}
	run, err := ix.store.Run(id)
	if err != nil {
		k.info.Problem = err.Error()
		return k, true
	}
	i := &run.Info
	k.info = Run{ID: id, Suite: i.Suite, Experiment: i.Experiment, StartedAt: i.StartedAt, GitCommit: i.GitCommit, GitDirty: i.GitDirty, Planned: len(i.Trials)}
	sum, err := run.Summary()
	switch {
	case err == nil:
		k.info.FinishedAt, k.info.Completion, k.info.Trials = sum.FinishedAt, sum.Completion, sum.Trials
	case errors.Is(err, ledger.ErrUnsound):
		k.info.Problem = err.Error()
	}
	return k, true
}

// knownRuns are the runs of the index. The caller holds the mutex.
func (ix *Index) knownRuns(ctx context.Context) map[string]knownRun {
	if ix.db == nil {
		return nil
	}
	known, err := queryRuns(ctx, ix.db)
	if err != nil {
		if ctx.Err() == nil {
			ix.failed(err)
		}
		return nil
	}
	return known
}

func queryRuns(ctx context.Context, db *sql.DB) (map[string]knownRun, error) {
	q, err := db.QueryContext(ctx, "SELECT id, stamp, info FROM runs WHERE stamp <> ''")
	if err != nil {
		return nil, err
	}
	defer q.Close()
	known := map[string]knownRun{}
	for q.Next() {
		var id string
		var k knownRun
		var info []byte
		if err := q.Scan(&id, &k.stamp, &info); err != nil {
			return nil, err
		}
		if json.Unmarshal(info, &k.info) != nil {
			return nil, errDamaged
		}
		known[id] = k
	}
	return known, q.Err()
}

// keepRuns writes what is new of runs. The caller holds the mutex.
func (ix *Index) keepRuns(ctx context.Context, fresh map[string]knownRun) {
	if ix.db == nil || len(fresh) == 0 {
		return
	}
	err := ix.locked(func() error {
		tx, err := ix.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for id, k := range fresh {
			info, err := json.Marshal(k.info)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO runs (id, stamp, info) VALUES (?, ?, ?)
				ON CONFLICT (id) DO UPDATE SET stamp = excluded.stamp, info = excluded.info`, id, k.stamp, info); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
	if err != nil && ctx.Err() == nil {
		ix.failed(err)
	}
}

// Package index keeps what a store's records have to say in one SQLite file beside
// its runs, so that a summary, a report or a trend is one pass over that file
// instead of one over every trial's folder. The index is derived: it can be deleted
// at any time, is never the truth, and where it is broken, locked, too new or cannot
// be written the answer comes from the records themselves and is the same.
//
// Start at [Open], then [Index.Records].
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// Names of the index's files in a store's folder.
const (
	fileName = "index.db"
	lockName = "index.lock"
)

// lockWait bounds how long one process waits for another's writing. Reading the
// records is slower and never wrong.
const lockWait = 2 * time.Second

// Index is the index of one store. Its methods are safe for concurrent use; no two
// processes write at once.
type Index struct {
	store *ledger.Store
	path  string

	mu sync.Mutex
	// db is nil while the index is not used; why says why then.
	db  *sql.DB
	why error
	// defs are definitions that were read, by their number.
	defs definitions
}

// Open returns the index of a store. It is made by the first use, and a store
// without a run is left as it is. The caller must call Close.
func Open(ctx context.Context, store *ledger.Store) *Index {
	ix := &Index{store: store, path: filepath.Join(store.Root(), fileName)}
	if _, err := os.Stat(filepath.Join(store.Root(), "runs")); err != nil {
		ix.why = fmt.Errorf("no runs: %w", err)
		return ix
	}
	if err := ix.locked(func() error { return ix.open(ctx) }); err != nil {
		ix.why = err
	}
	return ix
}

// Close ends the use of the index.
func (ix *Index) Close() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.leave(errors.New("the index is closed"))
}

// Bypassed is why answers come from the records and not from the index; nil where
// they come from it. It is no failure.
func (ix *Index) Bypassed() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.why
}

// leave ends the use of the file for a reason. The caller holds the mutex.
func (ix *Index) leave(why error) error {
	var err error
	if ix.db != nil {
		err = ix.db.Close()
	}
	ix.db, ix.why = nil, why
	return err
}

// locked calls f while no other process writes the index. Without the lock two
// processes could have the file of one and the journal of the other.
func (ix *Index) locked(f func() error) error {
	file, err := os.OpenFile(filepath.Join(filepath.Dir(ix.path), lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f()
		}
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Since(begun) > lockWait {
			return fmt.Errorf("%s: %w", lockName, err)
		}
	}
}

// broken reports whether err says that the file holds no sound index.
func broken(err error) bool {
	return errors.Is(err, errDamaged) || damagedFile(err)
}

// errDamaged is found where what was read is not what was written.
var errDamaged = errors.New("the index is damaged")

// failed takes note that the file cannot be used: answers come from the records
// from now on. A broken one is removed, so that the next process makes it anew. The
// caller holds the mutex.
func (ix *Index) failed(err error) {
	ix.leave(err)
	if broken(err) {
		ix.locked(ix.remove)
	}
}

// remove removes the file. The caller has the lock: nobody is writing it.
func (ix *Index) remove() error {
	for _, end := range []string{"-journal", "-wal", "-shm", ""} {
		if err := os.Remove(ix.path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

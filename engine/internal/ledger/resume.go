package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrBusy is returned when another process is at work on a run: wait for it, or
// end it.
var ErrBusy = errors.New("another process is at work on the run")

// lockFile is in a run's folder, locked by the process at work on the run.
const lockFile = "lock"

// supersededDir has the records that a resume ran again, by trial and number.
const supersededDir = "superseded"

// Lock makes the run this process's own until Unlock, or until the process ends
// in whatever way. It fails with [ErrBusy] where another has it.
func (r *Run) Lock() error {
	f, err := os.OpenFile(filepath.Join(r.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("run %s: lock: %w", r.Info.ID, advised(r.dir, err))
	}
	if err := flock(f); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return fmt.Errorf("run %s: %w", r.Info.ID, ErrBusy)
		}
		return fmt.Errorf("run %s: lock: %w", r.Info.ID, err)
	}
	r.lock = f
	return nil
}

// lockWait is how long a lock is asked for again: a child that a killed engine was
// just starting holds the lock until it has become its program.
const lockWait = 3 * time.Second

func flock(f *os.File) error {
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Since(begun) > lockWait {
			return err
		}
	}
}

// Unlock gives the run free.
func (r *Run) Unlock() {
	if r.lock != nil {
		r.lock.Close()
		r.lock = nil
	}
}

// Finished reports whether a record is evidence that a resume leaves alone. A
// later scoring that broke takes nothing from what the agent did.
func Finished(rec *eval.Record) bool {
	if rec.Rescored != nil && verdict(rec.Rescored.First.Status) {
		return true
	}
	return verdict(rec.Status)
}

func verdict(s eval.Status) bool { return s == eval.StatusPassed || s == eval.StatusFailed }

// Unfinished lists the planned trials that a resume has to run: those without a
// record, with one that cannot be trusted, errored or skipped.
func (r *Run) Unfinished() ([]eval.Trial, error) {
	var rest []eval.Trial
	for _, t := range r.Info.Trials {
		rec, err := r.Record(t.ID())
		if err == nil && Finished(rec) && Verify(r.TrialDir(t.ID()), rec) == nil {
			continue
		}
		rest = append(rest, t)
	}
	return rest, nil
}

// Supersede puts a trial's record aside, whole, so that the trial can be recorded
// anew. A trial without a record is left as it is.
func (r *Run) Supersede(id string) error {
	if _, err := os.Stat(r.TrialDir(id)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	dir := filepath.Join(r.dir, supersededDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return advised(r.dir, err)
	}
	for n := 1; ; n++ {
		to := filepath.Join(dir, id+"."+strconv.Itoa(n))
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		return advised(r.dir, os.Rename(r.TrialDir(id), to))
	}
}

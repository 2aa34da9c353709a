// Package scratch keeps the temporary folders of runs. A folder is locked for as
// long as its run's process lives, so that a later process can tell what a killed
// one left and sweep it: the folder, and every process that still works in it.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	prefix   = "evalengine-run-"
	lockFile = "lock"
	// sockets are the folders of plugins' sockets, which plugins/rpc makes; they
	// are named in the environment of the plugin that has them.
	sockets = "evalengine-plugin-"
	// settling is how long a folder without a lock may be one that is being made.
	settling = time.Minute
)

// Folder is one run's temporary folder.
type Folder struct {
	Path string
	lock *os.File
}

// New makes a folder below parent. The caller must call Close.
func New(parent string) (*Folder, error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := tryLock(path)
	if err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	return &Folder{Path: path, lock: lock}, nil
}

// Close removes the folder.
func (f *Folder) Close() error {
	err := remove(f.Path)
	f.lock.Close()
	return err
}

// errLocked is returned by tryLock where the folder's process lives.
var errLocked = errors.New("locked")

func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}

// Left is what a killed run left.
type Left struct {
	Path string `json:"path"`
	// Processes are the command lines of those that were ended.
	Processes []string `json:"processes,omitempty"`
}

// Sweep removes the folders below parent whose runs were killed, and ends every
// process that works in one of them. Folders of other users and of runs that are
// under way are left alone.
func Sweep(parent string) ([]Left, error) {
	dirs, err := filepath.Glob(filepath.Join(parent, prefix+"*"))
	if err != nil {
		return nil, err
	}
	var swept []Left
	for _, dir := range dirs {
		left, ok, serr := sweep(dir)
		if serr != nil && err == nil {
			err = fmt.Errorf("%s: %w", dir, serr)
		}
		if ok {
			swept = append(swept, left)
		}
	}
	more, serr := sweepSockets(parent)
	if err == nil {
		err = serr
	}
	return append(swept, more...), err
}

// sweepSockets removes the socket folders of plugins that have ended without
// removing them.
func sweepSockets(parent string) ([]Left, error) {
	dirs, err := filepath.Glob(filepath.Join(parent, sockets+"*"))
	var swept []Left
	for _, dir := range dirs {
		info, serr := os.Lstat(dir)
		if serr != nil || !info.IsDir() || !own(info) || time.Since(info.ModTime()) < settling || used(dir) {
			continue
		}
		if serr := os.RemoveAll(dir); serr != nil {
			if err == nil {
				err = serr
			}
			continue
		}
		swept = append(swept, Left{Path: dir})
	}
	return swept, err
}

func sweep(dir string) (Left, bool, error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || !own(info) {
		return Left{}, false, nil
	}
	if _, err := os.Lstat(filepath.Join(dir, lockFile)); err != nil && time.Since(info.ModTime()) < settling {
		return Left{}, false, nil
	}
	lock, err := tryLock(dir)
	if errors.Is(err, errLocked) {
		return Left{}, false, nil
	}
	if err != nil {
		return Left{}, false, err
	}
	defer lock.Close()
	left := Left{Path: dir, Processes: endProcesses(dir)}
	return left, true, remove(dir)
}

// remove removes a folder, also where an agent left folders that forbid it.
func remove(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

package wasm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// cacheSize is how large the compilation cache may grow: four times the modules
// in it, of which a team has a few dozen.
const cacheSize = 1 << 30

// pruneCache removes the files of dir that were not used for longest until the
// rest is within size. Other engines may be doing the same: a file that is gone
// is what was wanted, and a worker that misses one compiles again.
func pruneCache(dir string, size int64) error {
	type file struct {
		path string
		size int64
		used time.Time
	}
	var files []file
	var total int64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		files = append(files, file{path, info.Size(), info.ModTime()})
		total += info.Size()
		return nil
	})
	if err != nil {
		return fmt.Errorf("compilation cache: %w", err)
	}
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= size {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("compilation cache: %w", err)
		}
		total -= f.size
	}
	return nil
}

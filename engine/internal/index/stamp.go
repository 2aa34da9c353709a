package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// trialStamp says of a trial's folder which files its record is made of. It is empty
// where there is no folder, and another as soon as a file of the folder came, went or
// was written: records are never changed, and what is cut or edited by hand shows by
// its size or time.
func trialStamp(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d", info.ModTime().UnixNano())
	if err := stampFile(&b, filepath.Join(dir, "trial.json")); err != nil {
		return "", err
	}
	later, err := os.ReadDir(filepath.Join(dir, "scores"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range later {
		if strings.HasSuffix(e.Name(), ".json") {
			if err := stampFile(&b, filepath.Join(dir, "scores", e.Name())); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// runStamp is the same of a run's own files.
func runStamp(dir string) (string, error) {
	var b strings.Builder
	for _, name := range []string{"run.json", "summary.json"} {
		if err := stampFile(&b, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func stampFile(b *strings.Builder, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		b.WriteString(" -")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(b, " %s:%d:%d", filepath.Base(path), info.Size(), info.ModTime().UnixNano())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		fmt.Fprintf(b, ":%d", st.Ino)
	}
	return nil
}

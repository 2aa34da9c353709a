package rpc

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Bound says whether an opened program runs from its open file, so that nobody can
// put another in its place between a check and the start. A script does not: its
// interpreter opens it by its path.
func Bound(f *os.File) bool {
	head := make([]byte, 2)
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return false
	}
	_, err := os.Stat(openFile(f))
	return string(head) != "#!" && err == nil
}

// openFile is a path to the file itself. It names this process: a child may have put
// another file at the same number before it comes to execute it.
func openFile(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// program is the path to execute: a link, named as the plugin is, to the file that
// was checked. The file need not stay open in the plugin.
func (r *process) program() (string, error) {
	if r.file == nil || !Bound(r.file) {
		return r.path, nil
	}
	link := filepath.Join(r.dir, filepath.Base(r.path))
	if err := os.Symlink(openFile(r.file), link); err != nil {
		return "", err
	}
	return link, nil
}

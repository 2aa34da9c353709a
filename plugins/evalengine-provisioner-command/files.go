package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a snapshot of files.
const (
	maxFile    = 1 << 20 // content of one file
	maxEntries = 50_000
)

// folder is what files a working folder holds. A text file is its text; any other
// is an object that says what is known of it: base64, link (of a symbolic link),
// size and sha256 (of a file that is too large), or error.
type folder struct {
	files map[string]any
	dirs  []string
}

func checkGlobs(globs []string) error {
	for _, g := range globs {
		if p := strings.TrimPrefix(g, "!"); p == "" || !doublestar.ValidatePattern(p) {
			return fmt.Errorf("%q is no glob", g)
		}
	}
	return nil
}

// picker tells which paths are looked at.
type picker struct{ in, out []string }

func newPicker(globs []string) picker {
	var p picker
	for _, g := range globs {
		if rest, not := strings.CutPrefix(g, "!"); not {
			p.out = append(p.out, rest)
			continue
		}
		p.in = append(p.in, g)
	}
	if len(p.in) == 0 {
		p.in = []string{"**"}
	}
	return p
}

func (p picker) takes(path string) bool { return matches(p.in, path) }
func (p picker) skips(path string) bool { return matches(p.out, path) }

func matches(globs []string, path string) bool {
	for _, g := range globs {
		if doublestar.MatchUnvalidated(g, path) {
			return true
		}
	}
	return false
}

// readFiles reads the files below dir that the globs match, in order, following no
// link out of it or within it. Their content fills at most maxBytes; what comes
// after is told by size and digest.
func readFiles(ctx context.Context, dir string, globs []string, maxBytes int64) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	check := func() error { return context.Cause(ctx) }
	r := &reading{root: root, check: check, pick: newPicker(globs), room: maxBytes, into: &folder{files: map[string]any{}, dirs: []string{}}}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if over := check(); over != nil {
			return over
		}
		return r.entry(path, e, err)
	})
	if over := check(); over != nil {
		return nil, over
	}
	return r.into, err
}

type reading struct {
	root *os.Root
	// check says that the time is over.
	check func() error
	pick  picker
	room  int64
	seen  int
	into  *folder
}

func (r *reading) entry(path string, e fs.DirEntry, err error) error {
	if path == "." {
		return err
	}
	if r.pick.skips(path) {
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	taken := r.pick.takes(path)
	if err != nil {
		if taken && !errors.Is(err, fs.ErrNotExist) {
			r.into.files[path] = problem(err)
		}
		return nil
	}
	if r.seen++; r.seen > maxEntries {
		return fmt.Errorf("more than %d files and folders; name fewer in snapshot_files, or leave some out with !glob", maxEntries)
	}
	if !taken {
		return nil
	}
	if e.IsDir() {
		r.into.dirs = append(r.into.dirs, path)
		return nil
	}
	if v := r.file(path, e.Type()); v != nil {
		r.into.files[path] = v
	}
	return nil
}

func problem(err error) any {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return map[string]string{"error": err.Error()}
}

// file is what is told of one file; nil of one that is gone.
func (r *reading) file(path string, mode fs.FileMode) any {
	switch {
	case mode&fs.ModeSymlink != 0:
		to, err := r.root.Readlink(path)
		if err != nil {
			return problem(err)
		}
		return map[string]string{"link": to}
	case !mode.IsRegular():
		return map[string]string{"error": "not a regular file: " + mode.String()}
	}
	// A file may have become a pipe since: opening one would wait for a writer.
	f, err := r.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return problem(err)
	}
	defer f.Close()
	v, err := r.content(f)
	if err != nil {
		return problem(err)
	}
	return v
}

func (r *reading) content(f *os.File) (any, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, errors.New("not a regular file: " + fi.Mode().Type().String())
	}
	most := min(maxFile, r.room)
	if fi.Size() > most {
		return r.digest(f)
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most { // it grew
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return r.digest(f)
	}
	r.room -= int64(len(b))
	if utf8.Valid(b) && !strings.ContainsRune(string(b), 0) {
		return string(b), nil
	}
	return map[string]string{"base64": base64.StdEncoding.EncodeToString(b)}, nil
}

func (r *reading) digest(f *os.File) (any, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	// Not more than its size, so that a file that grows for ever ends.
	n, err := io.Copy(h, &checked{io.LimitReader(f, fi.Size()), r.check})
	return map[string]any{"size": n, "sha256": hex.EncodeToString(h.Sum(nil))}, err
}

// checked ends a reader when check does.
type checked struct {
	io.Reader
	check func() error
}

func (c *checked) Read(b []byte) (int, error) {
	if err := c.check(); err != nil {
		return 0, err
	}
	return c.Reader.Read(b)
}

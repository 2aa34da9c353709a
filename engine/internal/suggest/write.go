package suggest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evalengine/evalengine/engine/internal/story"
)

// Over says which files are written over.
type Over struct {
	// Unfinished are drafts whose prompt nobody has written yet.
	Unfinished bool
	// Names are stories that are written over whatever their files hold.
	Names []string
}

// Write writes each story to a file of its own in a folder, which is made where it
// is not there. A file that is there and not to be written over is an error before
// anything is written; no file is written outside the folder.
func Write(dir string, stories []Story, over Over) error {
	for _, name := range over.Names {
		if !slices.ContainsFunc(stories, func(s Story) bool { return s.Draft.Name == name }) {
			return fmt.Errorf("%q is to be written over, and no draft has that name", name)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	replace := make([]bool, len(stories))
	for i := range stories {
		if replace[i], err = over.may(root, dir, stories[i].Draft.Name); err != nil {
			return err
		}
	}
	for i := range stories {
		s := &stories[i]
		flags := os.O_CREATE | os.O_WRONLY | os.O_EXCL
		if replace[i] {
			flags = os.O_WRONLY | os.O_TRUNC
		}
		name := fileOf(s.Draft.Name)
		if err := writeFile(root, name, flags, s.Draft.Bytes()); err != nil {
			return err
		}
		s.Suggested.File = filepath.Join(dir, name)
	}
	return nil
}

func fileOf(name string) string { return name + ".story.hcl" }

// may reports whether a story's file is there, and an error where it has to stay.
func (o Over) may(root *os.Root, dir, name string) (bool, error) {
	info, err := root.Lstat(fileOf(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	path := filepath.Join(dir, fileOf(name))
	switch {
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is there and no file: move it away", path)
	case slices.Contains(o.Names, name):
		return true, nil
	case !o.Unfinished:
		return false, fmt.Errorf("%s is there already: move it away, or say --force to write over drafts whose prompt is unfinished", path)
	}
	f, err := root.Open(fileOf(name))
	if err != nil {
		return false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDraft+1))
	if err != nil {
		return false, err
	}
	if len(b) > maxDraft || !story.UnfinishedDraft(b) {
		return false, fmt.Errorf("%s is no unfinished draft any more: move it away, or say --overwrite %s", path, name)
	}
	return true, nil
}

// maxDraft bounds the file of a draft in bytes: what is larger nobody drafted.
const maxDraft = 1 << 20

func writeFile(root *os.Root, name string, flags int, content []byte) error {
	f, err := root.OpenFile(name, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

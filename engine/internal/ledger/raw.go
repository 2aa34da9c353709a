package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// rawDir is the folder of a trial with the raw output of the agent program.
const rawDir = "host"

// KeepRaw takes secrets out of the files of a folder and moves it into the draft
// as host/. Until then they are no part of the store, which never has a secret,
// not even that of an engine that was killed. A folder without files is left,
// and one that is not there is none.
func (d *Draft) KeepRaw(dir string, red Redactor) error {
	return advised(d.run.dir, d.keepRaw(dir, red))
}

func (d *Draft) keepRaw(dir string, red Redactor) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		if red == nil {
			return nil
		}
		return red.File(path)
	})
	if err != nil || files == 0 {
		return err
	}
	if _, err := d.mkdir(); err != nil {
		return err
	}
	to := filepath.Join(d.dir, rawDir)
	if os.Rename(dir, to) == nil {
		return nil
	}
	return copyFiles(dir, to)
}

// copyFiles copies the regular files of a folder, as a rename to another file
// system cannot.
func copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch at := filepath.Join(to, name); {
		case e.IsDir():
			return os.MkdirAll(at, 0o700)
		case e.Type().IsRegular():
			return copyFile(path, at)
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/evalengine/evalengine/engine/eval"
)

// The folder of a store with the golds of its stories, and what each has. The
// evidence of a gold and of its floor are folders like those of trials.
const (
	goldsDir   = "golds"
	GoldDir    = "gold"
	FloorDir   = "floor"
	goldFile   = "gold.json"
	gradesFile = "grades.json"
)

// Gold is the folder of a story's gold, whether or not there is one.
func (s *Store) Gold(story string) string { return filepath.Join(s.root, goldsDir, story) }

// KeepGold keeps a gold in place of an earlier one, whole or not at all. Evidence
// has the folders that are copied, by [GoldDir] and [FloorDir].
func (s *Store) KeepGold(info eval.GoldInfo, evidence map[string]string) error {
	if err := s.keepGold(info, evidence); err != nil {
		return fmt.Errorf("gold of story %q: %w", info.Story, advised(s.root, err))
	}
	return nil
}

func (s *Store) keepGold(info eval.GoldInfo, evidence map[string]string) error {
	info.Schema = SchemaVersion
	root := filepath.Join(s.root, goldsDir)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	unlock, err := lockGolds(root)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := sweepGolds(root); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(root, freshGold+"*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	for name, from := range evidence {
		if err := os.CopyFS(filepath.Join(fresh, name), os.DirFS(from)); err != nil {
			return err
		}
	}
	if err := putJSON(filepath.Join(fresh, goldFile), info); err != nil {
		return err
	}
	return replace(fresh, s.Gold(info.Story))
}

// freshGold begins the names of golds that are being kept, and of those that they
// replace while they do.
const freshGold = ".new-"

// lockGolds waits until nobody else keeps a gold in the folder. The lock ends with
// the process that holds it.
func lockGolds(root string) (unlock func(), err error) {
	f, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// SweepGolds removes what was left of golds whose keeping was killed, and puts a
// gold back that was to be replaced and was not. It returns the folders.
func (s *Store) SweepGolds() ([]string, error) {
	root := filepath.Join(s.root, goldsDir)
	if _, err := os.Stat(root); os.IsNotExist(err) {
		return nil, nil
	}
	unlock, err := lockGolds(root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return sweepGolds(root)
}

// sweepGolds is called with the lock held: what is there is nobody's.
func sweepGolds(root string) ([]string, error) {
	left, err := filepath.Glob(filepath.Join(root, freshGold+"*"))
	if err != nil {
		return nil, err
	}
	for _, dir := range left {
		if strings.HasSuffix(dir, replaced) {
			var info eval.GoldInfo
			if getJSON(filepath.Join(dir, goldFile), &info) == nil && info.Story != "" && filepath.Base(info.Story) == info.Story {
				// Fails where the story has a gold again.
				_ = os.Rename(dir, filepath.Join(root, info.Story))
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			return left, err
		}
	}
	return left, nil
}

const replaced = ".old"

// replace puts a folder in another's place. Between its two steps there is none:
// [Store.SweepGolds] mends that.
func replace(fresh, dir string) error {
	old := fresh + replaced
	switch err := os.Rename(dir, old); {
	case err == nil:
		defer os.RemoveAll(old)
	case !os.IsNotExist(err):
		return err
	}
	err := os.Rename(fresh, dir)
	if err != nil {
		_ = os.Rename(old, dir)
	}
	return err
}

// KeepGrades keeps what judges made of a gold, and everything that they asked.
func (s *Store) KeepGrades(g eval.GoldGrades, asked []byte) error {
	g.Schema, g.Judges = SchemaVersion, some(g.Judges)
	dir := s.Gold(g.Story)
	err := putFile(filepath.Join(dir, JudgeFile), asked)
	if err == nil {
		err = putJSON(filepath.Join(dir, gradesFile), g)
	}
	if err != nil {
		return fmt.Errorf("grades of story %q: %w", g.Story, advised(s.root, err))
	}
	return nil
}

// ReadGold reads what a story's gold was recorded from. Without one the error is
// [fs.ErrNotExist].
func (s *Store) ReadGold(story string) (*eval.GoldInfo, error) {
	var info eval.GoldInfo
	return &info, getJSON(filepath.Join(s.Gold(story), goldFile), &info)
}

// ReadGrades reads what judges made of a story's gold. Without grades the error is
// [fs.ErrNotExist].
func (s *Store) ReadGrades(story string) (*eval.GoldGrades, error) {
	var g eval.GoldGrades
	return &g, getJSON(filepath.Join(s.Gold(story), gradesFile), &g)
}

// Sum is the SHA-256 of the record in a folder of evidence, which has the sums of
// all its other files.
func Sum(dir string) (string, error) { return sumFile(filepath.Join(dir, "trial.json")) }

func putJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return putFile(path, append(b, '\n'))
}

func getJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// putFile writes a file, whole or not at all.
func putFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}

package ledger

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// JudgeFile is a trial's file of requests that judges made of models.
const JudgeFile = "judge.jsonl"

// JudgeLog is where a later scoring keeps what its judges asked:
// scores/ID.judge.jsonl in the trial's folder, made at the first write. The caller
// must call Close.
func (r *Run) JudgeLog(trialID, id string) io.WriteCloser {
	return &judgeLog{path: filepath.Join(r.TrialDir(trialID), scoresDir, id+"."+JudgeFile)}
}

type judgeLog struct {
	path string
	file *os.File
	err  error
}

func (l *judgeLog) Write(p []byte) (int, error) {
	if l.file == nil && l.err == nil {
		if l.err = os.MkdirAll(filepath.Dir(l.path), 0o700); l.err == nil {
			l.file, l.err = os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.file.Write(p)
}

func (l *judgeLog) Close() error {
	if l.file == nil {
		return l.err
	}
	err := l.file.Sync()
	if cerr := l.file.Close(); err == nil {
		err = cerr
	}
	return err
}

// OpenAsked reads everything that a trial's judges asked: when it was run, and
// when it was scored later. A trial without judges has nothing.
func OpenAsked(dir string) (io.ReadCloser, error) {
	var parts asked
	names := []string{JudgeFile}
	later, err := filepath.Glob(filepath.Join(dir, scoresDir, "*."+JudgeFile))
	if err != nil {
		return nil, err
	}
	for _, path := range later {
		names = append(names, filepath.Join(scoresDir, filepath.Base(path)))
	}
	for _, name := range names {
		f, err := OpenFile(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			parts.Close()
			return nil, err
		}
		parts.open = append(parts.open, f)
	}
	readers := make([]io.Reader, len(parts.open))
	for i, f := range parts.open {
		readers[i] = f
	}
	parts.Reader = io.MultiReader(readers...)
	return &parts, nil
}

type asked struct {
	io.Reader
	open []io.ReadCloser
}

func (a *asked) Close() error {
	var err error
	for _, f := range a.open {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

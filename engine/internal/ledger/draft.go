package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
)

// Draft is a trial that is being written. Nothing of it can be seen in the run
// until Commit. The caller must call Commit or Discard.
type Draft struct {
	run  *Run
	id   string
	dir  string
	mu   sync.Mutex
	made bool
	logs []*Log
	// sums are of the draft's files once they are settled.
	sums map[string]string
	// kept says that the draft has its evidence, for which an agent has worked.
	kept bool
}

// Draft begins the record of one attempt at a trial. It touches no file.
func (r *Run) Draft(trialID string, attempt int) *Draft {
	return &Draft{run: r, id: trialID, dir: filepath.Join(r.dir, draftsDir, trialID+"."+strconv.Itoa(attempt))}
}

// Log returns a file of the draft that is made at its first write.
func (d *Draft) Log(name string) *Log {
	l := &Log{draft: d, name: name}
	d.mu.Lock()
	d.logs = append(d.logs, l)
	d.mu.Unlock()
	return l
}

// mkdir makes the draft's folder where it is not there. fresh says that it was
// not: nothing can be in it.
func (d *Draft) mkdir() (fresh bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made {
		return false, nil
	}
	// The folder of all drafts is not made: a store that was removed under a run is
	// not to come back as half of one.
	err = os.Mkdir(d.dir, 0o700)
	fresh = err == nil
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	d.made = err == nil
	return fresh, err
}

// Log is a file that grows while a trial runs. Writes are safe for concurrent
// use; each is kept whole. A write error is kept and told by Commit, so that a
// full disk never breaks what is being logged.
type Log struct {
	draft *Draft
	name  string
	mu    sync.Mutex
	file  *os.File
	buf   *bufio.Writer
	err   error
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && l.file == nil {
		l.err = l.open()
	}
	if l.err == nil {
		_, l.err = l.buf.Write(p)
	}
	return len(p), nil
}

func (l *Log) open() error {
	if _, err := l.draft.mkdir(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(l.draft.dir, l.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	l.file, l.buf = f, bufio.NewWriterSize(f, 16<<10)
	return nil
}

func (l *Log) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return l.err
	}
	if err := l.buf.Flush(); l.err == nil {
		l.err = err
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	l.file = nil
	return l.err
}

// Bundle is what a trial leaves beside its record.
type Bundle struct {
	Steps []eval.Step
	State *eval.State
	Tools []eval.Tool
}

// Redactor takes secrets out of bytes; nil takes none.
type Redactor interface {
	Bytes([]byte) []byte
	File(path string) error
}

// Commit writes the record and everything beside it and moves the draft into
// place. It fails with [ErrExists] where the trial is recorded already.
func (d *Draft) Commit(rec *eval.Record, b Bundle, red Redactor) error {
	if err := d.commit(rec, b, red); err != nil {
		return fmt.Errorf("trial %s: %w", d.id, advised(d.run.dir, err))
	}
	return nil
}

func (d *Draft) commit(rec *eval.Record, b Bundle, red Redactor) error {
	if d.run.Recorded(d.id) {
		return ErrExists
	}
	w := &writer{dir: d.dir, red: red}
	err := d.write(w, rec, b)
	if serr := w.sync(); err == nil {
		err = serr
	}
	if err != nil {
		return err
	}
	if d.kept {
		if err := os.Remove(filepath.Join(d.dir, evidenceFile)); err != nil {
			return err
		}
		d.kept = false
	}
	return os.Rename(d.dir, d.run.TrialDir(d.id))
}

func (d *Draft) write(w *writer, rec *eval.Record, b Bundle) error {
	if d.sums == nil {
		if err := d.gather(w, b); err != nil {
			return err
		}
	} else if err := d.gatherLate(w); err != nil {
		return err
	}
	prepareRecord(rec)
	rec.Files = d.sums
	return w.record(rec)
}

// gather puts all files of the draft in their final form.
func (d *Draft) gather(w *writer, b Bundle) error {
	for _, l := range d.logs {
		if err := l.close(); err != nil {
			return err
		}
	}
	fresh, err := d.mkdir()
	if err != nil {
		return err
	}
	w.sums = map[string]string{}
	if !fresh {
		if err := w.found(); err != nil {
			return err
		}
	}
	if err := w.bundle(b); err != nil {
		return err
	}
	d.sums = w.sums
	return nil
}

// gatherLate takes in what was logged since the draft was settled: what judges
// asked. A draft whose scoring was cut short has some of it already.
func (d *Draft) gatherLate(w *writer) error {
	for _, l := range d.logs {
		if err := l.close(); err != nil {
			return err
		}
	}
	w.sums = d.sums
	if _, err := os.Lstat(filepath.Join(d.dir, JudgeFile)); err != nil {
		return nil
	}
	return w.take(JudgeFile)
}

// Discard removes the draft. One that was settled stays, for a resume to score:
// what an agent was paid for is not lost with the place for its record.
func (d *Draft) Discard() error {
	if d.kept {
		return nil
	}
	for _, l := range d.logs {
		l.close()
	}
	return os.RemoveAll(d.dir)
}

// writer puts a trial's files into its draft folder and sums them up. The caller
// must call sync.
type writer struct {
	dir   string
	red   Redactor
	sums  map[string]string
	files []*os.File // written, not synced
}

// found takes in the files that were written while the trial ran. Links and
// other special files, which only an agent could have left, are dropped.
func (w *writer) found() error {
	return filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			return os.Remove(path)
		}
		name, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		return w.take(filepath.ToSlash(name))
	})
}

func (w *writer) bundle(b Bundle) error {
	if len(b.Steps) > 0 {
		lines, err := encodeLines(b.Steps)
		if err != nil {
			return fmt.Errorf("transcript.jsonl: %w", err)
		}
		if err := w.write("transcript.jsonl", lines); err != nil {
			return err
		}
	}
	if b.State != nil {
		if err := w.json("state.json", b.State); err != nil {
			return err
		}
	}
	if len(b.Tools) > 0 {
		return w.json("tools.json", b.Tools)
	}
	return nil
}

func encodeLines(steps []eval.Step) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for i := range steps {
		if err := enc.Encode(&steps[i]); err != nil {
			return nil, err
		}
	}
	return buf.Bytes(), nil
}

func (w *writer) json(name string, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return w.write(name, buf.Bytes())
}

// record writes trial.json last: a folder that has it is whole.
func (w *writer) record(rec *eval.Record) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(rec); err != nil {
		return fmt.Errorf("trial.json: %w", err)
	}
	clean := w.clean(buf.Bytes())
	if !bytes.Equal(clean, buf.Bytes()) {
		if err := reread(clean, rec); err != nil {
			return fmt.Errorf("trial.json: %w", err)
		}
	}
	return w.put("trial.json", clean)
}

// reread makes rec what is written of it, so that whoever shows it shows no
// secret. What names the trial stays as it is.
func reread(written []byte, rec *eval.Record) error {
	was := *rec
	*rec = eval.Record{}
	err := json.Unmarshal(written, rec)
	rec.Run, rec.ID, rec.Trial, rec.Status, rec.Files = was.Run, was.ID, was.Trial, was.Status, was.Files
	return err
}

func (w *writer) write(name string, b []byte) error {
	b = w.clean(b)
	if len(b) > compressOver {
		name, b = name+".zst", compress(b)
	}
	sum := sha256.Sum256(b)
	w.sums[name] = hex.EncodeToString(sum[:])
	return w.put(name, b)
}

func (w *writer) clean(b []byte) []byte {
	if w.red == nil {
		return b
	}
	return w.red.Bytes(b)
}

func (w *writer) put(name string, b []byte) error {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w.files = append(w.files, f)
	_, err = f.Write(b)
	return err
}

// sync makes what was put durable. It does so at the end, and not file by file,
// because then the system writes the folder once.
func (w *writer) sync() error {
	var err error
	for _, f := range w.files {
		if serr := f.Sync(); err == nil {
			err = serr
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	w.files = nil
	return err
}

// take takes secrets out of a file that is there already and sums it up,
// compressing a large one.
func (w *writer) take(name string) error {
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.red != nil && !picture(name) {
		if err := w.red.File(path); err != nil {
			return err
		}
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Size() > compressOver && !picture(name) {
		if err := compressFile(path); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		name, path = name+".zst", path+".zst"
	}
	if err := syncFile(path); err != nil {
		return err
	}
	sum, err := sumFile(path)
	if err != nil {
		return err
	}
	w.sums[name] = sum
	return nil
}

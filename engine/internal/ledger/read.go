package ledger

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/evalengine/evalengine/engine/eval"
)

// compressOver is the size in bytes from which a file of a trial is kept as
// .zst.
const compressOver = 1 << 20

// maxFile bounds what a reader takes of one file, decompressed.
const maxFile = 1 << 30

// ReadRecord reads the record of a trial folder, with the newest verdict.
func ReadRecord(dir string) (*eval.Record, error) {
	rec, err := ReadFirst(dir)
	if err != nil {
		return nil, err
	}
	if err := rescored(dir, rec); err != nil {
		return nil, err
	}
	return rec, nil
}

// ReadFirst reads trial.json of a trial folder as it was written, whatever
// verdicts came after.
func ReadFirst(dir string) (*eval.Record, error) {
	path := filepath.Join(dir, "trial.json")
	var rec eval.Record
	if err := readFile(path, &rec); err != nil {
		return nil, err
	}
	if err := soundRecord(path, &rec); err != nil {
		return nil, err
	}
	return &rec, nil
}

// ReadSteps reads the transcript of a trial folder; nil where it has none.
func ReadSteps(dir string) ([]eval.Step, error) {
	f, err := OpenFile(dir, "transcript.jsonl")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var steps []eval.Step
	dec := json.NewDecoder(bufio.NewReaderSize(f, 64<<10))
	for {
		var s eval.Step
		err := dec.Decode(&s)
		if errors.Is(err, io.EOF) {
			return steps, nil
		}
		if err != nil {
			return steps, fmt.Errorf("%s: step %d: %w", dir, len(steps)+1, err)
		}
		steps = append(steps, s)
	}
}

// ReadState reads the state of a trial folder; the zero State where it has none.
func ReadState(dir string) (eval.State, error) {
	var s eval.State
	return s, readJSON(dir, "state.json", &s)
}

// ReadTools reads the tool list of a trial folder; nil where it has none.
func ReadTools(dir string) ([]eval.Tool, error) {
	var t []eval.Tool
	return t, readJSON(dir, "tools.json", &t)
}

func readJSON(dir, name string, v any) error {
	f, err := OpenFile(dir, name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := json.NewDecoder(f).Decode(v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// OpenFile opens a file of a trial folder, decompressing where it is kept as
// .zst. Reading is bounded to 1 GiB.
func OpenFile(dir, name string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err == nil {
		return f, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	z, zerr := os.Open(filepath.Join(dir, name+".zst"))
	if zerr != nil {
		return nil, err
	}
	d, zerr := zstd.NewReader(z, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFile))
	if zerr != nil {
		z.Close()
		return nil, zerr
	}
	return &zreader{Reader: io.LimitReader(d, maxFile), dec: d, file: z}, nil
}

type zreader struct {
	io.Reader
	dec  *zstd.Decoder
	file *os.File
}

func (z *zreader) Close() error {
	z.dec.Close()
	return z.file.Close()
}

func compress(b []byte) []byte {
	var out bytes.Buffer
	w, _ := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// compressFile replaces path by path.zst.
func compressFile(path string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path+".zst", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	if err == nil {
		_, err = io.Copy(w, in)
	}
	if w != nil {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}
	if serr := out.Sync(); err == nil {
		err = serr
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// syncFile writes a file that others wrote through to the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Verify holds a trial folder's files against the sums in its record and names
// the first that differs or is missing.
func Verify(dir string, rec *eval.Record) error {
	for name, want := range rec.Files {
		got, err := sumFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s: content differs from its record", filepath.Join(dir, name))
		}
	}
	return nil
}

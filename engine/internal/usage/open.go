package usage

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Format is how events are written.
type Format string

// Formats.
const (
	CSV       Format = "csv"
	TSV       Format = "tsv"
	JSONLines Format = "jsonl"
)

// FormatOf is what a file's name says of its format and of its compression, "gz",
// "zst" or empty.
func FormatOf(name string) (f Format, compression string) {
	name = strings.ToLower(filepath.Base(name))
	for _, c := range [...]string{"gz", "zst"} {
		if rest, ok := strings.CutSuffix(name, "."+c); ok {
			name, compression = rest, c
		}
	}
	switch filepath.Ext(name) {
	case ".csv":
		f = CSV
	case ".tsv":
		f = TSV
	case ".jsonl", ".ndjson", ".json":
		f = JSONLines
	}
	return f, compression
}

// Open opens a file of events, decompressing *.gz and *.zst. The caller must call
// Close.
func Open(path string, o Options) (*Reader, error) {
	format, compression := FormatOf(path)
	if o.Format == "" {
		o.Format = format
	}
	if o.Format == "" {
		return nil, fmt.Errorf("%s: the name's ending does not say the format: say that it is %s, %s or %s", path, CSV, TSV, JSONLines)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	in, closers, err := decompress(f, compression)
	if err == nil {
		var r *Reader
		if r, err = New(in, o); err == nil {
			r.closers = closers
			return r, nil
		}
	}
	for _, c := range closers {
		c.Close()
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// decompress returns the content of a file and what is to be closed after.
func decompress(f *os.File, compression string) (io.Reader, []io.Closer, error) {
	closers := []io.Closer{f}
	switch compression {
	case "gz":
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 64<<10))
		if err != nil {
			return nil, closers, err
		}
		return z, append(closers, z), nil
	case "zst":
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, closers, err
		}
		return z, append(closers, z.IOReadCloser()), nil
	}
	return f, closers, nil
}

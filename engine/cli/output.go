package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// outputWriter writes a summary to the file of -o.
type outputWriter func(*eval.Summary, []report.Problem) error

// formats by the ending of the file's name.
var formats = map[string]func(*bytes.Buffer, *eval.Summary, []report.Problem) error{
	".json": func(b *bytes.Buffer, s *eval.Summary, _ []report.Problem) error {
		enc := json.NewEncoder(b)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	},
	".txt": func(b *bytes.Buffer, s *eval.Summary, p []report.Problem) error {
		report.Terminal(b, s, p, report.Style{})
		return nil
	},
}

// writerFor returns the writer of -o FILE, nil for no file. An ending that is
// not known and a folder that is not there are errors before anything runs.
func writerFor(file string) (outputWriter, error) {
	if file == "" {
		return nil, nil
	}
	format, ok := formats[strings.ToLower(filepath.Ext(file))]
	if !ok {
		return nil, fmt.Errorf("-o %s: the ending chooses the format: .json or .txt", file)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("-o %s: there is no folder %s", file, filepath.Dir(file))
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, fmt.Errorf("-o %s: it is a folder", file)
	}
	return func(s *eval.Summary, p []report.Problem) error {
		var b bytes.Buffer
		if err := format(&b, s, p); err != nil {
			return err
		}
		return os.WriteFile(file, b.Bytes(), 0o644)
	}, nil
}

// relative is a path as short as can be said from the working folder.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}

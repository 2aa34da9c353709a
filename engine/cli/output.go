package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalengine/evalengine/engine"
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/report"
)

// endings are those that -o takes, for messages and help.
const endings = ".html, .md, .json, .xml (JUnit), .csv or .txt"

// output is where a report goes and in which format.
type output struct {
	// file is empty for stdout.
	file   string
	format report.Format
}

// newOutput checks an output before anything runs. Without a format the ending of
// the file's name chooses; one that is not known and a folder that is not there are
// errors.
func newOutput(file string, format report.Format) (*output, error) {
	if file == "" {
		return &output{format: format}, nil
	}
	if format == "" {
		var ok bool
		if format, ok = report.FormatOf(strings.ToLower(filepath.Ext(file))); !ok {
			return nil, fmt.Errorf("-o %s: the ending chooses the format: %s", file, endings)
		}
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("-o %s: there is no folder %s", file, filepath.Dir(file))
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, fmt.Errorf("-o %s: it is a folder", file)
	}
	return &output{file: file, format: format}, nil
}

// write writes a document to the file, or to w where there is none.
func (o *output) write(w io.Writer, run *ledger.Run, d *report.Document) error {
	if o.file == "" {
		return report.Write(w, o.format, d)
	}
	if o.format == report.FormatHTML && run != nil {
		if err := thumbnails(run, d, o.file); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := report.Write(&b, o.format, d); err != nil {
		return err
	}
	return os.WriteFile(o.file, b.Bytes(), 0o644)
}

// writeRun writes the report of a run that has just ended. Where the store is gone it
// is of what is known without the records.
func (o *output) writeRun(store *engine.Store, s *eval.Summary, problems []report.Problem) error {
	run, err := store.Run(s.Run)
	if err != nil {
		d := report.NewDocument(&eval.Run{ID: s.Run, Suite: s.Suite, StartedAt: s.StartedAt})
		for _, p := range problems {
			d.AddProblem(p)
		}
		d.Summary = s
		d.AddDamage(err.Error())
		return o.write(nil, nil, d)
	}
	d := readDocument(run, 0, false)
	d.Summary = s
	return o.write(nil, run, d)
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

package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Format is a way to write a run's report.
type Format string

// Formats. All say the same numbers.
const (
	FormatText     Format = "txt"
	FormatMarkdown Format = "md"
	FormatHTML     Format = "html"
	FormatJSON     Format = "json"
	FormatJUnit    Format = "junit"
	FormatCSV      Format = "csv"
)

// Formats are all there are, in the order that help names them.
func Formats() []Format {
	return []Format{FormatMarkdown, FormatHTML, FormatJSON, FormatJUnit, FormatCSV, FormatText}
}

// FormatOf is the format that a file's ending stands for; not ok for none.
func FormatOf(ending string) (f Format, ok bool) {
	f, ok = map[string]Format{
		".txt": FormatText, ".md": FormatMarkdown, ".markdown": FormatMarkdown, ".html": FormatHTML, ".htm": FormatHTML,
		".json": FormatJSON, ".xml": FormatJUnit, ".csv": FormatCSV,
	}[ending]
	return f, ok
}

// Write writes a document in a format.
func Write(w io.Writer, f Format, d *Document) error {
	switch f {
	case FormatText:
		Text(w, d)
		return nil
	case FormatMarkdown:
		return Markdown(w, d)
	case FormatHTML:
		return HTML(w, d)
	case FormatJSON:
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(d.Summary)
	case FormatJUnit:
		return JUnit(w, d)
	case FormatCSV:
		return CSV(w, d)
	}
	return fmt.Errorf("there is no format %q", f)
}

// Text writes a document as on a terminal.
func Text(w io.Writer, d *Document) {
	Terminal(w, d.Summary, d.Problems, Style{})
	if d.MoreProblems > 0 {
		fmt.Fprintf(w, "%s more did not pass; evalengine show has them\n", plural(d.MoreProblems, "trial"))
	}
	for _, what := range d.damaged() {
		fmt.Fprintln(w, "damaged:", Line(what, most))
	}
}

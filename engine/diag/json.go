package diag

import (
	"encoding/json"
	"io"
)

// Report is the JSON form of a list.
type Report struct {
	Errors      int        `json:"errors"`
	Warnings    int        `json:"warnings"`
	Diagnostics []Reported `json:"diagnostics"`
}

// Reported is one diagnostic of a [Report].
type Reported struct {
	// Severity is error or warning.
	Severity string `json:"severity"`
	Diagnostic
	// Excerpt is the source line that the subject begins on.
	Excerpt string `json:"excerpt,omitempty"`
}

// WriteJSON writes the list for machines, as a [Report] on lines of its own.
// sources is as for [Write].
func WriteJSON(w io.Writer, list List, sources func(file string) []byte) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(NewReport(list, sources))
}

// NewReport makes the JSON form of a list.
func NewReport(list List, sources func(file string) []byte) Report {
	r := Report{Diagnostics: []Reported{}}
	for _, d := range list {
		if d.Severity == Error {
			r.Errors++
		} else {
			r.Warnings++
		}
		line, _, _ := lineAt(textOf(sources, d.Subject.File), d.Subject.Start.Line)
		r.Diagnostics = append(r.Diagnostics, Reported{Severity: d.Severity.String(), Diagnostic: d, Excerpt: line})
	}
	return r
}

// Package diag describes problems for whoever wrote a suite or set up a plugin:
// what is wrong, where, and what would be right. A problem of the agent or of
// the tools under test is not a Diagnostic but an eval.Finding.
package diag

import (
	"errors"
	"strings"
)

// Severity of a diagnostic. The zero Severity is invalid.
type Severity int

// Severities.
const (
	Invalid Severity = iota
	Error
	Warning
)

func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "invalid"
}

// Pos is a place in a file; lines and columns count from 1, columns in
// characters as people see them.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a stretch of a file; an empty File means the problem is in no file.
type Range struct {
	File  string `json:"file"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// Diagnostic is one problem.
type Diagnostic struct {
	Severity Severity `json:"-"`
	// Summary is short and names the problem.
	Summary string `json:"summary"`
	// Detail is a sentence or two and says what to do.
	Detail  string `json:"detail,omitempty"`
	Subject Range  `json:"subject,omitzero"`
	// Context is a wider range to show, where Subject alone says little.
	Context Range `json:"context,omitzero"`
}

// List is diagnostics in the order found; nil is none. It is an error.
type List []Diagnostic

// HasErrors reports whether one of l is an error.
func (l List) HasErrors() bool {
	for _, d := range l {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// Err returns l where it has errors, and nil otherwise.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

func (l List) Error() string {
	var b strings.Builder
	for i, d := range l {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(d.Summary)
		if d.Detail != "" {
			b.WriteString(": " + d.Detail)
		}
	}
	return b.String()
}

// Errors makes a list of one error without a place.
func Errors(summary, detail string) List {
	return List{{Severity: Error, Summary: summary, Detail: detail}}
}

// From returns the List in err's chain, or a list of one error that carries its
// text; nil for nil.
func From(err error) List {
	if err == nil {
		return nil
	}
	var l List
	if errors.As(err, &l) {
		return l
	}
	return Errors(err.Error(), "")
}

package story

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

// problems collects diagnostics.
type problems struct{ list diag.List }

func (p *problems) fail(rng hcl.Range, summary, format string, args ...any) {
	p.add(diag.Error, rng, summary, fmt.Sprintf(format, args...))
}

func (p *problems) warn(rng hcl.Range, summary, format string, args ...any) {
	p.add(diag.Warning, rng, summary, fmt.Sprintf(format, args...))
}

func (p *problems) add(s diag.Severity, rng hcl.Range, summary, detail string) {
	p.list = append(p.list, diag.Diagnostic{Severity: s, Summary: summary, Detail: detail, Subject: toRange(rng)})
}

// addPlain reports an error that is in no file.
func (p *problems) addPlain(summary, detail string) {
	p.list = append(p.list, diag.Errors(summary, detail)...)
}

func (p *problems) addHCL(ds hcl.Diagnostics) { p.list = append(p.list, toList(ds)...) }

func toList(ds hcl.Diagnostics) diag.List {
	var list diag.List
	for _, d := range ds {
		list = append(list, toDiagnostic(d))
	}
	return list
}

func toDiagnostic(d *hcl.Diagnostic) diag.Diagnostic {
	out := diag.Diagnostic{Severity: diag.Error, Summary: lowerFirst(d.Summary), Detail: explain(d)}
	if d.Severity == hcl.DiagWarning {
		out.Severity = diag.Warning
	}
	if d.Subject != nil {
		out.Subject = toRange(*d.Subject)
	}
	return out
}

func toRange(r hcl.Range) diag.Range {
	return diag.Range{File: r.Filename, Start: toPos(r.Start), End: toPos(r.End)}
}

func toPos(p hcl.Pos) diag.Pos { return diag.Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }

func toSource(r hcl.Range) eval.Source {
	return eval.Source{File: r.Filename, Line: r.Start.Line, Column: r.Start.Column}
}

// at names a place within a sentence.
func at(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// lowerFirst makes HCL's summaries look like ours, but for initialisms.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	if !unicode.IsUpper(r) || unicode.IsUpper(next) {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// sentence joins the parts that are not empty.
func sentence(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " ")
}

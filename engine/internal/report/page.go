package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed templates
var templates embed.FS

// page is one self-contained HTML file: no script, no request, its one style
// allowed by its hash.
type page struct {
	// Title is the page's name, Kicker a few words above it.
	Title, Kicker string
	// Links are the parts of the page.
	Links []link
	// Body is what the template of the page gets.
	Body any

	Policy string
	Style  template.CSS
}

// link leads to the part of a page with that ID.
type link struct{ ID, Text string }

// writePage writes a page whose body is the template "body" of
// templates/<name>.html. Whatever text the body's data holds is escaped where it
// stands.
func writePage(w io.Writer, name string, p page) error {
	css, err := templates.ReadFile("templates/page.css")
	if err != nil {
		return err
	}
	t, err := template.New(name).Funcs(pageFuncs()).ParseFS(templates, "templates/page.html", "templates/"+name+".html")
	if err != nil {
		return fmt.Errorf("report %s: %w", name, err)
	}
	p.Style = template.CSS(css)
	p.Policy = policy(css)
	if err := t.ExecuteTemplate(w, "page", p); err != nil {
		return fmt.Errorf("report %s: %w", name, err)
	}
	return nil
}

// policy lets a page show its own style and pictures of the folder beside it, and
// nothing else.
func policy(css []byte) string {
	sum := sha256.Sum256(css)
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
}

// pageFuncs are what templates can call. Text is escaped by the template itself;
// "line" takes control characters out and bounds it.
func pageFuncs() template.FuncMap {
	return template.FuncMap{
		"line":      func(s string) string { return Line(s, 1000) },
		"number":    number,
		"figure":    optional,
		"interval":  interval,
		"duration":  Duration,
		"cost":      Cost,
		"plural":    plural,
		"join":      strings.Join,
		"date":      func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"arm":       func(variant, host string) string { return Line(arm(variant, host), mdCell) },
		"overall":   overallLabel,
		"lost":      lost,
		"undefined": undefined,
		"small":     optional4,
		"variance":  varianceNote,
		"found":     found,
		"seconds":   seconds,
	}
}

// optional is a number, or a dash where there is none.
func optional(v *float64) string {
	if v == nil {
		return "–"
	}
	return number(*v)
}

// interval is an interval in words, or a dash where there is none.
func interval(v []float64) string {
	if len(v) != 2 {
		return "–"
	}
	return number(v[0]) + " to " + number(v[1])
}

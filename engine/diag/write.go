package diag

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Write writes the list for people: of each diagnostic its place as
// file:line:column, the line of source with the range underlined, and what to
// do. sources returns a file's text, nil where it cannot be had; it may be nil.
// Lines are kept within width cells; a width of 0 or less has no bound.
func Write(w io.Writer, list List, sources func(file string) []byte, width int, color bool) error {
	out := writer{Writer: bufio.NewWriter(w), width: width, color: color}
	for i, d := range list {
		if i > 0 {
			out.WriteString("\n")
		}
		out.diagnostic(d, textOf(sources, d.Subject.File))
	}
	return out.Flush()
}

func textOf(sources func(string) []byte, file string) []byte {
	if sources == nil || file == "" {
		return nil
	}
	return sources(file)
}

type writer struct {
	*bufio.Writer
	width int
	color bool
}

// style is an ANSI attribute.
type style string

const (
	bold    style = "1"
	faint   style = "2"
	red     style = "1;31"
	yellow  style = "1;33"
	indent        = "  "
	maxLine       = 100_000
)

func (w *writer) styled(s style, text string) string {
	if !w.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func severityStyle(s Severity) style {
	if s == Warning {
		return yellow
	}
	return red
}

func (w *writer) diagnostic(d Diagnostic, source []byte) {
	if d.Subject.File != "" {
		w.WriteString(w.styled(bold, clean(place(d.Subject))+":") + " ")
	}
	w.WriteString(w.styled(severityStyle(d.Severity), d.Severity.String()+":") + " " + w.styled(bold, clean(d.Summary)) + "\n")
	w.excerpt(d, source)
	for _, line := range wrap(d.Detail, w.width-len(indent)) {
		w.WriteString(indent + line + "\n")
	}
}

// place is file:line:column, or the file alone where there is no line.
func place(r Range) string {
	if r.Start.Line == 0 {
		return r.File
	}
	return fmt.Sprintf("%s:%d:%d", r.File, r.Start.Line, r.Start.Column)
}

// excerpt writes the subject's line, with the first line of the context above
// where it begins earlier.
func (w *writer) excerpt(d Diagnostic, source []byte) {
	line, start, ok := lineAt(source, d.Subject.Start.Line)
	if !ok {
		return
	}
	gutter := max(4, len(strconv.Itoa(d.Subject.Start.Line)))
	if c := d.Context; c.File == d.Subject.File && c.Start.Line > 0 && c.Start.Line < d.Subject.Start.Line {
		if above, _, ok := lineAt(source, c.Start.Line); ok {
			w.line(gutter, strconv.Itoa(c.Start.Line), layOut(above, 0, 0).fit(w.room(gutter), 0))
		}
		if c.Start.Line+1 < d.Subject.Start.Line {
			w.WriteString(w.styled(faint, fmt.Sprintf("%*s |", gutter+2, "...")) + "\n")
		}
	}
	from, to := span(d.Subject, line, start)
	cells := layOut(line, from, to)
	shown := cells.fit(w.room(gutter), cells.first())
	w.line(gutter, strconv.Itoa(d.Subject.Start.Line), shown)
	under := shown.underline()
	w.WriteString(w.styled(faint, fmt.Sprintf("%*s |", gutter+2, "")) + " " +
		strings.Repeat(" ", under.before) + w.styled(severityStyle(d.Severity), strings.Repeat("^", under.wide)) + "\n")
}

// room is how many cells an excerpt has beside its line number.
func (w *writer) room(gutter int) int {
	if w.width <= 0 {
		return maxLine
	}
	return max(20, w.width-gutter-5)
}

func (w *writer) line(gutter int, number string, c cells) {
	text := strings.TrimRight(c.text(), " ")
	sep := " |"
	if text != "" {
		sep = " | "
	}
	w.WriteString(w.styled(faint, fmt.Sprintf("%*s%s", gutter+2, number, sep)) + text + "\n")
}

// lineAt returns a line without its end, and the byte it begins at.
func lineAt(source []byte, number int) (line string, start int, ok bool) {
	if source == nil || number < 1 {
		return "", 0, false
	}
	rest := source
	for n := 1; n < number; n++ {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			return "", 0, false
		}
		rest = rest[i+1:]
	}
	start = len(source) - len(rest)
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return strings.TrimSuffix(string(rest), "\r"), start, true
}

// wrap breaks a text at spaces into lines of at most width cells, its own line
// breaks kept.
func wrap(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n") {
		line, used := "", 0
		for _, word := range strings.Fields(clean(paragraph)) {
			n := Width(word)
			if used > 0 && width > 0 && used+1+n > width {
				lines = append(lines, line)
				line, used = "", 0
			}
			if used > 0 {
				line += " "
				used++
			}
			line += word
			used += n
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

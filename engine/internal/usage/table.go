package usage

import (
	"errors"
	"fmt"
	"io"
)

// table reads CSV (RFC 4180) or TSV. The standard library's reader would make a
// text of every field, and take a quote that nobody closes for all that follows:
// this one copies mapped fields alone and goes on at the next line.
type table struct {
	in    *lines
	comma byte
	// of is the field of each column of the header, -1 for those that are not mapped.
	of []int
	// cell holds fields whose quotes had to be taken away, all of one record.
	cell [fieldCount][]byte
}

func newTable(in *lines, comma byte, m Mapping) (*table, error) {
	in.bom()
	t := &table{in: in, comma: comma}
	var found [fieldCount]bool
	columns := m.columns()
	twice := -1
	var of []int
	_, broken, err := t.record(func(name []byte) {
		field := -1
		for i, c := range columns {
			if c != "" && c == string(name) {
				field = i
				if found[i] {
					twice = i
				}
				found[i] = true
			}
		}
		of = append(of, field)
	})
	t.of = of
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty: a line with the columns' names is needed")
	case err != nil:
		return nil, err
	case broken != "":
		return nil, errors.New("the first line, which names the columns, is not whole")
	case twice >= 0:
		return nil, fmt.Errorf("the first line names the column %q twice", columns[twice])
	}
	for i, ok := range found {
		if !ok && m.needed(i) {
			return nil, missing(i, columns[i])
		}
	}
	return t, nil
}

func missing(field int, column string) error {
	name := fieldNames[field]
	none := ""
	if field != session && field != tool {
		none = fmt.Sprintf(", or %s= where there is none", name)
	}
	return fmt.Errorf("the first line names no column %q, which is to be the %s: map another one with %s=COLUMN%s", column, name, name, none)
}

func (t *table) next(f *fields) (line int, broken string, err error) {
	*f = fields{}
	column := 0
	line, broken, err = t.record(func(cell []byte) {
		if column < len(t.of) {
			if i := t.of[column]; i >= 0 {
				f[i] = cell
			}
		}
		column++
	})
	if broken == "" && err == nil && column < len(t.of) {
		broken = BrokenColumns
	}
	return line, broken, err
}

// record reads one record that is not empty and gives each of its cells to a
// function; a cell that is not mapped is not looked at. It is read from where it
// begins again where the window has to grow.
func (t *table) record(cell func([]byte)) (line int, broken string, err error) {
	l := t.in
	for l.start < l.end || l.more() {
		if n := emptyLine(l); n > 0 {
			l.take(n)
			continue
		}
		break
	}
	line = l.number
	size, form := t.measure()
	switch {
	case l.err != nil:
		return line, "", l.err
	case form == formEnd:
		return line, "", io.EOF
	case form == formBare, form == formOpen:
		return line, BrokenSyntax, l.skip()
	case form == formLong:
		return line, BrokenLength, l.skip()
	}
	t.split(l.buf[l.start:l.start+size], cell)
	l.take(size)
	return line, "", nil
}

// emptyLine is how long the empty line is that the window begins with.
func emptyLine(l *lines) int {
	if l.end-l.start == 1 {
		l.more()
	}
	switch b := l.buf[l.start:l.end]; {
	case b[0] == '\n':
		return 1
	case b[0] == '\r' && len(b) > 1 && b[1] == '\n':
		return 2
	}
	return 0
}

// Forms of what the window begins with.
const (
	formWhole = iota
	formEnd   // nothing
	formBare  // a quote where none can stand
	formOpen  // a quote that is not closed
	formLong
)

// measure is how long the record is that the window begins with.
func (t *table) measure() (size, form int) {
	l := t.in
	state := byte('b') // b: begin of a cell, p: plain, q: in quotes, e: after a quote in quotes
	for i := 0; ; i++ {
		if l.start+i == l.end && !l.more() {
			switch {
			case i == 0:
				return 0, formEnd
			case !l.eof && state == 'q':
				return 0, formOpen
			case !l.eof:
				return 0, formLong
			case state == 'q':
				return 0, formOpen
			}
			return i, formWhole
		}
		c := l.buf[l.start+i]
		switch {
		case state == 'q':
			if c == '"' {
				state = 'e'
			}
		case c == '\n':
			return i + 1, formWhole
		case c == t.comma:
			state = 'b'
		case c == '"' && state == 'b', c == '"' && state == 'e':
			state = 'q'
		case c == '"':
			return 0, formBare
		case state == 'e' && c != '\r':
			return 0, formBare
		case state != 'e':
			state = 'p'
		}
	}
}

// split gives the cells of a whole record to a function.
func (t *table) split(b []byte, cell func([]byte)) {
	end := len(b)
	if end > 0 && b[end-1] == '\n' {
		end--
	}
	if end > 0 && b[end-1] == '\r' {
		end--
	}
	b = b[:end]
	for column := 0; ; column++ {
		value, rest, last := t.cut(b, column)
		cell(value)
		if last {
			return
		}
		b = rest
	}
}

// cut takes the first cell off.
func (t *table) cut(b []byte, column int) (value, rest []byte, last bool) {
	if len(b) == 0 || b[0] != '"' {
		for i, c := range b {
			if c == t.comma {
				return b[:i], b[i+1:], false
			}
		}
		return b, nil, true
	}
	doubled := false
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] != '"':
		case i+1 < len(b) && b[i+1] == '"':
			doubled = true
			i++
		default:
			value = b[1:i]
			if doubled {
				value = t.undouble(value, column)
			}
			if i+1 < len(b) && b[i+1] == t.comma {
				return value, b[i+2:], false
			}
			return value, nil, true
		}
	}
	return nil, nil, true
}

// undouble makes one quote of two, in the cells that are mapped.
func (t *table) undouble(b []byte, column int) []byte {
	field := 0
	if t.of != nil {
		if column >= len(t.of) || t.of[column] < 0 {
			return nil
		}
		field = t.of[column]
	}
	out := t.cell[field][:0]
	for i := 0; i < len(b); i++ {
		out = append(out, b[i])
		if b[i] == '"' {
			i++
		}
	}
	t.cell[field] = out
	return out
}

package usage

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// objects reads JSON lines: one object a line. Values of keys that are not mapped
// are skipped by the decoder, which makes nothing of them.
type objects struct {
	in      *lines
	columns [fieldCount]string
	from    *bytes.Reader
	dec     *jsontext.Decoder
	value   [fieldCount][]byte
	name    []byte
}

func newObjects(in *lines, m Mapping) *objects {
	in.bom()
	from := bytes.NewReader(nil)
	return &objects{in: in, columns: m.columns(), from: from, dec: jsontext.NewDecoder(from)}
}

func (o *objects) next(f *fields) (line int, broken string, err error) {
	for {
		b, line, long, err := o.in.line()
		switch {
		case err != nil:
			return line, "", err
		case long:
			return line, BrokenLength, nil
		case len(bytes.TrimSpace(b)) == 0:
			continue
		}
		*f = fields{}
		return line, o.read(b, f), nil
	}
}

// read fills in the fields of an object. Decoding errors have parts of the line in
// them: they are not passed on.
func (o *objects) read(b []byte, f *fields) (broken string) {
	o.from.Reset(b)
	o.dec.Reset(o.from)
	if t, err := o.dec.ReadToken(); err != nil || t.Kind() != '{' {
		return BrokenSyntax
	}
	for o.dec.PeekKind() == '"' {
		raw, err := o.dec.ReadValue()
		if err != nil {
			return BrokenSyntax
		}
		field := o.field(raw)
		if field < 0 {
			if o.dec.SkipValue() != nil {
				return BrokenSyntax
			}
			continue
		}
		wrong, err := o.scalar(field, f)
		if err != nil {
			return BrokenSyntax
		}
		if wrong && broken == "" {
			broken = fieldNames[field]
		}
	}
	if t, err := o.dec.ReadToken(); err != nil || t.Kind() != '}' {
		return BrokenSyntax
	}
	if _, err := o.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return BrokenSyntax
	}
	return broken
}

// field is the field that a key is mapped to, or -1.
func (o *objects) field(raw jsontext.Value) int {
	name := raw[1 : len(raw)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		var err error
		if o.name, err = jsontext.AppendUnquote(o.name[:0], raw); err != nil {
			return -1
		}
		name = o.name
	}
	for i, c := range o.columns {
		if c != "" && c == string(name) {
			return i
		}
	}
	return -1
}

// scalar reads the value of a field; wrong says that it is a list or an object, which
// is skipped.
func (o *objects) scalar(field int, f *fields) (wrong bool, err error) {
	switch o.dec.PeekKind() {
	case '{', '[':
		return true, o.dec.SkipValue()
	case 'n':
		return false, o.dec.SkipValue()
	case '"':
		raw, err := o.dec.ReadValue()
		if err != nil {
			return false, err
		}
		o.value[field], err = jsontext.AppendUnquote(o.value[field][:0], raw)
		f[field] = o.value[field]
		return false, err
	}
	raw, err := o.dec.ReadValue()
	o.value[field] = append(o.value[field][:0], raw...)
	f[field] = o.value[field]
	return false, err
}

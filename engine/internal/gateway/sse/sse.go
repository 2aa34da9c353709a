// Package sse reads and writes server-sent events with the data of an event
// streamed through, so that a big one needs no more memory than a small one.
// It does not know what the events mean. Start at [NewReader] and [Write].
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxField bounds an event's name, id and retry time.
const maxField = 64 << 10

// ErrField is returned where one of an event's small fields is over 64 KiB.
var ErrField = errors.New("event field too large")

// Event is one event but for its data. A comment is an event of its own.
type Event struct {
	Name, ID, Retry string
	// HasID tells an empty id from none.
	HasID   bool
	HasData bool
	Comment bool
	// Partial says that the stream ended within the event.
	Partial bool
}

// Reader reads events of a stream.
type Reader struct {
	br     *bufio.Reader
	skipLF bool
	line   line
}

// line is what is known of the line being read.
type line struct {
	field   []byte // up to the colon
	named   bool   // the colon was seen
	value   bool   // the first byte of the value was seen
	content []byte // of a small field
	any     bool
}

// NewReader returns a reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{br: bufio.NewReaderSize(r, 32<<10)} }

// Next reads one event and writes its data to data as it arrives, lines joined
// by a line feed. After the last event it returns the reader's own error,
// [io.EOF] for a stream that ended whole.
func (r *Reader) Next(data io.Writer) (Event, error) {
	var e Event
	empty := true
	for {
		end, err := r.chunk(&e, data)
		if err != nil {
			if empty && !r.line.any {
				return Event{}, err
			}
			e.Partial = true
			r.finish(&e, data)
			if errors.Is(err, io.EOF) {
				return e, nil
			}
			return e, err
		}
		if !end {
			continue
		}
		blank, comment := !r.line.any, r.line.named && len(r.line.field) == 0
		if err := r.finish(&e, data); err != nil {
			return e, err
		}
		switch {
		case blank && !empty:
			return e, nil
		case comment && empty:
			return Event{Comment: true}, nil
		case !blank && !comment:
			empty = false
		}
	}
}

// chunk takes what is buffered of the current line and reports whether the line
// ended.
func (r *Reader) chunk(e *Event, data io.Writer) (bool, error) {
	if _, err := r.br.Peek(1); err != nil {
		return false, err
	}
	buf, _ := r.br.Peek(r.br.Buffered())
	if r.skipLF {
		r.skipLF = false
		if buf[0] == '\n' {
			r.br.Discard(1)
			return false, nil
		}
	}
	n, ended := len(buf), false
	if i := bytes.IndexByte(buf, '\n'); i >= 0 {
		n, ended = i, true
	}
	if i := bytes.IndexByte(buf[:n], '\r'); i >= 0 {
		n, ended, r.skipLF = i, true, true
	}
	err := r.take(e, buf[:n], data)
	if ended {
		n++
	}
	r.br.Discard(n)
	return ended, err
}

// take handles bytes of the current line.
func (r *Reader) take(e *Event, p []byte, data io.Writer) error {
	l := &r.line
	if len(p) == 0 {
		return nil
	}
	l.any = true
	if !l.named {
		i := bytes.IndexByte(p, ':')
		if i < 0 {
			i = len(p)
		}
		if len(l.field)+i > maxField {
			return ErrField
		}
		l.field = append(l.field, p[:i]...)
		if i == len(p) {
			return nil
		}
		l.named = true
		r.open(e, data)
		p = p[i+1:]
	}
	if len(p) > 0 && !l.value {
		l.value = true
		if p[0] == ' ' {
			p = p[1:]
		}
	}
	switch string(l.field) {
	case "data":
		data.Write(p)
	case "event", "id", "retry":
		if len(l.content)+len(p) > maxField {
			return ErrField
		}
		l.content = append(l.content, p...)
	}
	return nil
}

// open is at the colon, or at the end of a line without one.
func (r *Reader) open(e *Event, data io.Writer) {
	if string(r.line.field) != "data" {
		return
	}
	if e.HasData {
		data.Write([]byte{'\n'})
	}
	e.HasData = true
}

// finish is at the end of a line.
func (r *Reader) finish(e *Event, data io.Writer) error {
	l := &r.line
	if l.any && !l.named {
		r.open(e, data)
	}
	switch string(l.field) {
	case "event":
		e.Name = string(l.content)
	case "id":
		e.ID, e.HasID = string(l.content), true
	case "retry":
		e.Retry = string(l.content)
	}
	*l = line{field: l.field[:0], content: l.content[:0]}
	return nil
}

// Write writes one event with its data; nil data is none.
func Write(w io.Writer, e Event, data io.WriterTo) error {
	var head bytes.Buffer
	if e.Name != "" {
		head.WriteString("event: " + e.Name + "\n")
	}
	if e.HasID {
		head.WriteString("id: " + e.ID + "\n")
	}
	if e.Retry != "" {
		head.WriteString("retry: " + e.Retry + "\n")
	}
	if data != nil {
		head.WriteString("data: ")
	}
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	if data == nil {
		_, err := io.WriteString(w, "\n")
		return err
	}
	if _, err := data.WriteTo(&liner{w: w}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n\n")
	return err
}

// Comment writes a line that readers ignore.
func Comment(w io.Writer) error {
	_, err := io.WriteString(w, ": \n\n")
	return err
}

// liner begins a data line where the data has a line end.
type liner struct {
	w  io.Writer
	cr bool
}

func (l *liner) Write(p []byte) (int, error) {
	n := len(p)
	if l.cr && n > 0 && p[0] == '\n' {
		p = p[1:]
	}
	if n > 0 {
		l.cr = false
	}
	for {
		i := bytes.IndexAny(p, "\r\n")
		if i < 0 {
			_, err := l.w.Write(p)
			return n, err
		}
		if _, err := l.w.Write(append(p[:i:i], "\ndata: "...)); err != nil {
			return 0, err
		}
		if p[i] == '\r' && i+1 < len(p) && p[i+1] == '\n' {
			i++
		}
		l.cr = i+1 == len(p) && p[i] == '\r'
		p = p[i+1:]
	}
}

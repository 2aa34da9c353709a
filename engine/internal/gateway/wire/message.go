package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
)

// Limits of what is held of one message. Zero values mean the defaults.
type Limits struct {
	// Max is the largest message that passes; default 128 MiB.
	Max int64
	// Memory is the largest message kept in memory, bigger ones go to a file
	// that has no name; default 1 MiB.
	Memory int64
	// Dir is where those files lie; default the system's temporary folder.
	Dir string
}

// Defaults of [Limits].
const (
	DefaultMax    = 128 << 20
	DefaultMemory = 1 << 20
)

func (l Limits) filled() Limits {
	if l.Max <= 0 {
		l.Max = DefaultMax
	}
	if l.Memory <= 0 {
		l.Memory = DefaultMemory
	}
	return l
}

// ErrTooLarge is wrapped by [Message.Err] where a message passes the limit; its
// envelopes are known all the same.
var ErrTooLarge = errors.New("message too large")

// Message is one JSON value: a JSON-RPC message or a batch of them. It does not
// change once built, but for [Message.Edit]. It is freed by the last Release.
type Message struct {
	// Size is how many bytes arrived.
	Size int64
	// List has the message's envelope, or those of a batch.
	List  []Envelope
	Batch bool
	// Err says why the bytes are no message, or why they were not kept.
	Err error

	mem   []byte
	file  *os.File
	edits []edit
	refs  atomic.Int32
}

type edit struct {
	at   Range
	with []byte
}

// Builder makes one message of bytes as they arrive. It is an [io.Writer] that
// never fails.
type Builder struct {
	limits Limits
	scan   scanner
	m      *Message
	over   error
}

// NewBuilder returns a builder of one message.
func NewBuilder(l Limits) *Builder {
	return &Builder{limits: l.filled(), m: &Message{}}
}

// Write takes the next bytes. Past the limit they are looked at and let go.
func (b *Builder) Write(p []byte) (int, error) {
	b.scan.write(p)
	b.m.Size += int64(len(p))
	switch {
	case b.over != nil:
	case b.m.Size > b.limits.Max:
		b.drop(fmt.Errorf("%w: over %d bytes", ErrTooLarge, b.limits.Max))
	case b.m.file != nil:
		b.store(p)
	case b.m.Size > b.limits.Memory:
		b.spool(p)
	default:
		b.m.mem = append(b.m.mem, p...)
	}
	return len(p), nil
}

func (b *Builder) spool(p []byte) {
	f, err := os.CreateTemp(b.limits.Dir, "evalengine-message-*")
	if err != nil {
		b.drop(err)
		return
	}
	b.m.file = f
	if err := os.Remove(f.Name()); err != nil {
		b.drop(err)
		return
	}
	b.store(b.m.mem)
	b.m.mem = nil
	b.store(p)
}

func (b *Builder) store(p []byte) {
	if b.m.file == nil {
		return
	}
	if _, err := b.m.file.Write(p); err != nil {
		b.drop(err)
	}
}

// drop gives up keeping the bytes.
func (b *Builder) drop(err error) {
	b.over = err
	b.m.mem = nil
	if b.m.file != nil {
		b.m.file.Close()
		b.m.file = nil
	}
}

// Size is how many bytes arrived so far.
func (b *Builder) Size() int64 { return b.m.Size }

// Done returns the message. The caller must release it; the builder must not be
// used again.
func (b *Builder) Done() *Message {
	m := b.m
	m.Err = b.scan.end()
	m.List, m.Batch = b.scan.list, b.scan.batch
	if m.Err == nil && b.over != nil {
		m.Err = b.over
	}
	m.refs.Store(1)
	return m
}

// Parse makes a message of bytes that it keeps.
func Parse(b []byte) *Message {
	m := &Message{Size: int64(len(b)), mem: b}
	var s scanner
	s.write(b)
	m.Err = s.end()
	m.List, m.Batch = s.list, s.batch
	m.refs.Store(1)
	return m
}

// IsRPC reports whether every part of the message is a JSON-RPC message.
func (m *Message) IsRPC() bool {
	for i := range m.List {
		if !m.List[i].IsRPC() {
			return false
		}
	}
	return len(m.List) > 0 && (m.Err == nil || errors.Is(m.Err, ErrTooLarge))
}

// Kept reports whether the bytes are there.
func (m *Message) Kept() bool { return m.file != nil || m.mem != nil }

// Retain keeps the message until one more Release.
func (m *Message) Retain() *Message { m.refs.Add(1); return m }

// Release frees what the message holds on disk after the last use.
func (m *Message) Release() {
	if m.refs.Add(-1) == 0 && m.file != nil {
		m.file.Close()
	}
}

// InMemory reports whether the message's bytes are in memory already.
func (m *Message) InMemory() bool { return m.file == nil }

// Slice copies a part of the message as it arrived, at most max bytes of it; it
// does not copy what is in memory.
func (m *Message) Slice(at Range, max int64) []byte {
	if n := at.End - at.Start; n < max {
		max = n
	}
	if max <= 0 || !m.Kept() {
		return nil
	}
	if m.file == nil {
		return m.mem[at.Start : at.Start+max : at.Start+max]
	}
	b := make([]byte, max)
	n, err := m.file.ReadAt(b, at.Start)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return b[:n]
}

// All is the range of the whole message.
func (m *Message) All() Range { return Range{0, m.Size} }

// Edit replaces a part when the message is written. Parts must not overlap.
func (m *Message) Edit(at Range, with []byte) {
	m.edits = append(m.edits, edit{at, with})
	slices.SortFunc(m.edits, func(a, b edit) int { return int(a.at.Start - b.at.Start) })
}

// Edited reports whether the message is written other than it arrived.
func (m *Message) Edited() bool { return len(m.edits) > 0 }

// Len is how many bytes WriteTo writes.
func (m *Message) Len() int64 {
	n := m.Size
	for _, e := range m.edits {
		n += int64(len(e.with)) - (e.at.End - e.at.Start)
	}
	return n
}

// WriteTo writes the message with its edits.
func (m *Message) WriteTo(w io.Writer) (int64, error) {
	var n, at int64
	for _, e := range m.edits {
		k, err := m.copyPart(w, Range{at, e.at.Start})
		n += k
		if err != nil {
			return n, err
		}
		j, err := w.Write(e.with)
		n += int64(j)
		if err != nil {
			return n, err
		}
		at = e.at.End
	}
	k, err := m.copyPart(w, Range{at, m.Size})
	return n + k, err
}

func (m *Message) copyPart(w io.Writer, at Range) (int64, error) {
	if at.End <= at.Start {
		return 0, nil
	}
	if !m.Kept() {
		return 0, ErrTooLarge
	}
	if m.file == nil {
		n, err := w.Write(m.mem[at.Start:at.End])
		return int64(n), err
	}
	// The writer alone, so that io.Copy does not hand over to a ReadFrom that
	// would send the file past whoever counts.
	return io.Copy(struct{ io.Writer }{w}, io.NewSectionReader(m.file, at.Start, at.End-at.Start))
}

// Bytes is the message with its edits, in memory.
func (m *Message) Bytes() []byte {
	if len(m.edits) == 0 && m.file == nil {
		return m.mem
	}
	var b bytes.Buffer
	b.Grow(int(m.Len()))
	if _, err := m.WriteTo(&b); err != nil {
		return nil
	}
	return b.Bytes()
}

// Reader reads the message with its edits, as often as it is called.
func (m *Message) Reader() io.Reader {
	if len(m.edits) == 0 && m.file != nil {
		return io.NewSectionReader(m.file, 0, m.Size)
	}
	return bytes.NewReader(m.Bytes())
}

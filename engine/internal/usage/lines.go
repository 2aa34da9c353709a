package usage

import (
	"bytes"
	"errors"
	"io"
)

// lines is a window on a file that holds at most one record and what was read beyond
// it.
type lines struct {
	in  io.Reader
	buf []byte
	// start is where the next record begins, end how far the content goes.
	start, end int
	eof        bool
	err        error
	// number is that of the line at start, from 1.
	number int
}

func newLines(in io.Reader) *lines {
	return &lines{in: in, buf: make([]byte, 64<<10), number: 1}
}

// more reads on. It returns false where nothing follows, or where the window has the
// size of the longest record.
func (l *lines) more() bool {
	if l.eof || l.end-l.start >= maxRecord {
		return false
	}
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, min(len(l.buf), maxRecord+1-len(l.buf)))...)
	}
	for range 100 {
		n, err := l.in.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.eof = true
			if !errors.Is(err, io.EOF) {
				l.err = err
			}
			return n > 0
		}
		if n > 0 {
			return true
		}
	}
	l.eof, l.err = true, io.ErrNoProgress
	return false
}

// line returns the next line without its end, and whether it is too long to be
// taken; an error where there is none.
func (l *lines) line() (b []byte, number int, long bool, err error) {
	number = l.number
	for seen := 0; ; {
		if i := bytes.IndexByte(l.buf[l.start+seen:l.end], '\n'); i >= 0 {
			b = l.buf[l.start : l.start+seen+i]
			l.take(seen + i + 1)
			return bytes.TrimSuffix(b, []byte("\r")), number, false, nil
		}
		seen = l.end - l.start
		if l.more() {
			continue
		}
		switch {
		case l.err != nil:
			return nil, number, false, l.err
		case !l.eof:
			return nil, number, true, l.skip()
		case seen == 0:
			return nil, number, false, io.EOF
		}
		b = l.buf[l.start:l.end]
		l.take(seen)
		return bytes.TrimSuffix(b, []byte("\r")), number, false, nil
	}
}

// take moves on by n bytes.
func (l *lines) take(n int) {
	l.number += bytes.Count(l.buf[l.start:l.start+n], []byte("\n"))
	l.start += n
}

// skip moves to the beginning of the next line.
func (l *lines) skip() error {
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.take(i + 1)
			return nil
		}
		l.start = l.end
		if !l.more() {
			return l.err
		}
	}
}

// bom takes away a byte order mark.
func (l *lines) bom() {
	for l.end-l.start < 3 && l.more() {
	}
	if bytes.HasPrefix(l.buf[l.start:l.end], []byte("\xef\xbb\xbf")) {
		l.start += 3
	}
}

package agentproc

import (
	"bufio"
	"errors"
	"io"
)

// Line is one line of output.
type Line struct {
	// Text is the line without its end; the caller's own.
	Text []byte
	// Offset is where the line begins in the stream, Size its whole length without
	// its end, also where Text is cut.
	Offset, Size int64
	// Truncated says that the line passed Command.MaxLine and Text holds its
	// beginning alone.
	Truncated bool
	// Unterminated says that the stream ended within the line.
	Unterminated bool
}

type lineReader struct {
	r      *bufio.Reader
	max    int
	offset int64
}

func newLineReader(r io.Reader, maxLine int) *lineReader {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: maxLine}
}

// next reads one line. A line of any length uses memory for max bytes at most.
func (l *lineReader) next() (Line, error) {
	line := Line{Offset: l.offset}
	for {
		part, err := l.r.ReadSlice('\n')
		l.offset += int64(len(part))
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		line.Size += int64(len(part))
		if room := l.max - len(line.Text); len(part) > room {
			part, line.Truncated = part[:room], true
		}
		line.Text = append(line.Text, part...)
		switch {
		case ended:
			return trimCR(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case l.offset == line.Offset:
			return Line{}, io.EOF
		default:
			line.Unterminated = true
			return line, nil
		}
	}
}

func trimCR(l Line) Line {
	if n := len(l.Text); n > 0 && !l.Truncated && l.Text[n-1] == '\r' {
		l.Text = l.Text[:n-1]
		l.Size--
	}
	return l
}

// drain reads to the end for the raw file's sake.
func (l *lineReader) drain() { _, _ = io.Copy(io.Discard, l.r) }

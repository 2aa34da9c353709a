package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Bounds of what a scanner keeps.
const (
	maxDepth  = 10_000
	maxPath   = 4
	maxScalar = 64 << 10
	maxBatch  = 10_000
)

// Errors of a value that is not the JSON a scanner takes.
var (
	errSyntax = errors.New("not JSON")
	errDepth  = errors.New("JSON nested too deep")
	errBatch  = errors.New("batch has too many messages")
)

type state byte

const (
	wantValue state = iota
	wantFirst       // a value or the end of an array
	wantKey         // a key or the end of an object
	wantNext        // a key, after a comma
	wantColon
	afterValue
	inString
	inEscape
	inKey
	inKeyEscape
	inLiteral
	ended
)

// scanner follows one JSON value byte by byte and fills an [Envelope] for it,
// or one for each element where it is an array.
type scanner struct {
	off   int64
	state state
	err   error
	stack []frame
	path  []string
	batch bool
	list  []Envelope

	start   int64  // of the scalar or key being read
	raw     []byte // its bytes, where wanted
	keep    bool
	tooLong bool
	quote   int // where the next quote is in the bytes being written
}

type frame struct {
	start  int64
	array  bool
	inPath bool // this container's key, or key to come, is in path
}

// depth of an envelope's own object: 1, or 2 inside a batch.
func (s *scanner) level() int {
	if s.batch {
		return len(s.stack) - 1
	}
	return len(s.stack)
}

func (s *scanner) env() *Envelope {
	if len(s.list) == 0 {
		return nil
	}
	return &s.list[len(s.list)-1]
}

func (s *scanner) write(p []byte) {
	s.quote = -1
	for i := 0; i < len(p) && s.err == nil; {
		switch s.state {
		case inString, inKey:
			i = s.inQuotes(p, i)
		case inEscape, inKeyEscape:
			s.take(p[i])
			s.state--
			i++
		case inLiteral:
			i = s.literal(p, i)
		default:
			s.step(p[i], s.off+int64(i))
			i++
		}
	}
	s.off += int64(len(p))
}

func (s *scanner) take(c byte) {
	if s.keep && len(s.raw) < maxScalar {
		s.raw = append(s.raw, c)
	} else if s.keep {
		s.tooLong = true
	}
}

func (s *scanner) takeAll(p []byte) {
	if !s.keep {
		return
	}
	if len(s.raw)+len(p) > maxScalar {
		s.tooLong = true
		return
	}
	s.raw = append(s.raw, p...)
}

// inQuotes goes on to the end of the string, to a backslash, or to the end of p.
func (s *scanner) inQuotes(p []byte, i int) int {
	rest := p[i:]
	if s.quote < i {
		s.quote = nextQuote(p, i)
	}
	n := s.quote - i
	if b := bytes.IndexByte(rest[:n], '\\'); b >= 0 {
		s.takeAll(rest[:b+1])
		s.state++
		return i + b + 1
	}
	if n == len(rest) {
		s.takeAll(rest)
		return len(p)
	}
	s.takeAll(rest[:n+1])
	end := s.off + int64(i+n+1)
	if s.state == inKey {
		s.endKey()
	} else {
		s.endScalar(end)
	}
	return i + n + 1
}

func nextQuote(p []byte, i int) int {
	if n := bytes.IndexByte(p[i:], '"'); n >= 0 {
		return i + n
	}
	return len(p)
}

func (s *scanner) literal(p []byte, i int) int {
	for ; i < len(p); i++ {
		switch c := p[i]; c {
		case ',', '}', ']', ' ', '\t', '\r', '\n':
			s.endLiteral(s.off + int64(i))
			return i
		default:
			s.take(c)
		}
	}
	return i
}

func (s *scanner) endLiteral(end int64) {
	if s.tooLong || !validLiteral(s.raw) {
		s.err = errSyntax
		return
	}
	s.endScalar(end)
}

func validLiteral(raw []byte) bool {
	switch string(raw) {
	case "true", "false", "null":
		return true
	}
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') && json.Valid(raw)
}

func (s *scanner) step(c byte, at int64) {
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return
	}
	switch s.state {
	case wantFirst:
		if c == ']' {
			s.pop(at + 1)
			return
		}
		s.value(c, at)
	case wantValue:
		s.value(c, at)
	case wantKey, wantNext:
		s.key(c, at)
	case wantColon:
		if c != ':' {
			s.err = errSyntax
			return
		}
		s.state = wantValue
	case afterValue:
		s.after(c, at)
	default:
		s.err = errSyntax
	}
}

func (s *scanner) key(c byte, at int64) {
	switch {
	case c == '"':
		s.begin(at, inKey, s.stack[len(s.stack)-1].inPath)
		s.take(c)
	case c == '}' && s.state == wantKey:
		s.pop(at + 1)
	default:
		s.err = errSyntax
	}
}

func (s *scanner) after(c byte, at int64) {
	top := &s.stack[len(s.stack)-1]
	switch {
	case c == ',' && top.array:
		s.state = wantValue
	case c == ',':
		s.state = wantNext
	case c == ']' && top.array, c == '}' && !top.array:
		s.pop(at + 1)
	default:
		s.err = errSyntax
	}
}

func (s *scanner) value(c byte, at int64) {
	switch c {
	case '{', '[':
		s.push(c == '[', at)
	case '"':
		s.begin(at, inString, s.wanted())
		s.take(c)
	default:
		s.begin(at, inLiteral, true)
		s.take(c)
	}
}

func (s *scanner) begin(at int64, st state, keep bool) {
	s.start, s.state, s.keep, s.tooLong = at, st, keep, false
	s.raw = s.raw[:0]
}

// wanted reports whether the scalar that comes may be of interest.
func (s *scanner) wanted() bool {
	n := len(s.stack)
	return n > 0 && !s.stack[n-1].array && s.stack[n-1].inPath
}

func (s *scanner) push(array bool, at int64) {
	if len(s.stack) >= maxDepth {
		s.err = errDepth
		return
	}
	if len(s.stack) == 0 && array {
		s.batch = true
	} else if s.level() == 0 {
		if len(s.list) >= maxBatch {
			s.err = errBatch
			return
		}
		s.list = append(s.list, Envelope{})
	}
	parent := s.batch && len(s.stack) <= 1 || len(s.stack) == 0 || s.wanted()
	s.stack = append(s.stack, frame{start: at, array: array, inPath: parent && s.level() <= maxPath})
	s.state = wantKey
	if array {
		s.state = wantFirst
	}
}

func (s *scanner) pop(end int64) {
	top := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	at := Range{top.start, end}
	switch {
	case s.level() == 0 && !(s.batch && len(s.stack) == 0):
		s.env().Range = at
	case s.level() > 0 && s.wanted():
		s.env().container(s.path[:s.level()], at)
	}
	s.done()
}

// done is after a value's end.
func (s *scanner) done() {
	s.state = afterValue
	if len(s.stack) == 0 {
		s.state = ended
	}
}

func (s *scanner) endKey() {
	if s.keep {
		s.path = append(s.path[:s.level()-1], unquote(string(s.raw)))
	}
	s.state = wantColon
}

func (s *scanner) endScalar(end int64) {
	if s.level() > 0 && s.wanted() {
		s.scalar(end)
	}
	s.done()
}

func (s *scanner) scalar(end int64) {
	path := s.path[:s.level()]
	if s.tooLong && len(path) == 1 && path[0] == "id" {
		s.err = errSyntax
		return
	}
	raw := string(s.raw)
	if s.tooLong {
		raw = ""
	}
	s.env().scalar(path, raw, Range{s.start, end})
}

// end says that no more bytes come.
func (s *scanner) end() error {
	if s.err == nil && s.state == inLiteral && len(s.stack) == 0 {
		s.endLiteral(s.off)
	}
	if s.err == nil && s.state != ended {
		s.err = errSyntax
	}
	return s.err
}

// unquote is the text of a JSON string; anything else is returned as it is.
func unquote(raw string) string {
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	if !strings.Contains(raw, `\`) {
		return raw[1 : len(raw)-1]
	}
	var text string
	if json.Unmarshal([]byte(raw), &text) != nil {
		return raw[1 : len(raw)-1]
	}
	return text
}

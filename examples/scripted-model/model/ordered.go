package model

import (
	"bytes"
	"unicode/utf8"
)

// o is a JSON object as names and values in turn, which keeps the order in
// which the vendors write them.
type o []any

func (x o) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i+1 < len(x); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(compact(x[i]))
		b.WriteByte(':')
		b.Write(compact(x[i+1]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// An event is one server-sent event.
type event struct {
	name string // empty: a data line alone
	data string
	part bool // a piece of the answer's content, at which a stream may be cut
}

func (e event) String() string {
	if e.name == "" {
		return "data: " + e.data + "\n\n"
	}
	return "event: " + e.name + "\ndata: " + e.data + "\n\n"
}

// chunkSize is how many bytes, at most, a piece of streamed content has.
const chunkSize = 24

// chunks splits a text between characters. An empty text is no chunk.
func chunks(s string) []string {
	var list []string
	for len(s) > chunkSize {
		n := chunkSize
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		if n == 0 {
			n = chunkSize
		}
		list = append(list, s[:n])
		s = s[n:]
	}
	if s != "" {
		list = append(list, s)
	}
	return list
}

// half keeps the events up to the middle of the content.
func half(events []event) []event {
	parts := 0
	for _, e := range events {
		if e.part {
			parts++
		}
	}
	seen := 0
	for i, e := range events {
		if e.part {
			seen++
		}
		if e.part && seen >= (parts+1)/2 {
			return events[:i+1]
		}
	}
	return events[:min(len(events), 1)]
}

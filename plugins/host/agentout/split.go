package agentout

import (
	"bytes"
	"encoding/json"
)

// maxStarts bounds how often [Split] tries to read an object in one line.
const maxStarts = 32

// Split finds events in a line that is none as a whole: behind a banner that did
// not end its line, one behind the other, before a warning. An event is a JSON
// object whose type wanted accepts; rest is what else the line holds.
//
// A value within a broken object is no event: an agent has a say in what is there.
func Split(line []byte, wanted func(kind string) bool) (events [][]byte, rest []byte) {
	broken, fixed := false, false
	from := 0 // the end of the last event
	for i, starts := 0, 0; i < len(line) && starts < maxStarts; {
		n := objectStart(line[i:])
		if n < 0 {
			break
		}
		i += n
		if broken && within(line[from:i]) {
			i++
			continue
		}
		starts++
		object := firstValue(line[i:])
		if object == nil && !fixed {
			fixed = true
			if whole, ok := escapeControls(line[i:]); ok {
				rest = append(rest, line[from:i]...)
				line, from, i = whole, 0, 0
				object = firstValue(line)
			}
		}
		switch {
		case object == nil:
			broken = true
			i++
			continue
		case !wanted(typeOf(object)):
			i += len(object)
			continue
		}
		events = append(events, object)
		rest = append(rest, line[from:i]...)
		i += len(object)
		from, broken = i, false
	}
	return events, append(rest, line[from:]...)
}

// objectStart is where an object with a member may begin, -1 for nowhere.
func objectStart(b []byte) int {
	for i := 0; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '{')
		if n < 0 {
			return -1
		}
		i += n
		if after := bytes.TrimLeft(b[i+1:min(len(b), i+64)], " \t"); len(after) > 0 && after[0] == '"' {
			return i
		}
	}
	return -1
}

// within reports whether what comes next is a member or an element.
func within(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	return len(before) > 0 && bytes.IndexByte([]byte(":,["), before[len(before)-1]) >= 0
}

func firstValue(b []byte) []byte {
	var v json.RawMessage
	if json.NewDecoder(bytes.NewReader(b)).Decode(&v) != nil {
		return nil
	}
	return b[:len(v)]
}

func typeOf(object []byte) string {
	var v struct {
		Type string `json:"type"`
	}
	if unmarshal(object, &v) != nil {
		return ""
	}
	return v.Type
}

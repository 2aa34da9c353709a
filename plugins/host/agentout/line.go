package agentout

import (
	"strings"

	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// ReadLine reads one line of an agent's output, in which each event is a JSON
// object. take decodes an event and takes it in; it is false where the text is none.
// A line that was cut is read as far as it goes, and one that is no event as a whole
// by what [Split] finds in it with wanted. What is no event is noted.
func ReadLine(l agentproc.Line, notes *Notes, wanted func(kind string) bool, take func(text []byte) bool) {
	switch {
	case !l.Truncated && take(l.Text):
	case l.Truncated && !l.Unterminated:
		notes.Add("a line of %d bytes is cut; its beginning is kept", l.Size)
		take(Salvage(l.Text))
	default:
		readOdd(l, notes, wanted, take)
	}
}

func readOdd(l agentproc.Line, notes *Notes, wanted func(string) bool, take func([]byte) bool) {
	events, rest := Split(l.Text, wanted)
	for _, b := range events {
		take(b)
	}
	switch s := strings.TrimSpace(strings.ToValidUTF8(string(rest), "\uFFFD")); {
	case s == "":
	case l.Unterminated:
		notes.Add("the output ends within a line, at byte %d", l.Offset+int64(len(l.Text)))
	default:
		notes.Add("not an event on the agent's stdout: %s", Cut(s, 200))
	}
}

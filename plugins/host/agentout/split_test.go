package agentout

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func isEvent(kind string) bool { return kind == "result" || kind == "user" }

func TestSplit(t *testing.T) {
	const ok, user = `{"type":"result","n":1}`, `{"type":"user","text":"{\"type\":\"result\"}"}`
	for _, c := range []struct {
		name, in, events, rest string
	}{
		{"behind a banner", `Listening on 3000` + ok, ok, "Listening on 3000"},
		{"behind a banner with braces", `{info} up: {} ` + ok, ok, "{info} up: {} "},
		{"behind a log line that is JSON", `{"level":"info","msg":"up"}` + ok, ok, `{"level":"info","msg":"up"}`},
		{"behind colours and a carriage return", "\x1b[2K\rloading…\x1b[0m" + ok, ok, "\x1b[2K\rloading…\x1b[0m"},
		{"before a warning", ok + `(node:9) Warning: x`, ok, "(node:9) Warning: x"},
		{"one behind the other", user + ok, user + "\n" + ok, ""},
		{"with blanks between", user + " \t" + ok + " ", user + "\n" + ok, " \t "},
		{"behind half of one", `{"type":"user","text":"hal` + ok, ok, `{"type":"user","text":"hal`},
		{"within a broken one", `{"type":"user","content":[` + ok + `,{"a":` + ok, "", `{"type":"user","content":[` + ok + `,{"a":` + ok},
		{"a text within one", user, user, ""},
		{"raw control characters", "up" + "{\"type\":\"result\",\"s\":\"a\tb\"}", `{"type":"result","s":"a\u0009b"}`, "up"},
		{"a kind of its own", `up{"type":"surprise"}`, "", `up{"type":"surprise"}`},
		{"a type that is no text", `up{"type":{"type":"result"}}`, "", `up{"type":{"type":"result"}}`},
		{"no object", "(node:9) [DEP0040] DeprecationWarning: x", "", "(node:9) [DEP0040] DeprecationWarning: x"},
		{"nothing", "", "", ""},
	} {
		events, rest := Split([]byte(c.in), isEvent)
		if got := string(bytes.Join(events, []byte("\n"))); got != c.events || string(rest) != c.rest {
			t.Errorf("%s: Split(%q) = %q, %q; want %q, %q", c.name, c.in, got, rest, c.events, c.rest)
		}
	}
}

// A line of nothing but beginnings costs no more than a few looks at it.
func TestSplitHostile(t *testing.T) {
	for _, part := range []string{`{"`, `{"type":"result",`, `{"a":{`, "{\"\t"} {
		if events, _ := Split([]byte(strings.Repeat(part, 1<<20)), isEvent); len(events) > 0 {
			t.Errorf("%q: %d events", part, len(events))
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`up{"type":"result"}{"type":"user"}x`))
	f.Add([]byte("{\"type\":\"user\",\"a\":\"\t{\\\"{\"type\":\"result\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, _ := Split(b, isEvent)
		for _, e := range events {
			if !json.Valid(e) || !isEvent(typeOf(e)) {
				t.Errorf("Split(%q) has %q", b, e)
			}
		}
	})
}

// Package agentout reads what agent programs write: JSON lines that may be cut,
// noisy, doubled or lying, and the words in which they report that a model or a
// server failed. It is for host plugins whose agent has an output format of its
// own; it knows no particular agent.
//
// Start at [Decode] for a line, at [Notes] for what a person should hear of, at
// [StatusFault] for a failure with an HTTP status.
package agentout

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/engine/eval"
)

// ErrNotObject is returned by [Decode] for a line that holds something other than
// one JSON object: a banner, a warning of the runtime, half a line.
var ErrNotObject = errors.New("not a JSON object")

// Decode reads one line into v. A field of an unexpected type is left as it is and
// is no error: one odd field must not cost the rest of the line.
func Decode(line []byte, v any) error {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	line = bytes.Trim(line, " \t\r\n\x00")
	if len(line) == 0 || line[0] != '{' {
		return ErrNotObject
	}
	err := unmarshal(line, v)
	if err != nil {
		if fixed, ok := escapeControls(line); ok {
			err = unmarshal(fixed, v)
		}
	}
	return err
}

func unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	var odd *json.UnmarshalTypeError
	if errors.As(err, &odd) {
		return nil
	}
	return err
}

// escapeControls escapes raw control characters inside strings, which JSON
// forbids and careless writers emit; ok is false where there are none.
func escapeControls(b []byte) (fixed []byte, ok bool) {
	const hex = "0123456789abcdef"
	inString, escaped := false, false
	for i, c := range b {
		switch {
		case inString && c < 0x20 && !escaped:
			if !ok {
				fixed, ok = append(make([]byte, 0, len(b)+64), b[:i]...), true
			}
			fixed = append(fixed, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			continue
		case escaped:
			escaped = false
		case c == '\\' && inString:
			escaped = true
		case c == '"':
			inString = !inString
		}
		if ok {
			fixed = append(fixed, c)
		}
	}
	return fixed, ok
}

// JSON returns raw as it was sent, with bytes that are not UTF-8 replaced.
func JSON(raw []byte) eval.JSON {
	if len(raw) == 0 {
		return nil
	}
	return eval.JSON(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
}

// String returns s as a JSON string.
func String(s string) eval.JSON {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return eval.JSON(`""`)
	}
	return b
}

// Arguments returns a call's arguments, which came as text, the way a step keeps
// them: as they are where they are JSON, else as a string with bad set.
func Arguments(text string) (args eval.JSON, bad bool) {
	if json.Valid([]byte(text)) {
		return JSON([]byte(text)), false
	}
	return String(text), true
}

// TextResult returns a tool result that holds one text.
func TextResult(text string, isError bool) eval.JSON {
	b := append([]byte(`{"content":[{"type":"text","text":`), String(text)...)
	b = append(b, `}]`...)
	if isError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}')
}

// Cut returns s where it has at most n bytes, else its beginning, cut between
// runes, with an ellipsis.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

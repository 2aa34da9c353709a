package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// visible returns s as a judge may see it: valid UTF-8, what cannot be seen
// written as \u{...}, and no line that begins like one of the request's own.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	start := true // of a line, white space aside
	var before rune
	for i, n := 0, 0; i < len(s); i += n {
		r := rune(s[i])
		if n = 1; r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r == '\n':
			start = true
		case r == ' ' || r == '\t':
		default:
			if start && marks(s[i:]) {
				out = append(out, '\\')
			}
			start = false
		}
		switch {
		case r >= ' ' && r < 0x7f:
			out = append(out, byte(r))
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case hidden(r) || joins(r) && joins(before) && !(before == emoji && r == joiner):
			out = append(out, `\u{`...)
			out = strconv.AppendInt(out, int64(r), 16)
			out = append(out, '}')
		default:
			out = utf8.AppendRune(out, r)
		}
		before = r
	}
	return string(out)
}

// inLine is [visible] for what stands in a line of the request's own: it begins no
// other.
func inLine(s string) string { return visible(lineEnds.Replace(s)) }

var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// marks reports whether s begins like one of the lines that a request is made of: a
// fence, the head of a step, or what says that something is left out.
func marks(s string) bool {
	if strings.HasPrefix(s, fenceMark) || strings.HasPrefix(s, "[...") {
		return true
	}
	return len(s) > 2 && strings.HasPrefix(s, "[s") && s[2] >= '0' && s[2] <= '9'
}

// isPlain reports whether s is shown as it is: ASCII that can be seen, without
// anything like a line of the request's own.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' && c != '\n' && c != '\t' || c >= 0x7f:
			return false
		case c != '<' && c != '[':
		case strings.HasPrefix(s[i:], fenceMark), strings.HasPrefix(s[i:], "[s"), strings.HasPrefix(s[i:], "[..."):
			return false
		}
	}
	return true
}

// hidden reports whether a character cannot be seen but could be read by a
// model: controls, marks of direction, characters without width, tags, and all that
// Unicode calls ignorable by default. Joiners stay, because letters and pictures are
// made with them, but not in rows.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == joiner || r == 0x200c || r == emoji:
		return false
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0xfeff,
		r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f,
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0x115f, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xffa0, r >= 0xfe00 && r <= 0xfe0f,
		r >= 0xfff0 && r <= 0xfffb, r >= 0x13430 && r <= 0x1343f, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a,
		r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// What letters and pictures are made with: the joiner, and the mark of a picture.
const (
	joiner = 0x200d
	emoji  = 0xfe0f
)

func joins(r rune) bool { return r == joiner || r == 0x200c || r == emoji }

// cut returns s in about limit bytes: its beginning and its end, and between
// them how much is missing.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*6/10, len(s)-limit*4/10
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n[... " + text.Int(utf8.RuneCountInString(s[head:tail])) + " characters left out ...]\n" + s[tail:]
}

// answerText is the final answer: an object or a list as canonical JSON, any
// other text as it is.
func answerText(answer string) string {
	if s := strings.TrimSpace(answer); s != "" && (s[0] == '{' || s[0] == '[') && jsonv.Valid([]byte(s)) {
		return canonical([]byte(s))
	}
	return answer
}

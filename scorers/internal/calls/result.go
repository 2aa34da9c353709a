package calls

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// ResultText returns the text of a call's result: of its text content, joined by
// line breaks, or the structured content where there is no text.
func ResultText(c *eval.Call) string {
	v, err := jsonv.Parse(c.Result)
	if err != nil {
		return ""
	}
	var texts []string
	for _, item := range v.Get("content").Elements() {
		if s, ok := item.Get("text").Str(); ok {
			texts = append(texts, s)
		}
	}
	if len(texts) > 0 {
		return strings.Join(texts, "\n")
	}
	if s := v.Get("structuredContent"); !s.IsNull() {
		return s.String()
	}
	if m, ok := v.Get("error").Get("message").Str(); ok {
		return m
	}
	return v.String()
}

// HostTruncated reports whether the host kept a result from the agent because it
// was too large, and gave it a notice in its place.
func HostTruncated(text string) bool {
	head := strings.ToLower(text[:min(len(text), 500)])
	return strings.Contains(head, "exceeds maximum allowed tokens") ||
		strings.Contains(head, "characters) exceeds maximum allowed") ||
		strings.HasPrefix(head, "<persisted-output>")
}

// Trouble returns the text of a result that the host kept from the agent, or that
// hides an error. Most results are neither and tell by their first characters: they
// are not decoded.
func Trouble(c *eval.Call) (text string, truncated, hidesError bool) {
	if plain(c.Result) {
		return "", false, false
	}
	text = ResultText(c)
	return text, HostTruncated(text), HidesError(c, text)
}

// plain reports whether a result's first text begins in a way that neither a notice
// of the host's nor an error does.
func plain(result []byte) bool {
	const key, window = `"text"`, 1000 // of 500 characters, which may be escaped
	for {
		i := bytes.Index(result, []byte(key))
		if i < 0 {
			return false
		}
		result = bytes.TrimLeft(result[i+len(key):], " \t\r\n")
		if len(result) == 0 || result[0] != ':' { // it was the value of "type"
			continue
		}
		result = bytes.TrimLeft(result[1:], " \t\r\n")
		if len(result) < 2 || result[0] != '"' {
			return false
		}
		switch result[1] {
		case 'e', 'E', '\\', ' ', '"', '<':
			return false
		case '{':
			if !quiet(result) {
				return false
			}
		}
		return !tooLarge(result[:min(len(result), window)])
	}
}

// tooLarge reports whether a text has the words of a host's notice, in any case.
func tooLarge(s []byte) bool {
	const words = "exceeds maximum allowed"
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return bytes.Contains(bytes.ToLower(s), []byte(words))
		}
	}
	for i := 1; i+len(words) <= len(s)+1; i++ {
		if s[i]|' ' == 'x' && strings.EqualFold(string(s[i-1:i-1+len(words)]), words) {
			return true
		}
	}
	return false
}

// quiet reports whether a string, from its quote on, is an object that has none of
// the members that report an error: their names do not stand in it, nor do escapes
// that could stand for a part of one, and no other text follows that could go on
// with it.
func quiet(s []byte) bool {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return !bytes.Contains(s[i:], []byte(`"text"`))
		case '\\':
			if i++; i == len(s) || s[i] == 'u' || s[i] == '\\' && i+1 < len(s) && s[i+1] == 'u' {
				return false
			}
			if s[i] != '"' {
				continue
			}
			for _, name := range [...]string{"status", "success", "ok", "error"} {
				if rest := s[i+1:]; len(rest) > len(name) && string(rest[:len(name)]) == name && rest[len(name)] == '\\' {
					return false
				}
			}
		}
	}
	return false
}

// HidesError reports whether a call ended well although its result's text, as
// [ResultText] has it, reports an error: it begins with "Error:" or the like, or is
// an object whose status, success or ok is false or whose error is set.
func HidesError(c *eval.Call, text string) bool {
	const limit = 64 << 10
	text = strings.TrimSpace(text)
	if c.Status != eval.CallOK || text == "" || HostTruncated(text) {
		return false
	}
	if text[0] != '{' || len(text) > limit {
		return isErrorLine(text)
	}
	v, err := jsonv.Parse([]byte(text))
	return err == nil && reportsError(v)
}

// isErrorLine reports whether the first line is "Error", or begins with "Error:"
// or "Error" and a few words or a code before a colon.
func isErrorLine(text string) bool {
	const word, before = "error", 40
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return false
	}
	line, _, _ := strings.Cut(text[len(word):], "\n")
	line = strings.TrimSpace(line)
	if line == "" {
		return true
	}
	next := text[len(word)]
	colon := strings.IndexByte(line, ':')
	return colon >= 0 && colon <= before && (next == ':' || next == ' ' || next == '(' || next == '[')
}

func reportsError(v jsonv.Value) bool {
	for _, name := range [...]string{"status", "success", "ok"} {
		if b, ok := v.Get(name).Bool(); ok {
			return !b
		}
	}
	switch e := v.Get("error"); e.Kind() {
	case jsonv.String:
		return e.String() != ""
	case jsonv.Object:
		return e.Len() > 0
	case jsonv.Bool:
		b, _ := e.Bool()
		return b
	}
	return false
}

package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/evalengine/evalengine/engine/eval"
)

// Fingerprint is the same for the same finding in other trials, runs and hosts: of
// kind, tool, action and the gist of the text.
func Fingerprint(f eval.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Kind, strings.ToLower(f.Tool), strings.ToLower(f.Action), gist(f.Text)}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// Things in a text that differ from trial to trial, each with what stands in its
// place. The order matters: a path may hold an id, and an id a number.
var varying = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile("\"[^\"]*\"|“[^”]*”|`[^`]*`"), " § "},
	{regexp.MustCompile(`(^|[^\pL\pN])'[^']*'($|[^\pL\pN])`), "$1 § $2"},
	{regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>)\]]+`), " § "},
	{regexp.MustCompile(`(^|[\s(\[=:,])(?:~|\.{1,2}|[a-z]:)?[/\\][^\s"'<>)\],;]+`), "$1 § "},
	{regexp.MustCompile(`\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b`), " § "},
	// A word with a digit in it: an id, a time, a number with its unit.
	{regexp.MustCompile(`[\pL_]*\pN[\pL\pN_.:,-]*`), " § "},
	{regexp.MustCompile(`\b[a-f]{12,}\b`), " § "},
}

// gist is a text without what differs from trial to trial: numbers, ids, what is
// quoted, paths and addresses, case, punctuation and the plural of what is counted.
func gist(text string) string {
	words := same(text)
	for i := 1; i < len(words); i++ {
		if words[i-1] == "§" && len(words[i]) > 3 {
			words[i] = strings.TrimSuffix(words[i], "s")
		}
	}
	words = slices.CompactFunc(words, func(a, b string) bool { return a == "§" && b == "§" })
	// "1 of 3 calls" in one trial may be "1 call" in another.
	return strings.ReplaceAll(strings.Join(words, " "), "§ of §", "§")
}

// maxText bounds how much of a text is looked at.
const maxText = 4 << 10

// same are the words of a text, in lower case, with "§" where something stands that
// differs from trial to trial.
func same(text string) []string {
	text = strings.ToLower(strings.ToValidUTF8(text[:min(len(text), maxText)], " "))
	for _, v := range varying {
		text = v.re.ReplaceAllString(text, v.by)
	}
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '§' && r != '/' && r != '_' && !unicode.IsLetter(r)
	})
}

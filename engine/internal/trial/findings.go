package trial

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/evalengine/evalengine/engine/eval"
)

// settle makes what all finders said into a trial's findings: each said once, with
// its fingerprint, and marked where it cites a step that the transcript does not
// have.
func settle(list []eval.Finding, steps []eval.Step) []eval.Finding {
	known := map[string]bool{}
	for i := range steps {
		known[steps[i].ID] = true
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].Unverified = list[i].Unverified || slices.ContainsFunc(list[i].Evidence, func(e eval.Evidence) bool {
			return e.Step != "" && !known[e.Step]
		})
	}
	list = sayOnce(list)
	for i := range list {
		list[i].Fingerprint = fingerprint(list[i])
	}
	return list
}

// fingerprint is the same for the same finding in other trials, runs and hosts: of
// kind, tool, action and the gist of the text.
func fingerprint(f eval.Finding) string {
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
	const most = 4 << 10
	text = strings.ToLower(strings.ToValidUTF8(text[:min(len(text), most)], " "))
	for _, v := range varying {
		text = v.re.ReplaceAllString(text, v.by)
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '§' && r != '/' && r != '_' && !unicode.IsLetter(r)
	})
	for i := 1; i < len(words); i++ {
		if words[i-1] == "§" && len(words[i]) > 3 {
			words[i] = strings.TrimSuffix(words[i], "s")
		}
	}
	words = slices.CompactFunc(words, func(a, b string) bool { return a == "§" && b == "§" })
	// "1 of 3 calls" in one trial may be "1 call" in another.
	return strings.ReplaceAll(strings.Join(words, " "), "§ of §", "§")
}

// covers has, for a kind of finding, the kinds that say no more than it does where
// they cite the same step or none.
var covers = map[string][]string{
	"tool_error":         {"repeated_failure"},
	"confusing_tool":     {"repeated_failure"},
	"missing_capability": {"unavailable_tool", "repeated_failure", "hidden_error", "mcp_error_in_success"},
	"misleading_success": {"hidden_error", "mcp_error_in_success"},
	"oversized_result":   {"verbose_result", "host_truncated_result"},
	"repeated_call":      {"repeated_call"},
}

// sayOnce leaves out findings that another one covers: several finders look at the
// same calls, and none knows of the others. Of two that cover each other the first
// stays.
func sayOnce(list []eval.Finding) []eval.Finding {
	var out []eval.Finding
	for i, f := range list {
		if !slices.ContainsFunc(list[:i], func(g eval.Finding) bool { return isCovered(f, g) }) &&
			!slices.ContainsFunc(list[i+1:], func(g eval.Finding) bool { return isCovered(f, g) && !isCovered(g, f) }) {
			out = append(out, f)
		}
	}
	return out
}

// isCovered reports whether g, of another finder, says what f says. A finder that
// does not name a tool's server means any.
func isCovered(f, g eval.Finding) bool {
	if f.Source == g.Source || g.Unverified || !slices.Contains(covers[g.Kind], f.Kind) || !sameTool(f.Tool, g.Tool) {
		return false
	}
	if len(f.Evidence) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Evidence, func(e eval.Evidence) bool {
		return e.Step != "" && slices.ContainsFunc(g.Evidence, func(o eval.Evidence) bool { return o.Step == e.Step })
	})
}

func sameTool(a, b string) bool {
	return a != "" && (a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a))
}

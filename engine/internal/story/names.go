package story

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
)

const maxName = 64

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	windowsOwn = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
	// plain spells the letters that European names are full of.
	plain = strings.NewReplacer("ä", "a", "á", "a", "à", "a", "â", "a", "å", "a", "ã", "a", "æ", "ae",
		"é", "e", "è", "e", "ê", "e", "ë", "e", "í", "i", "ì", "i", "î", "i", "ï", "i", "ñ", "n", "ç", "c",
		"ö", "o", "ó", "o", "ò", "o", "ô", "o", "õ", "o", "ø", "o", "ü", "u", "ú", "u", "ù", "u", "û", "u",
		"ß", "ss", "ý", "y", "ÿ", "y", "š", "s", "ž", "z", "č", "c", "ć", "c", "ł", "l", "ő", "o", "ű", "u")
)

// validName reports whether s can stand in a file name on every system and be
// told apart from others where case does not count.
func validName(s string) bool {
	return len(s) <= maxName && nameForm.MatchString(s) && !windowsOwn.MatchString(s)
}

// checkName reports a name that would not be safe as part of a file name.
func (l *loader) checkName(kind, name string, rng hcl.Range) bool {
	if validName(name) {
		return true
	}
	detail := fmt.Sprintf("The name of a %s becomes part of file names: use a-z, 0-9, \"-\" and \"_\", begin with a letter or digit, and stay within %d characters.", kind, maxName)
	if windowsOwn.MatchString(name) {
		detail = fmt.Sprintf("%q cannot be a file name on every system.", name)
	}
	if s := slug(name); s != "" && s != name {
		detail += fmt.Sprintf(" For example %q.", s)
	}
	l.found.fail(rng, "unusable name", "%s", detail)
	return false
}

// slug is the nearest valid name, or empty where nothing of s is left.
func slug(s string) string {
	var b strings.Builder
	for _, r := range plain.Replace(strings.ToLower(s)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxName {
			break
		}
	}
	out := strings.TrimRight(b.String(), "-")
	if windowsOwn.MatchString(out) {
		out += "-1"
	}
	return out
}

// checkTitle reports a check's name that is not one short line of text.
func (l *loader) checkTitle(kind, title string, rng hcl.Range) bool {
	bad := strings.ContainsFunc(title, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError })
	if title == "" || strings.TrimSpace(title) != title || bad || utf8.RuneCountInString(title) > 120 {
		l.found.fail(rng, "unusable name", "The name of a %s is one line of 1 to 120 characters without spaces around it.", kind)
		return false
	}
	return true
}

// suggest is "Did you mean ...?" for the nearest of the known names, or their
// list where none is near and they are few.
func suggest(given string, known []string) string {
	if near := nearest(given, known); near != "" {
		return fmt.Sprintf("Did you mean %q?", near)
	}
	if len(known) == 0 || len(known) > 12 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(known))
	return "There is: " + strings.Join(sorted, ", ") + "."
}

// nearest is the known name that given was most likely meant to be, or empty.
func nearest(given string, known []string) string {
	if near := mistyped(given, known); near != "" {
		return near
	}
	return sameWords(strings.ToLower(given), known)
}

// mistyped is the known name that differs least from given, where that is
// little enough to be a slip.
func mistyped(given string, known []string) string {
	type candidate struct {
		name       string
		far, width int
	}
	var near []candidate
	g := strings.ToLower(given)
	for _, k := range known {
		if len(k) > 2*len(given)+4 || len(given) > 2*len(k)+4 {
			continue
		}
		kl := strings.ToLower(k)
		far := levenshtein.Distance(g, kl, nil)
		if swapped(g, kl) {
			far = 1
		}
		if far <= slips(min(len(g), len(kl))) && far < max(len(g), len(kl)) {
			near = append(near, candidate{k, far, max(len(g)-len(kl), len(kl)-len(g))})
		}
	}
	if len(near) == 0 {
		return ""
	}
	return slices.MinFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.width, b.width), cmp.Compare(a.name, b.name))
	}).name
}

// slips is how many slips a name of n letters may have: of a name of three, two
// leave nothing to recognise.
func slips(n int) int {
	if n <= 3 {
		return 1
	}
	return max(2, n/3)
}

// swapped reports whether two neighbouring letters changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// sameWords is the known name that shares the most words with given: tools are
// more often renamed than mistyped.
func sameWords(given string, known []string) string {
	words := split(given)
	best, most := "", 0
	for _, k := range slices.Sorted(slices.Values(known)) {
		n := 0
		for _, w := range split(strings.ToLower(k)) {
			if slices.Contains(words, w) {
				n += len(w)
			}
		}
		if n > most && n >= 3 {
			best, most = k, n
		}
	}
	return best
}

// fold makes names equal that differ in case alone.
func fold(s string) string { return strings.ToLower(s) }

func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

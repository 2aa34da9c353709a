package site

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// slugify makes an address part from a name: letters and digits in lower case, everything else a separator.
func slugify(name, separator string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteString(separator)
		}
		gap = false
		b.WriteRune(r)
		if b.Len() >= 80 {
			break
		}
	}
	return b.String()
}

func checkSlug(what, slug string) error {
	if want := slugify(slug, "-"); slug == "" || slug != want {
		if want == "" {
			want = "about-us"
		}
		return fmt.Errorf("slug %q of the %s: use lower case letters, digits and -, for example %q", slug, what, want)
	}
	return nil
}

// free returns the name, or the name with the first number from 2 on for which taken is false.
func free(name string, taken func(string) bool) string {
	if !taken(name) {
		return name
	}
	for i := 2; ; i++ {
		if n := name + "-" + strconv.Itoa(i); !taken(n) {
			return n
		}
	}
}

func checkName(what, name string) error {
	if strings.TrimSpace(name) == "" {
		return fmt.Errorf("the %s needs a name", what)
	}
	if len(name) > 256 {
		return fmt.Errorf("the name of the %s is %d bytes long; the limit is 256", what, len(name))
	}
	return nil
}

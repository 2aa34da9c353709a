package redact

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of how often a text may be escaped over again.
const (
	maxEscapes     = 16 // backslashes for one, after four times
	maxBackslashes = maxEscapes - 1
	maxPercents    = 3
)

// maxUnit is how long the form of one byte of a unit can be: backslashes with
// \u and four digits, twice for a character of two surrogates, and a line break.
const maxUnit = 2*(maxBackslashes+5) + 2*maxBackslashes

// pattern is one way in which a secret may stand in a text, as units that may
// each be escaped in their own way.
type pattern struct {
	units []unit
}

// unit is a character of a pattern.
type unit struct {
	// forms are its plain forms: more than one where a letter's case is open.
	forms []string
	// plain and other are forms of one byte; zero where the unit must be looked at
	// with care.
	plain, other byte
	// wrap says that the text may have a line break before it.
	wrap bool
}

func newUnit(wrap bool, forms ...string) unit {
	u := unit{forms: forms, wrap: wrap}
	simple := func(f string) bool { return len(f) == 1 && f[0] != '\\' && f[0] != '%' && f[0] != 0 }
	if len(forms) <= 2 && !slices.ContainsFunc(forms, func(f string) bool { return !simple(f) }) {
		u.plain, u.other = forms[0][0], forms[len(forms)-1][0]
	}
	return u
}

// patterns are the ways in which value may stand in a text: as it is, in
// hexadecimal digits, and as base64 at each of the three places that it can have
// in a longer input.
func patterns(value string) []*pattern {
	out := []*pattern{{units: text(value)}}
	var digits pattern
	for _, c := range hex.EncodeToString([]byte(value)) {
		lower, upper := string(c), strings.ToUpper(string(c))
		if lower == upper {
			digits.units = append(digits.units, newUnit(false, lower))
			continue
		}
		digits.units = append(digits.units, newUnit(false, lower, upper))
	}
	out = append(out, &digits)
	for _, code := range encodings(value) {
		p := &pattern{}
		for i, c := range code {
			forms := []string{string(c)}
			switch c {
			case '+':
				forms = append(forms, "-")
			case '/':
				forms = append(forms, "_")
			}
			p.units = append(p.units, newUnit(i > 0, forms...))
		}
		out = append(out, p)
	}
	return out
}

// text is value, character by character. Backslashes that follow each other are
// one unit: how many there are in a text says how often it is escaped.
func text(value string) []unit {
	var out []unit
	for i := 0; i < len(value); {
		n := 1
		if value[i] == '\\' {
			for i+n < len(value) && value[i+n] == '\\' {
				n++
			}
		} else {
			_, n = utf8.DecodeRuneInString(value[i:])
		}
		forms := []string{value[i : i+n]}
		switch {
		case value[i] == ' ':
			forms = append(forms, "+")
		case n == 1 && value[i] >= utf8.RuneSelf:
			forms = append(forms, "\uFFFD") // what JSON makes of a byte that is no text
		}
		out = append(out, newUnit(false, forms...))
		i += n
	}
	return out
}

// encodings are the base64 texts of value alone and at each of the three places
// that it can have in a longer input, without the characters that its neighbours
// touch.
func encodings(value string) []string {
	out := []string{base64.RawStdEncoding.EncodeToString([]byte(value))}
	for shift := range 3 {
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
		from, to := []int{0, 2, 3}[shift], len(code)
		if (shift+len(value))%3 != 0 {
			to--
		}
		if to-from >= MinLength && !slices.Contains(out, code[from:to]) {
			out = append(out, code[from:to])
		}
	}
	return out
}

// longest is the length that no form of the pattern exceeds.
func (p *pattern) longest() int {
	n := 0
	for _, u := range p.units {
		n += maxUnit * len(u.forms[0])
	}
	return n
}

// firsts are the bytes that the unit's plain forms begin with.
func (u *unit) firsts() []byte {
	var out []byte
	for _, f := range u.forms {
		out = append(out, f[0])
	}
	return out
}

// beginnings are the pairs of bytes that a text of the pattern can begin with
// where its first character is not escaped.
func (p *pattern) beginnings() []uint16 {
	var out []uint16
	for _, f := range p.units[0].forms {
		var seconds []byte
		if len(f) > 1 {
			seconds = []byte{f[1]}
		} else {
			seconds = append(p.units[1].firsts(), '\\', '%')
			if p.units[1].wrap {
				seconds = append(seconds, '\n', '\r')
			}
		}
		for _, c := range seconds {
			if pair := uint16(f[0])<<8 | uint16(c); !slices.Contains(out, pair) {
				out = append(out, pair)
			}
		}
	}
	return out
}

// match returns where the pattern that begins at b[i] ends at the furthest; -1
// where it does not begin there.
func (p *pattern) match(b []byte, i int) int {
	at := places{n: 1}
	at.list[0] = i
	for n := range p.units {
		u := &p.units[n]
		if at.n == 1 && u.plain != 0 {
			if at.list[0] >= len(b) {
				return -1
			}
			c := b[at.list[0]]
			if c == u.plain || c == u.other {
				at.list[0]++
				continue
			}
			if c != '\\' && c != '%' && !(u.wrap && (c == '\n' || c == '\r')) {
				return -1
			}
		}
		var next places
		for _, from := range at.list[:at.n] {
			u.step(b, from, n == 0, &next)
			if u.wrap {
				if to := lineBreak(b, from); to > from {
					u.step(b, to, false, &next)
				}
			}
		}
		if next.n == 0 {
			return -1
		}
		at = next
	}
	return slices.Max(at.list[:at.n])
}

// places are where in a text the next unit may begin.
type places struct {
	list [8]int
	n    int
}

func (p *places) add(i int) {
	if p.n < len(p.list) && !slices.Contains(p.list[:p.n], i) {
		p.list[p.n] = i
		p.n++
	}
}

// step adds every place at which the unit ends that begins at b[i].
func (u *unit) step(b []byte, i int, first bool, out *places) {
	if i >= len(b) {
		return
	}
	for _, f := range u.forms {
		if f[0] == '\\' {
			u.backslashes(b, i, len(f), out)
		} else if strings.HasPrefix(string(b[i:min(len(b), i+len(f))]), f) {
			out.add(i + len(f))
		}
		if b[i] == '%' {
			if to := percents(b, i, f); to > 0 {
				out.add(to)
			}
		}
	}
	if b[i] != '\\' {
		return
	}
	if c, to, ok := unescape(b, i); ok && slices.Contains(u.forms, c) {
		out.add(to)
	}
	if after := i + backslashes(b, i); first && after < len(b) && (after-i)%2 == 1 {
		// A plain text with a backslash before the secret.
		for _, f := range u.forms {
			if strings.HasPrefix(string(b[after:min(len(b), after+len(f))]), f) {
				out.add(after + len(f))
			}
		}
	}
}

// backslashes takes n backslashes, each doubled as often as there are enough.
func (u *unit) backslashes(b []byte, i, n int, out *places) {
	run := 0
	for run < maxEscapes*n && i+run < len(b) && b[i+run] == '\\' {
		run++
	}
	to := n
	for run >= 2*to {
		to *= 2
	}
	if run >= to {
		out.add(i + to)
	}
	// Each in a form of its own.
	at := i
	for range n {
		c, to, ok := unescape(b, at)
		if !ok || c != `\` {
			return
		}
		at = to
	}
	out.add(at)
}

// backslashes is how many there are at b[i], as far as they are looked at.
func backslashes(b []byte, i int) int {
	n := 0
	for n < maxBackslashes && i+n < len(b) && b[i+n] == '\\' {
		n++
	}
	return n
}

// escaped are the first bytes that the character at the backslash b[i] may stand
// for.
func escaped(b []byte, i int) []byte {
	out := []byte{'\\'}
	if c, _, ok := unescape(b, i); ok && c != `\` {
		out = append(out, c[0])
	}
	if after := i + backslashes(b, i); after < len(b) && (after-i)%2 == 1 && !slices.Contains(out, b[after]) {
		out = append(out, b[after])
	}
	return out
}

// letters are what follows a backslash for characters that have such a form.
var letters = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'a': "\a", 'v': "\v",
	'"': `"`, '\'': "'", '/': "/", '&': "&", '<': "<", '>': ">",
}

// unescape reads the character that the backslashes at b[i] and what follows them
// stand for, and where it ends.
func unescape(b []byte, i int) (c string, to int, ok bool) {
	run := backslashes(b, i)
	to = i + run
	if run == 0 || to >= len(b) {
		return "", 0, false
	}
	switch b[to] {
	case 'x':
		v, ok := number(b, to+1, 2)
		return string([]byte{byte(v)}), to + 3, ok
	case 'u':
		v, ok := number(b, to+1, 4)
		if !ok {
			return "", 0, false
		}
		to += 5
		if utf16.IsSurrogate(v) && backslashes(b, to) == run && to+run < len(b) && b[to+run] == 'u' {
			if low, ok := number(b, to+run+1, 4); ok {
				if r := utf16.DecodeRune(v, low); r != unicode.ReplacementChar {
					return string(r), to + run + 5, true
				}
			}
		}
		return string(v), to, true
	}
	c, ok = letters[b[to]]
	return c, to + 1, ok
}

// lineBreak is where a line break at b[i], plain or escaped, ends; i where there
// is none.
func lineBreak(b []byte, i int) int {
	for range 2 {
		switch {
		case i < len(b) && (b[i] == '\r' || b[i] == '\n'):
			i++
		case i < len(b) && b[i] == '\\':
			c, to, ok := unescape(b, i)
			if !ok || c != "\n" && c != "\r" {
				return i
			}
			i = to
		default:
			return i
		}
	}
	return i
}

// percents is where the bytes of f, each URL-encoded, end that begin at b[i]; 0
// where they do not.
func percents(b []byte, i int, f string) int {
	for n := range len(f) {
		v, to, ok := percent(b, i)
		if !ok || v != f[n] {
			return 0
		}
		i = to
	}
	return i
}

// percent reads a URL-encoded byte, also where its percent sign is encoded over
// again.
func percent(b []byte, i int) (v byte, to int, ok bool) {
	if i >= len(b) || b[i] != '%' {
		return 0, 0, false
	}
	n, ok := number(b, i+1, 2)
	if !ok {
		return 0, 0, false
	}
	to = i + 3
	for range maxPercents {
		more, again := number(b, to, 2)
		if n != '%' || !again {
			break
		}
		n, to = more, to+2
	}
	return byte(n), to, true
}

// number reads that many hexadecimal digits.
func number(b []byte, i, digits int) (v rune, ok bool) {
	if i+digits > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+digits] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

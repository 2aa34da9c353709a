package redact

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
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
// An entity with its ampersand escaped is no longer.
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

// escapes reports whether c begins an escaped character in some notation.
func escapes(c byte) bool { return c == '\\' || c == '%' || c == '&' || c == '=' }

func newUnit(wrap bool, forms ...string) unit {
	u := unit{forms: forms, wrap: wrap}
	simple := func(f string) bool { return len(f) == 1 && f[0] != 0 && !escapes(f[0]) }
	if len(forms) <= 2 && !slices.ContainsFunc(forms, func(f string) bool { return !simple(f) }) {
		u.plain, u.other = forms[0][0], forms[len(forms)-1][0]
	}
	return u
}

// patterns are the ways in which value may stand in a text: as it is, also in
// UTF-16, in hexadecimal digits, and as base64 at each of the three places that it
// can have in a longer input.
func patterns(value string) []*pattern {
	out := []*pattern{{units: text(value)}}
	codes := encodings(value)
	if utf8.ValidString(value) {
		little, big := wide(value, binary.LittleEndian), wide(value, binary.BigEndian)
		// Without the zero at an end, that of plain letters is found in both.
		end, start := strings.TrimSuffix(little, "\x00"), strings.TrimPrefix(big, "\x00")
		out = append(out, &pattern{units: text(end)})
		if start != end {
			out = append(out, &pattern{units: text(start)})
		}
		codes = append(codes, encodings(little)...)
	}
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
	for _, code := range codes {
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

// wide is value in UTF-16.
func wide(value string, order binary.AppendByteOrder) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(value)) {
		out = order.AppendUint16(out, u)
	}
	return string(out)
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
			seconds = append(p.units[1].firsts(), '\\', '%', '&', '=')
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
			if !escapes(c) && !(u.wrap && (c == '\n' || c == '\r')) {
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
		if to := byBytes(b, i, f); to > 0 {
			out.add(to)
		}
	}
	if c, to, ok := entity(b, i); ok && slices.Contains(u.forms, c) {
		out.add(to)
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
			c, to, ok = entity(b, at)
		}
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
	if v, _, ok := octet(b, i); ok && !slices.Contains(out, v) {
		out = append(out, v)
	}
	if c, _, ok := entity(b, i); ok && !slices.Contains(out, c[0]) {
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
	case 'U':
		v, ok := number(b, to+1, 8)
		return string(v), to + 9, ok && utf8.ValidRune(v)
	case 'u':
		if v, to, ok := braced(b, to+1); ok {
			return string(v), to, true
		}
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

// byBytes is where the bytes of f, each escaped in the same notation, end that
// begin at b[i]; 0 where they do not.
func byBytes(b []byte, i int, f string) int {
	if i >= len(b) || !escapes(b[i]) {
		return 0
	}
	for _, read := range []func([]byte, int) (byte, int, bool){percent, printable, octet} {
		to, n := i, 0
		for n < len(f) {
			v, after, ok := read(b, to)
			if !ok || v != f[n] {
				break
			}
			to, n = after, n+1
		}
		if n == len(f) {
			return to
		}
	}
	return 0
}

// printable reads a byte of quoted-printable text, before which a line may be
// broken.
func printable(b []byte, i int) (v byte, to int, ok bool) {
	for _, br := range []string{"=\r\n", "=\n"} {
		if strings.HasPrefix(string(b[i:min(len(b), i+len(br))]), br) {
			i += len(br)
		}
	}
	if i >= len(b) || b[i] != '=' {
		return 0, 0, false
	}
	n, ok := number(b, i+1, 2)
	return byte(n), i + 3, ok
}

// octet reads a byte that is escaped as \x and two hexadecimal digits, or in
// three octal ones.
func octet(b []byte, i int) (v byte, to int, ok bool) {
	to = i + backslashes(b, i)
	if to == i || to >= len(b) {
		return 0, 0, false
	}
	if b[to] == 'x' {
		n, ok := number(b, to+1, 2)
		return byte(n), to + 3, ok
	}
	if to+3 > len(b) || b[to] > '3' {
		return 0, 0, false
	}
	n := 0
	for _, c := range b[to : to+3] {
		if c < '0' || c > '7' {
			return 0, 0, false
		}
		n = n<<3 | int(c-'0')
	}
	return byte(n), to + 3, true
}

// braced reads hexadecimal digits in braces.
func braced(b []byte, i int) (v rune, to int, ok bool) {
	if i >= len(b) || b[i] != '{' {
		return 0, 0, false
	}
	for n := 1; n <= 6 && i+1+n < len(b); n++ {
		if b[i+1+n] == '}' {
			v, ok = number(b, i+1, n)
			return v, i + n + 2, ok && utf8.ValidRune(v)
		}
	}
	return 0, 0, false
}

// entities are the characters that HTML and XML have names for, as far as escaping
// makes use of them.
var entities = map[string]string{
	"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'", "nbsp": "\u00a0",
	"sol": "/", "bsol": `\`, "plus": "+", "equals": "=", "grave": "`", "Tab": "\t", "NewLine": "\n",
}

// maxEntity is how long a name or number between & and ; can be.
const maxEntity = 9

// entity reads a character of HTML or XML, also where its ampersand is escaped
// over again, or for JSON.
func entity(b []byte, i int) (c string, to int, ok bool) {
	switch {
	case i >= len(b):
		return "", 0, false
	case b[i] == '&':
		to = i + 1
	case b[i] == '%':
		v, after, ok := percent(b, i)
		if !ok || v != '&' {
			return "", 0, false
		}
		to = after
	case b[i] == '\\':
		if c, to, ok = unescape(b, i); !ok || c != "&" {
			return "", 0, false
		}
	default:
		return "", 0, false
	}
	for range maxPercents {
		if !strings.HasPrefix(string(b[to:min(len(b), to+4)]), "amp;") {
			break
		}
		if c, after, ok := named(b, to+4); ok {
			return c, after, true
		}
		to += 4
	}
	if c, after, ok := named(b, to); ok {
		return c, after, true
	}
	if to > i+1 {
		return "&", to, true
	}
	return "", 0, false
}

// named reads what stands between & and ; of an entity, and the ;.
func named(b []byte, i int) (c string, to int, ok bool) {
	n := 0
	for i+n < len(b) && n <= maxEntity && b[i+n] != ';' {
		n++
	}
	if n == 0 || n > maxEntity || i+n >= len(b) {
		return "", 0, false
	}
	name, to := string(b[i:i+n]), i+n+1
	if name[0] != '#' {
		c, ok = entities[name]
		return c, to, ok
	}
	base, digits := 10, name[1:]
	if digits != "" && digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	v, err := strconv.ParseUint(digits, base, 21)
	return string(rune(v)), to, err == nil && utf8.ValidRune(rune(v))
}

// percent reads a URL-encoded byte, also where its percent sign is encoded over
// again.
func percent(b []byte, i int) (v byte, to int, ok bool) {
	if i >= len(b) || b[i] != '%' {
		return 0, 0, false
	}
	n, ok := number(b, i+1, 2)
	if !ok {
		return percentU(b, i)
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

// percentU reads the form of old scripts, for characters of one byte.
func percentU(b []byte, i int) (v byte, to int, ok bool) {
	if i+1 >= len(b) || b[i+1] != 'u' {
		return 0, 0, false
	}
	n, ok := number(b, i+2, 4)
	return byte(n), i + 6, ok && n < utf8.RuneSelf
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

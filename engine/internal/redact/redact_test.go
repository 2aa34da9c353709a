package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	const secret = `tgt_8Hq"+/é<x`
	var s Set
	if err := s.Add("token", secret); err != nil {
		t.Fatal(err)
	}
	quoted, _ := json.Marshal(secret)
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "a " + secret + " b", "a [secret] b"},
		{"json", `{"k":` + string(quoted) + `}`, `{"k":"[secret]"}`},
		{"query", "?t=" + url.QueryEscape(secret) + "&x=1", "?t=[secret]&x=1"},
		{"path", "/" + url.PathEscape(secret) + "/", "/[secret]/"},
		{"hex", hex.EncodeToString([]byte(secret)), "[secret]"},
		{"base64", base64.RawStdEncoding.EncodeToString([]byte(secret)), "[secret]"},
		{"other", "nothing here", "nothing here"},
	} {
		if got := s.String(tt.text); got != tt.want {
			t.Errorf("%s: String(%q) = %q; want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestStringBase64Inside(t *testing.T) {
	const secret = "correct-horse-battery"
	var s Set
	if err := s.Add("k", secret); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"", "u", "us", "use", "user:"} {
		text := base64.StdEncoding.EncodeToString([]byte(prefix + secret + ":tail"))
		if !s.Has([]byte(text)) {
			t.Errorf("with prefix %q: %q is not seen to hold the secret", prefix, text)
		}
	}
}

func TestAddShort(t *testing.T) {
	var s Set
	if err := s.Add("pin", "1234"); !errors.Is(err, ErrShort) {
		t.Errorf("Add of a short value = %v; want ErrShort", err)
	}
	if got := s.String("1234"); got != "1234" {
		t.Errorf("String = %q; want it unchanged", got)
	}
}

// formsOf are the forms in which a value is met in what agents and servers write.
func formsOf(value string) []string {
	once, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(once))
	thrice, _ := json.Marshal(string(twice))
	inner := func(b []byte) string { return strings.Trim(string(b), `"`) }
	var units, upper, percents strings.Builder
	for _, u := range utf16.Encode([]rune(value)) {
		fmt.Fprintf(&units, `\u%04x`, u)
		fmt.Fprintf(&upper, `\u%04X`, u)
	}
	for _, c := range []byte(value) {
		fmt.Fprintf(&percents, "%%%02x", c)
	}
	out := []string{
		value, inner(once), strings.ReplaceAll(inner(once), "/", `\/`), units.String(), upper.String(), strings.ReplaceAll(units.String(), `\`, `\\`),
		strings.Trim(strconv.Quote(value), `"`), url.QueryEscape(value), url.PathEscape(value), url.QueryEscape(url.QueryEscape(value)),
		strings.ToLower(url.QueryEscape("")) + percents.String(), strings.ToUpper(percents.String()),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.URLEncoding.EncodeToString([]byte(value)),
		url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(value))),
	}
	if utf8.ValidString(value) {
		out = append(out, markupForms(value)...)
	}
	// Quotes were trimmed from the outside alone.
	return append(out, string(twice[3:len(twice)-3]), string(thrice[7:len(thrice)-7]))
}

// markupForms are those of HTML, mail and scripts.
func markupForms(value string) []string {
	escaped := html.EscapeString(value)
	inJSON, _ := json.Marshal(escaped) // with \u0026 for each ampersand
	var decimal, hexa, zeros, octal, bytesX, braces, long strings.Builder
	for _, r := range value {
		fmt.Fprintf(&decimal, "&#%d;", r)
		fmt.Fprintf(&hexa, "&#x%X;", r)
		fmt.Fprintf(&zeros, "&#x%06x;", r)
		fmt.Fprintf(&braces, `\u{%x}`, r)
		fmt.Fprintf(&long, `\U%08x`, r)
	}
	var printable, broken strings.Builder
	for i, c := range []byte(value) {
		fmt.Fprintf(&octal, `\%03o`, c)
		fmt.Fprintf(&bytesX, `\x%02x`, c)
		fmt.Fprintf(&printable, "=%02X", c)
		if i == 5 {
			broken.WriteString("=\r\n")
		}
		fmt.Fprintf(&broken, "=%02X", c)
	}
	return []string{
		escaped, html.EscapeString(escaped), strings.ReplaceAll(escaped, "&#34;", "&quot;"), string(inJSON[1 : len(inJSON)-1]),
		decimal.String(), hexa.String(), strings.ToLower(hexa.String()), zeros.String(), octal.String(), bytesX.String(), braces.String(), long.String(),
		printable.String(), broken.String(),
	}
}

// Programs of Windows write UTF-16, alone and as base64; a log of such bytes may be
// a JSON string as well.
func TestUTF16(t *testing.T) {
	for _, value := range []string{"correct-horse-battery", "tgt_8Hq\"+/\\é<x 😀\n%z"} {
		var s Set
		if err := s.Add("k", value); err != nil {
			t.Fatal(err)
		}
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			raw := wide("a"+value+"b", order)
			quoted, _ := json.Marshal(raw)
			for _, text := range []string{raw, string(quoted)} {
				got := s.String(text)
				if !strings.Contains(got, Mark) || len(got) > len(text)/2+24 {
					t.Errorf("%q in %T: %q becomes %q", value, order, text, got)
				}
			}
		}
		for _, prefix := range []string{"", "x", "xy"} {
			code := base64.StdEncoding.EncodeToString([]byte(wide(prefix+value+" ", binary.LittleEndian)))
			if got := s.String(code); !strings.Contains(got, Mark) || len(got) > 28 {
				t.Errorf("%q after %q: %q becomes %q", value, prefix, code, got)
			}
		}
	}
}

// What only looks like the beginning of an escaped character stays.
func TestNoEscapes(t *testing.T) {
	var s Set
	if err := s.Add("k", "a&b=c\\d%e-secret"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"&", "=", "%", `\`, "a&", "a&b=", "&#;", "&#x;", "&#99999999;", "&amp", "a&amp;", "=4", "=\r", `\x`, `\u{`, `\u{}`, `\U0011ffff`, `\777`, "%u00"} {
		if got := s.String(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := s.String("<a&amp;b=3Dc\\\\d%25e-secret>"); got != "<[secret]>" {
		t.Errorf("mixed notations become %q", got)
	}
}

// Every form of a secret goes, and what is around it stays.
func TestForms(t *testing.T) {
	for _, value := range []string{secretText, "correct-horse-battery", `C:\\nightly\token`, "äöüßéèêë", "key\xffwith\xfebytes"} {
		var s Set
		if err := s.Add("k", value); err != nil {
			t.Fatal(err)
		}
		for i, form := range formsOf(value) {
			if !utf8.ValidString(value) && strings.Contains(form, `\u`) {
				continue // what is no text has no such form
			}
			got := s.String("before " + form + ". after")
			// The padding of base64 says nothing of the secret.
			got = strings.NewReplacer("=", "", "%3D", "").Replace(got)
			if want := "before [secret]. after"; got != want {
				t.Errorf("form %d of %q: %q becomes %q; want %q", i, value, form, got, want)
			}
		}
	}
}

// Base64 of a long secret is wrapped into lines by the tools that make it.
func TestWrappedBase64(t *testing.T) {
	value := strings.Repeat("long-secret-", 20)
	var s Set
	if err := s.Add("k", value); err != nil {
		t.Fatal(err)
	}
	code := base64.StdEncoding.EncodeToString([]byte(value))
	for _, sep := range []string{"\n", "\r\n", `\n`, `\r\n`, `\\n`} {
		var lines []string
		for rest := code; rest != ""; {
			n := min(76, len(rest))
			lines, rest = append(lines, rest[:n]), rest[n:]
		}
		if got := s.String("<" + strings.Join(lines, sep) + ">"); got != "<[secret]>" {
			t.Errorf("lines ended by %q become %q", sep, got)
		}
	}
}

// A JSON text stays one.
func TestJSONStaysValid(t *testing.T) {
	var s Set
	for _, v := range []string{"nightly-token", `ends-with\`, `"quoted-token"`, secretText} {
		if err := s.Add("k", v); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []string{
		"nightly-token", "\nightly-token", `\nightly-token`, `\\nightly-token`, `ends-with\`, `ends-with\"x`, `ends-with\\"`,
		`"quoted-token"`, `\"quoted-token"`, secretText, `\` + secretText + `\`,
	} {
		raw, _ := json.Marshal(v)
		for range 4 {
			got := s.Bytes(raw)
			if !json.Valid(got) {
				t.Errorf("%s becomes %s", raw, got)
			}
			if s.Has(got) {
				t.Errorf("%s becomes %s, which has a secret", raw, got)
			}
			raw, _ = json.Marshal(string(raw))
		}
	}
}

// Secrets that lie over each other go whole.
func TestOverlap(t *testing.T) {
	var s Set
	for _, v := range []string{"aaaa-bbbb-cccc", "cccc-dddd-eeee", "bbbb-cccc"} {
		if err := s.Add("k", v); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.String("<aaaa-bbbb-cccc-dddd-eeee>"); got != "<[secret]>" {
		t.Errorf("got %q", got)
	}
}

func FuzzBytes(f *testing.F) {
	for _, form := range formsOf(secretText) {
		f.Add(secretText, []byte(form))
	}
	f.Add("nightly-token", []byte(`{"a":"x\nightly-token"}`))
	f.Add(`ends-with\`, []byte(`{"a":"ends-with\\"}`))
	f.Add("%25%25%25%25%25", []byte("%25252525252525"))
	f.Fuzz(func(t *testing.T, value string, text []byte) {
		var s Set
		if s.Add("k", value) != nil || value == "" || len(value) > 200 {
			return
		}
		got := s.Bytes(text)
		if len(got) > len(text) {
			t.Errorf("%q with secret %q grows to %q", text, value, got)
		}
		if strings.Contains(string(got), value) && !strings.Contains(Mark, value) && !strings.Contains(value, "[") && !strings.Contains(value, "]") {
			t.Errorf("%q becomes %q, which has %q", text, got, value)
		}
		if json.Valid(text) && text[0] == '"' && !json.Valid(got) && json.Valid([]byte(`"`+value+`"`)) {
			t.Errorf("%q with secret %q becomes %q", text, value, got)
		}
		var parts []byte
		if err := s.stream(bytes.NewReader(text), func(b []byte, _ bool) error {
			parts = append(parts, b...)
			return nil
		}); err != nil || !bytes.Equal(parts, got) {
			t.Errorf("stream of %q = %q, %v; want %q", text, parts, err, got)
		}
	})
}

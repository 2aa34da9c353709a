package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"
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

func TestFile(t *testing.T) {
	var s Set
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("x secret-value y"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Add("k", "secret-value"); err != nil {
		t.Fatal(err)
	}
	if err := s.File(path); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if string(got) != "x [secret] y" {
		t.Errorf("file = %q", got)
	}
}

package redact

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretText is a secret with every kind of character that is escaped somewhere.
const secretText = "tgt_8Hq\"+/\\é<x 😀\n%z"

func TestFile(t *testing.T) {
	var s Set
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("x secret-value y"), 0o400); err != nil {
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

// A secret is found at every place across the border of two parts.
func TestFileAcrossParts(t *testing.T) {
	var s Set
	if err := s.Add("k", "secret-value"); err != nil {
		t.Fatal(err)
	}
	first := chunk + s.index.longest // where the first part ends
	path := filepath.Join(t.TempDir(), "log")
	for _, form := range []string{"secret-value", `\u0073ecret\u002dvalue`, "7365637265742D76616c7565", `\secret-value`} {
		for at := first - len(form) - 1; at <= first+1; at++ {
			text := strings.Repeat("a", at) + form + strings.Repeat("b", 100)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := s.File(path); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(path)
			if want := strings.Repeat("a", at) + Mark + strings.Repeat("b", 100); string(got) != want {
				t.Fatalf("%q at %d: file has %d bytes; want %d; its end is %q", form, at, len(got), len(want), got[max(0, at-20):])
			}
		}
	}
}

// What a file becomes is what its text becomes at once.
func TestStreamIsBytes(t *testing.T) {
	var s Set
	if err := s.Add("k", secretText); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, form := range formsOf(secretText) {
		text.WriteString(strings.Repeat(`plain "text" \\ `, 4000))
		text.WriteString(form)
	}
	var got bytes.Buffer
	err := s.stream(bytes.NewReader(text.Bytes()), func(b []byte, _ bool) error {
		got.Write(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := s.Bytes(text.Bytes()); !bytes.Equal(got.Bytes(), want) {
		t.Errorf("stream gives %d bytes; want the %d of Bytes", got.Len(), len(want))
	}
}

func BenchmarkBytes(b *testing.B) {
	var s Set
	for _, v := range []string{"sk-ant-0123456789abcdef", "tgt_8Hqwertzuiop", secretText} {
		if err := s.Add("k", v); err != nil {
			b.Fatal(err)
		}
	}
	text := bytes.Repeat([]byte(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"id\":\"el_17\",\"name\":\"Größe\"}"}]}}`+"\n"), 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Bytes(text)
	}
}

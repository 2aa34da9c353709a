// Package redact takes secret values out of whatever the engine writes or
// shows. It matches by value in the usual encodings, never by the look of a key.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
)

// MinLength is the fewest characters that a secret may have: a shorter one
// would take half of every log with it.
const MinLength = 8

// ErrShort is returned by [Set.Add] for a value under MinLength characters:
// make the secret longer, or do not declare it one.
var ErrShort = errors.New("a secret must have at least 8 characters")

// Mark is what stands in a secret's place.
const Mark = "[secret]"

// Set is the secret values known so far. It is safe for concurrent use; the
// zero Set knows none.
type Set struct {
	mu       sync.RWMutex
	values   map[string]bool
	forms    [][]byte
	replacer *strings.Replacer
}

// Add makes value a secret. The empty value is ignored.
func (s *Set) Add(name, value string) error {
	if value == "" {
		return nil
	}
	if len(value) < MinLength {
		return fmt.Errorf("%s: %w", name, ErrShort)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[value] {
		return nil
	}
	if s.values == nil {
		s.values = map[string]bool{}
	}
	s.values[value] = true
	for _, f := range forms(value) {
		s.forms = append(s.forms, []byte(f))
	}
	// Longer forms first: a form may hold another.
	slices.SortStableFunc(s.forms, func(a, b []byte) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(s.forms))
	for _, f := range s.forms {
		pairs = append(pairs, string(f), Mark)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return nil
}

// forms are the ways in which value may stand in a text.
func forms(value string) []string {
	out := []string{value}
	add := func(f string) {
		if f != "" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	quoted, _ := json.Marshal(value)
	add(string(quoted[1 : len(quoted)-1]))
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) == nil {
		add(strings.Trim(strings.TrimSpace(plain.String()), `"`))
	}
	add(url.QueryEscape(value))
	add(url.PathEscape(value))
	add(hex.EncodeToString([]byte(value)))
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for _, f := range encodings(e, value) {
			add(f)
		}
	}
	return out
}

// encodings are the base64 texts of value at each of the three places that it
// can have in a longer input, without the characters that its neighbours touch.
func encodings(e *base64.Encoding, value string) []string {
	out := []string{e.WithPadding(base64.NoPadding).EncodeToString([]byte(value))}
	for shift := range 3 {
		text := e.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, shift), value...))
		from := []int{0, 2, 3}[shift]
		to := len(text)
		if (shift+len(value))%3 != 0 {
			to--
		}
		if to-from >= MinLength {
			out = append(out, text[from:to])
		}
	}
	return out
}

// String returns text with every secret replaced by [Mark].
func (s *Set) String(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.replacer == nil {
		return text
	}
	return s.replacer.Replace(text)
}

// Has reports whether b holds a secret in any of its forms.
func (s *Set) Has(b []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.forms {
		if bytes.Contains(b, f) {
			return true
		}
	}
	return false
}

// Bytes returns b with every secret replaced; b itself where there is none.
func (s *Set) Bytes(b []byte) []byte {
	if !s.Has(b) {
		return b
	}
	return []byte(s.String(string(b)))
}

// File rewrites the file in place where it holds a secret.
func (s *Set) File(path string) error {
	s.mu.RLock()
	none := s.replacer == nil
	s.mu.RUnlock()
	if none {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !s.Has(b) {
		return nil
	}
	return os.WriteFile(path, s.Bytes(b), 0o600)
}

package main

import (
	"errors"
	"strings"
	"testing"
)

func testExpander() *expander {
	return &expander{
		fixed: map[string]string{"workdir": "/w", "nonce": "n", "trial": "s.base.h.r1", "token": "t", "home": "/h", "tmp": "/t"},
		env:   map[string]string{"API_KEY": "k"},
		used:  map[string]bool{},
		port: func(name string) (int, error) {
			if name == "bad" {
				return 0, errors.New("no port")
			}
			return 1000 + len(name), nil
		},
	}
}

func TestExpand(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"{workdir}/a/{nonce}", "/w/a/n"},
		{"{home}{tmp}{trial}{token}", "/h/ts.base.h.r1t"},
		{"http://127.0.0.1:{port}/{port:db}", "http://127.0.0.1:1000/1002"},
		{"Bearer {env:API_KEY}", "Bearer k"},
		// A brace that begins no placeholder is itself.
		{`{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"awk '{print $1}'", "awk '{print $1}'"},
		{"${HOME} ${A}", "${HOME} ${A}"},
		{"{", "{"}, {"a{", "a{"}, {"{}", "{}"}, {"}", "}"}, {"{ port }", "{ port }"},
		// Two braces are one.
		{"{{port}", "{port}"}, {"{{{port}", "{1000"}, {"{{{{", "{{"}, {"{{.ID}}", "{.ID}}"},
	} {
		got, err := testExpander().expand(tt.in)
		if got != tt.want || err != nil {
			t.Errorf("expand(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestExpandErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"{prot}", "unknown placeholder {prot}; there are {workdir}, {home}, {tmp}, {port}"},
		{"x{workdir:a}", "unknown placeholder {workdir:a}"},
		{"{port:}", "unknown placeholder {port:}"},
		{"{port:a.b}", "unknown placeholder {port:a.b}"},
		{"{env}", "unknown placeholder {env}"},
		{"{env:OTHER}", "does not list OTHER"},
		{"{port:bad}", "no port"},
	} {
		got, err := testExpander().expand(tt.in)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("expand(%q) = %q, %v; want an error with %q", tt.in, got, err, tt.want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"{port}{{x}", "{port:a}", "{env:API_KEY}", "{{{{{workdir}", "{nope}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, err := testExpander().expand(in)
		if err != nil {
			return
		}
		if !strings.Contains(in, "{") && out != in {
			t.Fatalf("expand(%q) = %q; there was nothing to replace", in, out)
		}
		// What is escaped comes out as it was.
		if same, err := testExpander().expand(strings.ReplaceAll(in, "{", "{{")); err != nil || same != in {
			t.Fatalf("escaped %q = %q, %v", in, same, err)
		}
	})
}

package story

import (
	"strings"
	"testing"
)

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Claude Code": "claude-code", "../../etc/x": "etc-x", "blog: «köp» 🛒 / draft": "blog-kop-draft",
		"CON": "con-1", "a__b": "a__b", "_x_": "x_", "日本": "", "Straße": "strasse", "x--y": "x-y", "...": "",
		strings.Repeat("a", 240): strings.Repeat("a", 64),
	} {
		got := slug(in)
		if got != want {
			t.Errorf("slug(%q) = %q; want %q", in, got, want)
		}
		if got != "" && !validName(got) {
			t.Errorf("slug(%q) = %q, which is no valid name", in, got)
		}
	}
}

func TestNearest(t *testing.T) {
	tests := []struct {
		given string
		known []string
		want  string
	}{
		{"modle", []string{"model", "mode"}, "model"},
		{"collection_create", []string{"collections_create", "collections_delete"}, "collections_create"},
		{"page_add", []string{"pages_list", "add_page", "publish"}, "add_page"},
		{"x", []string{"y", "zz"}, ""},
		{"foo", []string{"log", "for"}, "for"},
		{"foo", []string{"log", "floor"}, ""},
		{"tol", []string{"tool"}, "tool"},
		{"entirely", []string{"different", "words"}, ""},
		{"Model", []string{"model"}, "model"},
	}
	for _, tt := range tests {
		if got := nearest(tt.given, tt.known); got != tt.want {
			t.Errorf("nearest(%q, %q) = %q; want %q", tt.given, tt.known, got, tt.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"128MiB": 128 << 20, "64KiB": 65536, "1GiB": 1 << 30, "5MB": 5_000_000, "10 kB": 10_000, "1024": 1024, "7B": 7,
		"0": 0, "-1": 0, "MiB": 0, "1.5MiB": 0, "1TiB": 0, "99999999999GiB": 0, "": 0} {
		if got, ok := parseSize(in); got != want || ok != (want > 0) {
			t.Errorf("parseSize(%q) = %d, %v; want %d", in, got, ok, want)
		}
	}
}

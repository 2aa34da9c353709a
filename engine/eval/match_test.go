package eval

import (
	"strings"
	"testing"
)

func TestMatchTool(t *testing.T) {
	tests := []struct {
		pattern, server, tool string
		want                  bool
	}{
		{"collections_create", "cms", "collections_create", true},
		{"collections_create", "cms", "collections_create2", false},
		{"*_delete", "cms", "page_delete", true},
		{"*_delete", "cms", "page_delete_all", false},
		{"designer_*", "cms", "designer_open_tab", true},
		{"cms/*", "cms", "designer_open_tab", true},
		{"prod/search", "stage", "search", false},
		{"prod/search", "prod", "search", true},
		{"*", "cms", "user-profile/update", true},
		{"user-profile/*", "cms", "user-profile/update", true},
		{"page_?", "cms", "page_é", true},
		{"page_?", "cms", "page_", false},
		{"/Bash", "", "Bash", true},
		{"/Bash", "cms", "Bash", false},
		{"", "cms", "x", false},
		{"**a**", "", "bab", true},
		{strings.Repeat("*a", 200) + "b", "", strings.Repeat("a", 2000), false},
	}
	for _, tt := range tests {
		if got := MatchTool(tt.pattern, tt.server, tt.tool); got != tt.want {
			t.Errorf("MatchTool(%q, %q, %q) = %v; want %v", tt.pattern, tt.server, tt.tool, got, tt.want)
		}
	}
}

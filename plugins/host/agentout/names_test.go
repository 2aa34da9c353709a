package agentout

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		servers            []string
		wire, server, tool string
	}{
		{[]string{"cms"}, "mcp__cms__create", "cms", "create"},
		{[]string{"my__srv"}, "mcp__my__srv__a__b", "my__srv", "a__b"},
		{[]string{"my__srv"}, "mcp__my__srv__admin_tools_list", "my__srv", "admin_tools_list"},
		{[]string{"my.srv/x y"}, "mcp__my_srv_x_y__go", "my.srv/x y", "go"},
		{[]string{"a", "a__b"}, "mcp__a__b__c", "a", "b__c"},
		{[]string{"a", "a__b"}, "mcp__s2_a__b__c", "a__b", "c"},
		{[]string{"a__b", "a"}, "mcp__a__b__c", "a__b", "c"},
		{[]string{"a.b", "a b"}, "mcp__a_b__c", "a.b", "c"},
		{[]string{"a.b", "a b"}, "mcp__s2_a_b__c", "a b", "c"},
		{[]string{"prod", "stage"}, "mcp__stage__search", "stage", "search"},
		{[]string{"cms"}, "mcp__other__x", "", "mcp__other__x"},
		{[]string{"cms"}, "mcp__cms__", "", "mcp__cms__"},
		{[]string{"cms"}, "ToolSearch", "", "ToolSearch"},
		{[]string{"köp🛒"}, "mcp__k_p___x", "köp🛒", "x"},
		{[]string{""}, "mcp__server__x", "", "x"},
		{[]string{"my-srv"}, "mcp__my-srv__x", "my-srv", "x"},
	} {
		server, tool := NewNames(c.servers, "-").Split(c.wire)
		if server != c.server || tool != c.tool {
			t.Errorf("NewNames(%q, -).Split(%q) = %q, %q; want %q, %q", c.servers, c.wire, server, tool, c.server, c.tool)
		}
	}
}

func TestWireNames(t *testing.T) {
	n := NewNames([]string{"my-srv", "my_srv", "b"}, "")
	if got := n.Wire("my-srv") + " " + n.Wire("my_srv") + " " + n.Wire("b") + " " + n.Wire("none"); got != "my_srv s2_my_srv b " {
		t.Errorf("Wire = %q", got)
	}
	if s, ok := n.Server("s2_my_srv"); s != "my_srv" || !ok {
		t.Errorf("Server = %q, %v", s, ok)
	}
	if _, ok := n.Server("my-srv"); ok {
		t.Error("Server knows a name that is not on the wire")
	}
	if got := n.Servers(); !slices.Equal(got, []string{"b", "my-srv", "my_srv"}) {
		t.Errorf("Servers = %q", got)
	}
}

func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "host")
	if err := NewNames([]string{"cms"}, "").Keep(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a folder is made for nothing: %v", err)
	}
	if err := NewNames([]string{"cms", "my srv"}, "").Keep(dir); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"cms\": \"cms\",\n  \"my srv\": \"my_srv\"\n}\n"
	if got, err := os.ReadFile(filepath.Join(dir, "names.json")); err != nil || string(got) != want {
		t.Errorf("names.json = %q, %v; want %q", got, err, want)
	}
}

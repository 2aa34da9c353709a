package story

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

const toolSuite = `suite "s" {}
host "a" { driver = "codex" }
target "site" {
  provisioner = "sitebuilder"
  tool "designer_*" { requires = ["tab"] }
  tool "page_delete" { destructive = true }
  tool "gone_*" { destructive = true }
  tool "gone" { destructive = true }
}
target "other" { provisioner = "sitebuilder" }
story "x" {
  target = target.site
  prompt = "x"
  variant "v" {
    tool "page_*" { hide = true }
    tool "pge_delete" { hide = true }
    tool "none_*" { hide = true }
  }
  assert "tools/called" { tool = "collections_create" }
  assert "tools/called" { tool = "search" }
  assert "tools/called" { tool = "prod/search" }
  assert "tools/called" { tool = "*/search" }
  assert "tools/not_called" { tool = "/Bash" }
  assert "tools/not_called" { tool = "*_destroy" }
  assert "tools/called" { tool = target.name }
  assert "tools/order" {
    tools = ["page_delete",
      "page_creat"]
    steps = [{ tool = "designer_open" }, { tool = "designer_close" }]
  }
  assert "answer/contains" { text = "no tool" }
}
story "y" {
  target = target.other
  prompt = "x"
  assert "tools/called" { tool = "elsewhere" }
}
`

func TestCheckTools(t *testing.T) {
	s := mustLoad(t, map[string]string{"suite.hcl": toolSuite}, Options{})
	tools := []eval.Tool{
		{Server: "cms", Name: "data_cms_tool", InputSchema: eval.JSON(`{"properties":{"actions":{"items":{"properties":{"create_collection":{}}}}}}`)},
		{Server: "cms", Name: "page_delete"}, {Server: "cms", Name: "page_create"}, {Server: "cms", Name: "designer_open"},
		{Server: "prod", Name: "search"}, {Server: "stage", Name: "search"},
	}
	var got []string
	for _, d := range CheckTools(s, "site", tools) {
		got = append(got, fmt.Sprintf("%d:%d-%d %v: %s", d.Subject.Start.Line, d.Subject.Start.Column, d.Subject.End.Column, d.Severity, d.Summary))
	}
	want := []string{
		"7:8-16 warning: pattern covers no tool",
		"8:8-14 error: tool not offered by target",
		"16:10-22 error: tool not offered by target (closest: page_delete)",
		"17:10-18 error: pattern covers no tool",
		"19:34-54 error: tool not offered by target (closest: data_cms_tool)",
		"20:34-42 error: ambiguous tool",
		"24:38-49 warning: pattern covers no tool",
		"28:7-19 error: tool not offered by target (closest: page_create)",
		"29:51-67 error: tool not offered by target (closest: designer_open)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("CheckTools (-want +got):\n%s", d)
	}
	list := CheckTools(s, "site", tools)
	if got, want := list[5].Detail, `Several servers of target.site offer "search": write prod/search or stage/search, or "*/search" for any of them.`; got != want {
		t.Errorf("Detail = %q; want %q", got, want)
	}
}

func TestCheckToolsReportsAPlaceOnce(t *testing.T) {
	s := mustLoad(t, map[string]string{"suite.hcl": header + `
story "x" {
  for_each = { a = 1, b = 2, c = 3 }
  target   = target.site
  prompt   = each.key
  assert "tools/called" { tool = "gone" }
}`}, Options{})
	if got := CheckTools(s, "site", nil); len(got) != 1 {
		t.Errorf("CheckTools = %v; want one error for three stories of one block", got)
	}
}

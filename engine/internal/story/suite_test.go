package story

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

func TestDesign(t *testing.T) {
	c := &fakeCatalog{}
	s, list := Load(context.Background(), []string{"testdata/valid/design.hcl"}, Options{Catalog: c})
	if len(list) != 0 {
		t.Fatalf("Load: %v", list)
	}
	dir, _ := filepath.Abs("testdata/valid")
	file := "testdata/valid/design.hcl"
	late := cmp.FilterPath(func(p cmp.Path) bool {
		switch p.Last().String() {
		case ".Turns", ".Variants", ".Checks", ".Uses", ".Captures", ".Files":
			return true
		}
		return false
	}, cmp.Ignore())
	want := &eval.Suite{
		Name: "site-builder", Dir: dir, Repeats: 3, Timeout: 10 * time.Minute, OnTimeout: eval.TimeoutFails, Retries: 2, BudgetUSD: 20, Circuit: 5,
		Hosts: []eval.HostConfig{
			{Name: "claude", Driver: "claude-code", Isolation: eval.IsolationAuto, Config: eval.JSON(`{"model":"sonnet","max_turns":40}`), Source: eval.Source{File: file, Line: 14, Column: 1}},
			{Name: "codex", Driver: "codex", Isolation: eval.IsolationAuto, Config: eval.JSON(`{"model":"gpt-5-codex","max_turns":40}`), Source: eval.Source{File: file, Line: 23, Column: 1}},
		},
		Targets: []eval.TargetConfig{{
			Name: "site", Provisioner: "sitebuilder", Config: eval.JSON(`{"template":"blank"}`), Source: eval.Source{File: file, Line: 28, Column: 1},
			Tools: []eval.ToolRule{
				{Pattern: "designer_*", Requires: []string{"designer_tab"}, Source: eval.Source{File: file, Line: 31, Column: 8}},
				{Pattern: "*_delete", Destructive: true, Source: eval.Source{File: file, Line: 32, Column: 8}},
			},
		}},
		Models: []eval.ModelConfig{{Name: "judge", Provider: "anthropic", Model: "claude-opus-4-5", Config: eval.JSON(`{}`), Source: eval.Source{File: file, Line: 35, Column: 1}}},
		Modules: []eval.ModuleConfig{{
			Name: "brand", Path: filepath.Join(dir, "brand.wasm"), Source: eval.Source{File: file, Line: 40, Column: 1},
			Grants: eval.Grants{Models: []string{"judge"}, MemoryBytes: 128 << 20, Timeout: 5 * time.Second},
		}},
		Stories: []eval.Story{{
			Name: "cms-collection", Tags: []string{"cms"}, Target: "site", Source: eval.Source{File: file, Line: 49, Column: 1},
			Gold: &eval.Gold{Result: eval.Result{Script: filepath.Join(dir, "gold", "cms.json")}, Source: eval.Source{File: file, Line: 94, Column: 3}},
		}},
		Vars: map[string]string{"workspace": "demo"}, Secrets: []string{},
	}
	if d := cmp.Diff(want, s, late); d != "" {
		t.Errorf("Load (-want +got):\n%s", d)
	}
	var files []string
	for _, f := range s.Files {
		files = append(files, f.Path)
	}
	if d := cmp.Diff([]string{"design.hcl", "rubrics/cms.md", "gold/cms.json"}, files); d != "" {
		t.Errorf("Files (-want +got):\n%s", d)
	}
	asked := []string{"host claude-code", "host codex", "model anthropic", "module brand", "module html", "module judge", "module path", "module tools", "provisioner sitebuilder"}
	if d := cmp.Diff(asked, c.sorted()); d != "" {
		t.Errorf("asked of the catalog (-want +got):\n%s", d)
	}
	designStory(t, &s.Stories[0])
}

func designStory(t *testing.T, st *eval.Story) {
	t.Helper()
	vars := eval.Vars{Target: eval.JSON(`{"url":"http://t"}`)}
	value := func(l eval.Late[string]) string {
		if l == nil {
			return "-"
		}
		v, err := l.Value(vars)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	got := []string{}
	for _, turn := range st.Turns {
		got = append(got, "turn "+turn.Name+": "+value(turn.Prompt))
	}
	for _, v := range st.Variants {
		got = append(got, "variant "+v.Name+": "+value(v.Prompt)+value(v.Prepend)+value(v.Append))
	}
	for _, c := range st.Checks {
		got = append(got, "check "+c.Name+": "+string(c.Dimension))
	}
	for _, u := range st.Uses {
		p, err := u.Params.Value(vars)
		if err != nil {
			t.Error(err)
		}
		got = append(got, string(u.Role)+" "+u.Name+" "+strings.Join(u.Models, " ")+": "+string(p))
	}
	for _, c := range st.Captures {
		if d := cmp.Diff([]eval.Viewport{{Width: 1280, Height: 800}}, c.Viewports); d != "" {
			t.Errorf("viewports: %s", d)
		}
		got = append(got, "capture "+c.Name+": "+value(c.URL))
	}
	want := []string{
		"turn : On http://t, create a CMS collection \"Recipes\" with three fields and add one entry.\n",
		"turn publish: Now publish the site.",
		"variant original: ---",
		"variant hardened: --Do not use Designer canvas tools.",
		"check collection exists: outcome",
		`assert tools/called : {"tool":"collections_create","min":1}`,
		`assert tools/not_called : {"tool":"*_delete"}`,
		`measure html/semantic_html_ratio : {}`,
		`measure path/effort : {}`,
		`judge judge/transcript judge: {"rubric":"Fields must fit recipes: ${not a template}.\n"}`,
		`judge judge/visual judge: {"pages":["home"],"brief":"A calm recipe site: clear hierarchy, readable type, nothing broken."}`,
		`judge brand/tone judge: {"brief":"warm"}`,
		"capture home: http://t/",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("story (-want +got):\n%s", d)
	}
}

func TestDefaults(t *testing.T) {
	s := mustLoad(t, map[string]string{"suite.hcl": "suite \"s\" {}\nhost \"a\" { driver = \"codex\" }\nhost \"b\" { driver = \"codex\" }\nstory \"x\" { prompt = \"x\" }\n"}, Options{})
	if s.Repeats != 1 || s.Timeout != 10*time.Minute || s.Retries != 2 || s.BudgetUSD != 0 || len(s.Hosts) != 2 || len(s.Targets) != 0 {
		t.Errorf("defaults = %d repeats, %v, %d retries, %v USD, %d hosts, %d targets", s.Repeats, s.Timeout, s.Retries, s.BudgetUSD, len(s.Hosts), len(s.Targets))
	}
}

func TestForEach(t *testing.T) {
	s := mustLoad(t, map[string]string{
		"suite.hcl": "suite \"s\" {}\nhost \"a\" { driver = \"codex\" }\nhost \"b\" { driver = \"codex\" }\n",
		"recipes.story.hcl": `
locals {
  languages = yamldecode(file("languages.yaml"))
}
story "recipes" {
  for_each = local.languages
  prompt   = "Write in ${each.value.name}."
  tags     = [each.key]
  hosts    = [host[each.value.host]]
  repeats  = each.value.repeats
  check "c" {
    condition     = strcontains(answer, each.value.name)
    error_message = "not in ${each.value.name}"
  }
}
story "page" {
  for_each = toset(["Über uns", "Home!"])
  prompt   = "Make ${each.value}"
}
story "named" {
  for_each = { x = "one", y = "two" }
  name     = "n-${each.value}"
  prompt   = each.key
}`,
		"languages.yaml": "en: { name: English, host: a, repeats: 2 }\nfr: { name: French, host: b, repeats: 3 }\n",
	}, Options{})
	var got []string
	for _, st := range s.Stories {
		p, _ := st.Turns[0].Prompt.Value(eval.Vars{})
		got = append(got, st.Name+"|"+p+"|"+strings.Join(st.Tags, ",")+"|"+strings.Join(st.Hosts, ","))
	}
	want := []string{
		"recipes-en|Write in English.|en|a", "recipes-fr|Write in French.|fr|b",
		"page-home|Make Home!||", "page-uber-uns|Make Über uns||",
		"n-one|x||", "n-two|y||",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("stories (-want +got):\n%s", d)
	}
	if s.Stories[1].Repeats != 3 {
		t.Errorf("Repeats = %d; want 3", s.Stories[1].Repeats)
	}
	_, message, err := s.Stories[1].Checks[0].Condition.Eval(eval.Facts{Answer: "hello"})
	if message != "not in French" || err != nil {
		t.Errorf("Eval = %q, %v; want \"not in French\"", message, err)
	}
}

func TestVariables(t *testing.T) {
	const suite = `suite "s" { repeats = var.n }
host "a" { driver = "codex" }
variable "n" {
  type    = number
  default = 1
}
variable "text" { default = "d" }
variable "list" {
  type    = list(object({ name = string, size = optional(number, 4) }))
  default = []
}
variable "flag" {
  type    = bool
  default = false
}
story "x" { prompt = "${var.n} ${var.text} ${jsonencode(var.list)} ${var.flag}" }
`
	file := filepath.Join(t.TempDir(), "a.vars")
	if err := os.WriteFile(file, []byte("n = 2\ntext = \"file\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := func(name string) (string, bool) {
		v, ok := map[string]string{"EVALENGINE_VAR_text": "env", "EVALENGINE_VAR_flag": "true", "EVALENGINE_VAR_n": "7"}[name]
		return v, ok
	}
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"defaults", Options{}, "1 d [] false"},
		{"environment", Options{Environ: environ}, "7 env [] true"},
		{"file before environment", Options{Environ: environ, VarFiles: []string{file}}, "2 file [] true"},
		{"flag before file", Options{VarFiles: []string{file}, Vars: map[string]string{"n": "3", "text": "${x} = y", "list": `[{ name = "a" }]`}}, `3 ${x} = y [{"name":"a","size":4}] false`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustLoad(t, map[string]string{"suite.hcl": suite}, tt.o)
			if got, _ := s.Stories[0].Turns[0].Prompt.Value(eval.Vars{}); got != tt.want {
				t.Errorf("prompt = %q; want %q", got, tt.want)
			}
		})
	}
	s := mustLoad(t, map[string]string{"suite.hcl": suite}, tests[3].o)
	if d := cmp.Diff(map[string]string{"n": "3", "text": "${x} = y", "list": `[{ name = "a" }]`, "flag": "false"}, s.Vars); d != "" {
		t.Errorf("Vars (-want +got):\n%s", d)
	}
}

func TestSecrets(t *testing.T) {
	s := mustLoad(t, map[string]string{"suite.hcl": `suite "s" {}
variable "key" { sensitive = true }
variable "none" {
  sensitive = true
  default   = ""
}
locals { bearer = "Bearer ${var.key}" }
host "a" {
  driver = "codex"
  config { api_key = local.bearer }
}
story "x" { prompt = "The key is ${var.key}" }
`}, Options{Vars: map[string]string{"key": "tgt_12345"}})
	if d := cmp.Diff([]string{"Bearer tgt_12345", "tgt_12345"}, s.Secrets); d != "" {
		t.Errorf("Secrets (-want +got):\n%s", d)
	}
	if _, ok := s.Vars["key"]; ok {
		t.Error("Vars has the sensitive variable")
	}
	if got, want := string(s.Hosts[0].Config), `{"max_turns":40,"api_key":"Bearer tgt_12345"}`; got != want {
		t.Errorf("Config = %s; want %s", got, want)
	}
}

func TestUnusedIsNotAskedFor(t *testing.T) {
	c := &fakeCatalog{}
	s, list := load(t, map[string]string{
		"brand.wasm": "x",
		"suite.hcl": `suite "s" { hosts = [host.a] }
host "a" { driver = "codex" }
host "b" { driver = "nothing-of-the-kind" }
target "t" { provisioner = "sitebuilder" }
scorer "brand" { source = "brand.wasm" }
story "x" { prompt = "x" }
`}, Options{Catalog: c})
	if d := cmp.Diff([]string{"host codex"}, c.sorted()); d != "" {
		t.Errorf("asked (-want +got):\n%s", d)
	}
	if s == nil || len(s.Hosts) != 1 || len(s.Targets) != 0 || len(s.Modules) != 0 {
		t.Errorf("suite = %+v", s)
	}
	var got []string
	for _, d := range list {
		got = append(got, d.Severity.String()+" "+d.Summary)
	}
	if d := cmp.Diff([]string{"warning unused target", "warning unused scorer module"}, got); d != "" {
		t.Errorf("list (-want +got):\n%s", d)
	}
}

func TestLoadPaths(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"suite.hcl": "suite \"s\" {}\nhost \"a\" { driver = \"codex\" }\n", "b.story.hcl": "story \"b\" { prompt = path.suite }\n",
		".hidden.hcl": "nonsense", "notes.txt": "nonsense", "more/c.hcl": "story \"c\" { prompt = \"x\" }\n",
	}
	for name, text := range files {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		paths   []string
		stories string
		err     string
	}{
		{[]string{dir}, "b", ""},
		{[]string{dir, filepath.Join(dir, "more")}, "b c", ""},
		{[]string{filepath.Join(dir, "suite.hcl"), filepath.Join(dir, "b.story.hcl"), dir}, "b", ""},
		{[]string{filepath.Join(dir, "suite.hcl")}, "", "no stories"},
		{[]string{filepath.Join(dir, "more")}, "", "no suite block"},
		{[]string{filepath.Join(dir, "none")}, "", "suite cannot be read"},
		{nil, "", "no suite given"},
	}
	for _, tt := range tests {
		s, list := Load(context.Background(), tt.paths, Options{Catalog: &fakeCatalog{}})
		if tt.err != "" {
			if len(list) == 0 || list[0].Summary != tt.err {
				t.Errorf("Load(%q): %v; want %q", tt.paths, list, tt.err)
			}
			continue
		}
		var names []string
		if s != nil {
			for _, st := range s.Stories {
				names = append(names, st.Name)
			}
		}
		if got := strings.Join(names, " "); got != tt.stories {
			t.Errorf("Load(%q) = stories %q, %v; want %q", tt.paths, got, list, tt.stories)
		}
	}
}

func TestLoadStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, list := Load(ctx, []string{"testdata/valid/design.hcl"}, Options{Catalog: &fakeCatalog{}})
	if len(list) != 1 || list[0].Summary != "loading was stopped" || !strings.Contains(list[0].Detail, context.Canceled.Error()) {
		t.Errorf("Load = %v; want one error for the cancelled context", list)
	}
}

func TestContextIsTheBlockAround(t *testing.T) {
	_, list := Load(context.Background(), []string{"testdata/invalid/changes.hcl"}, Options{Catalog: &fakeCatalog{}})
	for _, d := range list {
		if d.Summary == "fault_every without fault" {
			want := diag.Pos{Line: 9, Column: 5, Byte: d.Context.Start.Byte}
			if d.Context.Start != want {
				t.Errorf("Context.Start = %v; want %v", d.Context.Start, want)
			}
			return
		}
	}
	t.Error("the error is missing")
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "suite.hcl")
	const text = "suite \"s\" {}\r\nhost \"a\" { driver = \"codex\" }\r\nstory \"x\" { prompt = \"x\" }\r\n"
	if err := os.WriteFile(file, []byte("\xef\xbb\xbf"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, list := Load(context.Background(), []string{file}, Options{Catalog: &fakeCatalog{}})
	if list != nil {
		t.Fatal(list)
	}
	if err := os.WriteFile(file, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := string(Sources(s)(file)), strings.ReplaceAll(text, "\r", ""); got != want {
		t.Errorf("Sources of the suite = %q; want %q", got, want)
	}
	if got := string(Sources(nil)(file)); got != "changed" {
		t.Errorf("Sources of nothing = %q; want what is on disk", got)
	}
	if got := Sources(s)(filepath.Join(dir, "none")); got != nil {
		t.Errorf("Sources of a missing file = %q; want nil", got)
	}
	if got, want := string(s.Files[0].Content), "\xef\xbb\xbf"+text; got != want {
		t.Errorf("Content = %q; want the bytes on disk", got)
	}
}

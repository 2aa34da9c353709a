package story

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/diag"
	"github.com/evalengine/evalengine/engine/eval"
)

func TestDraftText(t *testing.T) {
	d := Draft{
		Name: "usage-a-b", Notes: []string{"Seen in 30 sessions.", "a \n}\r\nb\u2028c"}, Tags: []string{"usage", "held-out"}, Target: "site",
		Hint: "Say it.", Order: []string{"pages/list", "b"}, Called: []DraftCall{{Tool: "pages/list"}, {Tool: "b", Action: "add"}},
	}
	const want = `# Seen in 30 sessions.
# a  }  b c

story "usage-a-b" {
  tags   = ["usage", "held-out"]
  target = target.site
  prompt = unfinished("Say it.")

  assert "tools/order" {
    tools = ["pages/list", "b"]
  }

  assert "tools/called" {
    tool = "pages/list"
  }

  assert "tools/called" {
    tool   = "b"
    action = "add"
  }
}
`
	if diff := cmp.Diff(want, string(d.Bytes())); diff != "" {
		t.Error(diff)
	}
}

// TestDraftLoads writes drafts of texts that try to be more than texts: they do not
// load unfinished, and load as what they say when they are finished.
func TestDraftLoads(t *testing.T) {
	for _, text := range []string{
		"plain", `a "quoted" name`, "${file(\"/etc/passwd\")}", "%{ for x in y }", "$${x}", `back\slash \"`, "}\n# story", "é \u202e x", "`x`", "/* x", "EOT", "$", "%", "${", "\x00\x1b[31m",
	} {
		d := Draft{Name: DraftName("usage", []string{text, "x"}), Notes: []string{text, "*/ " + text}, Tags: []string{"usage"}, Hint: text,
			Order: []string{text + "a", "b"}, Called: []DraftCall{{Tool: text}}}
		if _, list := loadDraft(t, d); !list.HasErrors() || list[0].Summary != "unfinished prompt" || len(list) != 1 {
			t.Errorf("%q unfinished: %v", text, list)
		}
		d.Prompt = text + "."
		s, list := loadDraft(t, d)
		if list.HasErrors() {
			t.Errorf("%q finished: %v\n%s", text, list, d.Bytes())
			continue
		}
		if got, err := s.Stories[0].Turns[0].Prompt.Value(eval.Vars{}); got != d.Prompt || err != nil {
			t.Errorf("prompt %q; want %q: %v", got, d.Prompt, err)
		}
	}
}

func loadDraft(t *testing.T, d Draft) (*eval.Suite, diag.List) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"suite.hcl": "suite \"s\" {}\nhost \"a\" { driver = \"codex\" }\n", d.Name + ".story.hcl": string(d.Bytes())} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(context.Background(), []string{dir}, Options{Catalog: &fakeCatalog{}})
}

func TestDraftName(t *testing.T) {
	long := strings.Repeat("very_long_tool_name", 5)
	seen := map[string]bool{}
	for _, words := range [][]string{{"a", "b"}, {"a-b"}, {"a", "b", ""}, {"../../etc"}, {long}, {long, "x"}, {"日本"}, {"con"}} {
		name := DraftName("usage", words)
		if !validName(name) || seen[name] || !strings.HasPrefix(name, "usage-") {
			t.Errorf("DraftName(%q) = %q", words, name)
		}
		seen[name] = true
	}
	if got := DraftName("usage", []string{"pages_list", "Publish"}); got != "usage-pages_list-publish-e4899f78" {
		t.Errorf("DraftName = %q", got)
	}
}

func FuzzDraft(f *testing.F) {
	f.Add("a", "${x}", "b\n")
	f.Fuzz(func(t *testing.T, tool, action, prompt string) {
		d := Draft{Name: DraftName("usage", []string{tool, action}), Notes: []string{tool}, Tags: []string{"usage"}, Prompt: "x" + prompt, Called: []DraftCall{{tool, action}}}
		file := filepath.Join(t.TempDir(), "d.story.hcl")
		if err := os.WriteFile(file, d.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		l := newLoader(Options{Catalog: &fakeCatalog{}})
		defer l.close()
		l.parse([]string{file})
		if l.found.list.HasErrors() {
			t.Fatalf("%v\n%s", l.found.list, d.Bytes())
		}
		if b := l.parsed[0].body.Blocks; len(b) != 1 || b[0].Type != "story" || len(l.parsed[0].body.Attributes) != 0 {
			t.Errorf("the file has more than its story:\n%s", d.Bytes())
		}
	})
}

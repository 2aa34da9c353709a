// Package docstest holds docs/scorers.md to the manifests of the built-in modules:
// the reference of each is written from its manifest, and the examples use every
// scorer with parameters that it has.
//
//	go test -p 1 ./scorers/... -run Docs -update
package docstest

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

var update = flag.Bool("update", false, "write the module's reference into docs/scorers.md")

// File is the documentation as a module's test sees it.
const File = "../../docs/scorers.md"

// Check compares the documentation with a module's manifest.
func Check(t *testing.T, m *eval.Manifest) {
	t.Helper()
	b, err := os.ReadFile(File)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	begin, end := "<!-- reference of "+m.Module+" -->\n", "<!-- end -->\n"
	head, rest, ok := strings.Cut(text, begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no reference of %s", File, m.Module)
	}
	want := "\n" + reference(m)
	if have != want && *update {
		text = head + begin + want + end + tail
		if err := os.WriteFile(File, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		have = want
	}
	if have != want {
		t.Errorf("%s does not say what the manifest of %s says: run go test -p 1 ./scorers/... -run Docs -update", File, m.Module)
	}
	examples(t, text, m)
}

func reference(m *eval.Manifest) string {
	var sb strings.Builder
	for _, s := range m.Scorers {
		sb.WriteString("### " + m.Module + "/" + s.Name + "\n\n")
		sb.WriteString(string(s.Role) + ", " + string(s.Dimension))
		if s.Unit != "" {
			sb.WriteString(", in " + s.Unit)
		}
		sb.WriteString(". " + escape(s.Doc) + "\n\n")
		if len(s.Params.Attributes) == 0 {
			sb.WriteString("No parameters.\n\n")
			continue
		}
		sb.WriteString("| parameter | type | default | meaning |\n|---|---|---|---|\n")
		for _, a := range s.Params.Attributes {
			sb.WriteString("| " + strings.Join([]string{"`" + a.Name + "`", a.Type, standard(a), meaning(a)}, " | ") + " |\n")
		}
		sb.WriteString("\n")
	}
	return sb.String()
}

func standard(a eval.Attribute) string {
	switch {
	case a.Required:
		return "required"
	case len(a.Default) > 0:
		return "`" + string(a.Default) + "`"
	}
	return ""
}

func meaning(a eval.Attribute) string {
	said := escape(a.Doc)
	if len(a.Enum) > 0 {
		said += " One of `" + strings.Join(a.Enum, "`, `") + "`."
	}
	return said
}

// escape keeps * and | from being taken for Markdown.
func escape(s string) string {
	return strings.NewReplacer("*", `\*`, "|", `\|`, "<", `\<`).Replace(s)
}

var (
	block     = regexp.MustCompile(`(?m)^ *(assert|measure|judge) "([a-z_]+)/([a-z_]+)" \{(.*)$`)
	attribute = regexp.MustCompile(`^ *([a-z_]+) += `)
)

// examples checks every use of the module's scorers in the text.
func examples(t *testing.T, text string, m *eval.Manifest) {
	used := map[string]bool{}
	for _, at := range block.FindAllStringSubmatchIndex(text, -1) {
		role, module, name := text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]
		if module != m.Module {
			continue
		}
		s := m.Scorer(name)
		if s == nil || string(s.Role) != role {
			t.Errorf("%s: there is no %s %s/%s", File, role, module, name)
			continue
		}
		used[name] = true
		for _, line := range body(text[at[8]:]) {
			if a := attribute.FindStringSubmatch(line); a != nil {
				if _, ok := s.Params.Attribute(a[1]); !ok && !(s.Role == eval.RoleJudge && (a[1] == "model" || a[1] == "models")) {
					t.Errorf("%s: %s/%s has no parameter %q", File, module, name, a[1])
				}
			}
		}
	}
	for _, s := range m.Scorers {
		if !used[s.Name] {
			t.Errorf("%s has no example of %s/%s", File, m.Module, s.Name)
		}
	}
}

// body returns the lines of a block, from behind its opening brace to the brace
// that closes it; what lies within inner braces and brackets is left out.
func body(text string) []string {
	depth := 1
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if depth == 1 {
			lines = append(lines, line)
		}
		depth += strings.Count(line, "{") + strings.Count(line, "[") - strings.Count(line, "}") - strings.Count(line, "]")
		if depth <= 0 {
			break
		}
	}
	return lines
}

package coverage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseTools(t *testing.T) {
	for _, tt := range []struct{ name, content, want, err string }{
		{"an answer", `{"tools":[{"name":"a","inputSchema":{"x":1}},{"name":"b"}]}`, `srv/a {"x":1}, srv/b `, ""},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}`, `srv/a `, ""},
		{"a trial's", `[{"server":"own","name":"a","input_schema":{"y":2}}]`, `own/a {"y":2}`, ""},
		{"a boolean schema", `{"tools":[{"name":"a","inputSchema":true}]}`, `srv/a true`, ""},
		{"none", `{"tools":[]}`, ``, ""},
		{"something else", `{"resources":[]}`, ``, "it holds no list of tools"},
		{"no JSON", `tools`, ``, "it holds no list of tools"},
		{"null", `null`, ``, "it holds no list of tools"},
		{"no name", `{"tools":[{"name":"a"},{"title":"b"}]}`, ``, "tool 2 has no name"},
		{"a name that is a number", `{"tools":[{"name":7}]}`, ``, "tool 1: "},
		{"too many", `[` + strings.Repeat(`{},`, maxTools) + `{}]`, ``, "it lists 10001 tools; at most 10000 are taken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := ParseTools([]byte(tt.content), "srv")
			var parts []string
			for _, x := range tools {
				parts = append(parts, x.Server+"/"+x.Name+" "+string(x.InputSchema))
			}
			if got := strings.Join(parts, ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v; want %q", err, tt.err)
			}
		})
	}
}

func TestReadTools(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	if _, err := ReadTools(file, ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(file, []byte(`{"tools":[{"name":"a"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if tools, err := ReadTools(file, ""); err != nil || len(tools) != 1 {
		t.Errorf("%v, %v", tools, err)
	}
	if err := os.Truncate(file, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTools(file, ""); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("error %v", err)
	}
}

func FuzzParseTools(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","inputSchema":{"properties":{"mode":{"enum":["x","y"]}}}}]}`))
	f.Add([]byte(`{"result":{"tools":[{"name":"a","inputSchema":false}]}}`))
	f.Add([]byte(`[{"server":"s","name":"a"},{"server":"s","name":"a","input_schema":null}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tools, err := ParseTools(b, "s")
		if err != nil {
			return
		}
		m := New("x", []Target{{Name: "t", Source: "file", Tools: tools}}, []Story{{Name: "s", Target: "t", Asks: []Ask{{Use: "u", Tools: []string{"*"}}}}})
		c := m.Coverage(nil)
		if c.Tools.Total != len(c.List) || c.Tools.Total > len(tools) {
			t.Errorf("%d tools counted, %d listed, of %d", c.Tools.Total, len(c.List), len(tools))
		}
		if !Drift(tools, tools).None() {
			t.Error("a list differs from itself")
		}
	})
}

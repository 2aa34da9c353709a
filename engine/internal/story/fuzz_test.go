package story

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// FuzzLoad checks that no suite file, however broken, stops the engine, and that
// a suite without errors can be used.
func FuzzLoad(f *testing.F) {
	for _, folder := range []string{"valid", "invalid"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.hcl"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(toolSuite))
	f.Add([]byte(header + "story \"x\" {\r\n  prompt = <<-EOT\r\n\t${a}\r\n  EOT\r\n}\r\n"))
	f.Add([]byte("\xef\xbb\xbf" + header + "story \"x\" { prompt = \"\\ud83d $${a} %%{b} ${1}\" }"))
	dir := f.TempDir()
	path := filepath.Join(dir, "suite.hcl")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, list := Load(context.Background(), []string{path}, Options{Catalog: &fakeCatalog{}})
		if (s == nil) != list.HasErrors() {
			t.Fatalf("Load = %v, %v", s, list)
		}
		for _, d := range list {
			if d.Summary == "" || d.Severity == 0 {
				t.Errorf("diagnostic without text: %+v", d)
			}
		}
		if s != nil {
			use(t, s)
		}
	})
}

func use(t *testing.T, s *eval.Suite) {
	f := facts()
	for i := range s.Stories {
		st := &s.Stories[i]
		if !validName(st.Name) || len(st.Turns) == 0 || s.Repeats < 1 || s.Timeout <= 0 || len(s.Hosts) == 0 {
			t.Errorf("unusable suite: %+v", s)
		}
		for _, turn := range st.Turns {
			_, _ = turn.Prompt.Value(trialVars)
		}
		for _, c := range st.Checks {
			_, _, _ = c.Condition.Eval(f)
		}
		for _, u := range st.Uses {
			_, _ = u.Params.Value(trialVars)
		}
		CheckTools(s, st.Target, f.Tools)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}]}`, `1e999999999`, `[`, `"\ud83d"`, `{"a":1,"a":2}`, `{"é":1,"é":2}`, `-0`, `1 2`, strings.Repeat("[", 300)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := fromJSON(data)
		if err == nil && !v.IsWhollyKnown() {
			t.Errorf("fromJSON(%q) = %#v, not known", data, v)
		}
	})
}

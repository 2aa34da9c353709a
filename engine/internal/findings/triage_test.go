package findings

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

const decisionA = `{"schema":1,"finding":"aaaaaaaaaaaa","state":"acknowledged","by":"ann","at":"2026-11-02T08:00:00Z","note":"<later>"}`

func TestParseTriage(t *testing.T) {
	later := strings.NewReplacer("acknowledged", "fixed", "11-02", "11-03").Replace(decisionA)
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"one, blank lines, byte order mark, CRLF", "\ufeff" + decisionA + "\r\n\r\n", "acknowledged"},
		{"the later one counts", decisionA + "\n" + later + "\n", "fixed"},
		{"in whatever order", later + "\n" + decisionA + "\n", "fixed"},
		{"no last newline", decisionA, "acknowledged"},
	} {
		got, err := parseTriage([]byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if s := string(got.by["aaaaaaaaaaaa"].State); s != tt.want {
			t.Errorf("%s: %q; want %q", tt.name, s, tt.want)
		}
	}
	for _, tt := range []struct{ name, in, want string }{
		{"no JSON", decisionA + "\n\nack aaaaaaaaaaaa\n", "3: it is no decision"},
		{"cut", decisionA + "\n" + decisionA[:40], "2: it is no decision: unexpected EOF"},
		{"merge marks", "<<<<<<< HEAD\n" + decisionA, "1: a merge was not finished"},
		{"two in a line", decisionA + decisionA, "1: there is more than one decision"},
		{"other field", strings.Replace(decisionA, "note", "notes", 1), `1: it is no decision: json: unknown field "notes"`},
		{"state", strings.Replace(decisionA, "acknowledged", "acked", 1), `1: state "acked" is none of acknowledged, fixed and open`},
		{"finding", strings.Replace(decisionA, "aaaaaaaaaaaa", "AA", 1), `1: finding "AA" is no fingerprint`},
		{"newer schema", strings.Replace(decisionA, `"schema":1`, `"schema":2`, 1), "1: schema 2 is not known"},
		{"no time", strings.Replace(decisionA, `,"at":"2026-11-02T08:00:00Z"`, "", 1), `1: "at" is missing`},
		{"null", "null", "1: schema 0 is not known"},
	} {
		if _, err := parseTriage([]byte(tt.in)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		}
	}
}

func TestDecide(t *testing.T) {
	path := filepath.Join(t.TempDir(), TriageFile)
	tr, err := ReadTriage(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &eval.FindingGroup{ID: "bbbbbbbbbbbb", Kind: "slow", Tool: "cms/get", Fingerprints: []string{"bbbbbbbbbbbb", "aaaaaaaaaaaa"}}
	at := time.Date(2026, 11, 2, 9, 0, 0, 1234567, time.FixedZone("", 3600))
	decide := func(g *eval.FindingGroup, d eval.Triage) {
		t.Helper()
		if err := tr.Decide(g, d); err != nil {
			t.Fatal(err)
		}
		if err := tr.Write(path); err != nil {
			t.Fatal(err)
		}
		if tr, err = ReadTriage(path); err != nil {
			t.Fatal(err)
		}
	}
	decide(&eval.FindingGroup{ID: "cccccccccccc", Kind: "other"}, eval.Triage{State: eval.TriageFixed, At: at})
	decide(g, eval.Triage{State: eval.TriageAcknowledged, By: "ann", Note: "a <b>\n", At: at})
	want := `{"schema":1,"finding":"bbbbbbbbbbbb","state":"acknowledged","by":"ann","at":"2026-11-02T08:00:00.001Z","note":"a <b>\n","about":"slow cms/get"}
{"schema":1,"finding":"cccccccccccc","state":"fixed","at":"2026-11-02T08:00:00.001Z","about":"other"}
`
	if b, _ := os.ReadFile(path); string(b) != want {
		t.Errorf("file:\n%swant:\n%s", b, want)
	}
	// A clock that was set back does not make the newer decision the older.
	decide(g, eval.Triage{State: eval.TriageFixed, At: at.Add(-time.Hour)})
	if b, _ := os.ReadFile(path); strings.Count(string(b), "\n") != 2 || !strings.Contains(string(b), `"bbbbbbbbbbbb","state":"fixed","at":"2026-11-02T08:00:00.002Z"`) {
		t.Errorf("file:\n%s", b)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left in the folder: %v", entries)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}
	if err := os.WriteFile(path, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTriage(path); !errors.Is(err, ErrTriage) || !strings.Contains(err.Error(), TriageFile+":1: it is no decision") {
		t.Errorf("a broken file: %v", err)
	}
}

func TestFind(t *testing.T) {
	list := []eval.FindingGroup{{ID: "aaaaaaaaaaaa"}, {ID: "aab000000000", Fingerprints: []string{"aab000000000", "0123456789ab"}}}
	for _, tt := range []struct{ id, want, err string }{
		{"aaaaaaaaaaaa", "aaaaaaaaaaaa", ""},
		{"aab", "aab000000000", ""},
		{"0123456789ab", "aab000000000", ""},
		{"aa", "", `"aa" is the start of 2 IDs, of aaaaaaaaaaaa and aab000000000 among them`},
		{"aab000000001", "", `no such finding: "aab000000001"; did you mean "aab000000000"?`},
		{"ffff", "", `no such finding: "ffff"; evalengine findings lists them`},
		{"", "", "no such finding"},
	} {
		g, err := Find(list, tt.id)
		switch {
		case tt.err == "" && (err != nil || g.ID != tt.want):
			t.Errorf("Find(%q) = %v, %v; want %s", tt.id, g, err, tt.want)
		case tt.err != "" && (!errors.Is(err, ErrNoFinding) || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("Find(%q): %v; want %s", tt.id, err, tt.err)
		}
	}
}

func FuzzTriage(f *testing.F) {
	f.Add([]byte(decisionA + "\n" + decisionA))
	f.Add([]byte("<<<<<<<\n{}\nnull"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := parseTriage(b)
		if err != nil {
			return
		}
		again, err := parseTriage(tr.bytes())
		if err != nil {
			t.Fatalf("what was written of %q is not read: %v", b, err)
		}
		if !bytes.Equal(tr.bytes(), again.bytes()) {
			t.Error(cmp.Diff(tr.bytes(), again.bytes()))
		}
	})
}

package diag

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

const suiteText = `suite "s" {
  hosts = [host.clade]
}

host "claude" {
	driver	=	"claude-cod"
	config { modle = "日本語の 🧑‍🚀 é" } # 👍🏽
}
` + "story \"x\" { prompt = \"\x1b[31mred\" }\n"

// rangeOf is the range of the n-th occurrence of part in suiteText, as HCL would
// give it.
func rangeOf(t *testing.T, part string) Range {
	t.Helper()
	i := strings.Index(suiteText, part)
	if i < 0 {
		t.Fatalf("%q is not in the text", part)
	}
	return Range{File: "suite.hcl", Start: posOf(i), End: posOf(i + len(part))}
}

func posOf(i int) Pos {
	before := suiteText[:i]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	column := 1
	for line != "" {
		line = line[clusterLen(line):]
		column++
	}
	return Pos{Line: strings.Count(before, "\n") + 1, Column: column, Byte: i}
}

func testList(t *testing.T) List {
	block := rangeOf(t, `host "claude"`)
	noBytes := rangeOf(t, `"日本語の 🧑‍🚀 é"`)
	noBytes.Start.Byte, noBytes.End.Byte = -1, -1
	pointed := rangeOf(t, `[host`)
	pointed.End = Pos{}
	several := rangeOf(t, "hosts = [host.clade]\n}")
	end := rangeOf(t, "clade]\n")
	end.Start = end.End
	end.Start.Line, end.Start.Column, end.Start.Byte = 2, 23, end.End.Byte-1
	end.End = end.Start
	return List{
		{Severity: Error, Summary: "no suite block", Detail: "None of a, b declares a suite."},
		{Severity: Error, Summary: "unknown host", Detail: `There is no host.clade. Did you mean "claude"?`, Subject: rangeOf(t, "clade"), Context: rangeOf(t, `suite "s"`)},
		{Severity: Error, Summary: "unknown driver", Detail: "Tabs are four cells wide.", Subject: rangeOf(t, `"claude-cod"`), Context: block},
		{Severity: Warning, Summary: "wide and joined characters", Detail: "The range is found by its bytes.", Subject: rangeOf(t, `"日本語の 🧑‍🚀 é"`), Context: block},
		{Severity: Warning, Summary: "wide and joined characters", Detail: "The range is found by its columns.", Subject: noBytes},
		{Severity: Error, Summary: "behind joined characters", Subject: rangeOf(t, "} # 👍")},
		{Severity: Error, Summary: "in a comment", Subject: rangeOf(t, "👍🏽")},
		{Severity: Error, Summary: "only a place", Subject: pointed},
		{Severity: Error, Summary: "several lines", Subject: several},
		{Severity: Error, Summary: "behind the end", Subject: end},
		{Severity: Error, Summary: "escape sequence \x1b[2J", Detail: "A terminal must not obey \x1b[31m it.", Subject: rangeOf(t, "red")},
		{Severity: Error, Summary: "line that does not exist", Subject: Range{File: "suite.hcl", Start: Pos{Line: 99, Column: 3}}},
		{Severity: Error, Summary: "file that cannot be had", Subject: Range{File: "other.hcl", Start: Pos{Line: 1, Column: 1}}},
		{Severity: Error, Summary: "file alone", Subject: Range{File: "other.hcl"}},
		{Severity: Error, Summary: "long detail", Detail: "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen\nseventeen on its own line"},
	}
}

func testSources(file string) []byte {
	if file == "suite.hcl" {
		return []byte(suiteText)
	}
	return nil
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		file  string
		width int
		color bool
	}{{"plain.txt", 80, false}, {"color.txt", 80, true}, {"narrow.txt", 30, false}, {"unbounded.txt", 0, false}} {
		var b bytes.Buffer
		if err := Write(&b, testList(t), testSources, tt.width, tt.color); err != nil {
			t.Fatal(err)
		}
		golden(t, tt.file, b.Bytes())
	}
}

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, testList(t), testSources); err != nil {
		t.Fatal(err)
	}
	golden(t, "list.json", b.Bytes())
	b.Reset()
	if err := WriteJSON(&b, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "{\n  \"errors\": 0,\n  \"warnings\": 0,\n  \"diagnostics\": []\n}\n"; got != want {
		t.Errorf("WriteJSON of nothing = %q; want %q", got, want)
	}
}

func TestWriteKeepsWithinItsWidth(t *testing.T) {
	long := strings.Repeat("x", 300) + "日本" + strings.Repeat("y", 300)
	for _, at := range []int{0, 5, 150, 299, 302, 500, 599} {
		for _, n := range []int{0, 1, 40, 400} {
			d := Diagnostic{Severity: Error, Summary: "x", Subject: Range{File: "f", Start: Pos{Line: 1, Column: at + 1, Byte: -1}, End: Pos{Line: 1, Column: at + 1 + n, Byte: -1}}}
			var b bytes.Buffer
			if err := Write(&b, List{d}, func(string) []byte { return []byte(long) }, 60, false); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(b.String(), "\n")
			if !strings.Contains(lines[2], "^") {
				t.Errorf("at %d+%d: nothing is underlined:\n%s", at, n, b.String())
			}
			for _, line := range lines[1:] {
				if w := Width(line); w > 60 {
					t.Errorf("at %d+%d: a line is %d cells wide: %q", at, n, w, line)
				}
			}
		}
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "👍": 2, "👍🏽": 2, "🧑‍🚀": 2, "🇸🇪": 2, "❤\ufe0f": 2, "❤": 1, "ｆ": 2, "한글": 4, "a\u200bb": 2,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d; want %d", s, got, want)
		}
	}
}

func TestListErr(t *testing.T) {
	warning := List{{Severity: Warning, Summary: "w"}}
	if err := warning.Err(); err != nil {
		t.Errorf("Err of a warning = %v; want nil", err)
	}
	if got, want := From(Errors("a", "b").Err()).Error(), "a: b"; got != want {
		t.Errorf("From(Err()) = %q; want %q", got, want)
	}
}

func FuzzWrite(f *testing.F) {
	f.Add(suiteText, 2, 5, 2, 9, 3, 40)
	f.Add("\xff\xf0\t\u0301", 1, 1, 1, 9, -1, 1)
	f.Fuzz(func(t *testing.T, text string, l1, c1, l2, c2, at, width int) {
		d := Diagnostic{Severity: Error, Summary: text, Detail: text, Subject: Range{File: "f", Start: Pos{l1, c1, at}, End: Pos{l2, c2, at + c2}}}
		if err := Write(&bytes.Buffer{}, List{d}, func(string) []byte { return []byte(text) }, width, true); err != nil {
			t.Fatal(err)
		}
	})
}

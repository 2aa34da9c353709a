package story

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestFilesStayInTheFolder(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.txt"), "secret")
	write(filepath.Join(dir, "in", "a.txt"), "inside")
	write(filepath.Join(dir, "big.txt"), strings.Repeat("x", maxReadFile+1))
	write(filepath.Join(dir, "bin.txt"), "\xff\xfe")
	for link, to := range map[string]string{
		"link.txt": filepath.Join(outside, "secret.txt"), "linked": outside, "ok.txt": "in/a.txt", "up": "..",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := openFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.seal()
	tests := []struct{ name, want, err string }{
		{"in/a.txt", "inside", ""},
		{"./in/../in/a.txt", "inside", ""},
		{"ok.txt", "inside", ""},
		{"link.txt", "", "escapes"},
		{"linked/secret.txt", "", "escapes"},
		{"up/" + filepath.Base(dir) + "/in/a.txt", "", "escapes"},
		{"../" + filepath.Base(outside) + "/secret.txt", "", "leads out"},
		{"in/../../x", "", "leads out"},
		{filepath.Join(outside, "secret.txt"), "", "absolute"},
		{"in", "", "is a folder"},
		{"big.txt", "", "larger than 4096 KiB"},
		{"bin.txt", "", "not UTF-8"},
		{"a\x00b", "", "zero byte"},
		{"none.txt", "", "no such file"},
	}
	for _, tt := range tests {
		got, err := f.text(tt.name)
		if got != tt.want || (tt.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("text(%q) = %q, %v; want %q, %q", tt.name, got, err, tt.want, tt.err)
		}
	}
	names, err := f.match(".", "**/*.txt")
	if d := cmp.Diff([]string{"big.txt", "bin.txt", "in/a.txt", "ok.txt"}, names); d != "" || err != nil {
		t.Errorf("match = %v (-want +got):\n%s", err, d)
	}
}

func TestDeviceIsNoFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no devices in folders")
	}
	if _, err := readRegular("/dev/zero", 10); err == nil || err.Error() != "not a regular file" {
		t.Errorf("readRegular(/dev/zero): %v", err)
	}
}

func TestFilesInOrderOfUse(t *testing.T) {
	s := mustLoad(t, map[string]string{
		"suite.hcl": header + `
locals { b = file("b.txt") }
story "x" {
  target = target.site
  prompt = "${local.b} ${file("a.txt")} ${file("b.txt")} ${templatefile("c.tmpl", { u = target.url })}"
  check "c" { condition = answer == file("d.txt") }
}`,
		"a.txt": "A", "b.txt": "B", "c.tmpl": "C ${u}", "d.txt": "D", "e.txt": "E",
	}, Options{})
	var got []string
	for _, f := range s.Files {
		got = append(got, f.Path+" "+f.SHA256[:8])
	}
	want := []string{got[0], "b.txt df7e70e5", "a.txt 559aead0", "c.tmpl ", "d.txt 3f39d5c3"}
	want[3] += got[3][len("c.tmpl "):]
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Files (-want +got):\n%s", d)
	}
	// What was read is kept: a trial does not see later changes.
	for _, n := range []string{"a.txt", "c.tmpl", "d.txt"} {
		if err := os.WriteFile(filepath.Join(s.Dir, n), []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := s.Stories[0].Turns[0].Prompt.Value(eval.Vars{Target: eval.JSON(`{"url":"u"}`)})
	if want := "B A B C u"; p != want || err != nil {
		t.Errorf("prompt = %q, %v; want %q", p, err, want)
	}
	if ok, _, err := s.Stories[0].Checks[0].Condition.Eval(eval.Facts{Answer: "D"}); !ok || err != nil {
		t.Errorf("Eval = %v, %v; want true", ok, err)
	}
}

package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// copySelf puts a copy of this test binary at a path.
func copySelf(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// What runs is what was checked, whatever lies at its path when it is started.
func TestBinarySwappedAfterItsCheck(t *testing.T) {
	evil := func(ran string) []byte { return []byte("#!/bin/sh\necho >" + ran + "\n") }
	for _, tt := range []struct {
		name string
		swap func(t *testing.T, file, ran string)
		runs bool
	}{
		{"not at all", func(*testing.T, string, string) {}, true},
		{"another file at its path", func(t *testing.T, file, ran string) {
			if err := os.WriteFile(file+".new", evil(ran), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"no file at its path", func(t *testing.T, file, _ string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"other bytes in the file", func(t *testing.T, file, _ string) {
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("x"); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file, ran := filepath.Join(dir, "evalengine-host-fake"), filepath.Join(dir, "ran")
			copySelf(t, file)
			s := newSlot(Binary{Kind: "host", Name: "fake", Path: file}, New(Options{Environ: os.Environ()}).opts)
			c, err := check(s.bin, "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.file.Close()
			tt.swap(t, file, ran)
			p, err := s.run(t.Context(), c)
			if err == nil {
				defer s.close()
			}
			if _, missing := os.Stat(ran); !errors.Is(missing, os.ErrNotExist) {
				t.Error("what was put in its place ran")
			}
			if !tt.runs {
				if !errors.Is(err, ErrDigest) || !strings.Contains(eval.AsFault(err).Detail, `host plugin "fake": `+file+` was replaced between its check and its start`) {
					t.Errorf("error = %v; want ErrDigest", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Host().Describe(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A script is started by its path: a change is noticed once it is up.
func TestScriptSwappedAfterItsCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "evalengine-host-fake")
	program := filepath.Join(t.TempDir(), "evalengine-host-fake")
	copySelf(t, program)
	script := "#!/bin/sh\nexec " + program + "\n"
	if err := os.WriteFile(file, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSlot(Binary{Kind: "host", Name: "fake", Path: file}, New(Options{Environ: os.Environ()}).opts)
	for _, swapped := range []bool{false, true} {
		c, err := check(s.bin, "")
		if err != nil {
			t.Fatal(err)
		}
		if swapped {
			if err := os.WriteFile(file+".new", []byte(script+"# another\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.run(t.Context(), c)
		_ = c.file.Close()
		if swapped != errors.Is(err, ErrDigest) || (!swapped && err != nil) {
			t.Errorf("swapped = %v: error = %v", swapped, err)
		}
		if err == nil {
			_ = s.proc.Close()
			s.proc = nil
		}
	}
}

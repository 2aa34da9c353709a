package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestAdvised(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "make room for /store"},
		{syscall.EDQUOT, "make room for /store"},
		{syscall.EFBIG, "ulimit -f"},
		{syscall.EROFS, "make /store writable"},
		{syscall.EACCES, "make /store writable"},
		{syscall.ENOTDIR, "a part of /store is a file"},
		{syscall.ENOENT, "/store is gone"},
		{syscall.EIO, ""},
	} {
		err := advised("/store", &fs.PathError{Op: "write", Path: "/store/x", Err: tt.err})
		if !errors.Is(err, tt.err) || !strings.HasPrefix(err.Error(), "write /store/x: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("advised(%v) = %v; want it with %q", tt.err, err, tt.want)
		}
		if tt.want == "" && strings.Contains(err.Error(), "(") {
			t.Errorf("advised(%v) = %v; want no advice", tt.err, err)
		}
	}
	if err := advised("/store", nil); err != nil {
		t.Errorf("advised(nil) = %v", err)
	}
}

// A run that cannot be begun leaves nothing of itself.
func TestCreateFails(t *testing.T) {
	root := t.TempDir()
	s, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	// Two files of which the second would have to be below the first.
	info := eval.Run{ID: "r", Files: []eval.File{{Path: "a", Content: []byte("x")}, {Path: "a/b", Content: []byte("x")}}}
	if _, err := s.Create(info); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Create = %v; want %v", err, syscall.ENOTDIR)
	}
	if left, _ := os.ReadDir(filepath.Join(root, "runs")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Evidence outlives a record that could not be written; a draft without does not.
func TestDraftsOfFailedCommits(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	trial := eval.Trial{Story: "s", Host: "h", Repeat: 1}
	for _, settle := range []bool{true, false} {
		r, err := s.Create(eval.Run{ID: map[bool]string{true: "with", false: "without"}[settle], Trials: []eval.Trial{trial}})
		if err != nil {
			t.Fatal(err)
		}
		d := r.Draft(trial.ID(), 1)
		d.Log("gateway.jsonl").Write([]byte("{}\n"))
		if settle {
			if err := d.Settle(map[string]string{"x": "y"}, Bundle{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		// The record's place is taken by what no rename replaces.
		blocked := filepath.Join(d.Dir(), "trial.json")
		if err := os.MkdirAll(blocked, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := d.Commit(&eval.Record{ID: trial.ID(), Trial: trial}, Bundle{}, nil); err == nil {
			t.Fatal("Commit = nil; want an error")
		}
		if err := d.Discard(); err != nil {
			t.Fatal(err)
		}
		os.Remove(blocked)
		if _, _, ok := r.Settled(trial.ID()); ok != settle {
			t.Errorf("evidence found %v; want %v", ok, settle)
		}
		if _, err := os.Stat(d.Dir()); (err == nil) != settle {
			t.Errorf("draft there: %v; want %v", err == nil, settle)
		}
	}
}

// A store that was removed under a run does not come back as half of one.
func TestRemovedUnderRun(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	s, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	trial := eval.Trial{Story: "s", Host: "h", Repeat: 1}
	r, err := s.Create(eval.Run{ID: "r", Trials: []eval.Trial{trial}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	d := r.Draft(trial.ID(), 1)
	d.Log("gateway.jsonl").Write([]byte("{}\n"))
	for what, err := range map[string]error{
		"Settle": d.Settle(nil, Bundle{}, nil), "Commit": d.Commit(&eval.Record{ID: trial.ID()}, Bundle{}, nil),
		"WriteSummary": r.WriteSummary(&eval.Summary{}),
	} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "is gone") {
			t.Errorf("%s = %v; want that the folder is gone", what, err)
		}
	}
	if _, err := os.Stat(root); err == nil {
		t.Error("the store was made anew")
	}
}

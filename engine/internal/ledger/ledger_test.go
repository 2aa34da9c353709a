package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/redact"
)

var start = time.Date(2026, 11, 30, 15, 17, 35, 0, time.UTC)

func create(t *testing.T, id string, trials ...eval.Trial) (*Store, *Run) {
	t.Helper()
	s, err := Open("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Create(eval.Run{ID: id, Suite: "s", Trials: trials, Files: []eval.File{
		{Path: "suite.hcl", SHA256: strings.Repeat("a", 64), Content: []byte("x = 1\n")},
		{Path: "../up/b.txt", SHA256: strings.Repeat("b", 64), Content: []byte("b")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

func TestNewID(t *testing.T) {
	if id := NewID(start); !regexp.MustCompile(`^20261130T151735Z-[0-9a-f]{6}$`).MatchString(id) {
		t.Errorf("NewID = %q", id)
	}
}

func TestOpenScheme(t *testing.T) {
	if _, err := Open("ftp://x/y"); err == nil || !strings.Contains(err.Error(), `scheme "ftp" is not supported`) {
		t.Errorf("Open(ftp) = %v", err)
	}
}

func TestCommitAndRead(t *testing.T) {
	trial := eval.Trial{Story: "a", Host: "h", Repeat: 1}
	_, r := create(t, "20261130T151735Z-000001", trial)
	d := r.Draft(trial.ID(), 1)
	log := d.Log("gateway.jsonl")
	log.Write([]byte(`{"n":1,"k":"secret-value"}` + "\n"))
	d.Log("model.jsonl") // never written: must not exist
	var red redact.Set
	if err := red.Add("k", "secret-value"); err != nil {
		t.Fatal(err)
	}
	steps := []eval.Step{{ID: "s1", Turn: 1, Kind: eval.StepMessage, Role: "user", Text: "say secret-value <b>"}}
	state := &eval.State{Before: eval.JSON(`{}`), After: eval.JSON(`{"x":1}`)}
	rec := &eval.Record{Run: r.Info.ID, ID: trial.ID(), Trial: trial, Status: eval.StatusPassed}
	if err := d.Commit(rec, Bundle{Steps: steps, State: state, Tools: []eval.Tool{{Server: "s", Name: "t"}}}, &red); err != nil {
		t.Fatal(err)
	}

	dir := r.TrialDir(trial.ID())
	got, err := r.Record(trial.ID())
	if err != nil || got.Status != eval.StatusPassed || got.Schema != 1 || got.Story != "a" {
		t.Fatalf("Record = %+v, %v", got, err)
	}
	if err := Verify(dir, got); err != nil {
		t.Error(err)
	}
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if d := cmp.Diff(names, []string{"gateway.jsonl", "state.json", "tools.json", "transcript.jsonl", "trial.json"}); d != "" {
		t.Errorf("files: %s", d)
	}
	read, err := ReadSteps(dir)
	if err != nil || len(read) != 1 || read[0].Text != "say [secret] <b>" {
		t.Errorf("steps = %+v, %v", read, err)
	}
	gw, _ := os.ReadFile(filepath.Join(dir, "gateway.jsonl"))
	if string(gw) != `{"n":1,"k":"[secret]"}`+"\n" {
		t.Errorf("gateway.jsonl = %q", gw)
	}
	if st, err := ReadState(dir); err != nil || string(st.After) != `{"x":1}` {
		t.Errorf("state = %s, %v", st.After, err)
	}
	if err := r.Draft(trial.ID(), 2).Commit(rec, Bundle{}, nil); !errors.Is(err, ErrExists) {
		t.Errorf("second commit = %v; want ErrExists", err)
	}
}

func TestCommitLargeIsCompressed(t *testing.T) {
	trial := eval.Trial{Story: "a", Host: "h", Repeat: 1}
	_, r := create(t, "20261130T151735Z-000001", trial)
	d := r.Draft(trial.ID(), 1)
	big := strings.Repeat("x", 3<<20)
	d.Log("gateway.jsonl").Write([]byte(big))
	steps := []eval.Step{{ID: "s1", Kind: eval.StepToolResult, Result: eval.JSON(`"` + big + `"`)}}
	rec := &eval.Record{ID: trial.ID(), Trial: trial}
	if err := d.Commit(rec, Bundle{Steps: steps}, nil); err != nil {
		t.Fatal(err)
	}
	dir := r.TrialDir(trial.ID())
	if _, ok := rec.Files["transcript.jsonl.zst"]; !ok || len(rec.Files) != 2 {
		t.Errorf("files = %v", rec.Files)
	}
	read, err := ReadSteps(dir)
	if err != nil || len(read) != 1 || len(read[0].Result) != 3<<20+2 {
		t.Errorf("read %d steps, %v", len(read), err)
	}
	if err := Verify(dir, rec); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gateway.jsonl.zst"), []byte("bent"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Verify(dir, rec); err == nil {
		t.Error("Verify passes a bent file")
	}
}

func TestCommitDropsLinks(t *testing.T) {
	trial := eval.Trial{Story: "a", Host: "h", Repeat: 1}
	_, r := create(t, "20261130T151735Z-000001", trial)
	d := r.Draft(trial.ID(), 1)
	raw := t.TempDir()
	if err := os.Symlink("/etc/passwd", filepath.Join(raw, "stdout")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(raw, "stderr"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.KeepRaw(raw, nil); err != nil {
		t.Fatal(err)
	}
	rec := &eval.Record{ID: trial.ID(), Trial: trial}
	if err := d.Commit(rec, Bundle{}, nil); err != nil {
		t.Fatal(err)
	}
	if len(rec.Files) != 1 || rec.Files["host/stderr"] == "" {
		t.Errorf("files = %v; want host/stderr", rec.Files)
	}
}

// The raw output has no secret before it is in the store, also where it comes
// from another file system.
func TestKeepRaw(t *testing.T) {
	trial := eval.Trial{Story: "a", Host: "h", Repeat: 1}
	_, r := create(t, "20261130T151735Z-000001", trial)
	var red redact.Set
	if err := red.Add("k", "secret-value"); err != nil {
		t.Fatal(err)
	}
	d := r.Draft(trial.ID(), 1)
	raw := t.TempDir()
	if err := os.MkdirAll(filepath.Join(raw, "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(raw, "deep", "out"), []byte("a secret-value b"), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := copyFiles(raw, copied); err != nil {
		t.Fatal(err)
	}
	if err := d.KeepRaw(raw, &red); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(d.Dir(), "host", "deep", "out"): "a [secret] b", filepath.Join(copied, "deep", "out"): "a secret-value b",
	} {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%s = %q, %v; want %q", path, b, err, want)
		}
	}
	rec := &eval.Record{ID: trial.ID(), Trial: trial, Answer: "it is secret-value"}
	if err := d.Commit(rec, Bundle{}, &red); err != nil {
		t.Fatal(err)
	}
	if rec.Answer != "it is [secret]" || rec.ID != trial.ID() || len(rec.Files) != 1 {
		t.Errorf("record after Commit = %+v", rec)
	}
}

func TestRunNames(t *testing.T) {
	s, a := create(t, "20261130T151735Z-000001")
	if _, err := s.Create(eval.Run{ID: "20261130T151736Z-000002"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, want string }{
		{"latest", "20261130T151736Z-000002"},
		{"20261130T151735Z-000001", "20261130T151735Z-000001"},
		{"20261130T151735", "20261130T151735Z-000001"},
		{a.Dir(), "20261130T151735Z-000001"},
	} {
		r, err := s.Run(tt.name)
		if err != nil || r.Info.ID != tt.want {
			t.Errorf("Run(%q) = %v, %v; want %s", tt.name, r, err, tt.want)
		}
	}
	for _, name := range []string{"2026", "nope", "./nowhere"} {
		if _, err := s.Run(name); !errors.Is(err, ErrNoRun) {
			t.Errorf("Run(%q) = %v; want ErrNoRun", name, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(a.Dir(), "suite", "suite.hcl"))
	if err != nil || string(b) != "x = 1\n" {
		t.Errorf("suite copy = %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(a.Dir(), "suite", "outside", "bbbbbbbbbbbb-b.txt")); err != nil {
		t.Error(err)
	}
}

func TestRecordsInPlanOrder(t *testing.T) {
	var trials []eval.Trial
	for _, s := range []string{"b", "a", "c"} {
		trials = append(trials, eval.Trial{Story: s, Host: "h", Repeat: 1})
	}
	_, r := create(t, "20261130T151735Z-000001", trials...)
	for _, tr := range trials[:2] {
		if err := r.Draft(tr.ID(), 1).Commit(&eval.Record{ID: tr.ID(), Trial: tr, Status: eval.StatusPassed}, Bundle{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for rec, err := range r.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rec.Story)
	}
	if d := cmp.Diff(got, []string{"b", "a"}); d != "" {
		t.Errorf("order: %s", d)
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	_, r := create(t, "20261130T151735Z-000001")
	d := r.Draft("a.base.h.r1", 1)
	d.Log("gateway.jsonl").Write([]byte("x"))
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(filepath.Join(r.Dir(), draftsDir))
	if len(entries) != 0 {
		t.Errorf("drafts = %v", entries)
	}
}

func TestLock(t *testing.T) {
	s, r := create(t, "20261130T151735Z-000001")
	if err := r.Lock(); err != nil {
		t.Fatal(err)
	}
	other, err := s.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(); !errors.Is(err, ErrBusy) {
		t.Errorf("second lock = %v; want ErrBusy", err)
	}
	r.Unlock()
	if err := other.Lock(); err != nil {
		t.Errorf("lock after unlock = %v", err)
	}
	other.Unlock()
}

// Two runs of one second: the latest is the one that began last, whatever its ID.
func TestLatestWithinASecond(t *testing.T) {
	s, _ := create(t, "20261130T151735Z-00000f")
	for id, at := range map[string]time.Duration{"20261130T151736Z-00000a": 2, "20261130T151736Z-00000b": 1} {
		if _, err := s.Create(eval.Run{ID: id, StartedAt: start.Add(at * time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.Root(), "runs", "20261130T151737Z-000000"), 0o700); err != nil {
		t.Fatal(err) // killed before it had a run.json
	}
	r, err := s.Run("latest")
	if err != nil || r.Info.ID != "20261130T151736Z-00000a" {
		t.Errorf("latest = %v, %v; want the run that began last", r, err)
	}
}

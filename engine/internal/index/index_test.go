package index

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
	"github.com/evalengine/evalengine/engine/internal/summary"
)

// stored makes a store with one run of n trials, ten repeats an arm, with as many
// scores each.
func stored(t testing.TB, n, scores int) (*ledger.Store, *ledger.Run) {
	t.Helper()
	store, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	info := eval.Run{ID: "20261130T151735Z-000001", Suite: "s", StartedAt: time.Date(2026, 11, 30, 15, 17, 35, 0, time.UTC)}
	for i := range n {
		info.Trials = append(info.Trials, eval.Trial{Story: fmt.Sprintf("s%05d", i/10), Host: "h", Repeat: i%10 + 1})
	}
	run, err := store.Create(info)
	if err != nil {
		t.Fatal(err)
	}
	for i, tr := range info.Trials {
		rec := eval.Record{Schema: 1, Run: info.ID, ID: tr.ID(), Trial: tr, Status: eval.StatusPassed, Answer: "the answer", Prompts: []string{"do it"}}
		for k := range scores {
			v := float64((i+k)%5) / 4
			name := fmt.Sprintf("m/score_%d", k)
			rec.Scores = append(rec.Scores, eval.Score{Name: name, Scorer: name, Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, State: eval.Scored, Value: &v})
			rec.Definitions = append(rec.Definitions, eval.Definition{Score: name, MadeFrom: map[string]string{"module": "a"}})
		}
		put(t, run, &rec)
	}
	return store, run
}

func put(t testing.TB, run *ledger.Run, rec *eval.Record) {
	t.Helper()
	b, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(run.TrialDir(rec.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run.TrialDir(rec.ID), "trial.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

type got struct {
	rec *eval.Record
	err string
}

func read(t *testing.T, ix *Index, run *ledger.Run) (list []got) {
	t.Helper()
	for rec, err := range ix.Records(t.Context(), run) {
		g := got{rec: rec}
		if err != nil {
			g.err = err.Error()
		}
		list = append(list, g)
	}
	return list
}

// direct is what the records themselves say.
func direct(t *testing.T, run *ledger.Run) (list []got) {
	t.Helper()
	fromLedger(t.Context(), run, row{seq: -1}, func(rec *eval.Record, err error) bool {
		g := got{rec: rec}
		if err != nil {
			g.err = err.Error()
		}
		list = append(list, g)
		return true
	})
	return list
}

// sameAs holds what the index says against the records.
func sameAs(t *testing.T, what string, ix *Index, run *ledger.Run) {
	t.Helper()
	if d := cmp.Diff(read(t, ix, run), direct(t, run), cmp.AllowUnexported(got{}), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s: index -, records +:\n%s", what, d)
	}
}

func TestRecordsFollowTheRun(t *testing.T) {
	store, run := stored(t, 250, 2)
	ix := Open(t.Context(), store)
	defer ix.Close()
	sameAs(t, "at first", ix, run)
	id := func(i int) string { return run.Info.Trials[i].ID() }

	again := &eval.Rescore{ID: "r", Trial: id(3), ScoredAt: time.Now(), Status: eval.StatusFailed, Cause: "outcome"}
	if err := run.Rescore(again, nil); err != nil {
		t.Fatal(err)
	}
	sameAs(t, "scored again", ix, run)
	if list := read(t, ix, run); list[3].rec.Status != eval.StatusFailed || list[3].rec.Rescored == nil {
		t.Errorf("the later verdict does not count: %+v", list[3].rec)
	}
	if err := run.Supersede(id(0)); err != nil {
		t.Fatal(err)
	}
	for i, text := range map[int]string{5: `{"schema":1,"id":"s0`, 6: ``, 7: `{"schema":9}`, 8: `{"schema":1,"scores":[{"value":NaN}]}`} {
		if err := os.WriteFile(filepath.Join(run.TrialDir(id(i)), "trial.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(run.TrialDir(id(9)), "trial.json")); err != nil {
		t.Fatal(err)
	}
	sameAs(t, "broken", ix, run)
	list := read(t, ix, run)
	if len(list) != 249 || ix.Bypassed() != nil {
		t.Fatalf("%d records, bypassed: %v", len(list), ix.Bypassed())
	}
	for i, want := range map[int]string{4: "it ends in the middle", 5: "the file is empty", 6: "a newer evalengine wrote it", 7: "it is no JSON from byte", 8: "it is missing from its trial's folder"} {
		if !strings.Contains(list[i].err, want) || !strings.Contains(list[i].err, "trial.json") {
			t.Errorf("problem %d = %q; want the file and %q", i, list[i].err, want)
		}
	}
}

// Whatever becomes of the file, the answer is that of the records.
func TestIndexThatCannotBeUsed(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"no database": func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("nonsense ", 1000)), 0o600) },
		"cut":         func(p string) error { return os.Truncate(p, 5000) },
		"deleted":     os.Remove,
		"a folder":    func(p string) error { os.Remove(p); return os.Mkdir(p, 0o700) },
		"zeros inside": func(p string) error {
			f, err := os.OpenFile(p, os.O_RDWR, 0)
			if err == nil {
				_, err = f.WriteAt(make([]byte, 9000), 8192)
			}
			return err
		},
	} {
		store, run := stored(t, 30, 3)
		ix := Open(t.Context(), store)
		sameAs(t, name, ix, run)
		ix.Close()
		if err := spoil(filepath.Join(store.Root(), fileName)); err != nil {
			t.Fatal(name, err)
		}
		for range 2 {
			ix = Open(t.Context(), store)
			sameAs(t, name, ix, run)
			ix.Close()
		}
	}
}

func TestTwoIndexesAtOnce(t *testing.T) {
	store, run := stored(t, 120, 2)
	a, b := Open(t.Context(), store), Open(t.Context(), store)
	defer a.Close()
	defer b.Close()
	done := make(chan []got)
	go func() { done <- read(t, a, run) }()
	sameAs(t, "second", b, run)
	if list := <-done; len(list) != 120 {
		t.Errorf("first has %d records", len(list))
	}
}

func TestTrend(t *testing.T) {
	store, run := stored(t, 10, 1)
	ix := Open(t.Context(), store)
	defer ix.Close()
	for range 2 {
		points, err := ix.Trend(t.Context(), Filter{Suite: "s"})
		if err != nil || len(points) != 1 {
			t.Fatalf("Trend = %v, %v", points, err)
		}
		if p := points[0]; p.N != 10 || *p.Mean != 0.5 || p.Run != run.Info.ID || p.Mixed {
			t.Errorf("point = %+v", p)
		}
	}
	if runs, err := ix.Runs(t.Context(), Filter{Suite: "other"}); err != nil || len(runs) != 0 {
		t.Errorf("runs of another suite = %v, %v", runs, err)
	}
}

func BenchmarkSummary(b *testing.B) {
	store, run := stored(b, 10000, 20)
	ix := Open(b.Context(), store)
	defer ix.Close()
	if err := ix.Sync(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var f summary.Fold
		for rec, err := range ix.Records(b.Context(), run) {
			if err != nil {
				b.Fatal(err)
			}
			f.Add(rec)
		}
	}
}

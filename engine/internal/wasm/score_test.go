package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func scorePlain(t *testing.T, m *Module, in *eval.ScoreInput) []eval.ScoreOutput {
	t.Helper()
	out, err := m.Score(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(in.Uses) {
		t.Fatalf("got %d outputs; want %d", len(out), len(in.Uses))
	}
	return out
}

func TestManifest(t *testing.T) {
	m := loadPlain(t, newRuntime(t, Options{}), eval.Grants{})
	got := m.Manifest()
	if got.Module != "plain" || got.Version != "1.2.3" || got.Doc != "Scorers for tests." {
		t.Errorf("got %q %q %q", got.Module, got.Version, got.Doc)
	}
	s := got.Scorer("contains")
	if s == nil || s.Role != eval.RoleAssert || s.Dimension != eval.DimensionOutcome || len(s.Needs) != 1 || s.Needs[0] != eval.PartAnswer {
		t.Fatalf("scorer contains: %+v", s)
	}
	if a, ok := s.Params.Attribute("text"); !ok || string(a.Default) != `"done"` {
		t.Errorf("parameter text: %+v", a)
	}
	b, err := plainModule()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := Manifest(b); ok || err != nil {
		t.Errorf("Manifest of a module without section = %v, %v; want none", ok, err)
	}
	for range 2 { // The second takes the first one's place.
		if b, err = AddManifest(b, got); err != nil {
			t.Fatal(err)
		}
	}
	carried, ok, err := Manifest(b)
	if err != nil || !ok || len(carried.Scorers) != len(got.Scorers) {
		t.Errorf("Manifest = %+v, %v, %v; want what was added", carried, ok, err)
	}
	if again := load(t, m.rt, b, eval.Grants{}); again.SHA256() == m.SHA256() {
		t.Error("the digest did not change with the file")
	}
}

func TestScore(t *testing.T) {
	m := loadPlain(t, newRuntime(t, Options{}), seconds(1))
	in := transcript(9000)
	in.Answer = "all is well"
	in.Uses = []eval.Use{
		{Name: "contains", Scorer: "contains", Params: eval.JSON(`{"text":"well"}`)},
		{Name: "contains#2", Scorer: "contains", Params: eval.JSON(`{}`)},
		{Name: "fails", Scorer: "fails"},
		{Name: "panics", Scorer: "panics"},
		{Name: "nan", Scorer: "nan"},
		{Name: "none", Scorer: "none"},
		{Name: "count", Scorer: "count"},
	}
	got := scorePlain(t, m, in)
	for i, want := range []struct {
		state  eval.ScoreState
		reason string
	}{
		{eval.Scored, "found"},
		{eval.Scored, `no "done" in the answer`},
		{eval.ScoreErrored, "no idea"},
		{eval.ScoreErrored, "panic: assignment to entry in nil map"},
		{eval.ScoreErrored, "value NaN is not in 0..1"},
		{eval.ScoreErrored, `module plain has no scorer "none"`},
		{eval.Scored, `2 calls, 8070 bytes, answer "all is well"`},
	} {
		if got[i].State != want.state || got[i].Reason != want.reason || got[i].Name != in.Uses[i].Name {
			t.Errorf("%s: got %s %s %q; want %s %q", in.Uses[i].Name, got[i].Name, got[i].State, got[i].Reason, want.state, want.reason)
		}
	}
	if p := got[0].Passed; p == nil || !*p || got[0].Value != 1 {
		t.Errorf("contains: got %+v; want passed", got[0])
	}
	if p := got[1].Passed; p == nil || *p || got[1].Value != 0 {
		t.Errorf("contains#2: got %+v; want failed", got[1])
	}
	if r := got[6].Raw; r == nil || *r != 2 || got[6].Unit != "calls" {
		t.Errorf("count: got %+v; want 2 calls", got[6])
	}
}

func TestOnlyNeededPartsCross(t *testing.T) {
	m := loadPlain(t, newRuntime(t, Options{}), eval.Grants{})
	in := transcript(100)
	in.Answer = "secret"
	got := scorePlain(t, m, in)
	if want := `1 calls, 40 bytes, answer ""`; got[0].Reason != want {
		t.Errorf("got %q; want %q", got[0].Reason, want)
	}
}

func TestOneBadScorerCostsItsOwnScore(t *testing.T) {
	for _, test := range []struct {
		scorer  string
		timeout float64
		want    string
	}{
		{"loops", 0.5, "ran longer than 500ms"},
		{"deadlocks", 60, "unreachable: fatal error: all goroutines are asleep - deadlock!"},
		{"recurses", 60, "unreachable: runtime: out of memory: cannot allocate"},
		{"bloats", 60, "unreachable: runtime: out of memory: cannot allocate"},
	} {
		t.Run(test.scorer, func(t *testing.T) {
			g := seconds(test.timeout)
			g.MemoryBytes = 64 << 20
			m := loadPlain(t, newRuntime(t, Options{Workers: 1}), g)
			in := transcript(100)
			in.Uses = uses("count", test.scorer, "contains")
			got := scorePlain(t, m, in)
			if got[1].State != eval.ScoreErrored || !strings.HasPrefix(got[1].Reason, test.want) {
				t.Errorf("%s: got %s %q; want errored %q", test.scorer, got[1].State, got[1].Reason, test.want)
			}
			if got[0].State != eval.Scored || got[2].State != eval.Scored {
				t.Errorf("the others: got %s, %s; want scored", got[0].State, got[2].State)
			}
		})
	}
}

func TestSameInSameOut(t *testing.T) {
	in := &eval.ScoreInput{Uses: uses("chance")}
	var first string
	for _, o := range []Options{{}, {CacheDir: t.TempDir()}} {
		m := loadPlain(t, newRuntime(t, o), eval.Grants{})
		for range 5 {
			got := scorePlain(t, m, in)[0]
			if got.State != eval.Scored {
				t.Fatalf("got %+v", got)
			}
			if first == "" {
				first = got.Reason
				t.Log(first)
			}
			if got.Reason != first {
				t.Errorf("got %q; want %q", got.Reason, first)
			}
		}
	}
	if !strings.Contains(first, "1h0m0") || !strings.Contains(first, " [] []") {
		t.Errorf("got %q; want an hour slept, and neither environment nor arguments", first)
	}
}

func TestCallsDoNotSeeEachOther(t *testing.T) {
	m := loadPlain(t, newRuntime(t, Options{Workers: 1}), eval.Grants{})
	for n := range 4 {
		in := &eval.ScoreInput{Uses: uses("remembers")}
		if n == 1 {
			in.Uses = append(in.Uses, uses("grows")...) // Makes the next instance a new one.
		}
		got := scorePlain(t, m, in)[0]
		if got.Raw == nil || *got.Raw != 1 {
			t.Errorf("call %d: got %+v; want 1 call seen", n, got)
		}
	}
}

// TestStateIsPutBack has instances that change all they can and tell of it in the
// first byte of their reason: it must be the same in every call.
func TestStateIsPutBack(t *testing.T) {
	answer := says(scored(nil)).response
	at := responseAt + strings.IndexByte(string(answer), 'a')
	if string(answer[at-responseAt-2:at-responseAt+1]) != "\x3a\x01a" {
		t.Fatalf("the reason is not where it is looked for in %q", answer)
	}
	bump := code(opGlobalGet, 0, i32(1), opAdd, opGlobalSet, 0)
	load8 := func(at int) []byte { return code(i32(at), 0x2d, 0, 0) }
	tell := code(i32(at), load8(at), opGlobalGet, 0, opAdd, load8(5), opAdd, opI32Store8, 0, 0, bump,
		i32(5), load8(5), i32(1), opAdd, opI32Store8, 0, 0,
		i32(responseAt), i32(len(answer)), opCall, 0)
	for _, test := range []struct {
		name  string
		score []byte
	}{
		{"memory and global", code(tell, i32(0))},
		{"grown memory", code(tell, i32(1), opMemoryGrow, 0, opDrop, i32(0))},
		{"size of memory", code(i32(5), 0x3f, 0, opI32Store8, 0, 0, tell, i32(1), opMemoryGrow, 0, opDrop, i32(0))},
		{"table", code(tell, i32(0), 0xd0, 0x70, 0x26, 0, i32(0))},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := asm{response: answer, global: true, table: true, score: test.score, init: code(i32(5), i32(2), opI32Store8, 0, 0, bump)}
			m := load(t, newRuntime(t, Options{Workers: 1}), a.build(), eval.Grants{})
			first := scoreX(t, m)
			for n := range 3 {
				if got := scoreX(t, m); got.State != eval.Scored || got.Reason != first.Reason {
					t.Errorf("call %d: got %+v; want reason %q", n+2, got, first.Reason)
				}
			}
			if first.Reason == "a" {
				t.Error("the module did not tell of its state")
			}
		})
	}
}

func TestLog(t *testing.T) {
	rt := newRuntime(t, Options{})
	m := loadPlain(t, rt, eval.Grants{})
	in := &eval.ScoreInput{Uses: uses("prints")}
	const want = "to stdout\nto stderr\nwarn: to the log\n"
	for range 2 {
		if _, got, err := m.ScoreLog(t.Context(), in); got != want || err != nil {
			t.Errorf("log %q, %v; want %q", got, err, want)
		}
	}
	m = loadPlain(t, rt, eval.Grants{LogBytes: 12})
	if _, got, err := m.ScoreLog(t.Context(), in); got != want[:12] || err != nil {
		t.Errorf("log with a limit of 12: %q, %v; want %q", got, err, want[:12])
	}
}

func TestCapabilities(t *testing.T) {
	trial := eval.Trial{Story: "s", Host: "h", Repeat: 3}
	echo := func(_ context.Context, got eval.Trial, use, op string, request []byte) ([]byte, error) {
		return fmt.Appendf(nil, "%s %s %s %s", got.ID(), use, op, request), nil
	}
	failing := func(err error) func(context.Context, eval.Trial, string, string, []byte) ([]byte, error) {
		return func(context.Context, eval.Trial, string, string, []byte) ([]byte, error) { return nil, err }
	}
	for _, test := range []struct {
		name   string
		call   func(context.Context, eval.Trial, string, string, []byte) ([]byte, error)
		op     string
		state  eval.ScoreState
		reason string
	}{
		{"granted", echo, "test.echo/1", eval.Scored, "s.base.h.r3 judge test.echo/1 ping"},
		{"not in the manifest", echo, "model.complete/1", eval.ScoreErrored, "capability denied"},
		{"none", nil, "test.echo/1", eval.ScoreErrored, "capability denied"},
		{"denied", failing(ErrDenied), "test.echo/1", eval.ScoreErrored, "capability denied"},
		{"unknown", failing(ErrUnknownCapability), "test.echo/1", eval.ScoreErrored, "unknown capability"},
		{"failed", failing(errors.New("secret")), "test.echo/1", eval.ScoreErrored, "capability failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := loadPlain(t, newRuntime(t, Options{Call: test.call}), eval.Grants{})
			in := &eval.ScoreInput{Trial: trial, Uses: []eval.Use{
				{Name: "judge", Scorer: "asks", Params: eval.JSON(`{"op":"` + test.op + `"}`)},
				{Name: "count", Scorer: "count"},
			}}
			got := scorePlain(t, m, in)
			if got[0].State != test.state || got[0].Reason != test.reason {
				t.Errorf("got %s %q; want %s %q", got[0].State, got[0].Reason, test.state, test.reason)
			}
			if got[1].State != eval.Scored {
				t.Errorf("count: got %+v; want scored", got[1])
			}
		})
	}
}

func TestCancel(t *testing.T) {
	rt := newRuntime(t, Options{Workers: 1})
	m := loadPlain(t, rt, eval.Grants{})
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	began := make(chan struct{})
	rt.o.Call = func(ctx context.Context, _ eval.Trial, _, _ string, _ []byte) ([]byte, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	go func() {
		<-began
		cancel(stopped)
	}()
	_, err := m.Score(ctx, &eval.ScoreInput{Uses: []eval.Use{
		{Name: "asks", Scorer: "asks", Params: eval.JSON(`{"op":"test.echo/1"}`)}, {Name: "loops", Scorer: "loops"},
	}})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v; want %v", err, stopped)
	}
	if got := scorePlain(t, m, transcript(100)); got[0].State != eval.Scored {
		t.Errorf("afterwards: got %+v; want scored", got)
	}
}

func TestWorkersAreReplaced(t *testing.T) {
	rt := newRuntime(t, Options{Workers: 1})
	m := loadPlain(t, rt, seconds(3))
	pid := func() int { return rt.pure.idle[0].cmd.Process.Pid }
	scorePlain(t, m, transcript(100))
	first := pid()
	scorePlain(t, m, transcript(100))
	if pid() != first {
		t.Error("a worker that did well was replaced")
	}
	w := rt.pure.idle[0]
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-w.dead
	if got := scorePlain(t, m, transcript(100)); got[0].State != eval.Scored {
		t.Errorf("after a worker was killed: got %+v; want scored", got)
	}
	second := pid()
	if second == first {
		t.Error("the dead worker was kept")
	}
	scorePlain(t, m, &eval.ScoreInput{Uses: uses("loops")})
	if len(rt.pure.idle) != 0 {
		t.Error("a worker that ran past its deadline was kept")
	}
	if got := scorePlain(t, m, transcript(100)); got[0].State != eval.Scored {
		t.Errorf("after a deadline: got %+v; want scored", got)
	}
	w = rt.pure.idle[0]
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	<-w.dead
	if _, err := m.Score(t.Context(), transcript(100)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v; want ErrClosed", err)
	}
}

func TestManyTrialsAtOnce(t *testing.T) {
	rt := newRuntime(t, Options{Workers: 2})
	m := loadPlain(t, rt, seconds(0.5))
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			in := transcript(100 + n*100)
			if n == 7 {
				in.Uses = uses("loops")
			}
			out, err := m.Score(t.Context(), in)
			want := eval.Scored
			if n == 7 {
				want = eval.ScoreErrored
			}
			if err != nil || out[0].State != want {
				t.Errorf("trial %d: got %+v, %v; want %s", n, out, err, want)
			}
		})
	}
	wg.Wait()
	if n := len(rt.pure.idle); n < 1 || n > 2 {
		t.Errorf("%d workers; want at most 2", n)
	}
}

func TestPinnedDigest(t *testing.T) {
	rt := newRuntime(t, Options{})
	b := says(scored(nil)).build()
	m, err := rt.Load(t.Context(), "it", b, "", eval.Grants{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rt.Load(t.Context(), "it", b, m.SHA256(), eval.Grants{}); err != nil {
		t.Errorf("Load with the right digest: %v", err)
	}
	if _, err := rt.Load(t.Context(), "it", b, "00", eval.Grants{}); !errors.Is(err, ErrDigest) || !strings.Contains(err.Error(), "the suite pins 00") {
		t.Errorf("Load with a wrong digest: %v; want ErrDigest", err)
	}
}

func TestCacheIsPrivateAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	scorePlain(t, loadPlain(t, newRuntime(t, Options{CacheDir: dir}), eval.Grants{}), transcript(100))
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o; want %o", path, got, want)
		}
		return nil
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v; want 1", files, err)
	}
}

func TestPruneCache(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"old", "middle", "new"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		when := startOfTime.AddDate(0, 0, i)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := pruneCache(dir, 250); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "middle new" {
		t.Errorf("kept %q; want %q", got, "middle new")
	}
}

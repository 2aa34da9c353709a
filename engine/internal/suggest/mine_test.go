package suggest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/internal/usage"
)

// csv writes sessions of tool names as a usage file.
func csv(sessions [][]string) string {
	var b strings.Builder
	b.WriteString("session,time,tool,ok\n")
	for s, calls := range sessions {
		for i, c := range calls {
			name, failed := strings.CutSuffix(c, "!")
			fmt.Fprintf(&b, "s%d,2026-11-30T10:00:%02dZ,%s,%t\n", s, i, name, !failed)
		}
	}
	return b.String()
}

func found(t *testing.T, text string, o Options) *Found {
	t.Helper()
	r, err := usage.New(strings.NewReader(text), usage.Options{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Mine(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// counts are the patterns with their sessions, those known to work or fail, and those
// that failed.
func counts(f *Found) map[string]int {
	out := map[string]int{}
	for _, p := range f.Patterns {
		var names []string
		for _, c := range p.Calls {
			names = append(names, c.Tool)
		}
		out[strings.Join(names, " ")] = p.Sessions
	}
	return out
}

// brute counts every sequence by looking for it in every session.
func brute(sessions [][]string, o Options) map[string]int {
	total := map[string]int{}
	for _, s := range sessions {
		have := map[string]bool{}
		var grow func(prefix []string, at int)
		grow = func(prefix []string, at int) {
			if len(prefix) >= shortest {
				have[strings.Join(prefix, " ")] = true
			}
			if len(prefix) == o.MaxLength {
				return
			}
			for next := at + 1; next < len(s) && next <= at+1+o.MaxGap; next++ {
				if s[next] != prefix[len(prefix)-1] { // the same again is one call
					grow(append(slices.Clone(prefix), s[next]), next)
				}
			}
		}
		folded := slices.Compact(slices.Clone(s))
		s = folded
		for i := range s {
			grow([]string{s[i]}, i)
		}
		for k := range have {
			total[k]++
		}
	}
	maps.DeleteFunc(total, func(_ string, n int) bool { return n < o.MinSessions })
	return total
}

func TestMineFindsWhatLookingEverywhereFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		o := Options{MinSessions: 5 + rng.IntN(4), MaxGap: rng.IntN(4), MaxLength: 2 + rng.IntN(4), MaxBroken: 0.5}
		sessions := make([][]string, 40)
		for i := range sessions {
			for range 1 + rng.IntN(8) {
				sessions[i] = append(sessions[i], string(rune('a'+rng.IntN(4))))
			}
		}
		if diff := cmp.Diff(brute(sessions, o), counts(found(t, csv(sessions), o))); diff != "" {
			t.Fatalf("round %d, %+v (-looking everywhere +got):\n%s", round, o, diff)
		}
	}
}

func TestMine(t *testing.T) {
	many := func(n int, calls ...string) (list [][]string) {
		for range n {
			list = append(list, calls)
		}
		return list
	}
	o := Options{MinSessions: 20, MaxGap: 1, MaxLength: 3, MaxBroken: 0.5}
	f := found(t, csv(slices.Concat(many(25, "list", "list", "build", "publish!"), many(20, "build", "read", "publish"), many(19, "rare", "list"))), o)
	want := map[string]int{"list build": 25, "list publish": 25, "build publish": 45, "list build publish": 25, "build read": 20, "read publish": 20, "build read publish": 20}
	if diff := cmp.Diff(want, counts(f)); diff != "" {
		t.Errorf("patterns (-want +got):\n%s", diff)
	}
	if f.Sessions != 64 || f.Rare != 1 || f.Support != 20 {
		t.Errorf("%d sessions, %d rare, support %d; want 64, 1 (rare), 20", f.Sessions, f.Rare, f.Support)
	}
	for _, p := range f.Patterns {
		if len(p.Calls) == 2 && p.Calls[0].Tool == "build" && p.Calls[1].Tool == "publish" && (p.Known != 45 || p.Failed != 25) {
			t.Errorf("build publish: known %d, failed %d; want 45, 25", p.Known, p.Failed)
		}
	}
}

// Where there are too many patterns more sessions are asked of each.
func TestMineRaisesItsSupport(t *testing.T) {
	var sessions [][]string
	for range 6 {
		sessions = append(sessions, []string{"a", "b", "c", "d"})
	}
	for range 12 {
		sessions = append(sessions, []string{"a", "b"})
	}
	r, err := usage.New(strings.NewReader(csv(sessions)), usage.Options{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := collect(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	s := kept.sequences()
	s.dropRare(r.Items(), 5)
	list, support, err := s.search(t.Context(), Options{MinSessions: 5, MaxGap: 0, MaxLength: 4}, 3, maxSteps)
	if err != nil || support != 10 || len(list) != 1 || list[0].sessions != 18 {
		t.Errorf("%+v, support %d, %v; want the pair of 18 sessions at 10", list, support, err)
	}
}

func TestMineIsStopped(t *testing.T) {
	r, err := usage.New(strings.NewReader(csv([][]string{{"a", "b"}})), usage.Options{Format: "csv"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Mine(ctx, r, Options{MinSessions: 5, MaxLength: 2}); err == nil {
		t.Error("a reading that was stopped gave patterns")
	}
}

// events writes usage of n events while it is read.
type events struct {
	n, made int
	rng     *rand.Rand
	left    []byte
}

func (e *events) Read(p []byte) (int, error) {
	for len(e.left) == 0 {
		if e.made == e.n {
			return 0, io.EOF
		}
		if e.made == 0 {
			e.left = append(e.left, "session,time,tool,ok\n"...)
		}
		e.left = fmt.Appendf(e.left, "s%d,%d,t%d,true\n", e.made/17, 1764500000+e.made, e.rng.IntN(50))
		e.made++
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

func mineEvents(tb testing.TB, n int) *Found {
	tb.Helper()
	r, err := usage.New(&events{n: n, rng: rand.New(rand.NewPCG(1, 1))}, usage.Options{Format: "csv"})
	if err != nil {
		tb.Fatal(err)
	}
	f, err := Mine(tb.Context(), r, Options{MinSessions: 100, MaxGap: 1, MaxLength: 4, MaxBroken: 0.5})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// What is kept of an event is a few bytes, so that millions of them fit.
func TestMemoryOfAnEvent(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const n = 400_000
	if f := mineEvents(t, n); f.Account.Events != n {
		t.Fatalf("%d events; want %d", f.Account.Events, n)
	}
	runtime.ReadMemStats(&after)
	if per := float64(after.TotalAlloc-before.TotalAlloc) / n; per > 400 {
		t.Errorf("%.0f bytes were allocated for an event in all; want at most 400", per)
	}
}

func BenchmarkMine(b *testing.B) {
	const n = 1_000_000
	b.ReportAllocs()
	for b.Loop() {
		mineEvents(b, n)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
}

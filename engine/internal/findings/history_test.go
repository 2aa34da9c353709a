package findings

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
)

// start of night n.
func start(n int) time.Time { return time.Date(2026, 11, n, 2, 0, 0, 0, time.UTC) }

func runID(n int) string { return fmt.Sprintf("night-%02d", n) }

// trialOf is a passed trial in which scorer "rules" looked, and found these.
func trialOf(story, host string, repeat int, found ...eval.Finding) *eval.Record {
	r := &eval.Record{Trial: eval.Trial{Story: story, Host: host, Repeat: repeat}, Status: eval.StatusPassed}
	r.ID = r.Trial.ID()
	r.Scores = []eval.Score{{Scorer: "rules", State: eval.Scored}}
	for _, f := range found {
		if f.Source == "" {
			f.Source = "rules"
		}
		f.Fingerprint = Fingerprint(f)
		r.Findings = append(r.Findings, f)
	}
	return r
}

func records(list ...*eval.Record) iter.Seq2[*eval.Record, error] {
	return func(yield func(*eval.Record, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// night adds a run to a history; nil is an empty one.
func night(t testing.TB, h *History, n int, list ...*eval.Record) *History {
	t.Helper()
	if h == nil {
		h = &History{}
	}
	if err := h.Add(runID(n), start(n), records(list...)); err != nil {
		t.Fatal(err)
	}
	return h
}

var leak = eval.Finding{Kind: "tool_error", Tool: "cms/put", Severity: eval.SeverityMajor, Text: `Putting "a" fails with a full disk`}

func errored(story, host string, repeat int) *eval.Record {
	r := trialOf(story, host, repeat)
	r.Status, r.Scores = eval.StatusErrored, nil
	return r
}

func skippedScorer(story, host string, repeat int) *eval.Record {
	r := trialOf(story, host, repeat)
	r.Scores[0].State = eval.ScoreSkipped
	return r
}

// Five nights; each test says what one finding's trials were like, and its state
// after each night.
func TestStates(t *testing.T) {
	there := func() []*eval.Record { return []*eval.Record{trialOf("s", "h", 1, leak)} }
	away := func() []*eval.Record { return []*eval.Record{trialOf("s", "h", 1)} }
	other := func() []*eval.Record { return []*eval.Record{trialOf("t", "h", 1)} }
	for _, tt := range []struct {
		name   string
		nights [5][]*eval.Record
		said   []eval.Triage
		want   string
	}{
		{"every night", [5][]*eval.Record{there(), there(), there(), there(), there()}, nil, "new known known known known"},
		{"last night", [5][]*eval.Record{away(), away(), away(), away(), there()}, nil, "- - - - new"},
		{"fixed", [5][]*eval.Record{there(), there(), away(), away(), away()}, nil, "new known fixed fixed fixed"},
		{"back", [5][]*eval.Record{there(), away(), there(), there(), away()}, nil, "new fixed came_back known fixed"},
		{"story not run", [5][]*eval.Record{there(), other(), other(), there(), away()}, nil, "new not_looked_at not_looked_at known fixed"},
		{"nothing run", [5][]*eval.Record{there(), nil, away(), nil, there()}, nil, "new not_looked_at fixed fixed came_back"},
		{"errored", [5][]*eval.Record{there(), {errored("s", "h", 1)}, {errored("s", "h", 1), trialOf("s", "h", 2)}, away(), away()}, nil, "new not_looked_at fixed fixed fixed"},
		{"finder skipped", [5][]*eval.Record{there(), {skippedScorer("s", "h", 1)}, there(), {skippedScorer("s", "h", 1)}, away()}, nil, "new not_looked_at known not_looked_at fixed"},
		{"found in an errored trial", [5][]*eval.Record{there(), {func() *eval.Record { r := trialOf("s", "h", 1, leak); r.Status = eval.StatusErrored; return r }()}, away(), away(), away()}, nil, "new known fixed fixed fixed"},
		{"another host", [5][]*eval.Record{there(), {trialOf("s", "i", 1)}, {trialOf("s", "i", 1, leak)}, {trialOf("s", "i", 1)}, away()}, nil, "new not_looked_at known not_looked_at fixed"},
		{"two hosts, one looked at", [5][]*eval.Record{{trialOf("s", "h", 1, leak), trialOf("s", "i", 1, leak)}, away(), {trialOf("s", "i", 1)}, there(), there()}, nil, "new not_looked_at fixed came_back known"},
		{"one repeat of two", [5][]*eval.Record{{trialOf("s", "h", 1, leak), trialOf("s", "h", 2)}, {trialOf("s", "h", 1), trialOf("s", "h", 2, leak)}, away(), away(), away()}, nil, "new known fixed fixed fixed"},
		{"acknowledged", [5][]*eval.Record{there(), there(), away(), there(), other()}, []eval.Triage{{State: eval.TriageAcknowledged, At: start(2)}}, "acknowledged acknowledged fixed acknowledged acknowledged"},
		{"acknowledged and taken back", [5][]*eval.Record{there(), there(), there(), there(), there()}, []eval.Triage{{State: eval.TriageAcknowledged, At: start(2)}, {State: eval.TriageOpen, At: start(3)}}, "new known known known known"},
		{"said to be fixed, and not looked at", [5][]*eval.Record{there(), other(), other(), there(), there()}, []eval.Triage{{State: eval.TriageFixed, At: start(2)}}, "fixed fixed fixed came_back known"},
		{"said to be fixed, and is not", [5][]*eval.Record{there(), there(), there(), away(), away()}, []eval.Triage{{State: eval.TriageFixed, At: start(2)}}, "fixed fixed came_back fixed fixed"},
		{"said to be fixed before the runs that are kept", [5][]*eval.Record{away(), there(), there(), away(), away()}, []eval.Triage{{State: eval.TriageFixed, At: start(1).Add(-time.Hour)}}, "- came_back known fixed fixed"},
		{"the later of two decisions", [5][]*eval.Record{there(), there(), there(), there(), there()}, []eval.Triage{{State: eval.TriageAcknowledged, At: start(5)}, {State: eval.TriageFixed, At: start(2)}}, "acknowledged acknowledged acknowledged acknowledged acknowledged"},
	} {
		o := Options{}
		if len(tt.said) > 0 {
			o.Triage = &Triage{list: tt.said}
			for i := range o.Triage.list {
				o.Triage.list[i].Finding = Fingerprint(leak)
			}
			o.Triage.sort()
		}
		var h *History
		var got []string
		for i, list := range tt.nights {
			h = night(t, h, i+1, list...)
			state := "-"
			if gs := h.Of(o).Groups; len(gs) > 0 {
				state = string(gs[0].State)
			}
			got = append(got, state)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, s, tt.want)
		}
	}
}

func TestGroup(t *testing.T) {
	more, worst := leak, leak
	more.Text = `Putting "b" fails with a full disk, 3 times`
	worst.Text, worst.Severity, worst.Suggestion = `The disk is full: putting "c" fails`, eval.SeverityCritical, "Make room."
	lie := leak
	lie.Text, lie.Unverified = `Putting "a" fails with a full disk`, true
	h := night(t, nil, 1, trialOf("s", "h", 1, leak, more), trialOf("s", "i", 1, leak), trialOf("s", "h", 2, lie))
	night(t, h, 2, trialOf("s", "h", 1))
	night(t, h, 3, trialOf("t", "h", 1, more, worst))
	got := h.Of(Options{})
	want := []eval.FindingGroup{{
		ID: min(Fingerprint(leak), Fingerprint(more)), State: eval.FindingKnown, Kind: "tool_error", Tool: "cms/put",
		Severity: eval.SeverityCritical, Text: worst.Text, Suggestion: "Make room.",
		FirstSeen: eval.Sighting{Run: "night-01", At: start(1)}, LastSeen: eval.Sighting{Run: "night-03", At: start(3)},
		Count: 5, Trials: 3, Runs: 2, LookedAt: 3,
		Hosts:   []eval.HostCount{{Host: "h", Count: 4, Trials: 2}, {Host: "i", Count: 1, Trials: 1}},
		Stories: []string{"s", "t"}, Sources: []string{"rules"}, Examples: []string{"t.base.h.r1"},
		Fingerprints: []string{Fingerprint(leak), Fingerprint(more), Fingerprint(worst)}, Wordings: 3, Unverified: 1,
	}}
	slices.Sort(want[0].Fingerprints)
	slices.Sort(got.Groups[0].Fingerprints)
	if d := cmp.Diff(want, got.Groups); d != "" {
		t.Error(d)
	}
	if got.Runs != 3 || got.First.Run != "night-01" || got.Newest.Run != "night-03" || got.Hidden != 0 {
		t.Errorf("history %+v", got)
	}
}

func TestUnverifiedStandApart(t *testing.T) {
	lie := leak
	lie.Unverified = true
	h := night(t, nil, 1, trialOf("s", "h", 1, lie))
	night(t, h, 2, trialOf("s", "h", 1, lie), trialOf("s", "h", 2, lie))
	got := h.Of(Options{})
	if len(got.Groups) != 0 || len(got.Unverified) != 1 {
		t.Fatalf("groups %+v, unverified %+v", got.Groups, got.Unverified)
	}
	if g := got.Unverified[0]; g.State != "" || g.Count != 0 || g.Unverified != 3 || g.FirstSeen.Run != "night-01" || g.LastSeen.Run != "night-02" {
		t.Errorf("%+v", g)
	}
	// With evidence it begins to count, from then on.
	night(t, h, 3, trialOf("s", "h", 1, leak))
	got = h.Of(Options{})
	if len(got.Groups) != 1 || len(got.Unverified) != 0 || got.Groups[0].State != eval.FindingNew || got.Groups[0].Count != 1 || got.Groups[0].Unverified != 3 {
		t.Errorf("groups %+v, unverified %+v", got.Groups, got.Unverified)
	}
}

func TestOptions(t *testing.T) {
	slow := eval.Finding{Kind: "slow", Tool: "cms/get", Severity: eval.SeverityInfo, Text: "slow"}
	h := night(t, nil, 1, trialOf("s", "h", 1, leak), trialOf("s", "i", 1, leak, slow))
	night(t, h, 2, trialOf("s", "h", 1), trialOf("s", "i", 1, leak))
	night(t, h, 3, trialOf("s", "h", 1), trialOf("s", "i", 1, leak))
	for _, tt := range []struct {
		name   string
		o      Options
		want   string
		hidden int
	}{
		{"all", Options{}, "tool_error known, slow fixed", 0},
		{"a host where it is gone", Options{Hosts: []string{"h"}}, "tool_error fixed", 0},
		{"a host where it is not", Options{Hosts: []string{"x", "i*"}}, "tool_error known, slow fixed", 0},
		{"kind", Options{Kinds: []string{"sl*"}}, "slow fixed", 1},
		{"state", Options{States: []eval.FindingState{eval.FindingKnown}}, "tool_error known", 1},
		{"the newest run", Options{Newest: 1}, "tool_error known", 1},
		{"the newest two: gone since then", Options{Newest: 2}, "tool_error known, slow fixed", 0},
		{"more than there are", Options{Newest: 9}, "tool_error known, slow fixed", 0},
		{"since", Options{Since: start(3)}, "tool_error known", 1},
		{"a host that is none", Options{Hosts: []string{"none"}}, "", 0},
	} {
		got := h.Of(tt.o)
		var list []string
		for _, g := range got.Groups {
			list = append(list, g.Kind+" "+string(g.State))
		}
		if s := strings.Join(list, ", "); s != tt.want || got.Hidden != tt.hidden {
			t.Errorf("%s: %s, %d hidden; want %s, %d", tt.name, s, got.Hidden, tt.want, tt.hidden)
		}
	}
}

func TestDelta(t *testing.T) {
	of := func(kind string) eval.Finding {
		return eval.Finding{Kind: kind, Tool: "cms/x", Severity: eval.SeverityMinor, Text: kind}
	}
	h := night(t, nil, 1, trialOf("s", "h", 1, of("old"), of("gone"), of("earlier"), of("flaky"), of("acked")), trialOf("t", "h", 1, of("unlooked")))
	night(t, h, 2, trialOf("s", "h", 1, of("old"), of("gone"), of("acked")))
	night(t, h, 3, trialOf("s", "h", 1, of("old"), of("new"), of("flaky"), of("acked")))
	night(t, h, 4, trialOf("s", "h", 1))
	tr := &Triage{list: []eval.Triage{{Finding: Fingerprint(of("acked")), State: eval.TriageAcknowledged, At: start(2)}}}
	tr.sort()
	d, err := h.Delta("night-03", Options{Triage: tr})
	if err != nil {
		t.Fatal(err)
	}
	kinds := func(list []eval.FindingGroup) string {
		var out []string
		for _, g := range list {
			out = append(out, g.Kind)
		}
		return strings.Join(out, ",")
	}
	got := []string{kinds(d.New), kinds(d.CameBack), kinds(d.Gone), kinds(d.Known), kinds(d.Acknowledged), kinds(d.NotLookedAt), fmt.Sprint(d.Before)}
	if diff := cmp.Diff([]string{"new", "flaky", "gone", "old", "acked", "unlooked", "2"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := h.Delta("night-09", Options{}); !errors.Is(err, ErrNoRun) {
		t.Errorf("a run that is not there: %v", err)
	}
	if d, err := h.Delta("night-01", Options{}); err != nil || len(d.New) != 6 || d.Before != 0 {
		t.Errorf("the first night: %+v, %v", d, err)
	}
}

// Whatever order runs, records and findings come in, the groups are the same.
func TestOrderDoesNotMatter(t *testing.T) {
	var list []eval.Finding
	for i, p := range readPairs(t) {
		for j, text := range []string{p.A, p.B} {
			list = append(list, eval.Finding{Kind: p.Kind, Tool: p.Tool, Text: text, Severity: eval.SeverityMinor, Unverified: (i+j)%7 == 0})
		}
	}
	build := func(seed uint64) *eval.FindingHistory {
		rnd := rand.New(rand.NewPCG(seed, 1))
		h := &History{}
		for _, n := range rnd.Perm(5) {
			var recs []*eval.Record
			for r := range 4 {
				var found []eval.Finding
				for i := range list {
					if (i+n+r)%4 == 0 {
						found = append(found, list[i])
					}
				}
				rnd.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
				recs = append(recs, trialOf("s", []string{"h", "i"}[r%2], r+1, found...))
			}
			rnd.Shuffle(len(recs), func(i, j int) { recs[i], recs[j] = recs[j], recs[i] })
			night(t, h, n+1, recs...)
		}
		return h.Of(Options{})
	}
	want := build(0)
	if len(want.Groups) < 40 || len(want.Unverified) > len(want.Groups) {
		t.Fatalf("%d groups, %d unverified", len(want.Groups), len(want.Unverified))
	}
	for seed := range uint64(20) {
		if d := cmp.Diff(want, build(seed+1)); d != "" {
			t.Fatalf("seed %d: %s", seed+1, d)
		}
	}
}

// Younger runs change neither the IDs nor the members of groups that are there.
func TestGroupsStayAsRunsCome(t *testing.T) {
	list := readPairs(t)
	var h *History
	ids := map[string]string{}
	for n := range 8 {
		var found []eval.Finding
		for i, p := range list {
			if i%8 <= n {
				found = append(found, eval.Finding{Kind: p.Kind, Tool: p.Tool, Text: []string{p.A, p.B}[n%2]})
			}
		}
		h = night(t, h, n+1, trialOf("s", "h", 1, found...))
		for _, g := range h.Of(Options{}).Groups {
			for _, f := range g.Fingerprints {
				if was := ids[f]; was != "" && was != g.ID {
					t.Errorf("night %d: %s went from group %s to %s", n+1, f, was, g.ID)
				}
				ids[f] = g.ID
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	h := &History{}
	if got := h.Of(Options{}); len(got.Groups) != 0 || got.Groups == nil || got.Newest != nil || got.Runs != 0 {
		t.Errorf("an empty history: %+v", got)
	}
	broken := func(yield func(*eval.Record, error) bool) {
		yield(nil, errors.New("trials/a/trial.json: unexpected end of JSON input"))
		yield(trialOf("s", "h", 1, leak), nil)
		bare := trialOf("s", "h", 2)
		bare.Findings = []eval.Finding{{Fingerprint: "\x1b[31m", Text: "\xff\xfe", Severity: "odd"}, {}}
		yield(bare, nil)
	}
	if err := h.Add("a", start(1), broken); err != nil {
		t.Fatal(err)
	}
	if err := h.Add("a", start(1), records()); !errors.Is(err, ErrTwice) {
		t.Errorf("a run given twice: %v", err)
	}
	got := h.Of(Options{})
	if len(got.Groups) != 2 || len(got.Unread) != 1 || got.Unread[0] != (eval.Unread{Run: "a", Why: "trials/a/trial.json: unexpected end of JSON input"}) {
		t.Errorf("%+v", got)
	}
	for _, g := range got.Groups {
		if !isFingerprint(g.ID) || g.State != eval.FindingNew {
			t.Errorf("%+v", g)
		}
	}
}

// Many different texts of one tool, which share most of their words.
func TestManyFindings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		return string([]rune{rune('a' + rnd.IntN(26)), rune('a' + rnd.IntN(26)), 'a', rune('a' + rnd.IntN(26)), 'o'})
	}
	var found []eval.Finding
	for range 5000 {
		text := "the upload of the picture stops"
		for range 12 {
			text += " " + word()
		}
		found = append(found, eval.Finding{Kind: "other", Text: text})
	}
	h := night(t, nil, 1, trialOf("s", "h", 1, found...))
	n := 0
	for _, g := range h.Of(Options{}).Groups {
		n += g.Count
	}
	if n != 5000 {
		t.Errorf("%d findings in the groups of 5000", n)
	}
}

func BenchmarkHistory(b *testing.B) {
	list := readPairs(b)
	for b.Loop() {
		h := &History{}
		for n := range 200 {
			var recs []*eval.Record
			for r := range 50 {
				var found []eval.Finding
				for k := range 3 {
					p := list[(r*3+k+n)%len(list)]
					found = append(found, eval.Finding{Kind: p.Kind, Tool: p.Tool, Text: p.A})
				}
				recs = append(recs, trialOf("s", "h", r+1, found...))
			}
			if err := h.Add(fmt.Sprintf("%03d", n), start(1).Add(time.Duration(n)*time.Hour), records(recs...)); err != nil {
				b.Fatal(err)
			}
		}
		if len(h.Of(Options{}).Groups) < 40 {
			b.Fatal("too few groups")
		}
	}
}

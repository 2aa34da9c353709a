package report

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/evalengine/evalengine/engine/eval"
)

func problemSummary(reason string) (*eval.Summary, []Problem) {
	t := eval.Trial{Story: "s", Host: "h", Repeat: 1}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	one := 1.0
	s := &eval.Summary{
		Suite: "x", Run: "r", StartedAt: now, FinishedAt: now, Planned: 1, Completion: eval.RunIncomplete,
		Trials: eval.Tally{Total: 1, Errored: 1},
		Arms: []eval.Arm{{
			Story: "s", Host: "h", Trials: eval.Tally{Total: 1, Errored: 1},
			Effort: []eval.Stat{{Name: "calls", N: 1, Mean: &one, Min: &one, Max: &one}},
		}},
	}
	return s, []Problem{{Trial: t, Status: eval.StatusErrored, Cause: "not_ready", Reason: "not_ready: " + reason}}
}

func terminal(t *testing.T, reason string, st Style) string {
	t.Helper()
	var b strings.Builder
	s, problems := problemSummary(reason)
	Terminal(&b, s, problems, st)
	return b.String()
}

func TestReasonIsWholeWithoutTerminal(t *testing.T) {
	long := strings.Repeat("word ", 150) + "end"
	if got := terminal(t, long, Style{}); !strings.Contains(got, "! r1 not_ready  "+long+"\n") {
		t.Errorf("the reason is not whole, or has its cause twice:\n%s", got)
	}
}

func TestReasonIsWrappedOnTerminal(t *testing.T) {
	got := terminal(t, "one two three four five six seven eight nine ten eleven twelve thirteen", Style{Width: 80})
	const want = "      ! r1 not_ready  one two three four five six seven eight nine ten eleven\n          twelve thirteen\n"
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func TestOneCallIsSingular(t *testing.T) {
	if got := terminal(t, "x", Style{}); !strings.Contains(got, "  1 call\n") {
		t.Errorf("no %q in\n%s", "1 call", got)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""},
		{"a bb ccc", 4, "a bb|ccc"},
		{"abcdefgh i", 4, "abcdefgh|i"},
		{"日本 語", 4, "日本|語"},
	} {
		if got := strings.Join(wrap(c.text, c.width), "|"); got != c.want {
			t.Errorf("wrap(%q, %d) = %q; want %q", c.text, c.width, got, c.want)
		}
	}
}

// Whatever the width, a line is cut between whole characters, and what a host made
// of half a surrogate pair is not shown.
func TestLineCutsWholeCharacters(t *testing.T) {
	text := "cut \uFFFD " + strings.Repeat("🧑\u200d🚀 e\u0301 ", 40)
	for width := 1; width < 120; width++ {
		got := Line(text, width)
		if !utf8.ValidString(got) || strings.ContainsRune(got, '\uFFFD') || runewidth.StringWidth(got) > width {
			t.Errorf("width %d: %q, %d columns", width, got, runewidth.StringWidth(got))
		}
		if end := strings.TrimSuffix(got, "…"); strings.HasSuffix(end, "e") && width > 8 {
			t.Errorf("width %d: %q has lost an accent", width, got)
		}
	}
}

// A clock that was set back in mid-run gives no time, and none below zero.
func TestClockSetBack(t *testing.T) {
	s, problems := problemSummary("x")
	s.FinishedAt = s.StartedAt.Add(-2 * time.Second)
	var b strings.Builder
	Terminal(&b, s, problems, Style{})
	if head, _, _ := strings.Cut(b.String(), "\n"); head != "x  r  ?" {
		t.Errorf("head = %q; want a ? for the time", head)
	}
}

// What is not known of a cost is said, and never a small number in its place.
func TestCost(t *testing.T) {
	usd := 0.0123
	for _, tt := range []struct {
		usage eval.Usage
		want  string
	}{
		{eval.Usage{}, ""},
		{eval.Usage{InputTokens: 1, OutputTokens: 2, LowerBound: true}, "cost unknown"},
		{eval.Usage{InputTokens: 1, OutputTokens: 2}, "cost unknown"},
		{eval.Usage{InputTokens: 900, CostUSD: &usd, LowerBound: true}, "≥ $0.0123"},
		{eval.Usage{InputTokens: 900, CostUSD: &usd}, "$0.0123"},
	} {
		if got := Cost(tt.usage); got != tt.want {
			t.Errorf("Cost(%+v) = %q; want %q", tt.usage, got, tt.want)
		}
	}
}

// A passed trial's findings are shown, and those that cite nothing are marked.
func TestFindings(t *testing.T) {
	s, _ := problemSummary("x")
	s.Arms[0].Trials, s.Trials = eval.Tally{Total: 1, Passed: 1}, eval.Tally{Total: 1, Passed: 1}
	s.Findings = []eval.FindingCount{
		{Kind: "tool_error", Tool: "cms/data", Action: "create_field", Severity: eval.SeverityMajor, Text: "A call failed", Count: 2, Unverified: 1},
		{Kind: "slow", Severity: eval.SeverityMinor, Text: "A call was slow", Count: 1},
		{Kind: "other", Severity: eval.SeverityMajor, Text: "The button overlaps", Unverified: 3},
	}
	var b strings.Builder
	Terminal(&b, s, nil, Style{})
	const want = "findings\n" +
		"  major    tool_error ×2 (unverified ×1) cms/data create_field  A call failed\n" +
		"  minor    slow ×1  A call was slow\n" +
		"  major    other (unverified ×3)  The button overlaps\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwant in it\n%s", b.String(), want)
	}
}

func TestTrialFindings(t *testing.T) {
	r := &eval.Record{ID: "s.base.h.r1", Status: eval.StatusPassed, Findings: []eval.Finding{
		{Kind: "silent_change", Tool: "cms/styles_create", Severity: eval.SeverityMinor, Text: "The name was changed silently", Suggestion: "Say so.",
			Evidence: []eval.Evidence{{Step: "s3"}, {Pointer: "/styles/1"}}},
		{Kind: "other", Severity: eval.SeverityMajor, Text: "It overlaps", Evidence: []eval.Evidence{{Step: "s99"}}, Unverified: true},
	}}
	var b strings.Builder
	Trial(&b, r, nil, Style{})
	const want = "findings\n" +
		"  minor    silent_change cms/styles_create The name was changed silently (s3, /styles/1)\n" +
		"           Say so.\n" +
		"  major    other (unverified) It overlaps (s99)\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwant in it\n%s", b.String(), want)
	}
}

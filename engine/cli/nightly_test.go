package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// nights is a suite of six stories whose nights are written by the tests.
var nights = func() string {
	text := `
suite "shop" { repeats = 3 }
host "one" {
  driver = "scripted"
  config { scripts = { a = "{}", b = "{}", c = "{}", d = "{}", e = "{}", f = "{}" } }
}
target "site" { provisioner = "sitebuilder" }
`
	for _, story := range []string{"a", "b", "c", "d", "e", "f"} {
		text += `
story "` + story + `" {
  target = target.site
  prompt = "x"
  check "right" {
    condition     = answer != ""
    error_message = "no answer"
  }
}
`
	}
	return text
}()

// night says what of a night is planted; the zero one is as ever.
type night struct {
	wrong    bool      // the trials of every story fail
	quality  []float64 // of story c
	slow     bool      // there is a finding of its own
	tools    []string
	errored  string // the cause by which the trials of story f end
	fails    bool   // each call of pages_list ends in an error
	findings bool   // nobody finds what is found as ever
}

// keepNight writes a night's run and returns its ID.
func keepNight(t *testing.T, store *ledger.Store, at time.Time, n night) string {
	t.Helper()
	info := eval.Run{ID: ledger.NewID(at), Suite: "shop", StartedAt: at, Files: []eval.File{}, Timeout: time.Minute}
	for _, story := range []string{"a", "b", "c", "d", "e", "f"} {
		for r := 1; r <= 3; r++ {
			info.Trials = append(info.Trials, eval.Trial{Story: story, Host: "one", Repeat: r})
		}
	}
	run, err := store.Create(info)
	if err != nil {
		t.Fatal(err)
	}
	if n.tools == nil {
		n.tools = []string{"pages_list", "sites_publish"}
	}
	var tools []eval.Tool
	for _, name := range n.tools {
		tools = append(tools, eval.Tool{Server: "sitebuilder", Name: name, InputSchema: eval.JSON(`{"type":"object"}`)})
	}
	for _, tr := range info.Trials {
		rec := nightRecord(tr, n, at)
		rec.Run, rec.ToolsDigest = info.ID, strings.Join(n.tools, "+")
		steps := []eval.Step{
			{ID: "s1", Turn: 1, Kind: eval.StepToolCall, CallID: "c1", Server: "sitebuilder", Tool: "pages_list", Arguments: eval.JSON("{}")},
			{ID: "s2", Turn: 1, Kind: eval.StepToolResult, CallID: "c1", Server: "sitebuilder", Tool: "pages_list", Result: eval.JSON(`"ok"`), IsError: n.fails},
		}
		if err := run.Draft(tr.ID(), 1).Commit(rec, ledger.Bundle{Steps: steps, Tools: tools}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return info.ID
}

func nightRecord(tr eval.Trial, n night, at time.Time) *eval.Record {
	right := !n.wrong
	score := func(name, scorer string, role eval.Role, d eval.Dimension, v float64, passed *bool) eval.Score {
		return eval.Score{Name: name, Scorer: scorer, Role: role, Dimension: d, State: eval.Scored, Value: &v, Passed: passed}
	}
	value, quality := 0.0, 0.8
	if right {
		value = 1
	}
	if tr.Story == "c" && n.quality != nil {
		quality = n.quality[tr.Repeat-1]
	}
	rec := &eval.Record{
		ID: tr.ID(), Trial: tr, Driver: "scripted", Status: eval.StatusPassed, Attempts: []eval.Attempt{{N: 1, StartedAt: at, Outcome: eval.Completed}},
		Scores: []eval.Score{
			score("check/right", "check", eval.RoleAssert, eval.DimensionOutcome, value, &right),
			score("judge/visual", "judge/visual", eval.RoleJudge, eval.DimensionQuality, quality, nil),
			score("findings/all", "findings/all", eval.RoleMeasure, eval.DimensionPath, 1, nil),
		},
		Timings: eval.Timings{StartedAt: at, FinishedAt: at.Add(time.Minute)},
		Target:  &eval.Placed{Name: "site", Provisioner: "sitebuilder", ID: "1"},
	}
	if !right {
		rec.Status, rec.Cause = eval.StatusFailed, "assert"
	}
	if tr.Story == "f" && n.errored != "" {
		rec.Status, rec.Cause, rec.Scores = eval.StatusErrored, n.errored, nil
	}
	found := func(kind, text string) {
		rec.Findings = append(rec.Findings, eval.Finding{
			Kind: kind, Tool: "sitebuilder/pages_list", Severity: eval.SeverityMinor, Text: text, Source: "findings/all", Fingerprint: kind,
			Evidence: []eval.Evidence{{Step: "s2"}},
		})
	}
	if tr.Story == "a" && !n.findings {
		found("oversized_result", "The list of pages is very large.")
	}
	if tr.Story == "b" && n.slow {
		found("slow", "Listing the pages took longer than a minute.")
	}
	return rec
}

// usual are nights that nothing happened in, the last of which is the baseline; the
// quality of story c differs a little, as it does.
func usual(t *testing.T, count int) (dir string, store *ledger.Store, next time.Time) {
	t.Helper()
	dir = t.TempDir()
	store, err := ledger.Open(filepath.Join(dir, ".evalengine"))
	if err != nil {
		t.Fatal(err)
	}
	next = time.Date(2026, 11, 1, 2, 0, 0, 0, time.UTC)
	last := ""
	for i := range count {
		q := [][]float64{{0.8, 0.8, 0.8}, {0.8, 0.82, 0.8}, {0.78, 0.8, 0.8}}[i%3]
		last = keepNight(t, store, next, night{quality: q})
		next = next.AddDate(0, 0, 1)
	}
	if last != "" {
		if err := store.KeepBaseline(eval.Baseline{Suite: "shop", Run: last, SetAt: next}); err != nil {
			t.Fatal(err)
		}
	}
	return dir, store, next
}

// nightly runs the command and returns its exit code, the report in Markdown and
// what it says to people.
func nightly(t *testing.T, dir, run string, more ...string) (code int, markdown, said string) {
	t.Helper()
	cmd := command(t, nights, append([]string{"nightly", "suite.hcl", "--run", run, "--store", filepath.Join(dir, ".evalengine"), "-o", "night.md"}, more...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(filepath.Join(cmd.Dir, "night.md"))
	return code, strings.ReplaceAll(string(b), run, "RUN"), string(out)
}

func TestNightNamesWhatIsPlantedAndNothingElse(t *testing.T) {
	dir, store, at := usual(t, 9)
	run := keepNight(t, store, at, night{wrong: true, quality: []float64{0.5, 0.8, 1}, slow: true, tools: []string{"pages_list"}})
	code, got, said := nightly(t, dir, run)
	if code != 1 {
		t.Errorf("exit code %d; want 1\n%s", code, said)
	}
	base, err := store.ReadBaseline("shop")
	if err != nil {
		t.Fatal(err)
	}
	want := `## shop: regressed <!-- evalengine:nightly shop -->
- 18 of 18 trials: 0 passed, 18 failed, 0 errored, 0 skipped
- against baseline BASE and the median of 7 nights: regressed: outcome
- findings: 1 new, 0 came back, 0 gone, 1 known; 0 tools and actions without a story
- run RUN, 1m00s

### Regressions

- outcome: 1 → 0 (difference −1 to −0.45), p=0.016; most in a, b, c, d, e

### New findings

- minor slow sitebuilder/pages\_list: Listing the pages took longer than a minute. (one ×3)

### Notable variance

- c on one, judge/visual: stdev 0.25 of 0.50, 0.80, 1; 0 to 0.01 on 9 nights before (p=0.0069)

### Tools that changed

- removed: sitebuilder/sites\_publish
`
	if diff := cmp.Diff(want, strings.ReplaceAll(got, base.Run, "BASE")); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestQuietNightIsFiveLines(t *testing.T) {
	dir, store, at := usual(t, 9)
	run := keepNight(t, store, at, night{quality: []float64{0.8, 0.8, 0.81}})
	code, got, said := nightly(t, dir, run)
	if code != 0 || !strings.HasPrefix(got, "## shop: quiet night <!-- evalengine:nightly shop -->\n") || strings.Count(got, "\n") != 5 {
		t.Errorf("exit code %d; want 0, and five lines\n%s\n%s", code, got, said)
	}
	if n := strings.Count(said, "\n"); n != 5 {
		t.Errorf("%d lines for people; want 5\n%s", n, said)
	}
}

func TestFirstNight(t *testing.T) {
	dir, store, at := usual(t, 0)
	run := keepNight(t, store, at, night{})
	code, got, said := nightly(t, dir, run)
	if code != 0 || !strings.Contains(got, "shop: first night") || !strings.Contains(got, "no baseline is set and there are fewer than 3 earlier nights") {
		t.Errorf("exit code %d; want 0\n%s\n%s", code, got, said)
	}
	code, got, _ = nightly(t, dir, run, "--set-baseline")
	if b, err := store.ReadBaseline("shop"); code != 0 || err != nil || b.Run != run || !strings.Contains(got, "it is the baseline now") {
		t.Errorf("exit code %d, baseline %+v, %v\n%s", code, b, err, got)
	}
}

func TestNightWithoutEvidence(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    night
		code int
		want []string
	}{
		{"some errored", night{errored: "rate_limit"}, 3, []string{"15 passed, 0 failed, 3 errored", "### Errored trials by cause\n\n- rate\\_limit: 3 trials\n"}},
		{"a finding gone", night{findings: true}, 0, []string{"### Findings gone\n\n- minor oversized\\_result sitebuilder/pages\\_list: The list of pages is very large."}},
		{"a tool that fails", night{fails: true}, 0, []string{"### Tools that changed\n\n- fails on every call: sitebuilder/pages\\_list\n"}},
		{"a tool more", night{tools: []string{"pages_list", "sites_publish", "sites_delete"}}, 0, []string{"- added: sitebuilder/sites\\_delete\n", "### Tools no longer covered\n\n- sitebuilder/sites\\_delete\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, store, at := usual(t, 3)
			run := keepNight(t, store, at, tt.n)
			code, got, said := nightly(t, dir, run)
			if code != tt.code {
				t.Errorf("exit code %d; want %d\n%s", code, tt.code, said)
			}
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in\n%s", w, got)
				}
			}
		})
	}
}

// A baseline that cannot be used is said, and nothing is compared in its place.
func TestNightWithABadBaseline(t *testing.T) {
	dir, store, at := usual(t, 1)
	run := keepNight(t, store, at, night{})
	path := filepath.Join(store.Root(), "baselines", "shop.json")
	for _, tt := range []struct {
		text string
		code int
		want string
	}{
		{`{"schema":1,"suite":"shop","run":"20250101T000000Z-aaaaaa","set_at":"2026-01-01T00:00:00Z"}`, 2, "the baseline 20250101T000000Z-aaaaaa: no such run"},
		{`{"schema":7,"suite":"shop","run":"x","set_at":"2026-01-01T00:00:00Z"}`, 2, "schema 7; this evalengine reads 1: set it again"},
		{`{"schema":1,"su`, 2, "shop.json"},
		{`{"schema":1,"suite":"other","run":"x","set_at":"2026-01-01T00:00:00Z"}`, 2, `it is not of suite "shop"`},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, said := nightly(t, dir, run); code != tt.code || !strings.Contains(said, tt.want) {
			t.Errorf("%s: exit code %d; want %d and %q\n%s", tt.text, code, tt.code, tt.want, said)
		}
	}
}

// The webhook gets a message of Slack's form. What becomes of it changes no code, and
// its address is told nowhere.
func TestNightIsPosted(t *testing.T) {
	var body []byte
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(status)
		fmt.Fprint(w, "no_service")
	}))
	defer srv.Close()
	address := srv.URL + "/services/T0/B0/secret-of-the-hook"
	dir, store, at := usual(t, 3)
	run := keepNight(t, store, at, night{slow: true})
	code, _, said := nightly(t, dir, run, "--webhook", address)
	var m struct {
		Text   string
		Blocks []struct {
			Type string
			Text struct{ Type, Text string }
		}
	}
	if err := json.Unmarshal(body, &m); err != nil || code != 0 || !strings.HasPrefix(m.Text, "shop: news: against baseline ") || len(m.Blocks) != 3 {
		t.Fatalf("%v, exit code %d: %s\n%s", err, code, body, said)
	}
	if got, want := m.Blocks[2].Text.Text, "*New findings*\n• minor slow sitebuilder/pages_\u200blist: Listing the pages took longer than a minute. (one ×3)"; got != want {
		t.Errorf("block %q; want %q", got, want)
	}
	status = http.StatusForbidden
	code, _, said = nightly(t, dir, run, "--webhook", address)
	if code != 0 || !strings.Contains(said, "the report was not delivered: the webhook answered 403 Forbidden: no_service") {
		t.Errorf("exit code %d: %s", code, said)
	}
	srv.Close()
	code, _, said = nightly(t, dir, run, "--webhook", address)
	if code != 0 || !strings.Contains(said, "the report was not delivered") || strings.Contains(said, "secret-of-the-hook") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

func TestNightForGitHub(t *testing.T) {
	dir, store, at := usual(t, 3)
	run := keepNight(t, store, at, night{})
	file := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(file, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, nights, "nightly", "suite.hcl", "--run", run, "--store", filepath.Join(dir, ".evalengine"), "--github", "--json")
	cmd.Env = append(cmd.Env, "GITHUB_STEP_SUMMARY="+file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var n eval.Nightly
	if err != nil || json.Unmarshal(out, &n) != nil || !n.Quiet || n.Run != run {
		t.Errorf("%v: %s\n%s", err, out, stderr.String())
	}
	if b, _ := os.ReadFile(file); !strings.HasPrefix(string(b), "before\n## shop: quiet night <!-- evalengine:nightly shop -->\n") {
		t.Errorf("summary:\n%s", b)
	}
}

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// weather is a way in which a trial of the storm ends.
type weather struct {
	steps  string
	target bool
	status eval.Status
	cause  string
}

var weathers = []weather{
	{`[{"say":"fine"}]`, false, eval.StatusPassed, ""},
	{`[{"call":{"tool":"sites_list","arguments":{}}},{"say":"fine"}]`, true, eval.StatusPassed, ""},
	{`[{"call":{"tool":"pages_list","arguments":{"site_id":"site_1"}}},{"call":{"tool":"sites_list","arguments":{}}},{"say":"fine"}]`, true, eval.StatusPassed, ""},
	{`[{"say":"rain"}]`, false, eval.StatusFailed, "outcome"},
	{`[{"call":{"tool":"sites_list","arguments":{}}},{"say":"rain"}]`, true, eval.StatusFailed, "outcome"},
	{`[{"fail":{"outcome":"refused","detail":"no"}}]`, false, eval.StatusFailed, "refused"},
	{`[{"hang":true}]`, true, eval.StatusFailed, "timeout"},
	{`[{"fault":{"cause":"server","retry":"never","detail":"gone"}}]`, false, eval.StatusErrored, "server"},
	{`[{"call":{"tool":"sites_list","arguments":{}}},{"fault":{"cause":"host","retry":"trial","detail":"gone"}}]`, true, eval.StatusErrored, "host"},
}

// Five hundred trials, fifty at once, with faults all over: every count agrees
// with every other, and nothing is left.
func TestStorm(t *testing.T) {
	const stories, hosts, repeats = 25, 4, 5
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var suite, scripts strings.Builder
	suite.WriteString("suite \"storm\" {\n  repeats = 5\n  retries = 1\n  circuit = 0\n}\ntarget \"site\" { provisioner = \"sitebuilder\" }\n")
	want := map[string]string{}
	var tally eval.Tally
	for n := range stories {
		w := weathers[(n+random.IntN(2)*random.IntN(len(weathers)))%len(weathers)]
		name := fmt.Sprintf("story-%d", n)
		fmt.Fprintf(&scripts, "      %q = %q\n", name, `{"turns":[{"steps":`+w.steps+`}]}`)
		fmt.Fprintf(&suite, "story %q {\n  prompt = \"x\"\n", name)
		if w.target {
			suite.WriteString("  target = target.site\n")
		}
		if w.cause == "timeout" {
			suite.WriteString("  timeout = \"2s\"\n")
		}
		suite.WriteString("  assert \"answer/equals\" { value = \"fine\" }\n}\n")
		for h := range hosts {
			for r := range repeats {
				want[fmt.Sprintf("%s.base.host-%d.r%d", name, h, r+1)] = string(w.status) + " " + w.cause
			}
		}
		count(&tally, w.status, hosts*repeats)
	}
	for h := range hosts {
		fmt.Fprintf(&suite, "host \"host-%d\" {\n  driver = \"scripted\"\n  config {\n    scripts = {\n%s    }\n  }\n}\n", h, scripts.String())
	}
	cmd := command(t, suite.String(), "run", "suite.hcl", "-j", "50", "--no-preflight")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Fatalf("exit code %d; want %d\n%s%s", code, exitFailed, stderr.Bytes(), stdout.Bytes())
	}
	got, recorded := stormRecords(t, cmd.Dir)
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("records: got -, want +:\n%s", d)
	}
	s := summaryOf(t, cmd.Dir)
	var arms eval.Tally
	for _, a := range s.Arms {
		arms.Total, arms.Passed, arms.Failed, arms.Errored = arms.Total+a.Trials.Total, arms.Passed+a.Trials.Passed, arms.Failed+a.Trials.Failed, arms.Errored+a.Trials.Errored
	}
	s.Trials.Causes = nil
	for what, got := range map[string]eval.Tally{"records": recorded, "summary": s.Trials, "arms": arms, "events": shownTally(stderr.String())} {
		if d := cmp.Diff(got, tally); d != "" {
			t.Errorf("%s: got -, want +:\n%s", what, d)
		}
	}
	if s.Planned != stories*hosts*repeats || s.Completion != eval.RunComplete && tally.Errored == 0 {
		t.Errorf("summary: planned %d, %s", s.Planned, s.Completion)
	}
	if left, _ := os.ReadDir(filepath.Join(cmd.Dir, "tmp")); len(left) > 0 {
		t.Errorf("left in the temporary folder: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(cmd.Dir, ".evalengine", "runs", "*", "drafts", "*")); len(left) > 0 {
		t.Errorf("drafts left: %v", left)
	}
	if left := children(cmd.Dir); len(left) > 0 {
		t.Errorf("processes left: %q", left)
	}
}

func count(t *eval.Tally, s eval.Status, n int) {
	t.Total += n
	switch s {
	case eval.StatusPassed:
		t.Passed += n
	case eval.StatusFailed:
		t.Failed += n
	case eval.StatusErrored:
		t.Errored += n
	case eval.StatusSkipped:
		t.Skipped += n
	}
}

// stormRecords are the ends of the latest run's trials, each record verified.
func stormRecords(t *testing.T, dir string) (ends map[string]string, tally eval.Tally) {
	t.Helper()
	store, err := ledger.Open(filepath.Join(dir, ".evalengine"))
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	ends = map[string]string{}
	for rec, err := range run.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if err := ledger.Verify(run.TrialDir(rec.ID), rec); err != nil {
			t.Error(err)
		}
		ends[rec.ID] = string(rec.Status) + " " + string(rec.Cause)
		count(&tally, rec.Status, 1)
	}
	return ends, tally
}

var trialLine = regexp.MustCompile(`(?m)^(\S) story-\d+\.base\.host-\d\.r\d\b`)

// shownTally counts the trials that were shown as they ended.
func shownTally(text string) eval.Tally {
	var tally eval.Tally
	for _, m := range trialLine.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "✓":
			count(&tally, eval.StatusPassed, 1)
		case "✗":
			count(&tally, eval.StatusFailed, 1)
		case "!":
			count(&tally, eval.StatusErrored, 1)
		case "-":
			count(&tally, eval.StatusSkipped, 1)
		}
	}
	return tally
}

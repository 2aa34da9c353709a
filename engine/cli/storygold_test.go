package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/ledger"
)

// siteJudge speaks Anthropic's API and grades by what it is shown: floors are the
// worst, what golds are is the best but for one aspect of one answer in three, and
// trials are the middle.
type siteJudge struct {
	mu sync.Mutex
	// floors are the first pictures of floors, as base64.
	floors []string
	// trials: what is shown is trials, no golds.
	trials bool
	golden map[string]int
	keys   []string
}

func (j *siteJudge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/messages" {
		http.Error(w, "not served", http.StatusNotFound)
		return
	}
	j.mu.Lock()
	j.keys = append(j.keys, r.Header.Get("X-Api-Key"))
	answer := j.grade(string(body))
	j.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "m", "type": "message", "role": "assistant", "model": "told", "stop_reason": "end_turn",
		"content": []any{map[string]any{"type": "text", "text": answer}},
		"usage":   map[string]any{"input_tokens": 100, "output_tokens": 10},
	})
}

func (j *siteJudge) grade(body string) string {
	aspects, cites := []string{"brief", "layout", "polish"}, "pictures"
	floor := false
	if strings.Contains(body, "tool_choice") {
		aspects, cites = []string{"completion", "tool_choice", "correctness"}, "steps"
		floor = !strings.Contains(body, ", call of ")
	} else {
		for _, picture := range j.floors {
			floor = floor || strings.Contains(body, picture)
		}
	}
	grade, least := 4, 4
	switch {
	case j.trials:
		grade, least = 2, 2
	case floor:
		grade, least = 0, 0
	default:
		of := cites
		for _, word := range []string{"bakery", "contact", "kite maker"} {
			if strings.Contains(body, word) {
				of += " " + word
				break
			}
		}
		if j.golden[of]++; j.golden[of]%3 == 0 {
			least = 3
		}
	}
	out := map[string]any{"summary": "Seen.", "findings": []any{}}
	for i, a := range aspects {
		out[a] = map[string]any{"reason": "It is so.", cites: []any{}, "grade": []int{least, grade, grade}[i]}
	}
	b, _ := json.Marshal(out)
	return string(b)
}

// TestSitebuilderGolds records the golds of stories/sitebuilder, has a judge on this
// machine grade them, and runs their stories: each judge's score is shown raw and
// held against its gold, with the error.
func TestSitebuilderGolds(t *testing.T) {
	j := &siteJudge{golden: map[string]int{}}
	srv := httptest.NewServer(j)
	t.Cleanup(srv.Close)
	dir, suite := t.TempDir(), filepath.Join(root(t), "stories", "sitebuilder")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(programs(t), "evalengine"), args...)
		cmd.Dir = dir
		cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(dir, "home"), "EVALENGINE_CACHE="+compiled(t, filepath.Join(dir, "cache")),
			"EVALENGINE_VAR_judge_url="+srv.URL)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("evalengine %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
		}
		return out.String()
	}

	if got := run("gold", "record", suite); strings.Count(got, "gold recorded") != 3 || strings.Count(got, "with its floor") != 2 {
		t.Fatalf("recorded:\n%s", got)
	}
	golds := filepath.Join(dir, ".evalengine", "golds")
	for _, story := range []string{"bakery-home", "hero-first"} {
		for _, first := range []string{"home.png", "home@390x844.png"} {
			b, err := os.ReadFile(filepath.Join(golds, story, "floor", "pages", first))
			if err != nil {
				t.Fatal(err)
			}
			j.floors = append(j.floors, base64.StdEncoding.EncodeToString(b))
		}
	}
	got := run("gold", "score", suite)
	for line, n := range map[string]int{" gold 0.97 ±0.03 n=3  floor 0 ±0 n=3": 3, " gold 0.97 ±0.03 n=3\n": 2} {
		if strings.Count(got, line) != n {
			t.Errorf("graded: %d lines have %q; want %d\n%s", strings.Count(got, line), line, n, got)
		}
	}

	j.trials = true
	got = run("run", suite, "--story", "bakery-home", "--story", "contact-form", "--story", "hero-first", "--variant", "hardened", "--no-progress")
	for line, n := range map[string]int{"mean=0.50  [0.50]": 5, "mean=0.51 each ±0.01  [0.51]  of gold": 5} {
		if strings.Count(got, line) != n {
			t.Errorf("summary: %d lines have %q; want %d\n%s", strings.Count(got, line), line, n, got)
		}
	}
	got = run("show", "bakery-home.hardened.scripted.r1")
	for _, line := range []string{"judge/visual                   quality    2 points", "0.51 ±0.01 of gold  judge/visual 0.5 is 0.514 ± 0.015 of the way"} {
		if !strings.Contains(got, line) {
			t.Errorf("the trial does not show %q:\n%s", line, got)
		}
	}
	holdRelative(t, dir)
	for _, key := range j.keys {
		if key != "" {
			t.Error("a model on this machine was sent a key")
		}
	}
}

// holdRelative holds the records' numbers: the gold's mean is 35/36 with a standard
// error of 1/36, so a trial of 0.5 is 18/35 of the way, with an error of 18/35².
func holdRelative(t *testing.T, dir string) {
	t.Helper()
	store, err := ledger.Open(filepath.Join(dir, ".evalengine"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Run("latest")
	if err != nil {
		t.Fatal(err)
	}
	scores := 0
	for rec, err := range kept.Records() {
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rec.Scores {
			if !strings.HasPrefix(s.Name, "gold/ceiling") {
				continue
			}
			scores++
			if s.State != eval.Scored || s.Raw == nil || s.StdErr == nil {
				t.Errorf("%s: %+v", rec.ID, s)
				continue
			}
			if math.Abs(*s.Raw-18.0/35) > 1e-9 || math.Abs(*s.StdErr-18.0/(35*35)) > 1e-9 {
				t.Errorf("%s: %s is %v ± %v; want %v ± %v", rec.ID, s.Name, *s.Raw, *s.StdErr, 18.0/35, 18.0/(35*35))
			}
		}
	}
	if scores != 5 {
		t.Errorf("%d scores are held against a gold; want 5", scores)
	}
}

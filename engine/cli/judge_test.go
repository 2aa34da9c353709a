package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
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

// judgeModel is a model that grades everything alike and remembers the pictures
// that it was shown.
type judgeModel struct {
	mu       sync.Mutex
	asked    int
	pictures [][]byte
}

const grades = `{"completion":{"grade":4,"reason":"all of it is there","steps":[]},` +
	`"tool_choice":{"grade":3,"reason":"one detour","steps":[]},` +
	`"correctness":{"grade":2,"reason":"a price is missing","steps":[]},` +
	`"summary":"Mostly right.","findings":[{"kind":"confusing_tool","tool":"","action":"","severity":"minor",` +
	`"text":"The name says too little.","steps":["s99"],"quote":"","suggestion":"Rename it."}]}`

const look = `{"brief":{"grade":3,"reason":"calm","pictures":[1]},"layout":{"grade":3,"reason":"clear","pictures":[1]},` +
	`"polish":{"grade":3,"reason":"plain","pictures":[1]},"summary":"It reads well.","findings":[]}`

func (m *judgeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.asked++
	for part := range strings.SplitSeq(string(body), "data:image/png;base64,") {
		text, _, _ := strings.Cut(part, `"`)
		if b, err := base64.StdEncoding.DecodeString(text); err == nil && strings.HasPrefix(string(b), "\x89PNG") {
			m.pictures = append(m.pictures, b)
		}
	}
	m.mu.Unlock()
	answer := grades
	if !strings.Contains(string(body), "tool_choice") {
		answer = look
	}
	content, _ := json.Marshal(answer)
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"1","object":"chat.completion","model":"grader","choices":[{"index":0,"finish_reason":"stop",`+
		`"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050}}`, content)
}

// judged is a story of the quickstart with pages, structural signals, judges and
// findings.
const judged = `
suite "judged" { hosts = [host.scripted] }
variable "model" { default = "" }
host "scripted" {
  driver = "scripted"
  config { scripts = { for f in fileset("scripts", "*.json") : trimsuffix(f, ".json") => file("scripts/${f}") } }
}
target "blank" {
  provisioner = "sitebuilder"
  config { template = "blank" }
}
model "grader" {
  provider = "openai-compatible"
  name     = "grader"
  config {
    base_url = var.model
    price    = { input = 2, output = 10 }
  }
}
story "landing-page" {
  target = target.blank
  prompt = "Build a landing page at ${target.url}."
  variant "hardened" {}
  capture "home" { url = "${target.url}/" }
  check "page taken" {
    condition     = pages[0].status == 200 && strcontains(pages[0].html, "<h1")
    error_message = "no page: ${pages[0].error}"
  }
  measure "html/semantic_html_ratio" {}
  measure "html/heading_order" {}
  measure "page/console_errors" {}
  measure "findings/all" {}
  judge "judge/transcript" { model = model.grader }
  judge "judge/visual" {
    model = model.grader
    pages = ["home"]
    brief = "A calm page."
  }
}
`

// TestJudgedRun takes a page, scores it, and has it judged by a model: asserts,
// measures, judges and findings each by itself, and the picture byte for byte.
func TestJudgedRun(t *testing.T) {
	m := &judgeModel{}
	srv := httptest.NewServer(m)
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "scripts"), os.DirFS(filepath.Join(root(t), "examples", "quickstart", "scripts"))); err != nil {
		t.Fatal(err)
	}
	suite := filepath.Join(dir, "suite.hcl")
	if err := os.WriteFile(suite, []byte(judged), 0o600); err != nil {
		t.Fatal(err)
	}
	res := start(t, os.Getenv("PATH"), nil, "run", suite, "--var", "model="+srv.URL+"/v1")
	if res.code != exitOK {
		t.Fatalf("exit code %d\n%s", res.code, res.output)
	}
	rec, err := res.run.Record("landing-page.hardened.scripted.r1")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range rec.Scores {
		got[s.Name] = string(s.State)
		if s.Value != nil {
			got[s.Name] += fmt.Sprintf(" %.2f", *s.Value)
		}
	}
	for name, want := range map[string]string{
		"check/page taken": "scored 1.00", "html/heading_order": "scored 1.00", "page/console_errors": "scored 1.00",
		"judge/transcript": "scored 0.75", "judge/visual": "scored 0.75",
	} {
		if got[name] != want {
			t.Errorf("%s = %q; want %q: %v", name, got[name], want, rec.Scores)
		}
	}
	holdJudge(t, rec)
	holdPage(t, res.run.TrialDir(rec.ID), rec, m)
	holdReplay(t, res, srv, m)
}

// holdJudge holds what is kept of the judges: their cost apart from the agent's, and
// a finding that cites a step which is not there.
func holdJudge(t *testing.T, rec *eval.Record) {
	t.Helper()
	for _, s := range rec.Scores {
		if s.Role != eval.RoleJudge {
			continue
		}
		j := s.Judge
		if j == nil || len(j.Requests) != 1 || j.Usage.InputTokens != 1000 || j.Usage.CostUSD == nil || *j.Usage.CostUSD != 0.0025 {
			t.Errorf("%s: judge = %+v", s.Name, j)
		}
	}
	if rec.Usage.InputTokens != 0 {
		t.Errorf("the agent's usage has the judges': %+v", rec.Usage)
	}
	var cited []eval.Finding
	for _, f := range rec.Findings {
		if f.Source == "judge/transcript" {
			cited = append(cited, f)
		}
	}
	if len(cited) != 1 || cited[0].Kind != "confusing_tool" || !cited[0].Unverified || cited[0].Fingerprint == "" {
		t.Errorf("findings of the judge = %+v", cited)
	}
}

// holdPage holds the files of the page against its record, and the picture against
// what the model saw.
func holdPage(t *testing.T, dir string, rec *eval.Record, m *judgeModel) {
	t.Helper()
	if len(rec.Pages) != 1 || rec.Pages[0].Title != "Home | Demo" || len(rec.Pages[0].Shots) != 1 {
		t.Fatalf("pages = %+v", rec.Pages)
	}
	for _, name := range []string{"pages/home.html", "pages/home.ax.json", "pages/home.png", "judge.jsonl"} {
		if rec.Files[name] == "" {
			t.Errorf("the record has no %s: %v", name, rec.Files)
		}
	}
	if err := ledger.Verify(dir, rec); err != nil {
		t.Error(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "pages", "home.png"))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.pictures) != 1 || string(m.pictures[0]) != string(kept) {
		t.Errorf("the model saw %d pictures, which are not the one that is kept", len(m.pictures))
	}
}

// holdReplay scores the run again without a model: the answers are those that are
// on record.
func holdReplay(t *testing.T, res result, srv *httptest.Server, m *judgeModel) {
	t.Helper()
	srv.Close()
	before, run := m.asked, res.run
	cmd := exec.Command(filepath.Join(programs(t), "evalengine"), "score", run.Info.ID, "--replay")
	cmd.Dir = res.dir
	cmd.Env = environ("PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(res.dir, "home"), "EVALENGINE_CACHE="+compiled(t, filepath.Join(res.dir, "cache")))
	out, err := cmd.CombinedOutput()
	if err != nil || m.asked != before {
		t.Fatalf("%v, %d requests\n%s", err, m.asked-before, out)
	}
	rec, err := run.Record("landing-page.hardened.scripted.r1")
	if err != nil {
		t.Fatal(err)
	}
	if rec.Rescored == nil || rec.Rescored.Times != 1 {
		t.Errorf("rescored = %+v", rec.Rescored)
	}
	for _, s := range rec.Scores {
		if s.Role == eval.RoleJudge && (s.Value == nil || *s.Value != 0.75) {
			t.Errorf("%s after the replay = %+v", s.Name, s)
		}
	}
}

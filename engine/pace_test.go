package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

// asker is a host whose every turn asks its model as often as the prompt says.
type asker struct{ model *eval.ModelEndpoint }

func (asker) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "asker", Version: "1", Capabilities: []string{eval.CapNoFolders},
		Model:  &eval.ModelUse{API: "anthropic-messages", DefaultBaseURL: "http://127.0.0.1:1", KeyEnv: "NO_KEY"},
		Schema: eval.Schema{Attributes: []eval.Attribute{{Name: "base_url", Type: "string"}}},
	}, nil
}

func (asker) Start(_ context.Context, spec eval.SessionSpec) (eval.Session, error) {
	return asker{spec.Model}, nil
}

func (a asker) Turn(ctx context.Context, prompt string, _ func(eval.Event)) (eval.TurnResult, error) {
	var times int
	fmt.Sscan(prompt, &times)
	for range times {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.model.BaseURL+"/v1/messages", bytes.NewReader([]byte("{}")))
		if err != nil {
			return eval.TurnResult{}, err
		}
		req.Header.Set("X-Api-Key", a.model.Key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return eval.TurnResult{}, err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			return eval.TurnResult{Outcome: eval.GaveUp, Detail: resp.Status}, nil
		}
	}
	return eval.TurnResult{Outcome: eval.Completed, Answer: "done"}, nil
}

func (asker) Close() error { return nil }

// modelServer answers with a thousand tokens of a model whose price is known, or
// as f says.
func modelServer(t *testing.T, f func(w http.ResponseWriter) bool) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if f != nil && f(w) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{
			"type": "message", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
			"usage": map[string]int{"input_tokens": 900, "output_tokens": 100},
		})
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func asking(url, prompt, more string) string {
	return fmt.Sprintf(`
suite "ask" {
%s
}
host "one" {
  driver = "asker"
  config { base_url = %q }
}
story "a" {
  prompt = %q
  check "done" { condition = answer == "done" }
}
`, more, url+"/v1/base", prompt)
}

func runAll(t *testing.T, text string, jobs int) *eval.Summary {
	t.Helper()
	e, s := open(t, text)
	p, diags := e.Plan(s, Selection{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	st, err := OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Run(t.Context(), s, p, RunOptions{Store: st, Concurrency: jobs})
	if err != nil {
		t.Fatal(err)
	}
	return res.Summary
}

// Each cap of a trial has an outcome of its own, whether the model proxy holds it
// or the host tells what it used.
func TestCapsOfATrial(t *testing.T) {
	url, asked := modelServer(t, nil)
	spends := func(limits string) string {
		return strings.Replace(suite, "repeats = 5", "limits { "+limits+" }", 1)
	}
	asks := func(limits string) string { return asking(url, "9", "limits { "+limits+" }") }
	for _, tt := range []struct {
		name, suite, cause string
		requests           int64
	}{
		{"within", asks("tokens = 10000"), "", 9},
		{"turns", asks("turns = 4"), "max_turns", 4},
		{"tokens", asks("tokens = 2500"), "max_tokens_total", 3},
		{"usd", asks("usd = 0.005"), "max_budget", 2}, // $0.0042 each
		{"tokens that the host tells", spends("tokens = 199999"), "max_tokens_total", 0},
		{"usd that the host tells", spends("usd = 0.59"), "max_budget", 0},
		{"within what the host tells", spends("tokens = 200000"), "", 0},
	} {
		asked.Store(0)
		sum := runAll(t, tt.suite, 1)
		failed := 0
		if tt.cause != "" {
			failed = 1
		}
		if sum.Trials.Failed != failed || sum.Trials.Causes[tt.cause] != failed || sum.Trials.Total != 1 || asked.Load() != tt.requests {
			t.Errorf("%s: %+v after %d requests; want cause %q after %d", tt.name, sum.Trials, asked.Load(), tt.cause, tt.requests)
		}
	}
}

// Two thousand trials of a provider that refuses all of them end soon: what was
// under way is errored, one circuit opens, the rest is skipped, nothing failed.
func TestFloodOfAFailingProvider(t *testing.T) {
	url, asked := modelServer(t, func(w http.ResponseWriter) bool {
		w.Header().Set("Retry-After-Ms", "20")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`)
		return true
	})
	sum := runAll(t, asking(url, "1", "  repeats = 2000\n  retries = 1"), 20)
	want := "the circuit is open: provider " + url + " had 5 infrastructure faults in a row, the last of them rate_limit: status 429: rate_limit_error: slow down"
	if sum.Stopped != eval.StopCircuit || sum.StopReason != want || sum.Completion != eval.RunIncomplete {
		t.Errorf("stopped %q: %s, %s", sum.Stopped, sum.StopReason, sum.Completion)
	}
	if tr := sum.Trials; tr.Total != 2000 || tr.Failed != 0 || tr.Passed != 0 || tr.Errored+tr.Skipped != 2000 || tr.Errored > 100 || tr.Causes["circuit_open"] != tr.Skipped {
		t.Errorf("trials %+v", tr)
	}
	if n := asked.Load(); n > 100 {
		t.Errorf("the provider was asked %d times", n)
	}
}

// A provider that has enough now and then is got over: nothing is lost, and its
// host's concurrency is kept.
func TestProviderThatIsBusyNowAndThen(t *testing.T) {
	var n, now, most atomic.Int64
	url, _ := modelServer(t, func(w http.ResponseWriter) bool {
		if k := now.Add(1); k > most.Load() {
			most.Store(k)
		}
		defer now.Add(-1)
		if n.Add(1)%5 != 1 {
			return false
		}
		w.Header().Set("Retry-After-Ms", "5")
		w.WriteHeader(529)
		return true
	})
	text := strings.Replace(asking(url, "1", "  repeats = 60\n  retries = 20"), "driver = \"asker\"", "driver = \"asker\"\n  concurrency = 3", 1)
	sum := runAll(t, text, 8)
	if sum.Trials.Passed != 60 || sum.Stopped != "" || most.Load() > 3 {
		t.Errorf("trials %+v, stopped %q, %d requests at once", sum.Trials, sum.Stopped, most.Load())
	}
}

package gateway

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/engine/internal/gateway/model"
)

// Each answer takes 1143 tokens and, by the test's price, a dollar.
func TestModelLimits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits eval.Limits
		over   eval.Outcome
		want   eval.Outcome
		passed int
		text   string
	}{
		{"none", eval.Limits{ToolBytes: 1}, "", "", 4, ""},
		{"tokens", eval.Limits{Tokens: 1144}, "", eval.MaxTokensTotal, 2, "the trial's limit of 1144 tokens is used up"},
		{"tokens to the last", eval.Limits{Tokens: 1143}, "", eval.MaxTokensTotal, 1, "the trial's limit of 1143 tokens is used up"},
		{"usd", eval.Limits{USD: 2.5}, "", eval.MaxBudget, 3, "the trial's limit of $2.5 is used up"},
		{"the first that is used up", eval.Limits{Turns: 2, USD: 1}, "", eval.MaxBudget, 1, "the trial's limit of $1 is used up"},
		{"what others hold", eval.Limits{}, eval.MaxBytes, eval.MaxBytes, 0, "the trial's limit is used up: max_bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			passed := 0
			m := openModel(t, ModelOptions{
				API: model.AnthropicMessages, Limits: tt.limits, Over: func() eval.Outcome { return tt.over },
				Price: func(string, eval.Usage) (float64, bool) { return 1, true },
				BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
					passed++
					w.Header().Set("Content-Type", streamType)
					io.WriteString(w, anthropicWhole)
				}),
			})
			var status int
			var body string
			for range 4 {
				status, body, _ = ask(m, model.AnthropicMessages, `{}`)
			}
			f := m.Facts(0)
			if passed != tt.passed || f.Limit != tt.want || f.Turns != tt.passed || f.Fault() != nil {
				t.Errorf("%d passed, facts %+v; want %d, limit %q", passed, f, tt.passed, tt.want)
			}
			if tt.want != "" && (status != 400 || !strings.Contains(body, tt.text)) {
				t.Errorf("answer %d %s; want 400 and %q", status, body, tt.text)
			}
		})
	}
}

// Whoever paces trials is told of each request and of what the provider asks for.
func TestModelTellsItsPace(t *testing.T) {
	var asked []bool
	type answer struct {
		status int
		after  time.Duration
	}
	var answers []answer
	n := 0
	m := openModel(t, ModelOptions{
		API:      model.AnthropicMessages,
		Asked:    func(first bool) { asked = append(asked, first) },
		Answered: func(status int, after time.Duration) { answers = append(answers, answer{status, after}) },
		BaseURL: provider(t, func(w http.ResponseWriter, r *http.Request) {
			if n++; n == 1 {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(429)
				return
			}
			w.Header().Set("Content-Type", streamType)
			io.WriteString(w, anthropicWhole)
		}),
	})
	ask(m, model.AnthropicMessages, `{}`)
	ask(m, model.AnthropicMessages, `{}`)
	m.Close()
	if len(asked) != 2 || !asked[0] || asked[1] {
		t.Errorf("asked %v", asked)
	}
	if want := []answer{{429, 7 * time.Second}, {200, 0}}; len(answers) != 2 || answers[0] != want[0] || answers[1] != want[1] {
		t.Errorf("answers %v; want %v", answers, want)
	}
}

// A tool may return more than is left, once; the next call does not reach its
// server, and says why to the agent.
func TestToolBytes(t *testing.T) {
	g := open(t, Options{}, TrialOptions{Servers: []eval.Server{testServer(t, "sdk", "sdk")}, MaxBytes: 10})
	c := rawTo(t, g)
	c.handshake()
	c.tool(1, "echo")
	if g.Refused() {
		t.Error("refused before a second call")
	}
	second := c.tool(2, "echo")
	if !g.Refused() || !strings.Contains(second, "the trial's limit of 10 bytes of tool results is used up") || !strings.Contains(second, `"isError":true`) {
		t.Errorf("refused %v, answer %s", g.Refused(), second)
	}
	calls := g.Calls()
	if len(calls) != 2 || calls[0].Injected != "" || calls[0].Bytes < 10 || calls[1].Injected != "limit" || !calls[1].IsError {
		t.Errorf("calls %+v", calls)
	}
}

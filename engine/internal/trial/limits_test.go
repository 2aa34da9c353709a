package trial

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestPassed(t *testing.T) {
	dollar := 1.0
	l := eval.Limits{Turns: 3, Tokens: 100, USD: 0.5}
	for _, tt := range []struct {
		name string
		l    eval.Limits
		u    eval.Usage
		want eval.Outcome
	}{
		{"nothing used", l, eval.Usage{}, ""},
		{"all of it used", l, eval.Usage{Turns: 3, InputTokens: 60, OutputTokens: 40}, ""},
		{"a turn too many", l, eval.Usage{Turns: 4}, eval.MaxTurns},
		{"a token too many", l, eval.Usage{InputTokens: 60, OutputTokens: 41}, eval.MaxTokensTotal},
		{"too much money", l, eval.Usage{CostUSD: &dollar}, eval.MaxBudget},
		{"no limits", eval.Limits{}, eval.Usage{Turns: 99, InputTokens: 1e9, CostUSD: &dollar}, ""},
	} {
		if got := passed(tt.l, tt.u); got != tt.want {
			t.Errorf("%s: passed = %q; want %q", tt.name, got, tt.want)
		}
	}
}

func TestUnheld(t *testing.T) {
	dollar := 1.0
	for _, tt := range []struct {
		name string
		l    eval.Limits
		u    eval.Usage
		want string
	}{
		{"no limits", eval.Limits{}, eval.Usage{}, ""},
		{"all told", eval.Limits{Turns: 1, Tokens: 1, USD: 1}, eval.Usage{Turns: 1, InputTokens: 1, CostUSD: &dollar}, ""},
		{"no tokens told", eval.Limits{Tokens: 1}, eval.Usage{Turns: 1}, "the trial's limit of tokens could not be held: the host tells no tokens"},
		{"no price known", eval.Limits{USD: 1}, eval.Usage{InputTokens: 1}, "the trial's limit of usd could not be held: the cost is not known"},
	} {
		a := &attempt{r: &Runner{Suite: &eval.Suite{Limits: tt.l}}, story: &eval.Story{}, usage: tt.u}
		a.unheld()
		got := ""
		for _, f := range a.findings {
			got += f.Text
		}
		if got != tt.want {
			t.Errorf("%s: findings %q; want %q", tt.name, got, tt.want)
		}
	}
}

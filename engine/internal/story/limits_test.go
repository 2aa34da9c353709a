package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestLimitsLoaded(t *testing.T) {
	s := mustLoad(t, map[string]string{"s.hcl": `
suite "s" {
  max_trials = 7
  circuit    = 0
  limits {
    turns      = 40
    tokens     = 2e6
    tool_bytes = "64KiB"
    usd        = 0.25
  }
  provider "HTTPS://api.anthropic.com/" {
    concurrency         = 4
    requests_per_minute = 50
  }
}
host "claude" {
  driver      = "claude-code"
  concurrency = 2
}
story "a" {
  prompt = "x"
  limits { turns = 5 }
}`}, Options{})
	type loaded struct {
		MaxTrials, Circuit, Host int
		Story, Suite             eval.Limits
		Providers                []eval.ProviderConfig
	}
	got := loaded{s.MaxTrials, s.Circuit, s.Hosts[0].Concurrency, s.Stories[0].Limits.Over(s.Limits), s.Limits, s.Providers}
	want := loaded{7, 0, 2,
		eval.Limits{Turns: 5, Tokens: 2_000_000, ToolBytes: 64 << 10, USD: 0.25},
		eval.Limits{Turns: 40, Tokens: 2_000_000, ToolBytes: 64 << 10, USD: 0.25},
		[]eval.ProviderConfig{{Name: "https://api.anthropic.com", Concurrency: 4, RequestsPerMinute: 50}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(eval.ProviderConfig{}, "Source")); diff != "" {
		t.Errorf("Load (-want +got):\n%s", diff)
	}
}

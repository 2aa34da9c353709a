package price

import (
	"math"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
)

func TestCost(t *testing.T) {
	u := eval.Usage{InputTokens: 2000, CacheReadTokens: 1000, CacheWriteTokens: 200, OutputTokens: 100}
	for _, tt := range []struct {
		model string
		want  float64
		ok    bool
	}{
		{"claude-sonnet-4-5", 0.0024 + 0.0003 + 0.00075 + 0.0015, true},
		{"claude-sonnet-4-5-20250929", 0.0024 + 0.0003 + 0.00075 + 0.0015, true},
		{"claude-sonnet-4-5-turbo", 0, false},
		{"sonnet-nope", 0, false},
		{"", 0, false},
	} {
		got, ok := Cost(tt.model, u)
		if ok != tt.ok || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("Cost(%q) = %v, %v; want %v, %v", tt.model, got, ok, tt.want, tt.ok)
		}
	}
}

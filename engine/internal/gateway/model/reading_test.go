package model

import (
	"testing"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// FuzzReading proves that nothing a provider says can break the counts.
func FuzzReading(f *testing.F) {
	for _, s := range []string{
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"cache_read_input_tokens":9}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40}}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"x"}}`,
		`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens_details":{"reasoning_tokens":-8}}}}`,
		`{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1e3}}`, `[DONE]`, `{"error":"text"}`, `{"error":{"code":429}}`, `null`,
	} {
		f.Add([]byte(s), []byte(s))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		for _, api := range []string{AnthropicMessages, OpenAIResponses, OpenAIChat} {
			r := Reading{API: api}
			r.Event(one)
			r.Event(two)
			d := Reading{API: api}
			d.Document(one)
			for _, r := range []Reading{r, d} {
				u := r.Usage
				if u.InputTokens < 0 || u.OutputTokens < 0 || u.CacheReadTokens < 0 || u.CacheWriteTokens < 0 || u.ReasoningTokens < 0 {
					t.Fatalf("%s: negative usage %+v", api, u)
				}
				if len(r.ErrorMessage) > maxMessage+3 || len(r.Model) > 203 || len(r.StopReason) > 103 {
					t.Fatalf("%s: unbounded %+v", api, r)
				}
				Sum([]Request{{Status: 200, StreamEnd: r.End(), ErrorType: r.ErrorType, ErrorCode: r.ErrorCode, Usage: u, Counted: r.Counted}}, true).Fault()
			}
		}
	})
}

func TestSumCosts(t *testing.T) {
	usd := 0.5
	one := Request{Status: 200, StreamEnd: Complete, Counted: true, Model: "a", Usage: eval.Usage{InputTokens: 10, OutputTokens: 1}, CostUSD: &usd}
	unpriced := one
	unpriced.CostUSD, unpriced.Model = nil, "b"
	tests := []struct {
		name   string
		in     []Request
		priced bool
		want   *float64
	}{
		{"none", nil, true, nil},
		{"one", []Request{one}, true, &usd},
		{"one unknown", []Request{one, unpriced}, true, nil},
		{"no prices", []Request{unpriced}, false, nil},
	}
	for _, tt := range tests {
		got := Sum(tt.in, tt.priced).Usage.CostUSD
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: cost %v; want %v", tt.name, got, tt.want)
		}
	}
	u := Sum([]Request{one, unpriced, {Status: 429, StreamEnd: Failed, RetryAfter: time.Second}}, true).Usage
	if u.InputTokens != 20 || u.Turns != 2 || u.Requests != 3 || u.LowerBound || len(u.Models) != 2 {
		t.Errorf("usage %+v", u)
	}
}

// A count that cannot be one is unknown; the answer is still an answer.
func TestOddCounts(t *testing.T) {
	for _, tt := range []struct {
		count string
		final bool
		n     int64
	}{
		{"12", true, 12}, {"12.0", true, 12}, {"0", true, 0}, {"null", true, 0},
		{"-1", false, 0}, {"1e300", false, 0}, {`"many"`, false, 0}, {"[]", false, 0},
	} {
		r := Reading{API: AnthropicMessages}
		r.Document([]byte(`{"type":"message","model":"m","stop_reason":"end_turn","usage":{"input_tokens":` + tt.count + `,"output_tokens":3}}`))
		o := Reading{API: OpenAIResponses}
		o.Document([]byte(`{"object":"response","status":"completed","model":"m","usage":{"input_tokens":` + tt.count + `,"output_tokens":3}}`))
		for _, got := range []Reading{r, o} {
			if got.End() != Complete || got.Final() != tt.final || got.Usage.InputTokens != tt.n || got.Usage.OutputTokens != 3 {
				t.Errorf("%s of %s: end %v, final %v, usage %+v", tt.count, got.API, got.End(), got.Final(), got.Usage)
			}
		}
	}
}

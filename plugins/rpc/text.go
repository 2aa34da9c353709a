package rpc

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// valid makes s fit for a proto string, which must be UTF-8: an agent's output
// need not be, and one bad byte would end the whole stream.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func validAll(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = valid(s)
	}
	return out
}

func validMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[valid(k)] = valid(v)
	}
	return out
}

// clamp32 narrows counts, which never come near the limit unless a plugin lies.
func clamp32(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

// raw is j as bytes; absent stays absent.
func raw(j eval.JSON) []byte {
	if len(j) == 0 {
		return nil
	}
	return j
}

func fromRaw(b []byte) eval.JSON {
	if len(b) == 0 {
		return nil
	}
	return b
}

// wellFormed takes what ought to be JSON and comes from a plugin. What is none becomes
// a text, and bad: neither a record nor an answer with it could be written.
func wellFormed(b []byte) (j eval.JSON, bad bool) {
	if len(b) == 0 || json.Valid(b) {
		return fromRaw(b), false
	}
	text, _ := json.Marshal(valid(string(b))) // a string always has a form
	return text, true
}

// finite is v, nil where it is no number that a record can hold.
func finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

func convertAll[A, B any](list []A, f func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// fakeJudge is a model that grades by a word which the agent says: GOLDEN is the
// best, but for one of three times, MIDDLING the middle, anything else the worst.
type fakeJudge struct{ golden atomic.Int64 }

func (f *fakeJudge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if text := string(body); strings.Contains(text, "RESULT A, STATE") {
		answer(w, map[string]any{"reason": "It is so.", "preference": prefers(text)})
		return
	}
	grade, first := 0, 0
	switch text := string(body); {
	case strings.Contains(text, "GOLDEN"):
		grade, first = 4, 4
		if f.golden.Add(1)%3 == 0 {
			first = 3
		}
	case strings.Contains(text, "MIDDLING"):
		grade, first = 2, 2
	}
	type graded struct {
		Reason string   `json:"reason"`
		Steps  []string `json:"steps"`
		Grade  int      `json:"grade"`
	}
	of := func(n int) graded { return graded{"It is so.", []string{}, n} }
	answer(w, map[string]any{
		"completion": of(first), "tool_choice": of(grade), "correctness": of(grade), "summary": "Seen.", "findings": []any{},
	})
}

// prefers is which of two states a judge prefers: the one with a page that is
// called Good; where both have one, what is shown first, and for none no one.
func prefers(text string) string {
	_, text, _ = strings.Cut(text, "## RESULT A, STATE")
	a, b, _ := strings.Cut(text, "## RESULT B, STATE")
	switch good := [2]bool{strings.Contains(a, "Good"), strings.Contains(b, "Good")}; {
	case good[0]:
		return "A"
	case good[1]:
		return "B"
	}
	return "tie"
}

// answer answers with a reply of an OpenAI-compatible model.
func answer(w http.ResponseWriter, said map[string]any) {
	reply, err := json.Marshal(said)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "created": 1, "model": "fake",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": string(reply)},
		}},
		"usage": map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	})
}

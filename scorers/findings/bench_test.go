package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/steptest"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// BenchmarkAll scores 2,000 calls that create a page each, half of them failing,
// against a state of 2,000 pages: 5 MB of results in all.
func BenchmarkAll(b *testing.B) {
	var steps, state strings.Builder
	for i := range 2000 {
		n := strconv.Itoa(i)
		verb := "ok "
		if i%2 == 1 {
			verb = "error "
		}
		steps.WriteString("call c" + n + " cms/pages_create {\"name\":\"Page number " + n + "\",\"body\":\"text of page " + n + "\"}\n" + verb + "c" + n + " " + strings.Repeat("word ", 500) + "\n")
		state.WriteString(`{"id":"p` + n + `","name":"Page number ` + n + `","body":"text of page ` + n + `"},`)
	}
	in := eval.ScoreInput{Steps: steptest.Steps(steps.String()), StateBefore: eval.JSON(`{"pages":[]}`),
		State: eval.JSON(`{"pages":[` + strings.TrimSuffix(state.String(), ",") + `]}`)}
	for b.Loop() {
		scorertest.One(b, in, "all", "")
	}
}

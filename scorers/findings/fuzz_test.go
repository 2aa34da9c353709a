package main

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// FuzzAll holds every rule to a value in 0..1 and to whole findings, whatever the
// tools, the state and the answer hold.
func FuzzAll(f *testing.F) {
	f.Add("styles_create", `{"name":"hero"}`, `{"name":"hero-2"}`, false, `{"styles":[]}`, `{"styles":[{"name":"hero-2"}]}`, "It is live.")
	f.Add("pages_create", `{"actions":[{"create_page":{"name":"a"}}]}`, "Error: result (9 characters) exceeds maximum allowed tokens. Saved to /x", true, `{"published":{"a":1}}`, `{"a":2,"published":{"a":1}}`, "")
	f.Add("İpublish", `"{}"`, "İİİ saved to", false, "[]", "[[[]]]", "İs published")
	f.Fuzz(func(t *testing.T, tool, arguments, result string, isError bool, before, after, answer string) {
		raw := eval.JSON(`{"content":[{"type":"text","text":` + jsonv.Quote(result) + `}]}`)
		in := eval.ScoreInput{
			Steps: []eval.Step{
				{ID: "s1", Kind: eval.StepToolCall, CallID: "a", Server: "s", Tool: tool, Arguments: eval.JSON(arguments)},
				{ID: "s2", Kind: eval.StepToolResult, CallID: "a", Server: "s", Tool: tool, Result: raw, IsError: isError, Bytes: 70000},
			},
			StateBefore: eval.JSON(before), State: eval.JSON(after), Answer: answer,
		}
		for _, found := range scorertest.One(t, in, "all", "").Findings {
			if found.Kind == "" || found.Severity == "" || found.Text == "" || len(found.Evidence) == 0 {
				t.Errorf("finding %+v", found)
			}
		}
	})
}

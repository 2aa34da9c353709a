package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

const verdict = `{"completion":{"reason":"","steps":["s2"],"grade":4},"tool_choice":{"reason":"","steps":[],"grade":4},` +
	`"correctness":{"reason":"","steps":[],"grade":3},"summary":"","findings":[]}`

// judgedTrial is a trial of calls whose results have about each bytes, words or JSON
// as text, size in all.
func judgedTrial(b *testing.B, size, each int, item string) *eval.ScoreInput {
	b.Helper()
	each = min(each, size)
	text, err := json.Marshal(item + strings.Repeat(","+item, each/(len(item)+1)))
	if item[0] == '{' {
		text, err = json.Marshal(`{"items":[` + item + strings.Repeat(","+item, each/(len(item)+1)) + `]}`)
	}
	if err != nil {
		b.Fatal(err)
	}
	result := eval.JSON(`{"content":[{"type":"text","text":` + string(text) + `}]}`)
	in := &eval.ScoreInput{
		Trial: eval.Trial{Story: "s", Host: "h", Repeat: 1}, Prompts: []string{"Do it."}, Answer: "Done.",
		Uses: []eval.Use{{Name: "judge/transcript", Scorer: "transcript", Models: []string{"m"}}},
	}
	for n := 0; n < size; n += len(result) {
		id := len(in.Steps) + 1
		call := fmt.Sprint("c", id)
		in.Steps = append(in.Steps,
			eval.Step{ID: fmt.Sprint("s", id), Turn: 1, Kind: eval.StepToolCall, CallID: call, Server: "cms", Tool: "get", Arguments: eval.JSON(`{"id":17}`)},
			eval.Step{ID: fmt.Sprint("s", id+1), Turn: 1, Kind: eval.StepToolResult, CallID: call, Server: "cms", Tool: "get", Result: result})
	}
	return in
}

// BenchmarkJudge has judge/transcript judge transcripts of 130 KB, which are shown
// whole, and of 5 MB, which are condensed; the model answers at once.
func BenchmarkJudge(b *testing.B) {
	module := builtIn(b, "judge")
	for _, size := range []int{1 << 10, 130 << 10, 5 << 20} {
		for name, item := range map[string]string{"words": "lorem ipsum dolor sit amet", "json": `{"id":"a1","name":"lorem ipsum","n":17}`} {
			b.Run(fmt.Sprint(size>>10, "KB/", name), func(b *testing.B) {
				rt := newRuntime(b, Options{Workers: 1, Call: func(context.Context, eval.Trial, string, string, []byte) ([]byte, error) {
					return wire.AppendModelReply(nil, &eval.ModelReply{Samples: []eval.ModelAnswer{{Request: "1", Text: verdict, Stop: eval.StopEnd}}}), nil
				}})
				m, err := rt.Load(b.Context(), "judge", module, "", eval.Grants{})
				if err != nil {
					b.Fatal(err)
				}
				in := judgedTrial(b, size, 20<<10, item)
				score := func() {
					out, err := m.Score(b.Context(), in)
					if err != nil || out[0].State != eval.Scored {
						b.Fatal(out, err)
					}
				}
				score()
				before := cpu(b, rt)
				for b.Loop() {
					score()
				}
				b.ReportMetric((cpu(b, rt)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

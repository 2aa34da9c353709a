package main

import (
	"strings"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
	"github.com/evalengine/evalengine/scorers/scorer/scorertest"
)

// sized is a trial of n calls whose results have about size bytes each, of the
// given content.
func sized(n, size int, content func(size int) string) eval.ScoreInput {
	in := long(n, 6)
	result := eval.JSON(content(size))
	for i := range in.Steps {
		if in.Steps[i].Kind == eval.StepToolResult {
			in.Steps[i].Result = result
		}
	}
	return in
}

func textResult(text string) string {
	return `{"content":[{"type":"text","text":` + jsonv.Quote(text) + `}]}`
}

var contents = []struct {
	name string
	of   func(size int) string
}{
	{"words", func(size int) string { return textResult(strings.Repeat("lorem ipsum ", size/12)) }},
	{"json", func(size int) string {
		return textResult(`{"items":[` + strings.Repeat(`{"id":"a1","name":"lorem","n":17},`, size/40) + `{}]}`)
	}},
	{"unicode", func(size int) string { return textResult(strings.Repeat("größe ünd 値段\n", size/24)) }},
	{"structured", func(size int) string {
		return `{"structuredContent":{"items":[` + strings.Repeat(`{"name":"lorem","id":"a1","n":17},`, size/35) + `{}]}}`
	}},
}

// BenchmarkTranscriptSize judges transcripts of about 130 KB, which are shown
// whole, and of about 5 MB, which are condensed.
func BenchmarkTranscriptSize(b *testing.B) {
	for _, size := range []struct {
		name    string
		n, each int
	}{{"130KB", 30, 4300}, {"5MB", 160, 32_000}, {"5MB-small-steps", 5000, 1000}} {
		for _, c := range contents {
			in := sized(size.n, size.each, c.of)
			u := scorertest.Use("transcript", `{}`)
			m := says(reply("4 4 4", finding("slow", "", `"s3"`, "")))
			b.Run(size.name+"/"+c.name, func(b *testing.B) {
				for b.Loop() {
					m.Requests = nil
					scorertest.RunWith(b, m, in, u)
				}
			})
		}
	}
}

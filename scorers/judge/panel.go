package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func registerPanel() {
	attrs := append([]eval.Attribute{{Name: "judge", Type: "string", Default: eval.JSON(`"transcript"`), Enum: []string{"transcript", "visual"},
		Doc: "What each member is asked: what judge/transcript asks, or what judge/visual does."}}, visualParams...)
	register("panel", "points", "Asks every model of the block the question of judge/transcript or judge/visual, samples times each. The raw value is the median of the models' medians, "+
		"and the reason says how far models and samples are apart. Findings are those of all, the same one once. Errored unless more than half of the answers can be used.",
		append(transcriptNeeds[:len(transcriptNeeds):len(transcriptNeeds)], visualNeeds...), panel, append(attrs, gradeParams...)...)
}

func panel(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	models := p.Use().Models
	if len(models) == 0 {
		models = []string{""}
	}
	if len(models)*p.Int("samples") < 2 {
		return scorer.Result{}, errors.New("a panel has several models, or samples above 1")
	}
	if p.String("judge") == "visual" {
		return graded(in, p, prepareVisual, models)
	}
	return graded(in, p, prepareTranscript, models)
}

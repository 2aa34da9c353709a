package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// Parameters that several judges share.
var (
	rubricParam = eval.Attribute{Name: "rubric", Type: "string",
		Doc: "What matters in this story, in words for the judge: what a good result has and what spoils it."}
	anchorsParam = eval.Attribute{Name: "anchors", Type: "list(string)",
		Doc: "What each grade means, the lowest first: so many grades does the scale have, 2 to 11. Left out it is 0 to 4, with a description of each grade for each aspect."}
	lowestParam = eval.Attribute{Name: "lowest", Type: "number", Default: eval.JSON(`0`),
		Doc: "The lowest grade where anchors are given."}
	weightsParam = eval.Attribute{Name: "weights", Type: "map(number)",
		Doc: "How much each aspect counts, by its name; one that is left out counts 1. They do not reach the judge."}
	samplesParam = eval.Attribute{Name: "samples", Type: "number", Default: eval.JSON(`1`),
		Doc: "How often each model is asked about the same trial, at most 25. The value is the median."}
	maxTokensParam = eval.Attribute{Name: "max_tokens", Type: "number",
		Doc: "Bounds one answer; left out it is the model block's. A cut answer is asked for again with four times as much."}
	temperatureParam = eval.Attribute{Name: "temperature", Type: "number",
		Doc: "Left out it is the model block's: several models refuse one."}
	windowParam = eval.Attribute{Name: "window", Type: "number", Default: eval.JSON(`300000`),
		Doc: "The most characters of text that a request may have, at least 10,000. What is longer is condensed before it is sent."}

	askParams   = []eval.Attribute{samplesParam, maxTokensParam, temperatureParam, windowParam}
	gradeParams = append([]eval.Attribute{rubricParam, anchorsParam, lowestParam, weightsParam}, askParams...)
)

const (
	maxSampleCount = 25
	minWindow      = 10_000
)

// settings are the parameters of how a model is asked.
type settings struct {
	samples, maxTokens, window int
	temperature                *float64
}

func settingsOf(p scorer.Params) (settings, error) {
	s := settings{samples: p.Int("samples"), maxTokens: p.Int("max_tokens"), window: p.Int("window")}
	if p.Has("temperature") {
		t := p.Float("temperature")
		s.temperature = &t
	}
	switch {
	case s.samples < 1 || s.samples > maxSampleCount:
		return s, errors.New("samples must be a whole number from 1 to " + text.Int(maxSampleCount))
	case s.maxTokens < 0 || p.Has("max_tokens") && s.maxTokens == 0:
		return s, errors.New("max_tokens must be a whole number above 0")
	case s.window < minWindow:
		return s, errors.New("window must be at least " + text.Int(minWindow) + " characters")
	}
	return s, nil
}

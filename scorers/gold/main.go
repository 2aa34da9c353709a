// Command gold is the scorer module that holds a judge's score against what the
// same judge makes of the story's gold. It is built for WebAssembly and does
// nothing as a program.
package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("gold", "1.0.0", "Holds the scores of a story's judges against its gold.")
	scorer.Register(scorer.Spec{
		Name: "ceiling", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Unit: "of gold",
		Needs: []eval.Part{eval.PartScores, eval.PartGold},
		Doc: "Where a judge's score lies between the story's floor and its gold, both graded by the same judge: (score - floor) / (gold - floor), " +
			"a floor that is not there being 0. The raw value may lie below 0 or above 1; the value is cut to 0..1, and the reason says so. " +
			"Its standard error comes from those of gold, floor and score, each known from at least two samples. " +
			"Skipped where gold and floor cannot be told apart, or where there are no grades that can be used. " +
			"A score that lies above its gold by more than their error is told as the finding gold_below_trials.",
		Params: eval.Schema{Attributes: []eval.Attribute{
			{Name: "score", Type: "string", Required: true, Doc: "The judge's score, as judge/transcript or judge/transcript#2."},
		}},
	}, ceiling)
}

func main() {}

// Command judge is the scorer module of judges: it asks models how good a trial
// is and what is to be mended. It makes the prompts, checks the replies and never
// invents a grade: what cannot be read is an error. The engine talks to the models.
// It is built for WebAssembly and does nothing as a program. Start at score.
package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("judge", "1.0.0", "Judges: they ask a model how good a trial is and what is to be mended, and never fail a trial.")
	registerTranscript()
	registerVisual()
	registerPairwise()
	registerPanel()
}

func register(name, unit, doc string, needs []eval.Part, f scorer.Func, attrs ...eval.Attribute) {
	scorer.Register(scorer.Spec{
		Name: name, Role: eval.RoleJudge, Dimension: eval.DimensionQuality, Unit: unit, Doc: doc, Needs: needs,
		Capabilities: []string{scorer.CapComplete}, Params: eval.Schema{Attributes: attrs},
	}, f)
}

func main() {}

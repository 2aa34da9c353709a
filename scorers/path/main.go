// Command path is the scorer module of measures of the way that an agent took:
// how many calls, turns, tokens and seconds, and what it wasted. They inform and
// never fail a trial. It is built for WebAssembly and does nothing as a program.
package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("path", "1.0.0", "Measures of the way that the agent took. They inform and never fail a trial.")
	for _, f := range facts {
		f.register()
	}
	registerEffort()
}

// fact is a measure of one number: the fewer the better.
type fact struct {
	name, unit string
	// half is what is worth 0.5 where the suite gives no budget.
	half  string
	doc   string
	attrs []eval.Attribute
	needs []eval.Part
	// measure returns the number, its evidence, and why there is none.
	measure func(in *scorer.Input, p scorer.Params) measured
}

type measured struct {
	raw      float64
	reason   string
	evidence []eval.Evidence
	// unknown says why there is no number.
	unknown string
}

var (
	scopeParam = eval.Attribute{Name: "scope", Type: "string", Default: eval.JSON(`"all"`), Enum: []string{"all", "main"},
		Doc: "all counts the calls of sub-agents, main does not."}
	toolParam = eval.Attribute{Name: "tool", Type: "string", Default: eval.JSON(`"*"`),
		Doc: "Looks only at these tools, as tools/called has them."}
	callNeeds = []eval.Part{eval.PartTranscript, eval.PartTools}
)

const worth = " The value is 1 up to budget and budget / number above it; without a budget it is half / (half + number)."

func (f fact) register() {
	attrs := append([]eval.Attribute{
		{Name: "budget", Type: "number", Doc: "Up to so many the value is 1."},
		{Name: "half", Type: "number", Default: eval.JSON(f.half), Doc: "Without a budget: the number that is worth 0.5."},
	}, f.attrs...)
	scorer.Register(scorer.Spec{
		Name: f.name, Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Doc: f.doc + worth,
		Needs: f.needs, Unit: f.unit, LowerIsBetter: true, Params: eval.Schema{Attributes: attrs},
	}, f.score)
}

func main() {}

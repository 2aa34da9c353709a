// Command custom-scorer is a scorer module of its own: two scorers that a suite
// can use by the path of the built file, without rebuilding the engine.
package main

import (
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("brand", "1.0.0", "House style of what agents say and write.")
	scorer.Register(scorer.Spec{
		Name: "avoids", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome,
		Doc:   "The agent's final message has none of the words.",
		Needs: []eval.Part{eval.PartAnswer},
		Params: eval.Schema{Attributes: []eval.Attribute{
			{Name: "words", Type: "list(string)", Required: true, Doc: "Words that must not occur, whatever their case."},
		}},
	}, avoids)
	scorer.Register(scorer.Spec{
		Name: "brevity", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Unit: "words", LowerIsBetter: true,
		Doc:   "How far the agent's final message keeps to a length.",
		Needs: []eval.Part{eval.PartAnswer},
		Params: eval.Schema{Attributes: []eval.Attribute{
			{Name: "most", Type: "number", Default: eval.JSON("100"), Doc: "The number of words that is still good."},
		}},
	}, brevity)
}

func avoids(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	answer := strings.ToLower(in.Answer)
	for _, word := range p.Strings("words") {
		if strings.Contains(answer, strings.ToLower(word)) {
			return scorer.Fail(fmt.Sprintf("the answer says %q", word)), nil
		}
	}
	return scorer.Pass("none of the words"), nil
}

func brevity(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	words, most := len(strings.Fields(in.Answer)), p.Int("most")
	if words == 0 {
		return scorer.Skip("the agent gave no answer"), nil
	}
	value := min(1, float64(most)/float64(words))
	return scorer.Measure(float64(words), "", value, fmt.Sprintf("%d words, %d are good", words, most)), nil
}

// main never runs: a module is built with -buildmode=c-shared, and the engine
// calls what init registers.
func main() {}

package scorertest

import (
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("test", "1.0.0", "")
	register := func(name string, needs ...eval.Part) {
		scorer.Register(scorer.Spec{Name: name, Role: eval.RoleMeasure, Dimension: eval.DimensionPath, Needs: needs},
			func(in *scorer.Input, _ scorer.Params) (scorer.Result, error) {
				return scorer.Measure(float64(len(in.Steps)), "steps", 0, in.Answer), nil
			})
	}
	register("steps", eval.PartTranscript)
	register("answer", eval.PartAnswer)
}

func TestRunGivesWhatIsNeeded(t *testing.T) {
	in := eval.ScoreInput{Steps: make([]eval.Step, 3), Answer: "a"}
	got := Run(t, in, Use("steps", ""), Use("answer", "{}"))
	if len(got) != 2 || *got[0].Raw != 3 || got[0].Reason != "a" {
		t.Errorf("both: got %+v; want 3 steps and the answer", got)
	}
	if got := One(t, in, "steps", ""); *got.Raw != 3 || got.Reason != "" {
		t.Errorf("steps: got %+v; want 3 steps without the answer", got)
	}
	if got := One(t, in, "answer", ""); *got.Raw != 0 || got.Reason != "a" {
		t.Errorf("answer: got %+v; want the answer without steps", got)
	}
	if got := Manifest(t).Scorer("answer"); got == nil {
		t.Error("the manifest has no scorer answer")
	}
}

// Command answer is the scorer module of asserts on the agent's final message. It
// is built for WebAssembly and does nothing as a program.
package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/match"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("answer", "1.0.0", "Asserts on the agent's final message.")
	register("contains", eval.DimensionOutcome,
		"Passes if the answer contains the texts: all of them, or any.",
		contains, valueParam, valuesParam,
		eval.Attribute{Name: "mode", Type: "string", Default: eval.JSON(`"all"`), Enum: []string{"all", "any"},
			Doc: "Whether all of the texts are wanted or any."},
		ignoreCaseParam, collapseParam)
	register("not_contains", eval.DimensionConstraint,
		"Passes if the answer contains none of the texts.",
		notContains, valueParam, valuesParam, ignoreCaseParam, collapseParam)
	register("equals", eval.DimensionOutcome,
		"Passes if the answer is this text, white space around it aside.",
		equals, eval.Attribute{Name: "value", Type: "string", Required: true, Doc: "The text."},
		ignoreCaseParam, collapseParam)
	register("matches", eval.DimensionOutcome,
		"Passes if a regular expression (RE2 syntax) matches anywhere in the answer.",
		matches, eval.Attribute{Name: "pattern", Type: "string", Required: true, Format: eval.FormatRegex, Doc: "The expression."},
		eval.Attribute{Name: "flags", Type: "string", Default: eval.JSON(`""`),
			Doc: "Any of i (letter case does not matter), m (^ and $ match at lines) and s (a dot matches line ends)."})
	register("json", eval.DimensionOutcome,
		"Passes if the JSON in the answer matches. The JSON is the whole answer, or else the one fenced block that is labelled json or holds an object or a list. With several such blocks nobody can say which one is meant: errored. JSON within a sentence does not count.",
		jsonMatches, match.Params()...)
}

var (
	valueParam      = eval.Attribute{Name: "value", Type: "string", Doc: "A text."}
	valuesParam     = eval.Attribute{Name: "values", Type: "list(string)", Doc: "More of them."}
	ignoreCaseParam = eval.Attribute{Name: "ignore_case", Type: "bool", Default: eval.JSON(`false`), Doc: "Letter case does not matter."}
	collapseParam   = eval.Attribute{Name: "collapse_space", Type: "bool", Default: eval.JSON(`false`),
		Doc: "Any run of white space and line breaks counts as one blank."}
)

func register(name string, d eval.Dimension, doc string, f scorer.Func, attrs ...eval.Attribute) {
	scorer.Register(scorer.Spec{
		Name: name, Role: eval.RoleAssert, Dimension: d, Doc: doc,
		Needs: []eval.Part{eval.PartAnswer}, Params: eval.Schema{Attributes: attrs},
	}, f)
}

func main() {}

// Command state is the scorer module of asserts on the target's state, as the
// engine looked it up before and after the run. It is built for WebAssembly and
// does nothing as a program.
package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("state", "1.0.0", "Asserts on the target's state. Queries are JSONPath (RFC 9535).")
	register("exists", eval.DimensionOutcome,
		"Passes if the query finds something.",
		exists, queryParam, ofParam)
	register("count", eval.DimensionOutcome,
		"Passes if the number of values that the query finds is within min and max, or equals a number.",
		count, queryParam,
		eval.Attribute{Name: "min", Type: "number", Doc: "At least so many."},
		eval.Attribute{Name: "max", Type: "number", Doc: "At most so many."},
		eval.Attribute{Name: "equals", Type: "number", Doc: "Exactly so many."},
		ofParam)
	register("equals", eval.DimensionOutcome,
		"Passes if what the query finds equals value: numbers by value, objects whatever the order of their members.",
		equals, queryParam, valueParam,
		eval.Attribute{Name: "which", Type: "string", Default: eval.JSON(`"one"`), Enum: []string{"one", "any", "all", "list", "set"},
			Doc: whichDoc + " list: all that is found, in order, is the list value. set: the same in any order."},
		ofParam)
	register("contains", eval.DimensionOutcome,
		"Passes if what the query finds contains value: objects may have more members, lists more elements between.",
		contains, queryParam, valueParam, whichParam, ofParam)
	register("matches", eval.DimensionOutcome,
		"Passes if a regular expression (RE2 syntax) matches anywhere in the text that the query finds; what is not a string is taken as JSON.",
		matches, queryParam,
		eval.Attribute{Name: "pattern", Type: "string", Required: true, Format: eval.FormatRegex, Doc: "The expression."},
		whichParam, ofParam)
	register("changed", eval.DimensionOutcome,
		"Passes if what the query finds after the run is not what it found before.",
		changed, queryParam)
	register("unchanged", eval.DimensionConstraint,
		"Passes if what the query finds after the run is what it found before.",
		unchanged,
		eval.Attribute{Name: "query", Type: "string", Default: eval.JSON(`"$"`), Doc: "A JSONPath query; $ is the whole state."},
		eval.Attribute{Name: "except", Type: "list(string)", Doc: "Queries for parts that may change."})
	register("diff_only", eval.DimensionConstraint,
		"Passes if nothing but what the paths find differs between the state before and after the run. Nothing at all need differ.",
		diffOnly,
		eval.Attribute{Name: "paths", Type: "list(string)", Required: true, Doc: "JSONPath queries for what may differ."})
}

const whichDoc = "one: exactly one value is found, and it fits. any: at least one fits. all: all fit, and there is one."

var (
	queryParam = eval.Attribute{Name: "query", Type: "string", Required: true, Doc: "A JSONPath query."}
	ofParam    = eval.Attribute{Name: "of", Type: "string", Default: eval.JSON(`"after"`), Enum: []string{"before", "after"},
		Doc: "Which state to look at: before or after the run."}
	valueParam = eval.Attribute{Name: "value", Type: "any", Doc: "What to compare with; left out it is null."}
	whichParam = eval.Attribute{Name: "which", Type: "string", Default: eval.JSON(`"one"`), Enum: []string{"one", "any", "all"}, Doc: whichDoc}
)

func register(name string, d eval.Dimension, doc string, f scorer.Func, attrs ...eval.Attribute) {
	scorer.Register(scorer.Spec{
		Name: name, Role: eval.RoleAssert, Dimension: d, Doc: doc,
		Needs: []eval.Part{eval.PartState}, Params: eval.Schema{Attributes: attrs},
	}, f)
}

func main() {}

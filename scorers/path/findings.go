package main

import (
	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/calls"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// findingKinds name the findings with their severity, for the documentation.
const findingKinds = "repeated_failure (major: the same call failed twice or more), hidden_error (major: a result reports a failure and is not marked as one), " +
	"host_truncated_result (major: the host kept a result from the agent because it was too large), verbose_result (minor), bad_arguments (minor: not JSON), " +
	"doubly_encoded_arguments (minor), unfinished_call (minor), unconfirmed_call (info: the host reports a call that the gateway never saw), " +
	"unreported_call (info: the other way round)"

// kinds describe the findings in the order in which they are given.
var kinds = []kind{
	{
		name: "repeated_failure", severity: eval.SeverityMajor,
		text:       "The same call failed again and again",
		suggestion: "Say in the error what is wrong with the call and what would be right.",
	},
	{
		name: "hidden_error", severity: eval.SeverityMajor,
		text:       "A result reports a failure, but is not marked as an error",
		suggestion: "Set isError on results that report a failure.",
	},
	{
		name: "host_truncated_result", severity: eval.SeverityMajor,
		text:       "The host kept a result from the agent because it was too large",
		suggestion: "Return less by default: page the result, or let the caller choose what it needs.",
	},
	{
		name: "verbose_result", severity: eval.SeverityMinor,
		text:       "A result is very large",
		suggestion: "Return less by default: page the result, or let the caller choose what it needs.",
	},
	{
		name: "bad_arguments", severity: eval.SeverityMinor,
		text:       "The agent sent arguments that are not JSON",
		suggestion: "Make the input schema simpler: fewer levels, no JSON within strings.",
	},
	{
		name: "doubly_encoded_arguments", severity: eval.SeverityMinor,
		text:       "The agent sent its arguments as a JSON string of JSON",
		suggestion: "Make the input schema simpler: fewer levels, no JSON within strings.",
	},
	{
		name: "unfinished_call", severity: eval.SeverityMinor,
		text: "A call never got a result",
	},
	{
		name: "unconfirmed_call", severity: eval.SeverityInfo,
		text: "The host reports a call that the gateway never saw",
	},
	{
		name: "unreported_call", severity: eval.SeverityInfo,
		text: "The gateway saw a call that the host never reported",
	},
}

type kind struct {
	name       string
	severity   eval.Severity
	text       string
	suggestion string
}

// findingsOf returns what in the calls of the target's tools speaks of something to
// mend: one finding for each kind and tool.
func findingsOf(l *calls.Log, hits []calls.Hit, verbose int64) []eval.Finding {
	c := collector{}
	failures := map[string]int{}
	for _, h := range failed(hits) {
		failures[key(h)]++
	}
	for _, h := range hits {
		if h.Server == "" {
			continue
		}
		c.call(l, h)
		if h.Status == eval.CallError && failures[key(h)] > 1 {
			c.add("repeated_failure", h, calls.ResultText(h.Call))
		}
		if n := size(h); n > verbose {
			c.add("verbose_result", h, text.Size(n))
		}
	}
	return c.findings()
}

// call adds what one call alone shows.
func (c collector) call(l *calls.Log, h calls.Hit) {
	switch said, truncated, hides := calls.Trouble(h.Call); {
	case hides:
		c.add("hidden_error", h, said)
	case truncated:
		c.add("host_truncated_result", h, said)
	}
	switch a := l.ArgumentsOf(h.Call); {
	case h.BadArguments:
		c.add("bad_arguments", h, a.Problem)
	case a.DoublyEncoded:
		c.add("doubly_encoded_arguments", h, "")
	}
	if h.Status == eval.CallUnfinished {
		c.add("unfinished_call", h, "")
	}
	switch h.Observed {
	case eval.Unconfirmed:
		c.add("unconfirmed_call", h, "")
	case eval.Unreported:
		c.add("unreported_call", h, "")
	}
}

// collector gathers findings by kind, in the order of the tools' first calls.
type collector map[string][]*gathered

type gathered struct {
	tool, detail string
	steps        []eval.Evidence
	n            int
}

func (c collector) add(kind string, h calls.Hit, detail string) {
	const maxEvidence = 10
	var g *gathered
	for _, have := range c[kind] {
		if have.tool == h.Name() {
			g = have
		}
	}
	if g == nil {
		g = &gathered{tool: h.Name(), detail: detail}
		c[kind] = append(c[kind], g)
	}
	if g.n++; g.n <= maxEvidence {
		g.steps = append(g.steps, scorer.StepEvidence(h.Step))
	}
}

func (c collector) findings() []eval.Finding {
	const shown = 160
	var list []eval.Finding
	for _, k := range kinds {
		for _, g := range c[k.name] {
			said := k.text + " (" + g.tool + ", " + text.Count(g.n, "call") + ")"
			if g.detail != "" {
				said += ": " + tree.Cut(g.detail, shown)
			}
			list = append(list, eval.Finding{
				Kind: k.name, Tool: g.tool, Severity: k.severity, Text: said,
				Suggestion: k.suggestion, Evidence: g.steps, Source: "path/effort",
			})
		}
	}
	return list
}

// Command html is the scorer module of what a picture of a page cannot show: how
// its HTML is built. Its measures inform; only html/at_least gates. It is built for
// WebAssembly and does nothing as a program.
package main

import (
	"errors"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/captured"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// signal is a measure of captured pages. Its numbers are added over all pages and
// divided once: a page counts for as much as it holds.
type signal struct {
	name, unit, doc string
	attrs           []eval.Attribute
	measure         func(pages []*facts, p limits) measured
	// tree is set where it is of the accessibility tree, not of the HTML.
	tree bool
}

// limits are a signal's own parameters.
type limits struct{ depth float64 }

type measured struct {
	value float64
	// raw is the number of things that are wrong, in the signal's unit, if it has one.
	raw    float64
	reason string
	// nothing says why there is nothing to measure.
	nothing  string
	findings []eval.Finding
}

const defaultDepth = 12

var signals = []signal{
	{name: "semantic_html_ratio", doc: ratioDoc, measure: ratio},
	{name: "landmarks", doc: landmarksDoc, measure: landmarks},
	{name: "heading_order", unit: "problems", doc: headingsDoc, measure: headings},
	{name: "alt_text", unit: "images", doc: imagesDoc, measure: images},
	{name: "labels", unit: "fields", doc: labelsDoc, measure: labels},
	{name: "links", unit: "links", doc: linksDoc, measure: links},
	{
		name: "div_depth", unit: "levels", doc: depthDoc, measure: divDepth,
		attrs: []eval.Attribute{{Name: "max", Type: "number", Default: eval.JSON("12"), Doc: "Up to so many levels the value is 1."}},
	},
	{name: "accessibility", unit: "problems", doc: accessibilityDoc, measure: accessibility, tree: true},
}

func init() {
	scorer.Module("html", "1.0.0", "Measures of how the HTML of captured pages is built, which no picture shows.")
	for _, s := range signals {
		s.register()
	}
	registerAtLeast()
}

func (s signal) register() {
	scorer.Register(scorer.Spec{
		Name: s.name, Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Doc: s.doc, Unit: s.unit, LowerIsBetter: s.unit != "",
		Needs:  []eval.Part{eval.PartPages, eval.PartPagesHTML},
		Params: eval.Schema{Attributes: append([]eval.Attribute{captured.Param}, s.attrs...)},
	}, func(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
		l := limits{depth: defaultDepth}
		if len(s.attrs) > 0 {
			if l.depth = p.Float("max"); l.depth < 1 {
				return scorer.Result{}, errors.New("max must be at least 1")
			}
		}
		set, err := captured.Of(in, p)
		if err != nil {
			return scorer.Result{}, err
		}
		m, evidence := s.of(in, set, l)
		if m.nothing != "" {
			return scorer.Skip(m.nothing), nil
		}
		r := scorer.Value(m.value, m.reason, evidence...)
		if s.unit != "" {
			r.Raw = &m.raw
		}
		for i := range m.findings {
			m.findings[i].Source = "html/" + s.name
		}
		return r.WithFindings(m.findings...), nil
	})
}

// of measures the pages of a set that have what the signal looks at.
func (s signal) of(in *scorer.Input, set captured.Set, l limits) (measured, []eval.Evidence) {
	if s.tree {
		set.Keep(func(p *eval.Page) bool { return len(p.Accessibility) > 0 }, "no accessibility tree")
	} else {
		set.Keep(func(p *eval.Page) bool { return len(p.HTML) > 0 }, "no HTML")
	}
	if set.Skip != "" {
		return measured{nothing: set.Skip}, nil
	}
	all := scorer.Cached(in, func() *surveys { return &surveys{} })
	var pages []*facts
	var evidence []eval.Evidence
	for _, page := range set.Pages {
		if s.tree {
			pages = append(pages, treeFacts(page))
		} else {
			pages = append(pages, all.of(page))
		}
		evidence = append(evidence, scorer.PageEvidence(page.Name))
	}
	m := s.measure(pages, l)
	m.reason, m.nothing = set.Note(m.reason), noteNothing(set, m.nothing)
	return m, evidence
}

func noteNothing(set captured.Set, nothing string) string {
	if nothing == "" {
		return ""
	}
	return set.Note("nothing to measure: " + nothing)
}

// surveys are the facts of pages, each page walked once for all uses.
type surveys struct {
	pages []*eval.Page
	facts []*facts
}

func (s *surveys) of(page *eval.Page) *facts {
	for i, p := range s.pages {
		if p == page {
			return s.facts[i]
		}
	}
	f := survey(page)
	s.pages, s.facts = append(s.pages, page), append(s.facts, f)
	return f
}

func registerAtLeast() {
	var names []string
	for _, s := range signals {
		names = append(names, s.name)
	}
	scorer.Register(scorer.Spec{
		Name: "at_least", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome,
		Doc:   "Passes if the value of a measure of this module, with its own defaults, is at least min. Skipped where that measure is.",
		Needs: []eval.Part{eval.PartPages, eval.PartPagesHTML},
		Params: eval.Schema{Attributes: []eval.Attribute{
			{Name: "signal", Type: "string", Required: true, Enum: names, Doc: "The measure, without html/."},
			{Name: "min", Type: "number", Required: true, Doc: "The least value that passes, in 0..1."},
			captured.Param,
		}},
	}, atLeast)
}

func atLeast(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	least := p.Float("min")
	if !(least >= 0 && least <= 1) {
		return scorer.Result{}, errors.New("min must be in 0..1")
	}
	set, err := captured.Of(in, p)
	if err != nil {
		return scorer.Result{}, err
	}
	for _, s := range signals {
		if s.name != p.String("signal") {
			continue
		}
		m, evidence := s.of(in, set, limits{depth: defaultDepth})
		if m.nothing != "" {
			return scorer.Skip(m.nothing), nil
		}
		reason := s.name + " is " + text.Number(m.value) + ", want at least " + text.Number(least) + ": " + m.reason
		if m.value >= least {
			return scorer.Pass(reason, evidence...), nil
		}
		return scorer.Fail(reason, evidence...), nil
	}
	return scorer.Result{}, errors.New("no signal " + strings.TrimSpace(p.String("signal")))
}

func main() {}

// Command page is the scorer module of what a browser noticed while it took a page:
// console, requests, links, size. Its measures inform; the asserts gate. It is built
// for WebAssembly and does nothing as a program.
package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/captured"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func init() {
	scorer.Module("page", "1.0.0", "What a browser noticed while it took the pages: console, requests, links, size.")
	for _, f := range facts {
		f.register()
	}
	registerSize()
	registerSettled()
}

// fact is a number of things that are wrong with pages, as a measure and as an
// assert.
type fact struct {
	name, unit, doc   string
	assert, assertDoc string
	attrs             []eval.Attribute
	needs             []eval.Part
	// find returns what is wrong, in the order of the pages.
	find func(pages []*eval.Page, p scorer.Params) found
	// suggestion is a finding's; without one there are no findings.
	suggestion string
}

// found is what is wrong.
type found struct {
	list []trouble
	// nothing says why there is nothing to look at.
	nothing string
	// looked is added to the reason.
	looked string
}

// trouble is one thing that is wrong, on one page.
type trouble struct{ page, text string }

var (
	budgetParam = eval.Attribute{Name: "budget", Type: "number", Default: eval.JSON("0"), Doc: "Up to so many the value is 1."}
	halfParam   = eval.Attribute{Name: "half", Type: "number", Default: eval.JSON("3"), Doc: "So many above the budget are worth 0.5."}
	allowParam  = eval.Attribute{Name: "allow", Type: "number", Default: eval.JSON("0"), Doc: "How many there may be."}
)

const worth = " The value is 1 up to budget and half / (half + what is above) from there on. Each page with such is a finding (other, minor)."

func (f fact) register() {
	shared := append([]eval.Attribute{captured.Param}, f.attrs...)
	scorer.Register(scorer.Spec{
		Name: f.name, Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Unit: f.unit, LowerIsBetter: true, Needs: f.needs,
		Doc: f.doc + worth, Params: eval.Schema{Attributes: append([]eval.Attribute{budgetParam, halfParam}, shared...)},
	}, f.measure)
	scorer.Register(scorer.Spec{
		Name: f.assert, Role: eval.RoleAssert, Dimension: eval.DimensionOutcome, Needs: f.needs,
		Doc: f.assertDoc, Params: eval.Schema{Attributes: append([]eval.Attribute{allowParam}, shared...)},
	}, f.check)
}

// look finds what is wrong on the pages that the parameters mean; skip says why
// nobody can look.
func (f fact) look(in *scorer.Input, p scorer.Params) (out found, reason, skip string, err error) {
	set, err := captured.Of(in, p)
	if err != nil || set.Skip != "" {
		return out, "", set.Skip, err
	}
	out = f.find(set.Pages, p)
	if out.nothing != "" {
		return out, "", set.Note("nothing to measure: " + out.nothing), nil
	}
	return out, set.Note(describe(out, f.unit, len(set.Pages))), "", nil
}

func (f fact) measure(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	budget, half := p.Float("budget"), p.Float("half")
	if budget < 0 || half <= 0 {
		return scorer.Result{}, errors.New("budget must not be negative, half must be above 0")
	}
	out, reason, skip, err := f.look(in, p)
	switch {
	case err != nil:
		return scorer.Result{}, err
	case skip != "":
		return scorer.Skip(skip), nil
	}
	n := float64(len(out.list))
	r := scorer.Measure(n, "", half/(half+max(n-budget, 0)), reason, evidence(out.list)...)
	return r.WithFindings(f.findings(out.list)...), nil
}

func (f fact) check(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	allow := p.Int("allow")
	if allow < 0 || p.Float("allow") != float64(allow) {
		return scorer.Result{}, errors.New("allow must be a whole number from 0 on")
	}
	out, reason, skip, err := f.look(in, p)
	switch {
	case err != nil:
		return scorer.Result{}, err
	case skip != "":
		return scorer.Skip(skip), nil
	case len(out.list) <= allow:
		return scorer.Pass(reason, evidence(out.list)...), nil
	}
	if allow > 0 {
		reason += " (at most " + text.Int(allow) + " may be)"
	}
	return scorer.Fail(reason, evidence(out.list)...), nil
}

func main() {}

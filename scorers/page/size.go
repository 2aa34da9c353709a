package main

import (
	"errors"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/captured"
	"github.com/evalengine/evalengine/scorers/internal/markup"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

func registerSize() {
	limit := func(name, def, doc string) eval.Attribute {
		return eval.Attribute{Name: name, Type: "number", Default: eval.JSON(def), Doc: doc}
	}
	scorer.Register(scorer.Spec{
		Name: "size", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Unit: "bytes", LowerIsBetter: true,
		Needs: []eval.Part{eval.PartPages, eval.PartPagesHTML},
		Doc: "How large the pages are: bytes over the wire, requests, and elements of the rendered HTML. Each is worth 1 up to its limit and limit / number above it; " +
			"a page's value is the mean of the three, the value the mean of the pages. The raw value is the largest page's bytes.",
		Params: eval.Schema{Attributes: []eval.Attribute{
			captured.Param,
			limit("max_bytes", "2000000", "Bytes of one page that are worth 1."),
			limit("max_requests", "60", "Requests of one page that are worth 1."),
			limit("max_elements", "1500", "Elements of one page that are worth 1."),
		}},
	}, size)
}

// elements counts elements.
type elements int

func (n *elements) Open(*markup.Element)         { *n++ }
func (n *elements) Text(*markup.Element, []byte) {}
func (n *elements) Close(*markup.Element)        {}

func size(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	bytes, requests, most := p.Float("max_bytes"), p.Float("max_requests"), p.Float("max_elements")
	if bytes <= 0 || requests <= 0 || most <= 0 {
		return scorer.Result{}, errors.New("max_bytes, max_requests and max_elements must be above 0")
	}
	set, err := captured.Of(in, p)
	if err != nil {
		return scorer.Result{}, err
	}
	if set.Skip != "" {
		return scorer.Skip(set.Skip), nil
	}
	var sum float64
	var largest int64
	var said []string
	var evidence []eval.Evidence
	for _, page := range set.Pages {
		var n elements
		markup.Walk(page.HTML, nil, &n)
		sum += (within(float64(page.Bytes), bytes) + within(float64(page.Requests), requests) + within(float64(n), most)) / 3
		largest = max(largest, page.Bytes)
		const shown = 5
		if len(said) < shown {
			said = append(said, tree.Cut(page.Name, 60)+" "+text.Size(page.Bytes)+", "+text.Count(page.Requests, "request")+", "+text.Count(int(n), "element"))
		}
		evidence = append(evidence, scorer.PageEvidence(page.Name))
	}
	return scorer.Measure(float64(largest), "", sum/float64(len(set.Pages)), set.Note(strings.Join(said, "; ")), evidence...), nil
}

// within is 1 up to the limit and falls to 0 the farther above it.
func within(n, limit float64) float64 {
	if n <= limit {
		return 1
	}
	return limit / n
}

func registerSettled() {
	scorer.Register(scorer.Spec{
		Name: "settled", Role: eval.RoleMeasure, Dimension: eval.DimensionQuality, Unit: "pages", LowerIsBetter: true,
		Needs: []eval.Part{eval.PartPages},
		Doc: "Pages that came to rest before they were taken, with nothing over them, as a share of all: no cookie layer, no endless loading, nothing that moves. " +
			"The raw value is how many did not.",
		Params: eval.Schema{Attributes: []eval.Attribute{captured.Param}},
	}, settled)
}

func settled(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	set, err := captured.Of(in, p)
	if err != nil {
		return scorer.Result{}, err
	}
	if set.Skip != "" {
		return scorer.Skip(set.Skip), nil
	}
	var list []trouble
	for _, page := range set.Pages {
		if len(page.Unsettled) > 0 {
			list = append(list, trouble{page.Name, strings.Join(page.Unsettled[:min(len(page.Unsettled), 3)], ", ")})
		}
	}
	all, n := len(set.Pages), len(list)
	reason := describe(found{list: list, looked: " of " + text.Int(all)}, "unsettled pages", all)
	return scorer.Measure(float64(n), "", float64(all-n)/float64(all), set.Note(reason), evidence(list)...), nil
}

package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// grading is a judge that grades a trial: what it asks and how its replies are
// read.
type grading struct {
	form
	question
	citer
}

// prepare makes the question of a grading; skip says why there is nothing to ask.
type prepare func(in *scorer.Input, p scorer.Params) (g *grading, skip string, err error)

// score asks the models and makes one result of what they say.
func (g *grading) score(models []string) (scorer.Result, error) {
	o := opinions{g: g, want: len(models) * g.samples}
	for _, model := range models {
		r, err := g.ask(model)
		if err != nil {
			return scorer.Result{}, err
		}
		o.take(model, r)
	}
	return o.result()
}

// first is the model that a judge asks which asks one.
func first(p scorer.Params) []string {
	if models := p.Use().Models; len(models) > 0 {
		return models[:1]
	}
	return []string{""}
}

// opinions are the verdicts of all models.
type opinions struct {
	g        *grading
	want     int
	verdicts []verdict
	problems []string
	// unmeasured is why a model was not asked at all.
	unmeasured string
	condensed  int
	// members have the median value of each model.
	members []member
}

type member struct {
	model  string
	points float64
}

func (o *opinions) take(model string, r *replies) {
	var points []float64
	for _, v := range r.values {
		d := o.g.verdictOf(v, model, o.g.citer)
		o.verdicts = append(o.verdicts, d)
		points = append(points, d.points)
	}
	if len(points) > 0 {
		o.members = append(o.members, member{model, median(points)})
	}
	for _, problem := range r.problems {
		if model != "" && o.want > o.g.samples {
			problem = model + ": " + problem
		}
		o.problems = append(o.problems, problem)
	}
	if o.unmeasured == "" {
		o.unmeasured = r.unmeasured
	}
	if r.condensed > 0 && (o.condensed == 0 || r.condensed < o.condensed) {
		o.condensed = r.condensed
	}
}

// result is the median of the verdicts, if more than half of those asked for can
// be used: a grade is never made of what is missing.
func (o *opinions) result() (scorer.Result, error) {
	if n := len(o.verdicts); 2*n <= o.want {
		if o.unmeasured != "" && n == 0 {
			return scorer.Skip("not measured: " + o.unmeasured), nil
		}
		said := strings.Join(distinctTexts(o.problems), "; ")
		if o.want > 1 {
			said = text.Int(n) + " of " + text.Int(o.want) + " samples can be used: " + said
		}
		return scorer.Result{}, errors.New(tree.Cut(said, 2000))
	}
	// A model counts once, however many of its samples can be used.
	points := make([]float64, len(o.members))
	for i, m := range o.members {
		points[i] = m.points
	}
	mid := median(points)
	values := make([]float64, len(o.verdicts))
	for i, d := range o.verdicts {
		values[i] = d.value
	}
	shown := o.nearest(mid)
	r := scorer.Measure(mid, "", o.g.scale.value(mid), o.reason(shown, values), shown.evidence...)
	if len(values) > 1 {
		r = r.WithSamples(values...)
	}
	return r.WithFindings(o.findings()...), nil
}

// nearest is the verdict that speaks for all: the first of those nearest to the
// median.
func (o *opinions) nearest(points float64) *verdict {
	best := &o.verdicts[0]
	for i := range o.verdicts {
		if d := &o.verdicts[i]; distance(d.points, points) < distance(best.points, points) {
			best = d
		}
	}
	return best
}

func distance(a, b float64) float64 { return max(a-b, b-a) }

func (o *opinions) reason(d *verdict, values []float64) string {
	var said []string
	s := o.g.scale
	for i, a := range o.g.aspects {
		one := a.name + " " + text.Number(d.grades[i]) + " of " + strconv.Itoa(s.highest)
		if all := o.gradesOf(i); len(all) > 1 {
			one = a.name + " " + text.Number(median(all)) + " of " + strconv.Itoa(s.highest) + " (" + joinNumbers(all) + ")"
		}
		if d.reasons[i] != "" {
			one += ": " + strings.TrimRight(d.reasons[i], ". ")
		}
		said = append(said, one)
	}
	reason := strings.Join(said, "; ")
	if d.summary != "" {
		reason += ". " + d.summary
	}
	return tree.Cut(o.spread(values)+reason+o.notes(d), 4000)
}

func (o *opinions) gradesOf(aspect int) []float64 {
	var list []float64
	for _, d := range o.verdicts {
		list = append(list, d.grades[aspect])
	}
	return list
}

// spread says how far the samples, and the models, are apart.
func (o *opinions) spread(values []float64) string {
	if len(values) < 2 {
		return ""
	}
	said := "median of " + text.Count(len(values), "sample")
	if len(o.members) > 1 {
		var each []string
		low, high := o.members[0].points, o.members[0].points
		for _, m := range o.members {
			low, high = min(low, m.points), max(high, m.points)
			each = append(each, m.model+" "+text.Number(m.points))
		}
		said = "median of " + text.Count(len(o.members), "model") + " (" + strings.Join(each, ", ") + "), " + text.Number(high-low) + " points apart"
	}
	return said + ", stdev " + text.Number(stdev(values)) + ". "
}

func (o *opinions) notes(d *verdict) string {
	said := ""
	if len(o.problems) > 0 {
		said += " [" + text.Int(len(o.verdicts)) + " of " + text.Int(o.want) + " samples can be used: " + strings.Join(distinctTexts(o.problems), "; ") + "]"
	}
	if len(d.missing) > 0 {
		said += " [cites what does not exist: " + strings.Join(distinctTexts(d.missing), ", ") + "]"
	}
	blank := 0
	for i := range o.verdicts {
		blank += o.verdicts[i].blank
	}
	if blank > 0 {
		said += " [" + text.Count(blank, "finding") + " without a text left out]"
	}
	if o.condensed > 0 {
		said += " [condensed to " + text.Int(o.condensed) + " characters, because the model takes no more]"
	}
	return said
}

func distinctTexts(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// findings are those of all verdicts; the same kind of the same tool at the same
// place is one, and verified where any of them is.
func (o *opinions) findings() []eval.Finding {
	var list []eval.Finding
	at := map[string]int{}
	for _, d := range o.verdicts {
		for _, f := range d.findings {
			key := f.Kind + "\x00" + f.Tool + "\x00" + f.Action
			if len(f.Evidence) > 0 {
				key += "\x00" + f.Evidence[0].Step + "\x00" + f.Evidence[0].Page
			}
			i, ok := at[key]
			if len(o.verdicts) == 1 || !ok {
				at[key] = len(list)
				list = append(list, f)
				continue
			}
			if list[i].Unverified && !f.Unverified {
				list[i] = f
			}
		}
	}
	return list[:min(len(list), 2*maxFindings)]
}

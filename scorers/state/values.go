package main

import (
	"errors"
	"regexp"

	"github.com/evalengine/evalengine/scorers/internal/bounds"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

func exists(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	f, err := look(in, p)
	if err != nil {
		return scorer.Result{}, err
	}
	if len(f.values) == 0 {
		return scorer.Fail(f.name() + " finds nothing"), nil
	}
	return scorer.Pass(f.name()+" finds "+text.Count(len(f.values), "value"), f.evidence()...), nil
}

func count(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	want, err := bounds.Of(p, "min", "max", "equals")
	if err != nil {
		return scorer.Result{}, err
	}
	f, err := look(in, p)
	if err != nil {
		return scorer.Result{}, err
	}
	reason := f.name() + " finds " + text.Count(len(f.values), "value")
	if want.Holds(len(f.values)) {
		return scorer.Pass(reason, f.evidence()...), nil
	}
	return scorer.Fail(reason+", want "+want.String(), f.evidence()...), nil
}

func equals(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	want := valueOf(p)
	which := p.String("which")
	if which == "list" || which == "set" {
		f, err := look(in, p)
		if err != nil {
			return scorer.Result{}, err
		}
		return f.compareAll(want, which)
	}
	return judge(in, p, func(v tree.Value) string { return wrong(tree.Differs(v, want)) })
}

func contains(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	want := valueOf(p)
	return judge(in, p, func(v tree.Value) string { return wrong(tree.Lacks(v, want)) })
}

func matches(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	re, err := regexp.Compile(p.String("pattern"))
	if err != nil {
		return scorer.Result{}, errors.New("pattern: " + err.Error())
	}
	return judge(in, p, func(v tree.Value) string {
		if re.MatchString(v.JSON().String()) {
			return ""
		}
		return "got " + v.Show(shown) + ", which does not match " + tree.Cut(re.String(), shown)
	})
}

// valueOf is the parameter value, null where it is left out.
func valueOf(p scorer.Params) tree.Value {
	v := p.JSON("value")
	if !v.Exists() {
		v, _ = jsonv.Parse([]byte("null"))
	}
	return tree.Of(v)
}

func wrong(m *tree.Mismatch) string {
	if m == nil {
		return ""
	}
	return m.String()
}

// judge asks check what is wrong with the values that the query finds, as the
// parameter which has it.
func judge(in *scorer.Input, p scorer.Params, check func(tree.Value) string) (scorer.Result, error) {
	f, err := look(in, p)
	if err != nil {
		return scorer.Result{}, err
	}
	which := p.String("which")
	switch n := len(f.values); {
	case n == 0:
		return scorer.Fail(f.name() + " finds nothing"), nil
	case n > 1 && which == "one":
		return scorer.Fail(f.name()+" finds "+text.Count(n, "value")+", want one", f.evidence()...), nil
	}
	first, why := tree.Value{}, ""
	for _, v := range f.values {
		w := check(v)
		switch {
		case w == "" && which == "any":
			return scorer.Pass(f.name()+" fits", f.point(v)), nil
		case w != "" && which != "any":
			return scorer.Fail(f.name()+": "+w, f.point(v)), nil
		case w != "" && why == "":
			first, why = v, w
		}
	}
	if why != "" {
		return scorer.Fail("none of "+text.Count(len(f.values), "value")+" fits; "+f.name()+": "+why, f.point(first)), nil
	}
	return scorer.Pass(f.name()+" fits", f.evidence()...), nil
}

// compareAll compares all that was found with a list, in order or in any.
func (f *found) compareAll(want tree.Value, which string) (scorer.Result, error) {
	const limit = 2000
	if want.Kind() != jsonv.Array {
		return scorer.Result{}, errors.New("value must be a list for which = \"" + which + "\"")
	}
	if n := want.Len(); n > limit || len(f.values) > limit && which == "set" {
		return scorer.Result{}, errors.New("more than 2,000 values cannot be compared as a " + which)
	}
	var list []tree.Value
	for v := range want.Each {
		list = append(list, v)
	}
	reason := f.name() + " finds " + text.Count(len(f.values), "value") + ", want " + text.Int(len(list))
	missing := f.missing(list, which == "set")
	switch {
	case missing.Exists():
		return scorer.Fail(reason+"; missing: "+missing.Show(shown), f.evidence()...), nil
	case len(f.values) != len(list):
		return scorer.Fail(reason, f.evidence()...), nil
	}
	return scorer.Pass(f.name()+" finds the "+text.Count(len(list), "value")+" wanted", f.evidence()...), nil
}

// missing returns the first of list that was not found, at its place or anywhere.
func (f *found) missing(list []tree.Value, anywhere bool) tree.Value {
	used := make([]bool, len(f.values))
	for i, want := range list {
		at, end := i, min(i+1, len(f.values))
		if anywhere {
			at, end = 0, len(f.values)
		}
		for at < end && (used[at] || !tree.Equal(f.values[at], want)) {
			at++
		}
		if at >= end {
			return want
		}
		used[at] = true
	}
	return tree.Value{}
}

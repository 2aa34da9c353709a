package main

import (
	"errors"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

const maxChanges = 1000

func changed(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	d, err := compare(in, p.String("query"), nil)
	switch {
	case err != nil:
		return scorer.Result{}, err
	case len(d.before.values) == 0 && len(d.after.values) == 0:
		return scorer.Fail(d.after.name() + " finds nothing, before or after the run"), nil
	case len(d.changes) == 0:
		return scorer.Fail(d.after.name()+" did not change", d.after.evidence()...), nil
	}
	return scorer.Pass(d.summary(), d.evidence()...), nil
}

func unchanged(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	query, except := p.String("query"), p.Strings("except")
	d, err := compare(in, query, except)
	if err != nil {
		return scorer.Result{}, err
	}
	if len(d.changes) > 0 {
		return scorer.Fail(d.summary(), d.evidence()...), nil
	}
	return scorer.Pass(d.after.name() + " did not change" + but(except)), nil
}

func diffOnly(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
	paths := p.Strings("paths")
	if len(paths) == 0 {
		return scorer.Result{}, errors.New("paths must name at least one path")
	}
	d, err := compare(in, "$", paths)
	if err != nil {
		return scorer.Result{}, err
	}
	if len(d.changes) > 0 {
		return scorer.Fail("outside "+tree.Cut(strings.Join(paths, ", "), shown)+": "+d.summary(), d.evidence()...), nil
	}
	return scorer.Pass("nothing changed" + but(paths)), nil
}

func but(except []string) string {
	if len(except) == 0 {
		return ""
	}
	return " outside " + tree.Cut(strings.Join(except, ", "), shown)
}

// difference is what changed in what a query finds.
type difference struct {
	before, after found
	changes       []tree.Change
}

func compare(in *scorer.Input, query string, except []string) (difference, error) {
	s := statesOf(in)
	var d difference
	var err error
	if d.before, err = find(s, query, "before"); err != nil {
		return d, err
	}
	if d.after, err = find(s, query, "after"); err != nil {
		return d, err
	}
	skipBefore, err := skip(s, except, "before")
	if err != nil {
		return d, err
	}
	skipAfter, err := skip(s, except, "after")
	if err != nil {
		return d, err
	}
	c := tree.Compare(d.before.root, d.after.root, skipBefore, skipAfter)
	d.changes = c.ListChanges(d.before.values, d.after.values, maxChanges)
	return d, nil
}

// skip returns a test for what the queries find, nil without queries.
func skip(s *states, queries []string, of string) (func(tree.Value) bool, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	var set []bool
	for _, q := range queries {
		f, err := find(s, q, of)
		if err != nil {
			return nil, err
		}
		if set == nil {
			set = make([]bool, f.root.Size())
		}
		for _, v := range f.values {
			set[v.Order()] = true
		}
	}
	return func(v tree.Value) bool { return set[v.Order()] }, nil
}

// summary says what changed, the first few places by name.
func (d *difference) summary() string {
	const named, size = 3, 60
	var list []string
	for _, c := range d.changes[:min(len(d.changes), named)] {
		at := tree.Cut(d.place(c), shown)
		if at == "" {
			at = "the state"
		}
		switch {
		case !c.Before.Exists():
			list = append(list, at+" was added")
		case !c.After.Exists():
			list = append(list, at+" was removed")
		default:
			list = append(list, at+" changed from "+c.Before.Show(size)+" to "+c.After.Show(size))
		}
	}
	if more := len(d.changes) - named; more > 0 {
		list = append(list, text.Count(more, "more change"))
	}
	return strings.Join(list, "; ")
}

// place is where a change is: in the state after the run, unless it is gone there.
func (d *difference) place(c tree.Change) string {
	if c.After.Exists() {
		return c.After.Pointer(d.after.root)
	}
	return c.Before.Pointer(d.before.root)
}

func (d *difference) evidence() []eval.Evidence {
	var list []eval.Evidence
	for _, c := range d.changes[:min(len(d.changes), maxEvidence)] {
		list = append(list, scorer.PointerEvidence(d.place(c)))
	}
	return list
}

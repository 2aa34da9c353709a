package main

import (
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/jsonpath"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
)

// states are a trial's two states, each indexed when it is first asked for.
type states struct {
	in            *scorer.Input
	before, after *tree.Value
}

// current has the states of the input that is being scored: a call scores one
// trial with many uses, and a large state is indexed once for all of them. A
// module is single-threaded.
var current states

func statesOf(in *scorer.Input) *states {
	if current.in != in {
		current = states{in: in}
	}
	return &current
}

func (s *states) of(when string) tree.Value {
	slot, state := &s.after, s.in.StateValue
	if when == "before" {
		slot, state = &s.before, s.in.BeforeValue
	}
	if *slot == nil {
		v := tree.Of(state())
		*slot = &v
	}
	return **slot
}

// found is what a query found in one state.
type found struct {
	query  string
	root   tree.Value
	values []tree.Value
}

// look evaluates the parameter query in the state that the parameter of names.
func look(in *scorer.Input, p scorer.Params) (found, error) {
	return find(statesOf(in), p.String("query"), p.String("of"))
}

func find(s *states, query, of string) (found, error) {
	root := s.of(of)
	if !root.Exists() {
		return found{}, errors.New("the trial has no state " + of + " the run")
	}
	q, err := jsonpath.Parse(query)
	if err != nil {
		return found{}, err
	}
	values, err := q.Select(root)
	return found{query, root, values}, err
}

const (
	shown       = 120
	maxEvidence = 20
)

// name is the query, for a reason.
func (f *found) name() string { return tree.Cut(f.query, shown) }

// evidence points at what was found.
func (f *found) evidence() []eval.Evidence {
	var list []eval.Evidence
	for _, v := range f.values[:min(len(f.values), maxEvidence)] {
		list = append(list, f.point(v))
	}
	return list
}

func (f *found) point(v tree.Value) eval.Evidence { return scorer.PointerEvidence(v.Pointer(f.root)) }

// Package scorertest runs registered scorers natively in tests, through the same
// encoding that the engine uses: a part of the trial that no used scorer lists in
// its Needs is not there, as it will not be in a run.
package scorertest

import (
	"math"
	"testing"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Use is one use of a scorer with parameters as a JSON object; empty is none. Its
// name is the scorer's.
func Use(name, params string) eval.Use {
	return eval.Use{Name: name, Scorer: name, Params: eval.JSON(params)}
}

// Run scores in with the uses, and returns one output for each. The uses replace
// in.Uses.
func Run(t testing.TB, in eval.ScoreInput, uses ...eval.Use) []eval.ScoreOutput {
	t.Helper()
	return RunWith(t, nil, in, uses...)
}

// One scores in with one scorer and its parameters as a JSON object.
func One(t testing.TB, in eval.ScoreInput, name, params string) eval.ScoreOutput {
	t.Helper()
	return Run(t, in, Use(name, params))[0]
}

// RunWith is [Run] with a door for the scorers' calls and log lines; nil denies
// every call.
func RunWith(t testing.TB, d scorer.Door, in eval.ScoreInput, uses ...eval.Use) []eval.ScoreOutput {
	t.Helper()
	manifest := Manifest(t)
	var needs []eval.Part
	for _, u := range uses {
		if s := manifest.Scorer(u.Scorer); s != nil {
			needs = append(needs, s.Needs...)
		}
	}
	in.Uses = uses
	request := wire.AppendRequest(nil, &in, wire.PartsOf(needs))
	response, err := scorer.Serve(d, request)
	if err != nil {
		t.Fatalf("scorer.Serve: %v", err)
	}
	outputs, err := wire.DecodeResponse(response)
	if err != nil {
		t.Fatalf("the response: %v", err)
	}
	if len(outputs) != len(uses) {
		t.Fatalf("got %d outputs; want %d", len(outputs), len(uses))
	}
	for i, o := range outputs {
		if o.Name != uses[i].Name {
			t.Fatalf("output %d answers %q; want %q", i, o.Name, uses[i].Name)
		}
		if o.State == eval.Scored && (math.IsNaN(o.Value) || o.Value < 0 || o.Value > 1) {
			t.Errorf("%s: value %v is not in 0..1", o.Name, o.Value)
		}
	}
	return outputs
}

// Manifest returns the module's manifest as the engine will read it.
func Manifest(t testing.TB) *eval.Manifest {
	t.Helper()
	b, err := scorer.Describe()
	if err != nil {
		t.Fatalf("scorer.Describe: %v", err)
	}
	m, err := wire.DecodeManifest(b)
	if err != nil {
		t.Fatalf("the manifest: %v", err)
	}
	return m
}

// Package scorer is the SDK for scorer modules written in Go. A scorer is a
// plain function from a trial to a result, registered in init:
//
//	func init() {
//		scorer.Module("brand", "1.0.0", "Checks of our house style.")
//		scorer.Register(scorer.Spec{
//			Name: "polite", Role: eval.RoleAssert, Dimension: eval.DimensionOutcome,
//			Needs: []eval.Part{eval.PartAnswer},
//		}, polite)
//	}
//
//	func polite(in *scorer.Input, p scorer.Params) (scorer.Result, error) {
//		if strings.Contains(in.Answer, "please") {
//			return scorer.Pass("the answer says please"), nil
//		}
//		return scorer.Fail("the answer does not say please"), nil
//	}
//
//	func main() {}
//
// Build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared. Natively
// nothing runs by itself: package scorertest calls the functions in tests, through
// the same encoding that the engine uses.
//
// A scorer is a pure function of its input: it has no files, network,
// environment, clock or randomness, and every call starts from the same memory.
// Avoid encoding/json and protobuf: they cost ten times what they cost natively;
// package jsonv reads JSON.
package scorer

import (
	"errors"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Spec describes one scorer.
type Spec = eval.ScorerSpec

// Func scores one use of a scorer. An error, or a panic, makes the score errored
// with that message: use it where the scorer itself cannot say, never for what the
// agent did wrong.
type Func func(in *Input, p Params) (Result, error)

// Input is a trial as the scorer's Needs asked for it, and shared by every use in
// a call: it must not be changed.
type Input struct {
	*eval.ScoreInput
	calls  *[]eval.Call
	state  *jsonv.Value
	before *jsonv.Value
	cache  []any
}

// Cached returns what make made of the trial the first time, for each type T once:
// what several uses look at is worked out for all of them.
func Cached[T any](in *Input, make func() *T) *T {
	for _, v := range in.cache {
		if t, ok := v.(*T); ok {
			return t
		}
	}
	t := make()
	in.cache = append(in.cache, t)
	return t
}

// Calls returns the transcript's tool calls paired with their results, in the
// order of the calls.
func (in *Input) Calls() []eval.Call {
	if in.calls == nil {
		calls := eval.Calls(in.Steps)
		in.calls = &calls
	}
	return *in.calls
}

// StateValue returns the target's state after the run, absent where there is
// none.
func (in *Input) StateValue() jsonv.Value { return cached(&in.state, in.State) }

// BeforeValue returns the target's state before the run, absent where there is
// none.
func (in *Input) BeforeValue() jsonv.Value { return cached(&in.before, in.StateBefore) }

func cached(slot **jsonv.Value, b eval.JSON) jsonv.Value {
	if *slot == nil {
		v, _ := jsonv.Parse(b)
		*slot = &v
	}
	return **slot
}

// Tool returns the tool of that name, and of that server unless it is empty; nil
// where the agent was offered none. It wants PartTools.
func (in *Input) Tool(server, name string) *eval.Tool {
	for i := range in.Tools {
		t := &in.Tools[i]
		if t.Name == name && (server == "" || t.Server == server) {
			return t
		}
	}
	return nil
}

type entry struct {
	spec Spec
	f    Func
}

// registry is filled by init functions alone and never changed afterwards.
var registry struct {
	module, version, doc string
	entries              []entry
}

// Module names the module. It is called once, in init.
func Module(name, version, doc string) {
	switch {
	case registry.module != "":
		panic("scorer: Module is called twice")
	case !isName(name):
		panic("scorer: module name " + strconv.Quote(name) + " is not in snake_case")
	case version == "":
		panic("scorer: the module has no version")
	}
	registry.module, registry.version, registry.doc = name, version, doc
}

// Register adds a scorer. It is called in init, and panics on a spec that the
// engine would refuse.
func Register(spec Spec, f Func) {
	if err := checkSpec(&spec); err != nil {
		panic("scorer: " + strconv.Quote(spec.Name) + ": " + err.Error())
	}
	if f == nil || find(spec.Name) != nil {
		panic("scorer: " + strconv.Quote(spec.Name) + ": registered twice or without a function")
	}
	registry.entries = append(registry.entries, entry{spec, f})
}

func find(name string) *entry {
	for i := range registry.entries {
		if registry.entries[i].spec.Name == name {
			return &registry.entries[i]
		}
	}
	return nil
}

// Manifest returns what was registered.
func Manifest() *eval.Manifest {
	m := &eval.Manifest{Module: registry.module, Version: registry.version, Doc: registry.doc}
	for _, e := range registry.entries {
		m.Scorers = append(m.Scorers, e.spec)
	}
	return m
}

func checkSpec(s *Spec) error {
	if !isName(s.Name) {
		return errors.New("the name is not in snake_case")
	}
	switch s.Role {
	case eval.RoleAssert:
		if s.Dimension != eval.DimensionOutcome && s.Dimension != eval.DimensionConstraint {
			return errors.New("an assert is of dimension outcome or constraint, not " + strconv.Quote(string(s.Dimension)))
		}
	case eval.RoleMeasure, eval.RoleJudge:
		switch s.Dimension {
		case eval.DimensionOutcome, eval.DimensionConstraint, eval.DimensionPath, eval.DimensionQuality:
		default:
			return errors.New("unknown dimension " + strconv.Quote(string(s.Dimension)))
		}
	default:
		return errors.New("unknown role " + strconv.Quote(string(s.Role)))
	}
	for _, p := range s.Needs {
		if !wire.KnownPart(p) {
			return errors.New("unknown need " + strconv.Quote(string(p)))
		}
	}
	return checkParams(s.Params)
}

func checkParams(s eval.Schema) error {
	seen := map[string]bool{}
	for _, a := range s.Attributes {
		switch {
		case !isName(a.Name) || seen[a.Name]:
			return errors.New("parameter " + strconv.Quote(a.Name) + ": not in snake_case, or twice")
		case strings.TrimSpace(a.Type) == "":
			return errors.New("parameter " + strconv.Quote(a.Name) + ": no type")
		case len(a.Default) > 0 && !jsonv.Valid(a.Default):
			return errors.New("parameter " + strconv.Quote(a.Name) + ": the default is not JSON")
		}
		seen[a.Name] = true
	}
	return nil
}

// isName reports whether s is in snake_case, as every name in a suite is.
func isName(s string) bool {
	for i, c := range s {
		switch {
		case c >= 'a' && c <= 'z':
		case i > 0 && (c == '_' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= 64
}

package scorer

import (
	"errors"
	"strconv"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// Params are the parameters of one use. A parameter that is left out has the
// default of the scorer's schema. Every getter panics for a name that the schema
// does not have, and returns zero where the parameter is null; the engine has
// checked the types before anything ran.
type Params struct {
	spec *Spec
	use  *eval.Use
	v    jsonv.Value
}

// Use returns the use that the parameters are of.
func (p Params) Use() eval.Use { return *p.use }

// Has reports whether the parameter is given or has a default: not null.
func (p Params) Has(name string) bool { return !p.JSON(name).IsNull() }

// JSON returns the parameter as it is, absent where it is null.
func (p Params) JSON(name string) jsonv.Value {
	a, ok := p.spec.Params.Attribute(name)
	if !ok {
		panic("scorer " + strconv.Quote(p.spec.Name) + " has no parameter " + strconv.Quote(name))
	}
	v := p.v.Get(name)
	if v.IsNull() {
		v, _ = jsonv.Parse(a.Default)
	}
	if v.IsNull() {
		return jsonv.Value{}
	}
	return v
}

// String returns a string parameter.
func (p Params) String(name string) string { s, _ := p.JSON(name).Str(); return s }

// Int returns a whole number parameter, 0 where it has a fraction.
func (p Params) Int(name string) int { n, _ := p.JSON(name).Int(); return int(n) }

// Float returns a number parameter.
func (p Params) Float(name string) float64 { f, _ := p.JSON(name).Float(); return f }

// Bool returns a bool parameter.
func (p Params) Bool(name string) bool { b, _ := p.JSON(name).Bool(); return b }

// Strings returns a list of strings; a lone string is a list of one.
func (p Params) Strings(name string) []string {
	v := p.JSON(name)
	if s, ok := v.Str(); ok {
		return []string{s}
	}
	var list []string
	for _, e := range v.Elements() {
		if s, ok := e.Str(); ok {
			list = append(list, s)
		}
	}
	return list
}

// check reports a use whose parameters do not fit the schema's names, required
// ones and enums: such a use never reaches a scorer.
func (p Params) check() error {
	if p.v.Kind() != jsonv.Object {
		return errors.New("the parameters are not a JSON object")
	}
	for name := range p.v.Members() {
		if _, ok := p.spec.Params.Attribute(name); !ok {
			return errors.New("no parameter " + strconv.Quote(name))
		}
	}
	for _, a := range p.spec.Params.Attributes {
		if problem := p.checkOne(a); problem != "" {
			return errors.New("parameter " + strconv.Quote(a.Name) + " " + problem)
		}
	}
	return nil
}

// checkOne returns what is wrong with one parameter, or nothing.
func (p Params) checkOne(a eval.Attribute) string {
	v := p.JSON(a.Name)
	if !v.Exists() {
		if a.Required {
			return "is required"
		}
		return ""
	}
	want := jsonv.Absent
	switch a.Type {
	case "string":
		want = jsonv.String
	case "number":
		want = jsonv.Number
	case "bool":
		want = jsonv.Bool
	}
	if want != jsonv.Absent && v.Kind() != want {
		return "is a " + v.Kind().String() + ", want a " + a.Type
	}
	s, isString := v.Str()
	if !isString || len(a.Enum) == 0 {
		return ""
	}
	for _, e := range a.Enum {
		if e == s {
			return ""
		}
	}
	return "is " + strconv.Quote(s) + ", want one of " + strings.Join(a.Enum, ", ")
}

package scorer

import (
	"errors"
	"math"
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
	"github.com/evalengine/evalengine/scorers/wire"
)

// Describe returns the encoded manifest: what eval_describe writes.
func Describe() ([]byte, error) {
	m := Manifest()
	switch {
	case m.Module == "":
		return nil, errors.New("scorer.Module was not called")
	case len(m.Scorers) == 0:
		return nil, errors.New("module " + m.Module + " registers no scorer")
	}
	return wire.AppendManifest(nil, m), nil
}

// Serve decodes a request, scores every use in it and returns the encoded
// response: what eval_score does. It is not safe for concurrent use; scorer
// authors call scorertest.Run instead.
func Serve(d Door, request []byte) ([]byte, error) {
	if d != nil {
		door = d
		defer func() { door = closed{} }()
	}
	decoded, err := wire.DecodeRequest(request)
	if err != nil {
		return nil, err
	}
	in := &Input{ScoreInput: decoded}
	outputs := make([]eval.ScoreOutput, len(decoded.Uses))
	for i := range decoded.Uses {
		outputs[i] = score(in, &decoded.Uses[i])
	}
	return wire.AppendResponse(nil, outputs), nil
}

func score(in *Input, use *eval.Use) eval.ScoreOutput {
	r, err := call(in, use)
	if err != nil {
		return eval.ScoreOutput{Name: use.Name, State: eval.ScoreErrored, Reason: err.Error()}
	}
	return eval.ScoreOutput{
		Name: use.Name, State: r.State, Value: r.Value, Raw: r.Raw, Unit: r.Unit, Passed: r.Passed,
		Reason: r.Reason, Evidence: r.Evidence, Findings: r.Findings, Samples: r.Samples, StdErr: r.StdErr,
	}
}

// call runs one scorer. A panic is the scorer's own error and costs the others
// nothing.
func call(in *Input, use *eval.Use) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic: " + panicText(p))
		}
	}()
	e := find(use.Scorer)
	if e == nil {
		return r, errors.New("the module has no scorer " + strconv.Quote(use.Scorer))
	}
	params, err := jsonv.Parse(use.Params)
	if len(use.Params) == 0 {
		params, err = jsonv.Parse([]byte("{}"))
	}
	if err != nil {
		return r, errors.New("parameters: " + err.Error())
	}
	p := Params{spec: &e.spec, use: use, v: params}
	if err := p.check(); err != nil {
		return r, err
	}
	if r, err = e.f(in, p); err != nil {
		return r, err
	}
	return finish(&e.spec, r)
}

// panicText spares modules package fmt, a quarter of their size.
func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "a value that is no error"
}

// finish holds r to what the engine accepts of the scorer's role.
func finish(s *Spec, r Result) (Result, error) {
	if r.State == eval.ScoreSkipped {
		return Result{State: eval.ScoreSkipped, Reason: r.Reason, Findings: r.Findings}, nil
	}
	switch {
	case r.State != eval.Scored:
		return r, errors.New("the scorer returned no result")
	case !(r.Value >= 0 && r.Value <= 1):
		return r, errors.New("value " + strconv.FormatFloat(r.Value, 'g', -1, 64) + " is not in 0..1")
	case s.Role == eval.RoleAssert && r.Passed == nil:
		return r, errors.New("an assert passes or fails, and has no other value")
	}
	if r.StdErr != nil && !(*r.StdErr >= 0 && *r.StdErr <= math.MaxFloat64) {
		return r, errors.New("the standard error " + strconv.FormatFloat(*r.StdErr, 'g', -1, 64) + " is no number from 0")
	}
	for _, v := range r.Samples {
		if !(v >= 0 && v <= 1) {
			return r, errors.New("sample " + strconv.FormatFloat(v, 'g', -1, 64) + " is not in 0..1")
		}
	}
	if s.Role != eval.RoleAssert {
		r.Passed = nil
	}
	if r.Unit == "" && r.Raw != nil {
		r.Unit = s.Unit
	}
	return r, nil
}

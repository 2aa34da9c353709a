package wasm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/wire"
)

// cutBytes is the size from which a part of a trial goes to the worker from where
// it lies, without being copied into the request.
const cutBytes = 32 << 10

// Score scores in with every use in it, and returns one output for each, in their
// order. What the module does wrong is the output's: it is errored, with the
// reason. The error is set only where ctx ended or no worker could be had.
func (m *Module) Score(ctx context.Context, in *eval.ScoreInput) ([]eval.ScoreOutput, error) {
	outputs, _, err := m.ScoreLog(ctx, in)
	return outputs, err
}

// ScoreLog is Score that also returns what the module logged, of a bounded
// length. Writing to stdout or stderr is logging.
func (m *Module) ScoreLog(ctx context.Context, in *eval.ScoreInput) ([]eval.ScoreOutput, string, error) {
	s := &scoring{m: m, in: in, outputs: make([]eval.ScoreOutput, len(in.Uses))}
	var together []int
	for i := range in.Uses {
		u := &in.Uses[i]
		spec := m.manifest.Scorer(u.Scorer)
		switch {
		case spec == nil:
			s.fail(i, fmt.Sprintf("module %s has no scorer %q", m.name, u.Scorer))
		case len(spec.Capabilities) > 0:
			// A call must be one use's, or nobody knows whose grant counts.
			if err := s.alone(ctx, i); err != nil {
				return nil, "", err
			}
		default:
			together = append(together, i)
		}
	}
	err := s.run(ctx, together)
	return s.outputs, s.log.String(), err
}

// scoring is one trial's way through one module.
type scoring struct {
	m       *Module
	in      *eval.ScoreInput
	outputs []eval.ScoreOutput
	log     strings.Builder
}

func (s *scoring) fail(i int, reason string) {
	s.outputs[i] = eval.ScoreOutput{
		Name: s.in.Uses[i].Name, State: eval.ScoreErrored, Reason: cut(strings.ToValidUTF8(reason, "\uFFFD")),
	}
}

// run scores the uses in one call, or where that fails one by one, so that one
// bad scorer costs only its own score.
func (s *scoring) run(ctx context.Context, uses []int) error {
	if len(uses) == 0 {
		return nil
	}
	err := s.once(ctx, uses)
	bad, ok := errors.AsType[*moduleError](err)
	switch {
	case !ok:
		return err
	case len(uses) == 1:
		s.addLog(bad.log)
		s.fail(uses[0], bad.text)
		return nil
	}
	if _, unfit := s.m.fitness(); unfit != nil {
		for _, i := range uses {
			s.fail(i, unfit.text)
		}
		return nil
	}
	for _, i := range uses {
		if err := s.alone(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *scoring) alone(ctx context.Context, i int) error { return s.run(ctx, []int{i}) }

// once makes one call with the uses.
func (s *scoring) once(ctx context.Context, uses []int) error {
	in := *s.in
	in.Uses = make([]eval.Use, len(uses))
	var want wire.Parts
	calls := false
	for n, i := range uses {
		in.Uses[n] = s.in.Uses[i]
		spec := s.m.manifest.Scorer(in.Uses[n].Scorer)
		want |= wire.PartsOf(spec.Needs)
		calls = calls || len(spec.Capabilities) > 0
	}
	p, call := s.m.rt.pure, deny
	if calls {
		p = s.m.rt.calling
		call = func(op string, request []byte) (int64, []byte) { return s.call(ctx, &in.Uses[0], op, request) }
	}
	a, err := s.m.run(ctx, p, 1, wire.RequestSegments(&in, want, cutBytes), call)
	if err != nil {
		return err
	}
	if a.code != 0 {
		return &moduleError{"the scorer failed: " + cut(string(a.output)), a.log}
	}
	outputs, err := wire.DecodeResponse(a.output)
	if err != nil {
		return &moduleError{"its response is malformed", a.log}
	}
	if err := answers(outputs, in.Uses); err != nil {
		return &moduleError{err.Error(), a.log}
	}
	s.addLog(a.log)
	for n, i := range uses {
		s.accept(i, &outputs[n])
	}
	return nil
}

func deny(string, []byte) (int64, []byte) { return codeDenied, nil }

// call answers the call of a capability. A worker that died is not asked twice:
// nobody shares it.
func (s *scoring) call(ctx context.Context, u *eval.Use, op string, request []byte) (int64, []byte) {
	spec := s.m.manifest.Scorer(u.Scorer)
	if s.m.rt.o.Call == nil || !slices.Contains(spec.Capabilities, op) {
		return codeDenied, nil
	}
	response, err := s.m.rt.o.Call(ctx, s.in.Trial, u.Name, op, request)
	switch {
	case ctx.Err() != nil:
		return codeCancelled, nil
	case errors.Is(err, ErrDenied):
		return codeDenied, nil
	case errors.Is(err, ErrUnknownCapability):
		return codeUnknown, nil
	case err != nil:
		return codeFailed, nil
	case len(response) > maxOutput:
		return codeTooLarge, nil
	}
	return 0, response
}

func (s *scoring) addLog(b []byte) {
	if room := int(s.m.limits.log) - s.log.Len(); room > 0 {
		s.log.WriteString(strings.ToValidUTF8(string(b[:min(len(b), room)]), "\uFFFD"))
	}
}

// answers puts outputs into the order of uses, of which each must be answered
// once.
func answers(outputs []eval.ScoreOutput, uses []eval.Use) error {
	for n, u := range uses {
		at := -1
		for i := n; i < len(outputs); i++ {
			if outputs[i].Name == u.Name {
				at = i
				break
			}
		}
		if at < 0 {
			return fmt.Errorf("its response has no result for %q", u.Name)
		}
		outputs[n], outputs[at] = outputs[at], outputs[n]
	}
	if extra := len(outputs) - len(uses); extra > 0 {
		return fmt.Errorf("its response has %d results too many, the first for %q", extra, cut(outputs[len(uses)].Name))
	}
	return nil
}

// accept takes over a result that keeps to the rules.
func (s *scoring) accept(i int, o *eval.ScoreOutput) {
	spec := s.m.manifest.Scorer(s.in.Uses[i].Scorer)
	if err := checkOutput(spec, o); err != nil {
		s.fail(i, err.Error())
		return
	}
	if o.State != eval.Scored {
		// Whatever else it says means nothing.
		*o = eval.ScoreOutput{Name: o.Name, State: o.State, Reason: o.Reason, Findings: o.Findings}
	}
	if o.Raw != nil && o.Unit == "" {
		o.Unit = spec.Unit
	}
	o.Reason = cut(o.Reason)
	for n := range o.Findings {
		o.Findings[n].Text, o.Findings[n].Suggestion = cut(o.Findings[n].Text), cut(o.Findings[n].Suggestion)
	}
	s.outputs[i] = *o
}

// maxList is how many pieces of evidence or findings a result may have: somebody
// must read them.
const maxList = 1000

func checkOutput(spec *eval.ScorerSpec, o *eval.ScoreOutput) error {
	if n := max(len(o.Findings), len(o.Evidence)); n > maxList {
		return fmt.Errorf("its result has %d findings or pieces of evidence, at most %d are allowed", n, maxList)
	}
	for _, f := range o.Findings {
		switch f.Severity {
		case eval.SeverityCritical, eval.SeverityMajor, eval.SeverityMinor, eval.SeverityInfo:
		default:
			return fmt.Errorf("a finding has the unknown severity %q", cut(string(f.Severity)))
		}
	}
	switch o.State {
	case eval.ScoreSkipped, eval.ScoreErrored:
		return nil
	case eval.Scored:
	default:
		return fmt.Errorf("its result has the unknown state %q", cut(string(o.State)))
	}
	switch {
	case math.IsNaN(o.Value) || o.Value < 0 || o.Value > 1:
		return fmt.Errorf("its value %v is not in 0..1", o.Value)
	case o.Raw != nil && (math.IsNaN(*o.Raw) || math.IsInf(*o.Raw, 0)):
		return fmt.Errorf("its raw value %v is not finite", *o.Raw)
	case o.StdErr != nil && !(*o.StdErr >= 0 && *o.StdErr <= math.MaxFloat64):
		return fmt.Errorf("its standard error %v is no number from 0", *o.StdErr)
	case spec.Role == eval.RoleAssert && o.Passed == nil:
		return errors.New("it is an assert and its result neither passed nor failed")
	case spec.Role != eval.RoleAssert && o.Passed != nil:
		return fmt.Errorf("it is a %s and its result passed or failed, as only an assert's does", spec.Role)
	}
	return nil
}

// cut keeps a module's text to a length that a person may have to read.
func cut(s string) string {
	const most = 8000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

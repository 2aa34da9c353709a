package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
)

// script is a script that was read and checked.
type script struct{ turns []turn }

type turn struct {
	steps []step
	// answer is nil where the last say is the answer.
	answer *text
}

// step has one field set.
type step struct {
	calls []call
	say   *text
	think *text
	fail  *failure
	fault *eval.Fault
	hang  bool
}

type call struct {
	server, tool string
	arguments    value
	save         string
	expectError  bool
}

type failure struct {
	Outcome eval.Outcome `json:"outcome"`
	Detail  string       `json:"detail"`
}

// The forms of a script as written.
type (
	rawScript struct {
		Turns  []json.RawMessage `json:"turns"`
		Answer *string           `json:"answer"`
	}
	rawTurn struct {
		Steps  []json.RawMessage `json:"steps"`
		Answer *string           `json:"answer"`
	}
	rawStep struct {
		Call     json.RawMessage   `json:"call"`
		Parallel []json.RawMessage `json:"parallel"`
		Say      *string           `json:"say"`
		Reason   *string           `json:"reason"`
		Fail     json.RawMessage   `json:"fail"`
		Fault    json.RawMessage   `json:"fault"`
		Hang     bool              `json:"hang"`
	}
	rawCall struct {
		Server      string          `json:"server"`
		Tool        string          `json:"tool"`
		Arguments   json.RawMessage `json:"arguments"`
		Save        string          `json:"save"`
		ExpectError bool            `json:"expect_error"`
	}
)

// parser knows which names have been saved so far.
type parser struct{ saved map[string]bool }

var validSave = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// parseScript reads a script; the error says where in it.
func parseScript(b []byte) (*script, error) {
	var raw rawScript
	if err := strict(b, &raw); err != nil {
		return nil, err
	}
	if len(raw.Turns) == 0 {
		return nil, errors.New("turns: there must be at least one")
	}
	p := parser{saved: map[string]bool{}}
	s := &script{}
	for i, t := range raw.Turns {
		at := fmt.Sprintf("turns[%d]", i)
		turn, err := p.turn(t, at)
		if err != nil {
			return nil, err
		}
		s.turns = append(s.turns, turn)
	}
	last := &s.turns[len(s.turns)-1]
	if raw.Answer == nil {
		return s, nil
	}
	if last.answer != nil {
		return nil, errors.New("answer: the last turn has one already")
	}
	answer, err := p.text(*raw.Answer, "answer")
	last.answer = answer
	return s, err
}

func (p *parser) turn(b json.RawMessage, at string) (t turn, err error) {
	var raw rawTurn
	if err := strict(b, &raw); err != nil {
		return t, fmt.Errorf("%s: %w", at, err)
	}
	for i, r := range raw.Steps {
		here := fmt.Sprintf("%s.steps[%d]", at, i)
		s, err := p.step(r, here)
		if err != nil {
			return t, err
		}
		if (s.fail != nil || s.fault != nil || s.hang) && i != len(raw.Steps)-1 {
			return t, fmt.Errorf("%s: ends the turn, but steps follow", here)
		}
		t.steps = append(t.steps, s)
	}
	if raw.Answer != nil {
		t.answer, err = p.text(*raw.Answer, at+".answer")
	}
	return t, err
}

func (p *parser) step(b json.RawMessage, at string) (s step, err error) {
	var raw rawStep
	if err := strict(b, &raw); err != nil {
		return s, fmt.Errorf("%s: %w", at, err)
	}
	if n := raw.fields(); n != 1 {
		return s, fmt.Errorf("%s: has %d of call, parallel, say, reason, fail, fault and hang; want one", at, n)
	}
	switch {
	case raw.Call != nil:
		s.calls, err = p.calls([]json.RawMessage{raw.Call}, at+".call", false)
	case raw.Parallel != nil:
		s.calls, err = p.calls(raw.Parallel, at+".parallel", true)
	case raw.Say != nil:
		s.say, err = p.text(*raw.Say, at+".say")
	case raw.Reason != nil:
		s.think, err = p.text(*raw.Reason, at+".reason")
	case raw.Fail != nil:
		s.fail, err = parseFailure(raw.Fail, at+".fail")
	case raw.Fault != nil:
		s.fault, err = parseFault(raw.Fault, at+".fault")
	default:
		s.hang = true
	}
	return s, err
}

func (r rawStep) fields() (n int) {
	for _, set := range []bool{
		r.Call != nil, r.Parallel != nil, r.Say != nil, r.Reason != nil, r.Fail != nil, r.Fault != nil, r.Hang,
	} {
		if set {
			n++
		}
	}
	return n
}

// calls reads calls that are made at once: none can use another's result.
func (p *parser) calls(list []json.RawMessage, at string, many bool) (calls []call, err error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there must be at least one call", at)
	}
	for i, b := range list {
		here := at
		if many {
			here = fmt.Sprintf("%s[%d]", at, i)
		}
		c, err := p.call(b, here)
		if err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	for _, c := range calls {
		if c.save != "" {
			p.saved[c.save] = true
		}
	}
	return calls, nil
}

func (p *parser) call(b json.RawMessage, at string) (c call, err error) {
	var raw rawCall
	if err := strict(b, &raw); err != nil {
		return c, fmt.Errorf("%s: %w", at, err)
	}
	if raw.Tool == "" {
		return c, fmt.Errorf("%s: tool is missing", at)
	}
	if raw.Save != "" && !validSave.MatchString(raw.Save) {
		return c, fmt.Errorf("%s.save: %q is not a name of letters, digits and underscores", at, raw.Save)
	}
	c = call{server: raw.Server, tool: raw.Tool, save: raw.Save, expectError: raw.ExpectError}
	if trimmed := bytes.TrimSpace(raw.Arguments); len(trimmed) > 0 && trimmed[0] != '{' {
		return c, fmt.Errorf("%s.arguments: want an object", at)
	}
	c.arguments, err = p.value(raw.Arguments, at+".arguments")
	return c, err
}

func parseFailure(b json.RawMessage, at string) (*failure, error) {
	var f failure
	if err := strict(b, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	switch f.Outcome {
	case eval.Refused, eval.MaxTurns, eval.MaxBudget, eval.MaxOutput, eval.ContextExceeded, eval.TimedOut, eval.GaveUp:
		return &f, nil
	}
	return nil, fmt.Errorf("%s.outcome: %q is not the outcome of a failure", at, f.Outcome)
}

func parseFault(b json.RawMessage, at string) (*eval.Fault, error) {
	var f eval.Fault
	if err := strict(b, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	switch f.Retry {
	case eval.RetryTrial, eval.RetryNever, eval.RetryStop:
	default:
		return nil, fmt.Errorf("%s.retry: %q is none of trial, never and stop", at, f.Retry)
	}
	if f.Cause == "" {
		return nil, fmt.Errorf("%s: cause is missing", at)
	}
	return &f, nil
}

// strict decodes one JSON value without unknown fields.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("line %d: %w", 1+bytes.Count(b[:min(int(syntax.Offset), len(b))], []byte("\n")), err)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON ends too early")
		}
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return wrongKind(kind)
		}
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// wrongKind says in JSON's own words that a value is of another kind than what
// belongs in its place.
func wrongKind(e *json.UnmarshalTypeError) error {
	want := map[reflect.Kind]string{
		reflect.Struct: "an object", reflect.Slice: "a list", reflect.String: "a string", reflect.Bool: "true or false",
	}[e.Type.Kind()]
	if want == "" {
		want = "a number"
	}
	if e.Field == "" {
		return fmt.Errorf("want %s, not %s", want, e.Value)
	}
	return fmt.Errorf("%s: want %s, not %s", e.Field, want, e.Value)
}

package main

import (
	"errors"
	"strconv"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/scorers/internal/schema"
	"github.com/evalengine/evalengine/scorers/internal/text"
	"github.com/evalengine/evalengine/scorers/internal/tree"
	"github.com/evalengine/evalengine/scorers/scorer"
	"github.com/evalengine/evalengine/scorers/scorer/jsonv"
)

// question is what a model is asked, any number of times.
type question struct {
	settings
	// build makes the request's words within window characters. refused is what was
	// wrong with an earlier reply; empty the first time.
	build  func(window int, refused string) (system string, messages []eval.ModelMessage)
	name   string
	schema eval.JSON
	check  *schema.Schema
}

func (q *question) compile() error {
	v, err := jsonv.Parse(q.schema)
	if err == nil {
		q.check, err = schema.Compile(v)
	}
	return err
}

// replies are what a model said.
type replies struct {
	values []jsonv.Value
	// problems say why some samples have no value.
	problems []string
	// unmeasured says why nobody was asked: a skip, no error.
	unmeasured string
	// condensed is the window in the end, where it had to be made smaller.
	condensed int
}

const (
	// maxShrinks is how often a request is halved that a model finds too long.
	maxShrinks = 2
	// cutFactor is how much more a model may write whose answer was cut, and
	// leastRaised the least that is worth asking for.
	cutFactor   = 4
	leastRaised = 8192
)

// ask asks a model, and again once for each reply that cannot be used.
func (q *question) ask(model string) (*replies, error) {
	r := &replies{}
	window := q.window
	reply, err := q.send(model, window, "", q.samples, q.maxTokens)
	for n := 0; err == nil && len(reply.Samples) == 0 && reply.Failure == eval.FailureTooLarge && n < maxShrinks; n++ {
		window /= 2
		r.condensed = window
		reply, err = q.send(model, window, "", q.samples, q.maxTokens)
	}
	if err != nil {
		return nil, err
	}
	for i := range reply.Samples {
		v, err := q.read(&reply.Samples[i])
		if err == errWindow {
			r.condensed = window / 2
			v, err = q.again(model, window/2, &reply.Samples[i], err)
		} else if err != nil {
			v, err = q.again(model, window, &reply.Samples[i], err)
		}
		if err != nil {
			r.problems = append(r.problems, err.Error())
			continue
		}
		r.values = append(r.values, v)
	}
	if missing := q.samples - len(reply.Samples); missing > 0 {
		r.fail(reply, missing)
	}
	return r, nil
}

// fail says why samples are missing.
func (r *replies) fail(reply *eval.ModelReply, missing int) {
	why := failureText(reply)
	switch reply.Failure {
	case eval.FailureNoModel, eval.FailureBudget:
		r.unmeasured = why
	}
	if reply.Failure == eval.FailureTooLarge && r.condensed > 0 {
		why += ", condensed to " + text.Int(r.condensed) + " characters"
	}
	for range missing {
		r.problems = append(r.problems, why)
	}
}

func failureText(reply *eval.ModelReply) string {
	why := map[string]string{
		eval.FailureNoModel:  "no model is configured",
		eval.FailureBudget:   "the budget does not allow another request",
		eval.FailureTooLarge: "the request is longer than the model takes",
		eval.FailureAuth:     "the provider refused the key",
		eval.FailureBusy:     "the model was busy",
		eval.FailureTimeout:  "the model did not answer in time",
		eval.FailureNoReplay: "no stored answer to this request",
		"":                   "the model gave no answer",
	}[reply.Failure]
	if why == "" {
		why = "the model could not be asked"
	}
	if reply.Detail != "" {
		why += ": " + tree.Cut(reply.Detail, 300)
	}
	return why
}

func (q *question) send(model string, window int, refused string, samples, maxTokens int) (*eval.ModelReply, error) {
	r := &eval.ModelRequest{
		Model: model, Schema: q.schema, SchemaName: q.name,
		Samples: samples, MaxTokens: maxTokens, Temperature: q.temperature,
	}
	r.System, r.Messages = q.build(window, refused)
	return scorer.Complete(r)
}

var (
	errCut     = errors.New("the reply was cut because it was too long")
	errWindow  = errors.New("the model's context window was full before the reply ended")
	errRefusal = errors.New("the model refused to answer")
)

// read takes a whole reply: of one that ended early nothing is used.
func (q *question) read(a *eval.ModelAnswer) (jsonv.Value, error) {
	switch a.Stop {
	case eval.StopEnd:
		return readReply(a.Text, q.check)
	case eval.StopMaxTokens:
		return jsonv.Value{}, errCut
	case eval.StopWindow:
		return jsonv.Value{}, errWindow
	case eval.StopRefusal:
		return jsonv.Value{}, errRefusal
	}
	return jsonv.Value{}, errors.New("the reply ended early (" + strconv.Quote(string(a.Stop)) + ")")
}

// again asks once more after a reply that cannot be used, unless the model refused.
func (q *question) again(model string, window int, a *eval.ModelAnswer, first error) (jsonv.Value, error) {
	maxTokens, refused := q.maxTokens, first.Error()
	switch first {
	case errWindow:
		refused = "" // nothing was wrong with the reply
	case errRefusal:
		return jsonv.Value{}, first
	case errCut:
		maxTokens = max(cutFactor*max(q.maxTokens, int(a.Usage.OutputTokens)), leastRaised)
	}
	reply, err := q.send(model, window, refused, 1, maxTokens)
	if err != nil {
		return jsonv.Value{}, err
	}
	if len(reply.Samples) == 0 {
		return jsonv.Value{}, errors.New(first.Error() + "; asked again: " + failureText(reply))
	}
	v, err := q.read(&reply.Samples[0])
	if err != nil {
		return v, errors.New("no usable reply, asked twice: " + first.Error() + "; then " + err.Error())
	}
	return v, nil
}

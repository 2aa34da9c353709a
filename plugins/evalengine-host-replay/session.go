package main

import (
	"context"
	"fmt"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/mcpclient"
)

// session replays one stored trial.
type session struct {
	stored *stored
	client *mcpclient.Client
	values *mapping
	turn   int
}

var _ eval.Session = (*session)(nil)

func (s *session) Close() error {
	s.client.Close()
	return nil
}

func (s *session) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	if s.turn == len(s.stored.turns) {
		return eval.TurnResult{}, fault(eval.RetryNever, "the stored trial %s has %d turns, the story has more", s.stored.dir, s.turn)
	}
	t := &s.stored.turns[s.turn]
	s.turn++
	s.values.learnText(t.prompt, prompt)
	res := eval.TurnResult{Outcome: eval.Completed, AgentVersion: version}
	for i := range t.steps {
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		if err := s.step(ctx, t, &t.steps[i], emit); err != nil {
			return res, err
		}
		if t.steps[i].Kind == eval.StepMessage {
			res.Answer = s.values.text(t.steps[i].Text)
		}
	}
	if s.turn == len(s.stored.turns) {
		res.Outcome, res.Answer = s.stored.outcome, s.values.text(s.stored.answer)
	}
	if res.Outcome != eval.Completed {
		res.Detail = "as in the stored trial"
	}
	return res, nil
}

func (s *session) step(ctx context.Context, t *storedTurn, st *eval.Step, emit func(eval.Event)) error {
	if st.Kind == eval.StepMessage || st.Kind == eval.StepReasoning || st.Kind == eval.StepError {
		emit(eval.Event{Step: &eval.Step{Kind: st.Kind, Role: st.Role, Text: s.values.text(st.Text)}})
		return nil
	}
	if st.Kind != eval.StepToolCall || st.Server == "" {
		return nil
	}
	if why := unplayable(st); why != "" {
		emit(eval.Event{Warning: fmt.Sprintf("replay: step %s, tool %q, is left out: %s", st.ID, st.Tool, why)})
		return nil
	}
	return s.call(ctx, t, st, emit)
}

// unplayable says why a recorded call cannot be made again; empty where it can.
func unplayable(st *eval.Step) string {
	switch {
	case st.Observed == eval.Unconfirmed:
		return "the gateway never saw it"
	case st.BadArguments:
		return "its arguments are no JSON object"
	case st.Truncated:
		return "its arguments are cut in the record"
	}
	return ""
}

func (s *session) call(ctx context.Context, t *storedTurn, st *eval.Step, emit func(eval.Event)) error {
	server, err := s.client.Resolve(st.Server)
	if err != nil {
		return fault(eval.RetryStop, "stored trial %s: %v", s.stored.dir, err)
	}
	results, err := s.client.Run(ctx, []mcpclient.Call{{
		Server: server, Tool: st.Tool, Arguments: s.values.arguments(st.Arguments),
	}}, emit)
	if err != nil {
		return err
	}
	was, known := t.results[st.CallID]
	if !known {
		return nil
	}
	s.values.learn(was.Result, results[0].JSON)
	if was.IsError != results[0].IsError {
		emit(eval.Event{Warning: fmt.Sprintf(
			"replay: tool %q of step %s ended with error = %v, recorded was %v", st.Tool, st.ID, results[0].IsError, was.IsError)})
	}
	return nil
}

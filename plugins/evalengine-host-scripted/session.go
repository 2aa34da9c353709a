package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/internal/mcpclient"
)

// session plays one script.
type session struct {
	key    string
	script *script
	client *mcpclient.Client
	turn   int
	saved  map[string]any // results by name, decoded
	said   string
}

var _ eval.Session = (*session)(nil)

func (s *session) Close() error {
	s.client.Close()
	return nil
}

func (s *session) Turn(ctx context.Context, _ string, emit func(eval.Event)) (eval.TurnResult, error) {
	if s.turn == len(s.script.turns) {
		return eval.TurnResult{}, wrong("script %q has %d turns, the story has more", s.key, s.turn)
	}
	t := &s.script.turns[s.turn]
	s.turn++
	s.said = ""
	res := eval.TurnResult{Outcome: eval.Completed, AgentVersion: version}
	for i := range t.steps {
		if ctx.Err() != nil {
			return res, context.Cause(ctx)
		}
		end, err := s.step(ctx, &t.steps[i], emit)
		if err != nil {
			return res, err
		}
		if end != nil {
			res.Outcome, res.Answer = end.Outcome, s.said
			res.Detail = fmt.Sprintf("step %d: %s", i+1, end.Detail)
			return res, nil
		}
	}
	answer, err := s.answer(t, emit)
	if err != nil {
		res.Outcome, res.Detail = eval.GaveUp, "answer: "+err.Error()
		return res, nil
	}
	res.Answer = answer
	return res, nil
}

// answer ends a turn with its final message, where the last say was not it.
func (s *session) answer(t *turn, emit func(eval.Event)) (string, error) {
	if t.answer == nil {
		return s.said, nil
	}
	answer, err := t.answer.render(s.saved)
	if err == nil && answer != s.said {
		s.say(answer, emit)
	}
	return answer, err
}

func (s *session) say(text string, emit func(eval.Event)) {
	s.said = text
	emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: text}})
}

// step plays one step. The failure is the turn's end as the agent's own; the error
// is a fault.
func (s *session) step(ctx context.Context, st *step, emit func(eval.Event)) (*failure, error) {
	switch {
	case st.calls != nil:
		return s.calls(ctx, st.calls, emit)
	case st.fail != nil:
		return st.fail, nil
	case st.fault != nil:
		return nil, st.fault
	case st.hang:
		emit(eval.Event{Progress: "waiting for the end of the trial's time"})
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case st.think != nil:
		text, err := st.think.render(s.saved)
		if err != nil {
			return gaveUp(err), nil
		}
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepReasoning, Text: text}})
		return nil, nil
	}
	text, err := st.say.render(s.saved)
	if err != nil {
		return gaveUp(err), nil
	}
	s.say(text, emit)
	return nil, nil
}

func gaveUp(err error) *failure { return &failure{Outcome: eval.GaveUp, Detail: err.Error()} }

func (s *session) calls(ctx context.Context, list []call, emit func(eval.Event)) (*failure, error) {
	made := make([]mcpclient.Call, len(list))
	for i, c := range list {
		server, err := s.client.Resolve(c.server)
		if err != nil {
			return nil, wrong("script %q, tool %q: %v", s.key, c.tool, err)
		}
		args, err := c.arguments.render(s.saved)
		if err != nil {
			return gaveUp(fmt.Errorf("tool %q: %w", c.tool, err)), nil
		}
		made[i] = mcpclient.Call{Server: server, Tool: c.tool, Arguments: args}
	}
	results, err := s.client.Run(ctx, made, emit)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		if list[i].save != "" {
			if err := s.save(list[i].save, r.JSON); err != nil {
				return nil, err
			}
		}
		if r.IsError != list[i].expectError {
			return unexpected(list[i], r), nil
		}
	}
	return nil, nil
}

func (s *session) save(name string, result eval.JSON) error {
	d := json.NewDecoder(strings.NewReader(string(result)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("result %q: %w", name, err)
	}
	s.saved[name] = v
	return nil
}

func unexpected(c call, r mcpclient.Result) *failure {
	if !r.IsError {
		return &failure{Outcome: eval.GaveUp, Detail: fmt.Sprintf("tool %q went well where an error was expected", c.tool)}
	}
	const shown = 300
	text := string(r.JSON)
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "..."
	}
	return &failure{Outcome: eval.GaveUp, Detail: fmt.Sprintf("tool %q answered an error: %s", c.tool, text)}
}

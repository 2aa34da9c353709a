// Command evalengine-host-shell is a host of one's own in one file: its agent is a
// shell, which runs each prompt as a script.
package main

import (
	"context"
	"strings"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

func main() { host.Serve(shell{}) }

// shell implements eval.Host.
type shell struct{}

// config is what the suite's config block holds; Describe has its schema.
type config struct {
	Program string `json:"program"`
}

func (shell) Describe(context.Context) (eval.Description, error) {
	can := []string{eval.CapMultiTurn}
	isolation, ok := agentproc.Isolates()
	if ok {
		can = append(can, eval.CapIsolation)
	}
	return eval.Description{
		Name: "shell", Version: "0.1.0", Doc: "Runs each prompt as a shell script.",
		Capabilities: can, Needs: []eval.Need{isolation},
		Schema: eval.Schema{Attributes: []eval.Attribute{
			{Name: "program", Type: "string", Default: eval.JSON(`"sh"`), Doc: "The shell."},
		}},
	}, nil
}

func (shell) Start(_ context.Context, spec eval.SessionSpec) (eval.Session, error) {
	s := &session{spec: spec}
	return s, host.Config(spec, &s.config)
}

// session is one trial's conversation. Every turn is a process of its own here, so
// there is nothing to close.
type session struct {
	spec   eval.SessionSpec
	config config
}

func (s *session) Close() error { return nil }

func (s *session) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	env, err := agentproc.Env(s.spec, nil)
	if err != nil {
		return eval.TurnResult{}, err
	}
	p, err := agentproc.Start(ctx, agentproc.Command{
		Path: s.config.Program, Args: []string{"-c", prompt},
		Dir: s.spec.WorkDir, Env: env, RawDir: s.spec.RawDir, Isolation: s.spec.Isolation,
	})
	if err != nil { // the program is missing: no trial can work
		return eval.TurnResult{}, &eval.Fault{Cause: eval.CauseHost, Retry: eval.RetryStop, Detail: err.Error()}
	}
	defer p.Close() // ends everything that the script started
	var said []string
	for {
		line, err := p.Line()
		if err != nil {
			break
		}
		said = append(said, string(line.Text))
		emit(eval.Event{Step: &eval.Step{Kind: eval.StepMessage, Role: "assistant", Text: string(line.Text)}})
	}
	res := eval.TurnResult{Outcome: eval.Completed, Answer: strings.Join(said, "\n")}
	res.Isolated, _ = p.Isolated()
	if exit := p.Wait(); exit.Code != 0 {
		res.Outcome, res.Detail = eval.GaveUp, exit.String()+": "+p.Stderr()
	}
	return res, nil
}

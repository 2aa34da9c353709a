// Command evalengine-host-claude-code is the host plugin that drives Claude Code:
// the real command line, headless, one process a session, its MCP servers reached
// through the trial's gateway.
//
// config.go says what a host block's config takes, command.go how the program is
// run, session.go how a conversation goes; package stream reads what comes back.
package main

import (
	"context"
	"errors"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/host/agentout"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// version is the plugin's own.
const version = "0.1.0"

func main() { host.Serve(&driver{}) }

// driver implements [eval.Host].
type driver struct {
	once  sync.Once
	needs []eval.Need
	can   []string
}

var _ eval.Host = (*driver)(nil)

// Describe implements [eval.Host].
func (d *driver) Describe(ctx context.Context) (eval.Description, error) {
	d.once.Do(func() {
		isolation, ok := agentproc.Isolates()
		d.needs = []eval.Need{findProgram(ctx), isolation}
		d.can = []string{eval.CapMultiTurn, eval.CapMCPHTTP, eval.CapUsage, eval.CapReusable}
		if ok {
			d.can = append(d.can, eval.CapIsolation)
		}
	})
	return eval.Description{
		Name: "claude-code", Version: version,
		Doc:          "Claude Code, headless. Without tools it has the target's MCP tools alone.",
		Capabilities: d.can,
		Schema:       schema(),
		Model: &eval.ModelUse{
			API: "anthropic-messages", DefaultBaseURL: "https://api.anthropic.com", KeyEnv: "ANTHROPIC_API_KEY",
		},
		Needs: d.needs,
	}, nil
}

// Start implements [eval.Host].
func (d *driver) Start(ctx context.Context, spec eval.SessionSpec) (eval.Session, error) {
	s, tell, err := d.open(ctx, spec)
	if err != nil {
		return nil, err
	}
	return tell(s), nil
}

// open starts the program for a session, whose turns tell says more of.
func (d *driver) open(ctx context.Context, spec eval.SessionSpec) (*session, agentproc.Tell, error) {
	cfg, err := readConfig(spec)
	if err != nil {
		return nil, nil, err
	}
	l, err := prepare(spec, cfg)
	if err != nil {
		return nil, nil, err
	}
	tell := agentproc.Isolate(&l.command, spec)
	// The process ends with ctx by way of the session, which first asks for the
	// counts of what was consumed.
	proc, err := agentproc.Start(context.WithoutCancel(ctx), l.command)
	if err != nil {
		return nil, nil, startFault(l.command.Path, err)
	}
	return newSession(ctx, proc, l, cfg), tell, nil
}

// startFault says why the program could not be started.
func startFault(path string, err error) *eval.Fault {
	retry, hint := eval.RetryTrial, ""
	switch {
	case errors.Is(err, agentproc.ErrIsolation):
		retry = eval.RetryStop
	case errors.Is(err, agentproc.ErrNotFound), isMissing(err):
		retry, hint = eval.RetryStop, "; install it with: "+install
	case notAProgram(err):
		retry = eval.RetryStop
	}
	return agentout.Fault(eval.CauseHost, retry, "starting "+path+": "+err.Error()+hint)
}

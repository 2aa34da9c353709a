// Command evalengine-host-codex is the host plugin that drives Codex: the real
// command line, headless, one process a turn, its MCP servers reached through the
// trial's gateway.
//
// config.go says what a host block's config takes, settings.go how the program is
// set up, session.go how a conversation goes; packages stream and rollout read
// what comes back.
package main

import (
	"context"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/host"
	"github.com/evalengine/evalengine/plugins/host/agentproc"
)

// version is the plugin's own.
const version = "0.1.0"

const defaultBaseURL = "https://api.openai.com/v1"

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
		Name: "codex", Version: version,
		Doc:          "Codex CLI, headless. Without tools it has the target's MCP tools and the few built-in ones that cannot be taken away.",
		Capabilities: d.can,
		Schema:       schema(),
		Model:        &eval.ModelUse{API: "openai-responses", DefaultBaseURL: defaultBaseURL, KeyEnv: "OPENAI_API_KEY"},
		Needs:        d.needs,
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

// open makes a session, whose turns tell says more of.
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
	return newSession(ctx, l, cfg), tell, nil
}

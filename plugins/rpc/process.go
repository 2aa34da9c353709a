package rpc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/internal/proc"
)

// DefaultStartTimeout bounds a plugin's start where a [Command] says nothing.
const DefaultStartTimeout = 10 * time.Second

// Command says how to start a plugin's binary.
type Command struct {
	Kind, Name string
	// Path is the binary, absolute.
	Path string
	// File is the opened binary where it was checked before: what runs is this file,
	// even if another has taken its path since. It is the caller's to close. nil runs
	// what is at Path then. See [Bound].
	File *os.File
	// Dir is the plugin's working folder; empty is a private one.
	Dir string
	// Env is the plugin's environment, beside what the protocol adds.
	Env []string
	// Log gets what the plugin writes to stderr, and to stdout after its
	// handshake; nil drops it. It is called from several goroutines.
	Log io.Writer
	// StartTimeout bounds the time until the plugin has described itself.
	StartTimeout time.Duration
	// NoTLS leaves the connection plain.
	NoTLS bool
	// Protocols are the majors that the plugin is offered; nil is all that there are.
	Protocols []Protocol
}

// Process is a running plugin.
type Process struct {
	// Description is what the plugin said of itself at its start.
	Description eval.Description
	// Protocol is the major of the protocol that the plugin and the engine speak: the
	// highest that both have.
	Protocol int

	client *plugin.Client
	run    *process
	host   eval.Host
	prov   eval.Provisioner
	model  eval.ModelProvider
}

// Start starts the plugin, shakes hands and has it describe itself. Where any of
// that fails, nothing of the plugin is left, and the error, a [*eval.Fault], names
// it. The caller must call Close.
//
// The connection is a Unix socket in a folder that only this user can enter, and
// mutual TLS over it (unless NoTLS): the agents that a plugin starts run as the
// same user, and without a key of the engine's could otherwise drive the plugin,
// for example to read another trial's target. It costs one P-521 key on each side
// at the start: 39 ms of CPU instead of 11 (BenchmarkStart), once for a run, and 10
// microseconds a session (BenchmarkSession).
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	dir, err := socketDir()
	if err != nil {
		return nil, plug{c.Kind, c.Name}.fault(eval.RetryTrial, "folder of its socket: %v", err)
	}
	p, err := start(ctx, c, dir)
	if err == nil {
		return p, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return nil, err
}

func start(ctx context.Context, c Command, dir string) (_ *Process, err error) {
	if c.StartTimeout == 0 {
		c.StartTimeout = DefaultStartTimeout
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
	if c.Protocols == nil {
		c.Protocols = Protocols(c.Kind)
	}
	p := &Process{run: newProcess(c, dir)}
	p.client = plugin.NewClient(p.config(c, dir))
	// Killing the process is what ends every wait of go-plugin's.
	timer := time.AfterFunc(c.StartTimeout, p.run.expireStart)
	stop := context.AfterFunc(ctx, p.run.kill)
	defer func() {
		timer.Stop()
		stop()
		if err != nil {
			p.run.kill()
			p.end()
		}
	}()
	cp, err := p.client.Client()
	if err != nil {
		return nil, p.run.whyNot(err)
	}
	v, err := cp.Dispense(c.Kind)
	if err != nil {
		return nil, p.run.whyNot(err)
	}
	p.Protocol = p.client.NegotiatedVersion()
	if p.Description, err = p.describe(ctx, v); err != nil {
		return nil, p.run.whyNot(err)
	}
	return p, nil
}

// describe has the plugin say what it is.
func (p *Process) describe(ctx context.Context, v any) (eval.Description, error) {
	var d eval.Description
	var err error
	switch v := v.(type) {
	case eval.Host:
		p.host = v
		d, err = v.Describe(ctx)
	case eval.Provisioner:
		p.prov = v
		d, err = v.Describe(ctx)
	case eval.ModelProvider:
		p.model = v
		d, err = v.Describe(ctx)
	default:
		err = fmt.Errorf("protocol %d has no client", p.Protocol)
	}
	if err == nil {
		err = p.run.sane(d)
	}
	return d, err
}

func (p *Process) config(c Command, dir string) *plugin.ClientConfig {
	return &plugin.ClientConfig{
		HandshakeConfig:  Handshake(),
		VersionedPlugins: clientSets(c),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			p.run.env = append(p.run.env, cmd.Env...)
			return p.run, nil
		},
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
		SkipHostEnv:      true,
		AutoMTLS:         !c.NoTLS,
		StartTimeout:     c.StartTimeout,
		Stderr:           c.Log,
		SyncStdout:       c.Log,
		SyncStderr:       c.Log,
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)),
			grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
		},
	}
}

// socketDir makes the folder of one plugin's socket. A socket's path may have 107
// bytes, so a long TMPDIR will not do.
func socketDir() (string, error) {
	base := os.TempDir()
	if len(base) > 40 {
		base = "/tmp"
	}
	return os.MkdirTemp(base, "evalengine-plugin-")
}

// Host returns the host that the plugin serves, nil for another kind.
func (p *Process) Host() eval.Host { return p.host }

// Provisioner returns the provisioner that the plugin serves, nil for another
// kind.
func (p *Process) Provisioner() eval.Provisioner { return p.prov }

// Model returns the provider of models that the plugin serves, nil for another
// kind.
func (p *Process) Model() eval.ModelProvider { return p.model }

// Pid is the plugin's process ID.
func (p *Process) Pid() int { return p.run.pid() }

// Done is closed when the plugin's process and everything that it left has ended.
func (p *Process) Done() <-chan struct{} { return p.run.done }

// Ended says how the process ended, with what it last said on stderr; only after
// Done.
func (p *Process) Ended() string { return p.run.ended() + p.run.said() }

// Close ends the plugin and waits for it: its sessions and targets are given time
// to end, then it is killed with everything that it started. It may be called
// more than once.
func (p *Process) Close() error {
	t := time.AfterFunc(2*drainTimeout, p.run.kill)
	defer t.Stop()
	p.run.drain()
	p.end()
	return nil
}

// Kill ends the plugin and everything that it started at once, without waiting.
// Close is still to be called.
func (p *Process) Kill() { p.run.kill() }

// end has go-plugin free what it holds.
func (p *Process) end() {
	p.client.Kill()
	_ = os.RemoveAll(p.run.dir)
}

// Children lists the living processes that the plugin has started, directly or
// not, and that still belong to it.
func (p *Process) Children() []int {
	return proc.Members(p.Pid(), EnvMark+"="+p.run.mark)
}

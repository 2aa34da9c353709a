package launch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// maxCrashes is how many processes of one plugin may die without a single session
// or call that went well in between, before it is not started again.
const maxCrashes = 5

// Options configure a [Pool].
type Options struct {
	Finder Finder
	// Logger gets what plugins write, at level debug; nil drops it.
	Logger *slog.Logger
	// StartTimeout bounds a plugin's start; 0 is the protocol's default.
	StartTimeout time.Duration
	// Dir is the plugins' working folder, from which relative paths in a config
	// start; empty is a private one for each.
	Dir string
	// Environ is the engine's environment, of which a plugin sees an allow-list and
	// the names in Pass.
	Environ, Pass []string
	// Protocols are the majors that plugins of a kind are offered; a kind that is left
	// out is offered all that there are.
	Protocols map[string][]rpc.Protocol
}

// Pool has one process for each plugin in use. Its methods are safe for concurrent
// use.
type Pool struct {
	opts Options

	mu     sync.Mutex
	slots  map[key]*slot
	closed bool
}

type key struct{ kind, name string }

// New returns a pool with no process. The caller must call Close.
func New(o Options) *Pool {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Pool{opts: o, slots: map[key]*slot{}}
}

// Host returns the host plugin of that name, started and described. A pinned
// SHA-256 must be the binary's; empty pins nothing. The host stays good when its
// process dies: the next session starts another.
func (p *Pool) Host(ctx context.Context, name, sha256 string) (eval.Host, error) {
	s, err := p.open(ctx, key{rpc.KindHost, name}, sha256)
	if err != nil {
		return nil, err
	}
	return &host{s}, nil
}

// Provisioner is as Host for a provisioner plugin.
func (p *Pool) Provisioner(ctx context.Context, name, sha256 string) (eval.Provisioner, error) {
	s, err := p.open(ctx, key{rpc.KindProvisioner, name}, sha256)
	if err != nil {
		return nil, err
	}
	return &provisioner{s}, nil
}

func (p *Pool) open(ctx context.Context, k key, pin string) (*slot, error) {
	s, err := p.slot(k)
	if err != nil {
		return nil, err
	}
	if _, err := s.process(ctx, pin); err != nil {
		return nil, err
	}
	return s, nil
}

func (p *Pool) slot(k key) (*slot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("%s plugin %q: %w", k.kind, k.name, ErrClosed)
	}
	if s, ok := p.slots[k]; ok {
		return s, nil
	}
	bin, err := p.opts.Finder.Find(k.kind, k.name)
	if err != nil {
		return nil, err
	}
	s := newSlot(bin, p.opts)
	p.slots[k] = s
	return s, nil
}

// Component says what runs, or would run, under that name. What is not known is
// empty.
func (p *Pool) Component(kind, name string) eval.Component {
	c := eval.Component{Kind: kind, Name: name}
	p.mu.Lock()
	s := p.slots[key{kind, name}]
	p.mu.Unlock()
	if s != nil {
		s.identify(&c)
		return c
	}
	if bin, err := p.opts.Finder.Find(kind, name); err == nil {
		c.SHA256, _ = digest(bin.Path)
	}
	return c
}

// Close ends every plugin's process and waits until nothing of them is left.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	slots := p.slots
	p.slots = nil
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range slots {
		wg.Go(s.close)
	}
	wg.Wait()
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/provisioner"
)

// version is the plugin's own.
const version = "0.1.0"

// tries is how often a target is made whose ports are found in use.
const tries = 3

// surroundings are what the plugin takes from its own environment.
type surroundings struct {
	path string // PATH
	mark string // the plugin's mark, which everything it starts inherits
}

// command makes targets of command lines and addresses.
type command struct {
	around surroundings
	client *http.Client
	ports  *ports

	mu      sync.Mutex
	targets map[string]*target
}

var _ eval.Provisioner = (*command)(nil)

func newCommand(s surroundings) *command {
	return &command{
		around: s, client: newClient(), ports: &ports{taken: map[int]bool{}}, targets: map[string]*target{},
	}
}

func (c *command) Describe(context.Context) (eval.Description, error) {
	return eval.Description{
		Name: "command", Version: version,
		Doc:    "Any MCP server, given by command line or URL, in a fresh working folder with ports and processes of its own.",
		Schema: schema(),
	}, nil
}

// Provision makes a target, again with other ports where one was found in use.
func (c *command) Provision(ctx context.Context, req eval.ProvisionRequest) (eval.Target, error) {
	var cfg config
	if err := provisioner.Config(req, &cfg); err != nil {
		return eval.Target{}, err
	}
	for n := 1; ; n++ {
		hold := canHold && n == 1
		t, err := c.make(ctx, req, &cfg, hold)
		if err == nil {
			return c.add(t)
		}
		again := n < tries && ctx.Err() == nil && len(t.ports) > 0
		if left := t.end(context.WithoutCancel(ctx)); left != nil {
			return eval.Target{}, also(err, left)
		}
		var taken *portTaken
		if !errors.As(err, &taken) || !again {
			return eval.Target{}, err
		}
	}
}

// also is err with what went wrong after it.
func also(err, after error) error {
	f := *eval.AsFault(err)
	f.Detail += "; then " + after.Error()
	return &f
}

// make makes one target; what it returns must be ended, also with an error.
func (c *command) make(ctx context.Context, req eval.ProvisionRequest, cfg *config, hold bool) (*target, error) {
	t, err := c.newTarget(ctx, req, cfg)
	if err != nil {
		return t, err
	}
	if err := ctx.Err(); err != nil {
		return t, context.Cause(ctx)
	}
	if !hold {
		for _, p := range t.ports {
			p.letGo()
		}
	}
	return t, t.build(ctx)
}

func (c *command) add(t *target) (eval.Target, error) {
	values, err := t.values()
	if err != nil {
		return eval.Target{}, err
	}
	c.mu.Lock()
	c.targets[t.id] = t
	c.mu.Unlock()
	return eval.Target{ID: t.id, Values: values, Servers: t.plan.servers(t.work, map[string]string{envTarget: t.marks[envTarget]}), Secrets: t.plan.secrets}, nil
}

func (c *command) find(id string) *target {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.targets[id]
}

func noTarget(id string) error {
	return &eval.Fault{Cause: eval.CauseObserve, Retry: eval.RetryNever, Detail: fmt.Sprintf("there is no target %q", id)}
}

func (c *command) Snapshot(ctx context.Context, targetID string) (eval.JSON, error) {
	t := c.find(targetID)
	if t == nil {
		return nil, noTarget(targetID)
	}
	return t.snapshot(ctx)
}

// Destroy ends a target. It goes on when ctx ends: its bounds are the grace of the
// processes and the config's cleanup_timeout.
func (c *command) Destroy(ctx context.Context, targetID string) error {
	t := c.find(targetID)
	if t == nil {
		return nil
	}
	if err := t.end(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.targets, targetID)
	return nil
}

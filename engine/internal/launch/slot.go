package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

// deathWatch is how long a broken connection waits for its process to be seen
// dead, so that the error can say how it died.
const deathWatch = 2 * time.Second

// slot is one plugin binary with the process that is running, if any. Its lock is
// a channel so that waiting for another's start ends with the context.
type slot struct {
	bin  Binary
	opts Options
	lock chan struct{}

	// Guarded by lock.
	sum      string
	desc     eval.Description
	protocol int
	proc     *rpc.Process
	crashes  int
	last     string // how the last process ended
	closed   bool
}

func newSlot(b Binary, o Options) *slot {
	return &slot{bin: b, opts: o, lock: make(chan struct{}, 1)}
}

func (s *slot) String() string { return fmt.Sprintf("%s plugin %q", s.bin.Kind, s.bin.Name) }

// process returns the running process, after starting one where there is none. A
// binary that is not the pinned one is not started.
func (s *slot) process(ctx context.Context, pin string) (*rpc.Process, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.closed {
		return nil, fmt.Errorf("%s: %w", s, ErrClosed)
	}
	if s.sum != "" && pin != "" && !strings.EqualFold(s.sum, pin) {
		return nil, mismatch(s.bin, s.sum, pin)
	}
	if s.proc != nil {
		select {
		case <-s.proc.Done():
			s.bury()
		default:
			return s.proc, nil
		}
	}
	if s.crashes >= maxCrashes {
		return nil, &eval.Fault{
			Cause: eval.CauseCircuitOpen, Retry: eval.RetryStop,
			Detail: fmt.Sprintf("%s: not started again after it died %d times in a row, last with %s",
				s, s.crashes, s.last),
		}
	}
	return s.start(ctx, pin)
}

// bury counts a process that died and frees what is left of it.
func (s *slot) bury() {
	s.crashes++
	s.last = s.proc.Ended()
	s.opts.Logger.Warn("plugin died", "plugin", s.bin.Kind+"/"+s.bin.Name, "ended", s.last)
	_ = s.proc.Close()
	s.proc = nil
}

func (s *slot) start(ctx context.Context, pin string) (*rpc.Process, error) {
	c, err := check(s.bin, pin)
	if err != nil {
		return nil, err
	}
	defer c.file.Close()
	if s.sum != "" && s.sum != c.sum {
		return nil, s.replaced("while the run was going on")
	}
	return s.run(ctx, c)
}

// run starts the binary that was checked.
func (s *slot) run(ctx context.Context, c *checked) (*rpc.Process, error) {
	p, err := rpc.Start(ctx, rpc.Command{
		Kind: s.bin.Kind, Name: s.bin.Name, Path: s.bin.Path, File: c.file, Dir: s.opts.Dir,
		Env:          environment(s.opts.Environ, s.opts.Pass),
		Log:          &logWriter{log: s.opts.Logger.With("plugin", s.bin.Kind+"/"+s.bin.Name)},
		StartTimeout: s.opts.StartTimeout, Protocols: s.opts.Protocols[s.bin.Kind],
	})
	if err != nil {
		return nil, err
	}
	if c.changed(s.bin.Path) {
		p.Kill()
		_ = p.Close()
		return nil, s.replaced("between its check and its start")
	}
	if s.sum == "" {
		s.desc, s.protocol = p.Description, p.Protocol
	}
	s.sum, s.proc = c.sum, p
	return p, nil
}

func (s *slot) replaced(when string) error {
	return fmt.Errorf("%w: %w", ErrDigest, &eval.Fault{
		Cause: eval.CausePlugin, Retry: eval.RetryStop,
		Detail: fmt.Sprintf("%s: %s was replaced %s", s, s.bin.Path, when),
	})
}

// went tells the slot that its plugin did something well.
func (s *slot) went(err error) {
	if err != nil {
		return
	}
	s.lock <- struct{}{}
	s.crashes = 0
	<-s.lock
}

func (s *slot) describe() eval.Description {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	return s.desc
}

// identify adds what is known of what runs.
func (s *slot) identify(c *eval.Component) {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	c.Version, c.SHA256, c.Protocol = s.desc.Version, s.sum, s.protocol
}

func (s *slot) close() {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	s.closed = true
	if s.proc != nil {
		_ = s.proc.Close()
		s.proc = nil
	}
}

// broke reports whether err is a fault of the plugin itself, not of what it
// drives.
func broke(err error) bool {
	var f *eval.Fault
	return errors.As(err, &f) && f.Cause == eval.CausePlugin
}

// died reports whether the process has ended, or does so very soon.
func died(p *rpc.Process) bool {
	t := time.NewTimer(deathWatch)
	defer t.Stop()
	select {
	case <-p.Done():
		return true
	case <-t.C:
		return false
	}
}

// explain adds how the process died to a fault of a plugin.
func explain(p *rpc.Process, err error) error {
	var f *eval.Fault
	if !broke(err) || !errors.As(err, &f) || !died(p) {
		return err
	}
	told := *f
	told.Detail += ": " + p.Ended()
	return &told
}

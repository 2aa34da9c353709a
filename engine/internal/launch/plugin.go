package launch

import (
	"context"
	"errors"

	"github.com/evalengine/evalengine/engine/eval"
	"github.com/evalengine/evalengine/plugins/rpc"
)

var (
	_ eval.Host        = (*host)(nil)
	_ eval.Session     = (*session)(nil)
	_ eval.Provisioner = (*provisioner)(nil)
)

// host is a host plugin whatever process it is running in.
type host struct{ *slot }

func (h *host) Describe(context.Context) (eval.Description, error) { return h.describe(), nil }

// Start starts a session. Where the process turns out to be dead before the
// session has begun, it is tried once more on a new one.
func (h *host) Start(ctx context.Context, spec eval.SessionSpec) (eval.Session, error) {
	for again := false; ; again = true {
		p, err := h.process(ctx, "")
		if err != nil {
			return nil, err
		}
		s, err := p.Host().Start(ctx, spec)
		if err == nil {
			return &session{Session: s, slot: h.slot, proc: p}, nil
		}
		if again || ctx.Err() != nil || !broke(err) || !died(p) {
			return nil, explain(p, err)
		}
	}
}

// session is a session of one process; it dies with it.
type session struct {
	eval.Session
	slot *slot
	proc *rpc.Process
}

func (s *session) Turn(ctx context.Context, prompt string, emit func(eval.Event)) (eval.TurnResult, error) {
	res, err := s.Session.Turn(ctx, prompt, emit)
	s.slot.went(err)
	return res, explain(s.proc, err)
}

// Close ends the session. A plugin that cannot do that is ended as a whole: its
// other sessions are tried again, an agent that nobody can stop is not.
func (s *session) Close() error {
	err := s.Session.Close()
	if errors.Is(err, rpc.ErrStuck) {
		s.proc.Kill()
	}
	return explain(s.proc, err)
}

// provisioner is a provisioner plugin whatever process it is running in. A target
// dies with the process that made it: observing it then is a fault.
type provisioner struct{ *slot }

func (v *provisioner) Describe(context.Context) (eval.Description, error) { return v.describe(), nil }

func (v *provisioner) Provision(ctx context.Context, req eval.ProvisionRequest) (t eval.Target, err error) {
	err = v.call(ctx, func(p eval.Provisioner) error {
		t, err = p.Provision(ctx, req)
		return err
	})
	return t, err
}

func (v *provisioner) Snapshot(ctx context.Context, targetID string) (j eval.JSON, err error) {
	err = v.call(ctx, func(p eval.Provisioner) error {
		j, err = p.Snapshot(ctx, targetID)
		return err
	})
	return j, err
}

func (v *provisioner) Destroy(ctx context.Context, targetID string) error {
	return v.call(ctx, func(p eval.Provisioner) error { return p.Destroy(ctx, targetID) })
}

func (v *provisioner) call(ctx context.Context, do func(eval.Provisioner) error) error {
	p, err := v.process(ctx, "")
	if err != nil {
		return err
	}
	err = do(p.Provisioner())
	v.went(err)
	return explain(p, err)
}

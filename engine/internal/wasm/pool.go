package wasm

import (
	"context"
	"sync"
)

// pool hands out worker processes, the most recently used first, so that few of
// them have to load what a small run needs.
type pool struct {
	start func() (*process, error)
	keep  int
	slots chan struct{}

	mu     sync.Mutex
	idle   []*process
	closed bool
}

// newPool allows most workers at once and keeps some of them when they are idle.
func newPool(most, keep int, start func() (*process, error)) *pool {
	return &pool{start: start, keep: keep, slots: make(chan struct{}, most)}
}

// get returns a worker for the caller alone, who gives it back with put.
func (p *pool) get(ctx context.Context) (*process, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	w, err := p.take()
	if w == nil && err == nil {
		w, err = p.start()
	}
	if err != nil {
		<-p.slots
	}
	return w, err
}

func (p *pool) take() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && len(p.idle) > 0 {
		w := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		select {
		case <-w.dead: // Killed from outside while it was idle.
			w.kill()
		default:
			return w, nil
		}
	}
	if p.closed {
		return nil, ErrClosed
	}
	return nil, nil
}

// put takes a worker back; one that is not usable is ended.
func (p *pool) put(w *process) {
	defer func() { <-p.slots }()
	p.mu.Lock()
	keep := w.usable && !p.closed && len(p.idle) < p.keep
	if keep {
		p.idle = append(p.idle, w)
	}
	p.mu.Unlock()
	switch {
	case keep:
	case w.usable:
		w.close()
	default:
		w.kill()
	}
}

func (p *pool) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, w := range idle {
		w.close()
	}
}

package rpc

import (
	"context"
	"sync"
	"time"
)

// lifetime is what a plugin process has open: its sessions and calls. When the
// engine tells the plugin to stop, or is gone, all of it ends before the process
// does.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	open  int
	idle  chan struct{} // closed when open falls to 0 after end
	ended bool
}

func newLifetime() *lifetime {
	ctx, cancel := context.WithCancel(context.Background())
	return &lifetime{ctx: ctx, cancel: cancel, idle: make(chan struct{})}
}

// enter counts one more open thing; ok is false where the process is ending.
func (l *lifetime) enter() (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, false
	}
	l.open++
	return sync.OnceFunc(l.leave), true
}

func (l *lifetime) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.ended && l.open == 0 {
		close(l.idle)
	}
}

// end cancels everything open and waits for it, at most for d.
func (l *lifetime) end(d time.Duration) {
	l.mu.Lock()
	if !l.ended {
		l.ended = true
		if l.open == 0 {
			close(l.idle)
		}
	}
	l.mu.Unlock()
	l.cancel()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.idle:
	case <-t.C:
	}
}

// bind returns a context that ends with parent or with the process.
func (l *lifetime) bind(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	stop := context.AfterFunc(l.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

package main

import (
	"fmt"
	"sync"
)

// ports hands out loopback ports, none twice at the same time. Where it can, a
// port stays bound while the target lives, so that the system gives it to nobody
// else: a server that sets SO_REUSEADDR, as nearly all do, listens on it all the
// same. For the few that do not, a target is made again with ports that are let go
// before its processes start.
type ports struct {
	mu    sync.Mutex
	taken map[int]bool
}

// port is a port of one target.
type port struct {
	number int
	hold   func() // frees what is bound
	from   *ports
}

func (p *ports) take() (*port, error) {
	for range 100 {
		n, free, err := bind()
		if err != nil {
			return nil, fmt.Errorf("a free port: %w", err)
		}
		p.mu.Lock()
		first := !p.taken[n]
		p.taken[n] = true
		p.mu.Unlock()
		if first {
			return &port{number: n, hold: sync.OnceFunc(free), from: p}, nil
		}
		free()
	}
	return nil, fmt.Errorf("no free port among 100")
}

// letGo frees the port for a server that cannot share it. It stays the target's.
func (p *port) letGo() { p.hold() }

// release gives the port back.
func (p *port) release() {
	p.hold()
	p.from.mu.Lock()
	defer p.from.mu.Unlock()
	delete(p.from.taken, p.number)
}

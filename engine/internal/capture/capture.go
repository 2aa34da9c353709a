// Package capture takes pages: rendered HTML, pictures, accessibility tree,
// console and requests, from a real browser, after the page has come to rest. One
// browser serves a run; each page gets a browser context of its own, whose only
// way to the network is a proxy of the engine's. Pages are not trusted. It does
// not judge what it takes. Start at [New].
package capture

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evalengine/evalengine/engine/eval"
)

// Browser takes pages. Its methods are safe for concurrent use.
type Browser struct {
	o     Options
	slots chan struct{}
	busy  sync.WaitGroup // pages whose contexts are not disposed yet

	turn chan struct{} // held by who looks at in
	in   *instance

	mu     sync.Mutex
	closed bool
}

// attempts is how often a page is tried where the browser broke under it.
const attempts = 2

var errClosed = errors.New("the browser is closed")

// New returns a Browser that starts when a page is to be taken for the first time.
// The caller must call Close.
func New(o Options) *Browser {
	return &Browser{o: o, slots: make(chan struct{}, o.concurrency()), turn: make(chan struct{}, 1)}
}

// Capture takes the pages, several at once, and returns one for each job in the
// jobs' order. It has no error of its own: a page that could not be taken says why.
func (b *Browser) Capture(ctx context.Context, jobs []Job) []eval.Page {
	pages := make([]eval.Page, len(jobs))
	var wg sync.WaitGroup
	for i, j := range jobs {
		wg.Go(func() { pages[i] = b.page(ctx, j.filled()) })
	}
	wg.Wait()
	return pages
}

// page takes one page, twice where the browser or the page's renderer ended.
func (b *Browser) page(ctx context.Context, j Job) eval.Page {
	p := eval.Page{Name: j.Name, URL: withoutUser(j.URL)}
	a := j.allow()
	if !a.url(j.URL) {
		p.Error = fmt.Sprintf("%s is none of the target's own addresses nor among the capture's origins", p.URL)
		return p
	}
	if err := b.enter(ctx); err != nil {
		p.Error = err.Error()
		return p
	}
	start := time.Now()
	p, err := b.tries(ctx, &j)
	p.Seconds = time.Since(start).Seconds()
	if errors.Is(err, errGone) {
		err = fmt.Errorf("the page ended its renderer or the browser, %d times", attempts)
	}
	if err != nil {
		p.Error = err.Error()
	}
	return p
}

// enter waits for the page's turn.
func (b *Browser) enter(ctx context.Context) error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return errClosed
	}
	b.busy.Add(1)
	b.mu.Unlock()
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		b.busy.Done()
		return ctx.Err()
	}
}

func (b *Browser) leave() {
	<-b.slots
	b.busy.Done()
}

// tries takes a page, once more where the browser ended under it. It gives the turn
// back when nothing of the page is left in the browser, which the caller need not
// wait for.
func (b *Browser) tries(ctx context.Context, j *Job) (eval.Page, error) {
	for n := 1; ; n++ {
		p := eval.Page{Name: j.Name, URL: withoutUser(j.URL)}
		in, err := b.running(ctx)
		if err != nil {
			b.leave()
			return p, err
		}
		t, err := b.take(ctx, in, j, &p)
		again := errors.Is(err, errGone) && n < attempts && ctx.Err() == nil
		if again {
			t.dispose()
			logger(&b.o).Warn("the browser ended under a page", "page", j.Name, "url", p.URL, "attempt", n)
			continue
		}
		go func() {
			in.ahead()
			t.dispose()
			b.leave()
		}()
		return p, err
	}
}

// running returns the browser, started if need be.
func (b *Browser) running(ctx context.Context) (*instance, error) {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.turn }()
	if b.isClosed() {
		return nil, errClosed
	}
	if b.in != nil && b.in.alive() {
		return b.in, nil
	}
	if b.in != nil {
		logger(&b.o).Warn("the browser has ended; it is started anew")
		b.in.stop()
		b.in = nil
	}
	in, err := newInstance(ctx, &b.o)
	if err != nil {
		return nil, err
	}
	b.in = in
	return in, nil
}

// Close ends the browser with every process of it and removes its profile. Pages
// that are being taken end with an error.
func (b *Browser) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.turn <- struct{}{}
	in := b.in
	b.in = nil
	<-b.turn
	var err error
	if in != nil {
		err = in.stop()
	}
	b.busy.Wait()
	return err
}

func (b *Browser) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
